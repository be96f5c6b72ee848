"""The next JoinGroup of members of other client libraries, by library and strategy.

A cooperative member that no longer reads a topic gives its partitions up before it joins; only
kafka-python's goes on naming them, because it names what it was given last.

Source: kafka-python 3.0.12 (coordinator/assignors), aiokafka 0.14 (coordinator/assignors), sarama
1.61 (consumer_group.go, sticky_assignor_user_data.go), franz-go 1.22 (kgo group_balancer.go),
librdkafka 2.16 (rdkafka_assignor.c, rdkafka_sticky_assignor.c), kafkajs 2.2.4
(consumer/assigners/roundRobinAssigner).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from kgroups.assignors.other_clients.user_data import encode_kafka_python_data
from kgroups.assignors.rejoin import COOPERATIVE, STICKY, rejoin
from kgroups.assignors.spec import MemberSubscription, TopicPartition
from kgroups.assignors.wire import TopicRuns, encode_cooperative_data, encode_sticky_data, runs_of

NO_GENERATION = -1

Runs = tuple[tuple[str, tuple[int, ...]], ...]
DataForm = Callable[[TopicRuns, int], bytes | None]


def _nothing(_: TopicRuns, __: int) -> bytes:
    return b""


def _ungenerated(runs: TopicRuns, _: int) -> bytes:
    return encode_sticky_data(runs, NO_GENERATION)


def _forgotten(_: TopicRuns, generation: int) -> bytes:
    return encode_sticky_data((), generation)


def _generation(_: TopicRuns, generation: int) -> bytes:
    return encode_cooperative_data(generation)


@dataclass(frozen=True, slots=True)
class RejoinForm:
    """How a library's member says what it has.

    Args:
        data: user data from what it has and the generation in which it got it.
        owns: whether owned partitions are named on the wire.
        generation: whether the generation is, too.
        sorted_runs: whether topics and partitions are sorted; else as they were assigned.
        keeps_dropped: whether partitions of topics that it no longer reads are still named.
    """

    data: DataForm
    owns: bool = False
    generation: bool = False
    sorted_runs: bool = False
    keeps_dropped: bool = True


PLAIN = RejoinForm(_nothing)

REJOIN_FORMS: Mapping[tuple[str, str], RejoinForm] = MappingProxyType(
    {
        ("librdkafka", COOPERATIVE): RejoinForm(
            encode_sticky_data, owns=True, generation=True, sorted_runs=True, keeps_dropped=False
        ),
        ("franz-go", STICKY): RejoinForm(_forgotten, generation=True),
        ("franz-go", COOPERATIVE): RejoinForm(
            encode_sticky_data, owns=True, generation=True, sorted_runs=True, keeps_dropped=False
        ),
        ("franz-go", "range"): RejoinForm(_nothing, generation=True),
        ("franz-go", "roundrobin"): RejoinForm(_nothing, generation=True),
        ("sarama", STICKY): RejoinForm(encode_sticky_data),
        ("sarama", COOPERATIVE): RejoinForm(
            _generation, owns=True, generation=True, keeps_dropped=False
        ),
        ("kafka-python", STICKY): RejoinForm(encode_kafka_python_data),
        ("kafka-python", COOPERATIVE): RejoinForm(_nothing, owns=True),
        ("aiokafka", STICKY): RejoinForm(_ungenerated),
    }
)
"""(library, strategy) -> form; what is not listed sends nothing of what it has."""


def rejoin_as(
    library: str,
    member: MemberSubscription,
    protocol: str,
    partitions: Sequence[TopicPartition],
    generation: int,
) -> MemberSubscription:
    """The next subscription of this library's member after it was given these partitions.

    Args:
        member: its id, topics, instance id and rack are kept.
        protocol: name of the strategy that the group uses.
        partitions: its assignment, in list order.
        generation: in which it got them.
    """
    if library == "java":
        return rejoin(member, protocol, partitions, generation)
    form = REJOIN_FORMS.get((library, protocol), PLAIN)
    listed = list(partitions)
    if not form.keeps_dropped:
        listed = [claim for claim in listed if claim[0] in member.topics]
    runs = runs_of(sorted(listed) if form.sorted_runs else listed)
    if library == "kafka-python" and form.owns:
        runs = tuple((topic, tuple(sorted(numbers))) for topic, numbers in runs)
    return replace(
        member,
        owned=runs if form.owns else (),
        generation=generation if form.generation else NO_GENERATION,
        user_data=form.data(runs, generation),
        previous=None,
    )
