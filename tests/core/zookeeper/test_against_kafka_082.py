"""The model beside Kafka 0.8.2's own broker, consumers and ZooKeeper: what is asked, and when.

The same story is told to both. ZooKeeper's server tells every request that it carried out; for a
consumer that is alone they must be the model's, one by one, and for two consumers, whose requests
interleave as they like, what must come before what. Partitions of one family are read and
claimed in the order of a Scala hash map, which the model does not follow: their numbers are left
out where sequences are compared.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from kgroups.core.zookeeper.effects import EventKind
from kgroups.core.zookeeper.node_tree import Change
from kgroups.core.zookeeper.nodes import topic_path, write_topic
from kgroups.core.zookeeper.protocol import Api
from tests.support.zookeeper.kafka_082 import Era, Said
from tests.support.zookeeper.kafka_082 import Op as RealOp
from tests.support.zookeeper.zookeeper_world import Op as ModelOp
from tests.support.zookeeper.zookeeper_world import World

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("Kafka 0.8.2; what the model does: tests/core/zookeeper/test_consumer.py"),
]

RETRY_WORDS = "rebalance.max.retries=2 rebalance.backoff.ms=100"
OPERATIONS = frozenset(Api)


@pytest.fixture(scope="module")
def era(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Era]:
    """One broker with its ZooKeeper; each test has topics and consumers of its own."""
    with Era(tmp_path_factory.mktemp("era")) as running:
        running.since("write /consumers/g/ids -", "write /consumers/g/owners -")
        yield running


def model(topics: Mapping[str, int]) -> World:
    """A model world in which there was a consumer of the group before, as in the process."""
    world = World(topics)
    for path in ("/consumers/g", "/consumers/g/ids", "/consumers/g/owners"):
        world.write(Change(Api.CREATE, path))
    return world


def line(api: str, path: str, watch: bool, failed: bool) -> str:
    """A request as a text; the number of a partition is left out."""
    family = re.sub(r"/(owners|offsets)/([^/]+)/\d+$", r"/\1/\2/#", path)
    return f"{api} {family}{' watched' if watch else ''}{' refused' if failed else ''}"


def of_model(ops: Sequence[ModelOp], name: str) -> list[str]:
    """A model consumer's requests, without those about brokers."""
    return [
        line(one.api, one.path, one.watch, one.failed)
        for one in ops
        if one.name == name and not one.path.startswith("/brokers/ids")
    ]


def sessions_of(lines: Sequence[RealOp | Said], name: str) -> set[str]:
    """Sessions that made a consumer's node."""
    made = f"/consumers/g/ids/g_{name}"
    return {
        one.session
        for one in lines
        if isinstance(one, RealOp) and one.api == "create" and one.path == made
    }


def real_ops(era: Era, lines: Sequence[RealOp | Said], name: str) -> list[RealOp]:
    """A real consumer's requests on nodes."""
    sessions = sessions_of(era.lines, name)
    return [
        one
        for one in lines
        if isinstance(one, RealOp) and one.session in sessions and one.api in OPERATIONS
    ]


def of_kafka(era: Era, lines: Sequence[RealOp | Said], name: str) -> list[str]:
    """A real consumer's requests, without those about brokers."""
    return [
        line(one.api, one.path, one.watch, one.failed)
        for one in real_ops(era, lines, name)
        if not one.path.startswith("/brokers/ids")
    ]


def said(lines: Sequence[RealOp | Said], name: str, words: str) -> int:
    """How often a real consumer said these words."""
    return sum(
        isinstance(one, Said) and f"g_{name}" in one.thread + one.message and words in one.message
        for one in lines
    )


def reaches(name: str, words: str, times: int = 1) -> Callable[[Sequence[RealOp | Said]], bool]:
    """Whether a real consumer has said these words so often."""
    return lambda lines: said(lines, name, words) >= times


def step(world: World, action: Callable[[], object], wait_ms: int = 1_000) -> list[ModelOp]:
    """The model's requests from an action on."""
    first = len(world.ops)
    action()
    world.run(world.now_ms + wait_ms)
    return world.ops[first:]


def grow(world: World, topic: str, partitions: int) -> None:
    """Give a topic of the model so many partitions."""
    world.write(Change(Api.SET_DATA, topic_path(topic), write_topic(partitions)))


