"""The consumer of the ZooKeeper era among others: the herd, split brain, failed rebalances.

Every number is derived by hand in the comments. A request takes 1 ms there and 1 ms back.
"""

from collections.abc import Iterable

import pytest

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.zookeeper.effects import EventKind
from kgroups.core.zookeeper.ensemble import EnsembleConfig
from kgroups.core.zookeeper.node_tree import Change
from kgroups.core.zookeeper.nodes import BROKER_IDS, topic_path, write_topic
from kgroups.core.zookeeper.protocol import Api
from tests.support.zookeeper.zookeeper_world import World, broker_data

LAG_MS = 1_000


def started(world: World, names: Iterable[str], topics: dict[str, int], **more: int) -> None:
    """Consumers that have come one after the other."""
    for name in names:
        world.start(name, topics, **more)  # type: ignore[arg-type]
        world.settle()
    world.run(world.now_ms + 200)


def spans(world: World, name: str, partition: TopicPartition) -> list[tuple[int, int]]:
    """From when until when a consumer read a partition."""
    found: list[tuple[int, int]] = []
    since: int | None = None
    for reading in world.readings:
        if reading.name == name and partition in reading.partitions:
            if reading.begins:
                since = reading.at_ms
            elif since is not None:
                found.append((since, reading.at_ms))
                since = None
    return found if since is None else [*found, (since, world.now_ms)]


def reads_since(world: World, first: int) -> int:
    """Reads that the ensemble has answered from the given request on."""
    reading = (Api.GET_DATA, Api.EXISTS, Api.GET_CHILDREN)
    return sum(one.api in reading for one in world.ops[first:])


# ---------------------------------------------------------------------- the herd


@pytest.mark.parametrize("members", [1, 2, 4, 8])
@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("topics", [1, 2])
def test_one_change_makes_every_member_read_everything(
    members: int, brokers: int, topics: int
) -> None:
    """A topic's node is written: M notifications, and reads that grow with M squared."""
    # Each of M members, with B brokers and T topics:
    #   2              exists and getData of the node that has changed
    #   2 x (1 + B)    the brokers, twice: for their addresses and for their number
    #   1 + 1          its own registration, twice
    #   T              the topics that it reads
    #   1 + M + 1      the group's members, what each reads, and the members again
    #   its partitions one committed offset each
    #   1 + B          the brokers once more, for who looks for the partitions' leaders
    # = M (9 + 3 B + T + M) and all partitions, 8 a topic, once.
    names = {f"t{n}": 8 for n in range(topics)}
    world = World(names, brokers=brokers)
    started(world, [f"c{n}" for n in range(members)], dict.fromkeys(names, 1))
    told, first = world.notices, len(world.ops)
    world.write(Change(Api.SET_DATA, topic_path("t0"), write_topic(8, {0: (1,)})))
    world.run(world.now_ms + 1_000)
    assert world.notices - told == members
    expected = members * (9 + 3 * brokers + topics + members) + 8 * topics
    assert reads_since(world, first) == expected


@pytest.mark.parametrize("members", [2, 4, 8])
def test_a_newcomer_wakes_everybody_though_nothing_is_left_for_it(members: int) -> None:
    """As many partitions as members: nobody's share changes, everybody rebalances."""
    # The M others are told and read M (9 + 3 B + T + (M + 1)) + P, with B = T = 1 and P = M:
    # M (14 + M) + M. The newcomer is not told (its watch is younger than its node). It sets its
    # watches (exists, getChildren; exists of the topic) and reads 2 (1 + B) + 2 + T + 1 + (M + 1)
    # + 1 = 10 + M, no offsets, and looks for no leaders.
    world = World({"t": members})
    started(world, [f"c{n}" for n in range(members)], {"t": 1})
    before, told, first = world.owners(), world.notices, len(world.ops)
    world.start("d", {"t": 1})
    world.run(world.now_ms + 1_000)
    assert world.owners() == before
    assert world.notices - told == members
    assert reads_since(world, first) == members * (14 + members) + members + 3 + 10 + members


