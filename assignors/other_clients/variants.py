"""The same strategy names as other client libraries' leaders compute them.

`range` and `roundrobin` differ only in the order of members (sarama's in that of partitions too,
librdkafka's in racks); the sticky strategies are algorithms of their own. Each is compared with
the library itself in tests/assignors/other_clients.

Source: librdkafka (rdkafka_assignor.c and the assignors), franz-go (kgo group_balancer.go), sarama
(balance_strategy.go), kafka-python and aiokafka (coordinator/assignors), kafkajs
(consumer/assigners), in the releases of `RELEASES`.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, groupby
from types import MappingProxyType
from typing import Final

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView, OrderRule
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.java.roundrobin import RoundRobinAssignor
from kgroups.assignors.other_clients.franz_go.racks import FranzGoRackRange
from kgroups.assignors.other_clients.franz_go.sticky import FranzGoSticky
from kgroups.assignors.other_clients.kafkajs import NAME as KAFKAJS
from kgroups.assignors.other_clients.kafkajs import KafkajsRoundRobin
from kgroups.assignors.other_clients.librdkafka_ranges import LibrdkafkaRange
from kgroups.assignors.other_clients.librdkafka_sticky import LibrdkafkaSticky
from kgroups.assignors.other_clients.python_sticky import PythonSticky
from kgroups.assignors.other_clients.sarama_sticky import SaramaSticky
from kgroups.assignors.spec import AssignmentRequest, Assignor, AssignorError, MemberSubscription

Members = Sequence[MemberSubscription]

RELEASES: Final[Mapping[str, str]] = {
    "librdkafka": "2.16",
    "franz-go": "1.22",
    "sarama": "1.61",
    "kafka-python": "3.0",
    "aiokafka": "0.14",
    "kafkajs": "2.2",
}


def by_member_id(members: Members) -> list[int]:
    """Positions by member id alone, in code points, which is also the order of UTF-8 bytes."""
    return sorted(range(len(members)), key=lambda index: members[index].member_id)


def static_first(members: Members) -> list[int]:
    """Positions with static members first, by instance id, all in code points."""
    return sorted(
        range(len(members)),
        key=lambda index: (
            members[index].instance_id is None,
            members[index].instance_id or members[index].member_id,
        ),
    )


def librdkafka_order(members: Members) -> list[int]:
    """Positions in librdkafka's order, which is not total where static and dynamic members mix.

    Two static members stand by instance id, any other pair by member id; so the outcome depends
    on the sort, which is the C library's merge sort.
    """

    def not_after(first: int, other: int) -> bool:
        left, right = members[first], members[other]
        if left.instance_id is not None and right.instance_id is not None:
            return left.instance_id <= right.instance_id
        return left.member_id <= right.member_id

    return _merge_sort(list(range(len(members))), not_after)


def _merge_sort(listed: list[int], not_after: Callable[[int, int], bool]) -> list[int]:
    """The list sorted by halves, the left half being the smaller one."""
    if len(listed) < 2:
        return listed
    middle = len(listed) // 2
    left = _merge_sort(listed[:middle], not_after)
    right = _merge_sort(listed[middle:], not_after)
    merged: list[int] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if not_after(left[i], right[j]):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def kafka_python_order(members: Members) -> list[int]:
    """Positions in kafka-python's order; members that it forgets are missing.

    It groups static and dynamic members without sorting them first, so of each kind only the last
    unbroken run is left.
    """
    runs = groupby(range(len(members)), key=lambda index: members[index].instance_id is not None)
    kept = {static: list(run) for static, run in runs}
    static = sorted(kept.get(True, []), key=lambda index: members[index].instance_id or "")
    return static + sorted(kept.get(False, []), key=lambda index: members[index].member_id)


class SaramaRoundRobin:
    """sarama's `roundrobin`: partitions in text order of `topic-partition`, f-10 before f-2."""

    name = "roundrobin"
    waives = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics."""
        view = LeaderView(request, BY_MEMBER_ID)
        lists: list[list[int]] = [[] for _ in view.members]
        table, order = view.table, view.ordered
        readers = [set(members) for members in view.subscribers]
        texts = [
            (f"{name}-{partition}", topic, table.bases[topic] + partition)
            for topic, name in enumerate(table.names)
            for partition in range(table.counts[topic])
        ]
        place = 0
        for _, topic, number in sorted(texts):
            while order[place % len(order)] not in readers[topic]:
                place += 1
            lists[order[place % len(order)]].append(number)
            place += 1
        return CompactAssignment.of_lists(view.member_ids, table, lists)


class KafkaPythonRoundRobin:
    """kafka-python's `roundrobin`, whose leader fails where the next member must be passed by."""

    name = "roundrobin"
    waives = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics.

        Raises:
            AssignorError: the circle came to a member that does not subscribe to the topic: this
                leader raises KeyError.
        """
        view = LeaderView(request, KAFKA_PYTHON)
        lists: list[list[int]] = [[] for _ in view.members]
        table, circle = view.table, cycle(view.ordered)
        for topic in sorted(table.names):
            place = table.index[topic]
            for partition in range(table.counts[place]):
                member = next(circle)
                if topic not in view.members[member].topics:
                    raise AssignorError(
                        "a kafka-python leader fails this rebalance: its `roundrobin` raises "
                        "KeyError where a member does not subscribe to a topic",
                        hint="use another strategy, or subscribe all members to the same topics",
                    )
                lists[member].append(table.bases[place] + partition)
        return CompactAssignment.of_lists(view.member_ids, table, lists)


BY_MEMBER_ID: Final = OrderRule(by_member_id)
STATIC_FIRST: Final = OrderRule(static_first)
LIBRDKAFKA: Final = OrderRule(librdkafka_order, total=False)
KAFKA_PYTHON: Final = OrderRule(kafka_python_order, total=False)

VARIANTS: Mapping[str, Mapping[str, Assignor]] = MappingProxyType(
    {
        "librdkafka": {
            "range": LibrdkafkaRange(LIBRDKAFKA),
            "roundrobin": RoundRobinAssignor(member_order=LIBRDKAFKA),
            "cooperative-sticky": LibrdkafkaSticky(),
        },
        "franz-go": {
            "range": RangeAssignor(member_order=STATIC_FIRST, racks=False),
            "roundrobin": RoundRobinAssignor(member_order=STATIC_FIRST),
            "sticky": FranzGoSticky("sticky", STATIC_FIRST),
            "cooperative-sticky": FranzGoSticky(
                "cooperative-sticky", STATIC_FIRST, cooperative=True
            ),
        },
        "sarama": {
            "range": RangeAssignor(member_order=BY_MEMBER_ID, racks=False),
            "roundrobin": SaramaRoundRobin(),
            "sticky": SaramaSticky("sticky"),
            "cooperative-sticky": SaramaSticky("cooperative-sticky", cooperative=True),
        },
        "kafkajs": {KAFKAJS: KafkajsRoundRobin()},
        "kafka-python": {
            "range": RangeAssignor(member_order=KAFKA_PYTHON, racks=False),
            "roundrobin": KafkaPythonRoundRobin(),
            "sticky": PythonSticky("sticky", "kafka-python"),
            "cooperative-sticky": PythonSticky(
                "cooperative-sticky", "kafka-python", cooperative=True
            ),
        },
        "aiokafka": {
            "range": RangeAssignor(member_order=BY_MEMBER_ID, racks=False),
            "roundrobin": RoundRobinAssignor(member_order=BY_MEMBER_ID),
            "sticky": PythonSticky("sticky", "aiokafka"),
        },
    }
)

# franz-go's where the application says `BalanceRacks`.
RACK_BALANCING: Mapping[str, Assignor] = MappingProxyType(
    {
        "range": FranzGoRackRange(STATIC_FIRST),
        "sticky": FranzGoSticky("sticky", STATIC_FIRST, racks=True),
        "cooperative-sticky": FranzGoSticky(
            "cooperative-sticky", STATIC_FIRST, cooperative=True, racks=True
        ),
    }
)


def is_exact(leader: str, strategy: str) -> bool:
    """Whether the library's own algorithm is known, so that the named partitions can be relied on.

    Where the library leaves something to chance, `choices.possible_answers` has every answer.

    Args:
        leader: client library of the leader.
    """
    return leader == "java" or strategy in VARIANTS.get(leader, {})