def test_a_consumer_alone_asks_the_same_in_the_same_order(era: Era) -> None:
    """It starts, meets a foreign owner and gives up, recovers when partitions are added, leaves."""
    world = model({"alone": 4})
    world.write(Change(Api.CREATE, "/consumers/g/owners/alone"))
    world.write(Change(Api.CREATE, "/consumers/g/owners/alone/1", "someone-0"))
    era.since("topic alone 4", "write /consumers/g/owners/alone/1 someone-0")

    def begin() -> None:
        world.start("x", {"alone": 1}, rebalance_max_retries=2, rebalance_backoff_ms=100)

    started = of_model(step(world, begin), "x")
    really = era.since(f"start x static alone 1 {RETRY_WORDS}", "created x")
    kafka = of_kafka(era, really, "x")
    claims = kafka.index("create /consumers/g/owners/alone/#")
    assert started[:claims] == kafka[:claims]
    assert Counter(started) == Counter(kafka)  # which claim is refused depends on the hash map
    assert said(really, "x", "begin rebalancing") == 2
    assert said(really, "x", "waiting for the partition ownership to be deleted: 1") == 2
    assert said(really, "x", "streams not created") == 1
    assert len(world.events("x", EventKind.REBALANCE_FAILED)) == 1
    assert world.fetching() == {"x": []}

    world.write(Change(Api.DELETE, "/consumers/g/owners/alone/1"))
    era.since("delete /consumers/g/owners/alone/1")
    grown = step(world, lambda: grow(world, "alone", 5))
    really = era.since("partitions alone 5", until=reaches("x", "end rebalancing"))
    assert of_model(grown, "x") == of_kafka(era, really, "x")
    # Watch, attempt, and the thread that looks for leaders: the brokers are read three times.
    brokers = [one for one in real_ops(era, really, "x") if one.path.startswith("/brokers/ids")]
    assert len(brokers) == sum(one.path.startswith("/brokers/ids") for one in grown) == 6
    assert world.fetching() == {"x": [f"alone-{n}" for n in range(5)]}
    assert owners_in(era) == {f"alone-{n}": "g_x-0" for n in range(5)} == world.owners()

    left = step(world, lambda: world.shutdown("x"))
    really = era.since("shutdown x")
    assert of_model(left, "x") == of_kafka(era, really, "x") == []
    assert owners_in(era) == {} == world.owners()


def test_two_consumers_change_over_in_the_same_order(era: Era) -> None:
    """The second's node wakes the first, which releases before the second's claims succeed."""
    world = model({"pair": 4})
    era.since("topic pair 4")
    step(world, lambda: world.start("a", {"pair": 1}))
    era.since("start a static pair 1", "created a")

    joined = step(world, lambda: world.start("b", {"pair": 1}, rebalance_backoff_ms=200), 3_000)
    start = "start b static pair 1 rebalance.backoff.ms=200"
    really = era.since(start, "created b", until=reaches("a", "selected partitions"), quiet_ms=600)
    modelled = [f"{one.name} {line(*one[2:])}" for one in joined]
    names = {session: name for name in "ab" for session in sessions_of(era.lines, name)}
    kafka = [
        f"{names[one.session]} {line(*one[1:])}"
        for one in really
        if isinstance(one, RealOp) and one.session in names and one.api in OPERATIONS
    ]
    for lines in (modelled, kafka):
        registered = lines.index("b create /consumers/g/ids/g_b")
        woken = lines.index("a exists /consumers/g/ids watched")
        released = [
            n for n, one in enumerate(lines) if one == "a delete /consumers/g/owners/pair/#"
        ]
        claimed = [n for n, one in enumerate(lines) if one == "b create /consumers/g/owners/pair/#"]
        assert registered < woken < released[0]
        assert len(released) == 4
        # b's first claim may come too early and be refused; its last two are those that hold
        assert released[2] < claimed[-1]
    assert said(really, "a", "NodeChildrenChanged path:/consumers/g/ids") == 1
    expected = {"pair-0": "g_a-0", "pair-1": "g_a-0", "pair-2": "g_b-0", "pair-3": "g_b-0"}
    assert owners_in(era) == expected == world.owners()
    # As long as each needs one attempt, each asks exactly what the model says: 6 + 2 brokers x 1
    # + 1 topic + 2 consumers, its offsets, and 2 for the thread that looks for leaders.
    if said(really, "a", "begin rebalancing") == said(really, "b", "begin rebalancing") == 1:
        for name in "ab":
            assert Counter(of_model(joined, name)) == Counter(of_kafka(era, really, name))

    step(world, lambda: world.shutdown("a"), 5_000)
    really = era.since("shutdown a", until=reaches("b", "selected partitions"), quiet_ms=600)
    assert said(really, "b", "NodeChildrenChanged path:/consumers/g/ids") == 1
    assert said(really, "b", "successfully owned partition") == 4
    assert owners_in(era) == {f"pair-{n}": "g_b-0" for n in range(4)} == world.owners()
    era.since("shutdown b", quiet_ms=100)