def test_a_broker_wakes_nobody_unless_there_was_none() -> None:
    """Consumers of 0.8.2 watch the brokers only from a rebalance that found none."""
    world = World({"t": 2})
    started(world, ["a"], {"t": 1})
    first = len(world.ops)
    world.write(Change(Api.CREATE, f"{BROKER_IDS}/1", broker_data(1)))
    world.write(Change(Api.DELETE, f"{BROKER_IDS}/0"))
    world.run(world.now_ms + 5_000)
    assert world.ops[first:] == []

    none = World({"t": 2}, brokers=0)
    started(none, ["a"], {"t": 1})
    assert none.fetching() == {"a": []}
    assert len(none.events("a", EventKind.NO_BROKERS)) == 1
    none.write(Change(Api.CREATE, f"{BROKER_IDS}/0", broker_data(0)))
    none.run(none.now_ms + 1_000)
    assert none.fetching() == {"a": ["t-0", "t-1"]}


# ---------------------------------------------------------------------- nobody reads


def test_after_a_crash_nobody_reads_until_the_session_has_expired() -> None:
    """The dead member's partitions wait for ZooKeeper's tick, then for a rebalance."""
    # b stays. a pings 2,000 ms after its last request (a third of its timeout); the crash comes
    # before that. Whatever a sent last at s, ZooKeeper expires it at the tick after s + 6,000.
    world = World({"t": 2})
    started(world, ["a", "b"], {"t": 1})
    world.run(1_000)
    last_ms = max(one.at_ms for one in world.ops if one.name == "a")
    world.crash("a")
    world.run(20_000)
    expires_ms = ((last_ms + 6_000) // 2_000 + 1) * 2_000
    # Told 1 ms later; then 17 requests of 2 ms each: 2 for the event, 2 for the brokers, its own
    # registration, the brokers again (2), 1 release, its registration, the topic, the members,
    # what the only one reads, the members again, 2 offsets, 2 claims. Then it begins to read.
    (begun,) = [since for since, _ in spans(world, "b", TopicPartition("t", 0))]
    assert begun == expires_ms + 1 + 2 * 17
    assert spans(world, "a", TopicPartition("t", 0))[-1][1] == 1_000
    assert world.fetching() == {"b": ["t-0", "t-1"]}


def test_a_proper_end_is_told_at_once() -> None:
    """The session is closed, the nodes go, the watch fires: no timeout is waited for."""
    world = World({"t": 2})
    started(world, ["a", "b"], {"t": 1})
    world.run(1_000)
    world.shutdown("a")
    world.run(1_200)
    (begun,) = [since for since, _ in spans(world, "b", TopicPartition("t", 0))]
    assert begun == 1_000 + 1 + 1 + 2 * 17  # the message's way, the notice's way, and as above
    assert world.owners() == {"t-0": "g_b-0", "t-1": "g_b-0"}


# ---------------------------------------------------------------------- two read, or nobody


def test_a_paused_member_reads_what_is_no_longer_its_own() -> None:
    """A long pause: another claims, and when the paused one wakes up both read for a while."""
    world = World({"t": 2})
    started(world, ["a", "b"], {"t": 1})
    world.run(1_000)
    world.pause("a")
    world.run(15_000)
    assert world.fetching()["b"] == ["t-0", "t-1"]
    assert world.fetching()["a"] == ["t-0"]  # by its own account, and it will read when it wakes
    world.resume("a")
    world.run(30_000)
    # Awake at 15,000 it finds the connection closed and dials at once (chance draws 0): Hello 1,
    # Expired 1; Hello 1, Welcome 1 for the next session. A notice of its own end came before the
    # connection was closed, so its event thread asks exists and getChildren (4) first, then the
    # watcher reads getChildren, getData of the broker, its registration (made meanwhile), and
    # the brokers again: 5 requests, 10 ms. Then only it stops reading.
    ended = next(to for since, to in spans(world, "a", TopicPartition("t", 0)) if to > 15_000)
    assert ended == 15_000 + 2 + 2 + 4 + 10
    both_since = next(since for since, _ in spans(world, "b", TopicPartition("t", 0)))
    assert 6_000 < both_since < 15_000  # b has read t-0 all the time
    world.settle()
    assert world.fetching() == {"a": ["t-0"], "b": ["t-1"]}


def lagging(world: World, backoff_ms: int) -> None:
    """a at the leader and b at a follower that is a second behind; then `0` joins at the leader.

    By range of four partitions a has 0 and 1, b has 2 and 3; afterwards `0` has 0 and 1, a has 2,
    b has 3.
    """
    world.start("a", {"t": 1}, draw=lambda n: 0, rebalance_backoff_ms=backoff_ms)
    world.settle()
    world.start("b", {"t": 1}, draw=lambda n: 1, rebalance_backoff_ms=backoff_ms)
    world.settle()
    world.run(10_000)
    assert world.fetching() == {"a": ["t-0", "t-1"], "b": ["t-2", "t-3"]}
    world.start("0", {"t": 1}, draw=lambda n: 0, rebalance_backoff_ms=backoff_ms)


def test_a_stale_view_keeps_a_partition_from_its_new_owner() -> None:
    """b does not know of the newcomer for a second; a meets b's node, backs off, tries again."""
    lags = EnsembleConfig(servers=2, lag_ms=lambda server, zxid: LAG_MS)
    world = World({"t": 4}, ensemble=lags)
    lagging(world, backoff_ms=2_000)
    world.run(10_900)
    assert [one.partitions for one in world.events("a", EventKind.CONFLICT)] == [
        (TopicPartition("t", 2),)
    ]
    assert world.fetching()["b"] == ["t-2", "t-3"]  # as if nothing had happened
    assert world.fetching()["a"] == []
    assert world.fetching()["0"] in (["t-0", "t-1"], [])
    world.settle()
    world.run(world.now_ms + 5_000)
    assert world.fetching() == {"0": ["t-0", "t-1"], "a": ["t-2"], "b": ["t-3"]}
    # b stopped about a second after the newcomer came; a tries again 2 s after its first attempt:
    # between the two nobody reads t-2.
    stopped = spans(world, "b", TopicPartition("t", 2))[0][1]
    begun = spans(world, "a", TopicPartition("t", 2))[-1][0]
    assert 11_000 < stopped < 11_100
    assert 12_000 < begun < 12_200

    prompt = World({"t": 4}, ensemble=EnsembleConfig(servers=2))
    lagging(prompt, backoff_ms=2_000)
    prompt.settle()
    gap = (
        spans(prompt, "a", TopicPartition("t", 2))[0][0]
        - (spans(prompt, "b", TopicPartition("t", 2))[0][1])
    )
    assert gap < 100  # without the lag all three read the same and change over at once


def test_a_backoff_shorter_than_the_lag_fails_the_rebalance() -> None:
    """Four tries of 200 ms are over before b knows: a gives up, and nobody reads t-2 any more."""
    lags = EnsembleConfig(servers=2, lag_ms=lambda server, zxid: LAG_MS)
    world = World({"t": 4}, ensemble=lags)
    lagging(world, backoff_ms=200)
    world.settle()
    world.run(60_000)
    assert len(world.events("a", EventKind.REBALANCE, since_ms=10_000)) == 4
    (failure,) = world.events("a", EventKind.REBALANCE_FAILED)
    assert failure.reason == "g_a can't rebalance after 4 retries"
    assert world.fetching() == {"0": ["t-0", "t-1"], "a": [], "b": ["t-3"]}
    assert "t-2" not in world.owners()
    # It owns nothing until the next event, whatever that is: then all is well.
    world.write(Change(Api.SET_DATA, topic_path("t"), write_topic(4, {0: (1,)})))
    world.run(70_000)
    assert world.fetching() == {"0": ["t-0", "t-1"], "a": ["t-2"], "b": ["t-3"]}


def test_a_member_that_vanishes_between_two_reads_spoils_the_attempt() -> None:
    """Its name was listed, its data is gone: the attempt fails, the next one succeeds."""
    world = World({"t": 2})
    started(world, ["a", "b"], {"t": 1})
    world.run(1_000)
    world.write(Change(Api.SET_DATA, topic_path("t"), write_topic(2, {0: (1,)})))
    # a was told at 1,001, and lists the members as its 11th request: 2 for the event, 2, 1, 2,
    # one release, 1, 1 and then getChildren, which arrives at 1,001 + 2 x 10 + 1.
    world.run(1_022)
    world.ensemble.write(1_022, Change(Api.DELETE, "/consumers/g/ids/g_b"))
    world.run(1_100)
    (failed,) = world.events("a", EventKind.ATTEMPT_FAILED)
    assert failed.reason == "NoNode for /consumers/g/ids/g_b"
    world.run(10_000)
    assert world.fetching()["a"] == ["t-0", "t-1"]


def test_a_session_that_expires_between_claims_leaves_nodes_that_nobody_releases() -> None:
    """0.8.2 forgets what it owns without taking the lock; only a restart of the owner helps."""
    world = World({"t": 4})
    started(world, ["a"], {"t": 1})
    world.run(1_000)
    world.write(Change(Api.SET_DATA, topic_path("t"), write_topic(4, {0: (1,)})))
    # Told at 1,001, a asks 20 times, 2 ms each, before it claims: 2 for the event, 2 + 1 + 2 of
    # brokers and itself, 4 releases, 5 of the group, 4 offsets. The claims arrive at 1,042,
    # 1,044 and 1,046. Another change is told at 1,046. Then nothing comes through any more: the
    # last claim is not sent, and the event thread never hears whether the node `exists`.
    world.run(1_045)
    world.write(Change(Api.SET_DATA, topic_path("t"), write_topic(4, {0: (2,)})))
    world.run(1_046)
    world.cut_off("a")
    world.run(20_000)
    assert world.owners() == {}
    world.heal("a")
    # The new session is there at 20,004. At 20,006 the watcher has t-3 and is done; at 20,008 the
    # event thread has read the node, forgets what was owned, and registers.
    world.run(20_011)
    (done,) = world.events("a", EventKind.REBALANCED, since_ms=20_000)
    assert (done.at_ms, len(done.partitions)) == (20_006, 4)
    assert world.owners() == {"t-3": "g_a-0"}
    world.start("b", {"t": 1}, rebalance_max_retries=2)
    world.run(60_000)
    assert world.fetching() == {"a": ["t-0", "t-1"], "b": []}
    assert world.owners() == dict.fromkeys(("t-0", "t-1", "t-3"), "g_a-0")
    assert len(world.events("b", EventKind.REBALANCE_FAILED)) == 1
    world.shutdown("a")
    world.run(70_000)
    assert world.fetching() == {"b": [f"t-{n}" for n in range(4)]}


# ---------------------------------------------------------------------- offsets


def test_offsets_are_committed_before_ownership_is_released() -> None:
    """What was read goes to `/consumers/g/offsets`; the next owner begins there."""
    world = World({"t": 2})
    seat = world.start("a", {"t": 1})
    world.settle()
    seat.positions.update({TopicPartition("t", 0): 7, TopicPartition("t", 1): 9})
    first = len(world.ops)
    world.start("b", {"t": 1})
    world.settle()
    written = [
        (one.api, one.path)
        for one in world.ops[first:]
        if one.name == "a" and not one.failed and one.api in (Api.CREATE, Api.DELETE)
    ]
    assert written == [
        (Api.CREATE, "/consumers/g/offsets"),
        (Api.CREATE, "/consumers/g/offsets/t"),
        (Api.CREATE, "/consumers/g/offsets/t/0"),
        (Api.CREATE, "/consumers/g/offsets/t/1"),
        (Api.DELETE, "/consumers/g/owners/t/0"),
        (Api.DELETE, "/consumers/g/owners/t/1"),
        (Api.CREATE, "/consumers/g/owners/t/0"),
    ]
    assert world.seats["b"].positions == {TopicPartition("t", 1): 9}


def test_an_expired_session_commits_nothing() -> None:
    """What was read since the last commit is read again by whoever has the partition then."""
    world = World({"t": 1})
    seat = world.start("a", {"t": 1})
    world.run(4_000)
    seat.positions[TopicPartition("t", 0)] = 10
    world.commit("a")
    world.run(6_000)
    seat.positions[TopicPartition("t", 0)] = 25
    world.cut_off("a")
    world.run(10_000)
    world.commit("a")  # it does not get through
    world.run(20_000)
    world.start("b", {"t": 1})
    world.run(21_000)
    assert world.seats["b"].positions == {TopicPartition("t", 0): 10}
    node = world.ensemble.tree_of().node("/consumers/g/offsets/t/0")
    assert node is not None
    assert node.data == "10"