def test_an_expired_session_begins_anew(era: Era) -> None:
    """Its nodes are gone; it registers again and rebalances, more often than once."""
    world = model({"late": 2})
    era.since("topic late 2")
    step(world, lambda: world.start("z", {"late": 1}))
    era.since("start z static late 1", "created z")

    # The ensemble hears nothing for 6 s; when the packets come through the session is gone.
    world.cut_off("z")
    world.run(world.now_ms + 12_000)
    begun = len(world.ops)
    world.heal("z")
    world.run(world.now_ms + 10_000)
    really = era.since("expire z", until=reaches("z", "selected partitions", 2), quiet_ms=1_500)
    for lines in (of_model(world.ops[begun:], "z"), of_kafka(era, really, "z")):
        assert lines.count("create /consumers/g/ids/g_z") == 1
        assert lines.index("create /consumers/g/ids/g_z") < lines.index(
            "create /consumers/g/owners/late/#"
        )
        # every rebalance of two partitions claims two, and releases what the one before claimed
        claims = lines.count("create /consumers/g/owners/late/#")
        assert claims == lines.count("delete /consumers/g/owners/late/#") + 2
        # the new session's own, and one more for the listeners that are all told
        assert claims >= 4
    assert said(really, "z", "ZK expired") == 1
    assert owners_in(era) == {"late-0": "g_z-0", "late-1": "g_z-0"} == world.owners()
    era.since("shutdown z", quiet_ms=100)


def test_no_session_ends_by_itself(era: Era) -> None:
    """A machine that is busy for minutes ends none of them: of consumers, the broker and ours."""
    era.since("topic awake 1", "start v static awake 1", "created v")
    first = len(era.lines)
    era.do("sessions")
    told = [one for one in era.lines[first:] if isinstance(one, Said) and one.thread == "session"]
    assert len(told) >= 3
    assert {int(one.thrown) for one in told} == {24 * 3600 * 1000}
    era.since("shutdown v", quiet_ms=100)


def test_a_pattern_is_read_again_when_a_topic_appears(era: Era) -> None:
    """A white list listens to the topics' node and begins anew with what it finds there."""
    world = model({"wild.one": 2})
    era.since("topic wild.one 2")

    def matches(topic: str) -> bool:
        return topic.startswith("wild")

    started = step(world, lambda: world.start("w", pattern="wild.*", matches=matches))
    really = era.since("start w white_list wild.* 1", "created w")
    assert of_model(started, "w") == of_kafka(era, really, "w")

    node = Change(Api.CREATE, topic_path("wild.two"), write_topic(3))
    appeared = step(world, lambda: world.write(node))
    really = era.since("topic wild.two 3", until=reaches("w", "selected partitions"))
    assert Counter(of_model(appeared, "w")) == Counter(of_kafka(era, really, "w"))
    expected = {f"wild.one-{n}" for n in range(2)} | {f"wild.two-{n}" for n in range(3)}
    assert set(owners_in(era)) == expected == set(world.owners())
    era.since("shutdown w", quiet_ms=100)


def owners_in(era: Era) -> dict[str, str]:
    """Owner nodes that stand now: `topic-partition` -> thread id."""
    first = len(era.lines)
    era.do("owners")
    told = [one for one in era.lines[first:] if isinstance(one, Said) and one.thread == "owner"]
    return {one.message: one.thrown for one in told}


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_threads_get_the_same_partitions(era: Era, strategy: str) -> None:
    """Two consumers with three streams and one, on two topics: every thread owns what it should."""
    topics = {f"{strategy}.a": 7, f"{strategy}.b": 5}
    world = model(topics)
    era.since(*(f"topic {topic} {count}" for topic, count in topics.items()))

    def matches(topic: str) -> bool:
        return topic.startswith(strategy)

    for name, streams in (("one", 3), ("ten", 1)):
        world.start(
            name,
            pattern=f"{strategy}.*",
            streams=streams,
            matches=matches,
            partition_assignment_strategy=strategy,
            rebalance_backoff_ms=200,
        )
        world.run(world.now_ms + 5_000)
        settings = f"partition.assignment.strategy={strategy} rebalance.backoff.ms=200"
        start = f"start {name} white_list {strategy}.* {streams} {settings}"
        era.since(start, f"created {name}", quiet_ms=600)
    era.since(until=lambda lines: owners_in(era) == world.owners())
    assert set(world.owners().values()) == {"g_one-0", "g_one-1", "g_one-2", "g_ten-0"}
    era.since("shutdown one", "shutdown ten", quiet_ms=100)
