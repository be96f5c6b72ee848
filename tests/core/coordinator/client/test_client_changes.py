"""Members whose coordinator moves, whose lists of assignors differ, whose subscriptions change."""

import pytest

from kgroups.core.coordinator.classic.messages import JoinGroupRequest, LeaveGroupRequest
from kgroups.core.coordinator.client.classic.states import ClientState
from kgroups.core.coordinator.client.effects import (
    CallbackKind,
    ClientEventKind,
    CommitOffsets,
    Subscribe,
    TopicPartition,
    Unsubscribe,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest
from tests.support.coordinator.classic_client_world import SETTLE_MS, App, World

ASSIGNED, REVOKED, LOST = CallbackKind.ASSIGNED, CallbackKind.REVOKED, CallbackKind.LOST


def settled(seed: int, assignors: str = "range", number: int = 3) -> tuple[World, list[App]]:
    """A settled group in generation 1."""
    world = World(seed, disjoint=False)
    return world, world.group(assignors, number)


def brokers_found(app: App) -> list[int]:
    """Ids of the coordinators that it found, in order."""
    return [one.detail[0].node_id for one in app.told(ClientEventKind.COORDINATOR_FOUND)]  # type: ignore[attr-defined]


def told(app: App) -> list[tuple[CallbackKind, list[tuple[str, int]]]]:
    """Callbacks with their partitions."""
    return [
        (one.kind, sorted((at.topic, at.partition) for at in one.partitions))
        for one in app.callbacks
    ]


# ---------------------------------------------------------------------- the coordinator moves


@pytest.mark.parametrize("loading_ms", [0, 3_000])
@pytest.mark.parametrize("assignors", ["range", "cooperative-sticky"])
def test_a_settled_group_outlives_a_move_without_a_rebalance(
    assignors: str, loading_ms: int
) -> None:
    """The old broker answers 16, the new one 14 until it has loaded; nobody loses a partition."""
    world, apps = settled(1, assignors=assignors)
    before, generation = world.shares(), world.generation
    callbacks = [len(app.callbacks) for app in apps]
    world.move(loading_ms=loading_ms)
    world.settle(20_000)
    assert (world.shares(), world.generation) == (before, generation)
    assert [len(app.callbacks) for app in apps] == callbacks
    assert [brokers_found(app) for app in apps] == [[0, 1]] * len(apps)


def test_a_move_in_the_middle_of_a_rebalance() -> None:
    """Parked JoinGroups are answered 16 by the old broker; the new one finishes the rebalance."""
    world, apps = settled(2)
    slow = apps[0]
    world.stall(slow)  # so that the others wait for it, their JoinGroups parked
    world.start("late")
    world.run(3_000)
    assert ClientState.JOINING in {app.client.state for app in world.living()}
    world.move()
    world.wake(slow)
    world.settle(30_000)
    assert len(world.shares()) == 4
    assert all(brokers_found(app)[-1] == 1 for app in world.living())


def test_offsets_move_along() -> None:
    """What was committed at the old broker is there at the new one, and is added to."""
    world, (app,) = settled(3, number=1)
    world.tell(app, CommitOffsets({TopicPartition("t", 0): 11}, number=1, sync=True))
    world.run(100)
    world.move(loading_ms=1_000)
    world.tell(app, CommitOffsets({TopicPartition("t", 1): 12}, number=2, sync=True))
    world.run(SETTLE_MS)
    (group,) = world.coordinator.snapshot()
    assert {n: one.offset for n, one in group.offsets["t"].items() if n < 2} == {0: 11, 1: 12}
    assert [one.detail for one in app.told(ClientEventKind.OFFSETS_COMMITTED)] == [(1,), (2,)]


def test_who_joins_while_the_new_broker_loads_waits_for_it() -> None:
    """14 to JoinGroup: asked again after the back-off, not somewhere else."""
    world, apps = settled(4)
    world.move(loading_ms=4_000)
    late = world.start("late")
    world.run(2_000)
    assert late.client.state is ClientState.JOINING
    world.settle(20_000)
    assert set(brokers_found(late)) == {1}
    assert len([one for one in late.sent if isinstance(one, JoinGroupRequest)]) > 3
    assert world.generation > 1
    assert len(apps) == 3


@pytest.mark.parametrize("assignors", ["sticky", "cooperative-sticky"])
def test_a_broker_that_dies_takes_no_partition_along(assignors: str) -> None:
    """Its connections break, another broker has the group: looked up, found, gone on."""
    world, apps = settled(5, assignors=assignors)
    before = world.shares()
    world.move()
    world.kill_broker(0)
    world.settle(20_000)
    assert (world.shares(), world.generation) == (before, 1)
    assert not [one for app in apps for one in app.callbacks if one.kind is LOST]


def test_the_coordinator_moves_again_and_again() -> None:
    """Each time members follow; in the end the group is as it was."""
    world, apps = settled(6)
    for _ in range(4):
        world.move(loading_ms=500)
        world.run(8_000)
    world.assert_settled()
    assert world.generation == 1
    assert [brokers_found(app) for app in apps] == [[0, 1, 2, 3, 4]] * len(apps)


# ---------------------------------------------------------------------- the vote


def protocol(world: World) -> str | None:
    """The assignor that the group has chosen."""
    (group,) = world.coordinator.snapshot()
    return group.protocol


@pytest.mark.parametrize(
    ("lists", "chosen"),
    [
        (["range,roundrobin", "range,roundrobin", "roundrobin,range"], "range"),
        (["range,roundrobin", "roundrobin,range", "roundrobin,sticky"], "roundrobin"),
        (["sticky,range", "range", "range,sticky"], "range"),
        (["cooperative-sticky,range", "range,cooperative-sticky", "cooperative-sticky,range"],
         "cooperative-sticky"),
    ],
)  # fmt: skip
def test_the_assignor_that_all_offer_and_most_prefer_is_taken(
    lists: list[str], chosen: str
) -> None:
    """Whoever leads can lead with it: each member has it in its list."""
    world = World(7)
    for place, names in enumerate(lists):
        world.start(f"c{place}", names)
    world.settle()
    assert protocol(world) == chosen


def test_who_shares_no_assignor_with_the_group_fails() -> None:
    """INCONSISTENT_GROUP_PROTOCOL is fatal for the newcomer, and nothing to the others."""
    world, _ = settled(8)
    stranger = world.start("stranger", "roundrobin")
    world.run(SETTLE_MS)
    assert stranger.client.state is ClientState.FAILED
    assert "INCONSISTENT_GROUP_PROTOCOL" in (stranger.client.failure or "")
    world.assert_settled(missing=["stranger"])
    assert world.generation == 1


def test_a_member_that_offers_an_eager_one_too_gives_everything_up() -> None:
    """A list is cooperative only if all of it is."""
    world, apps = settled(9, "cooperative-sticky,range", 2)
    world.start("late", "cooperative-sticky,range")
    world.settle()
    assert protocol(world) == "cooperative-sticky"
    for app in apps:
        kinds = [kind for kind, _ in told(app)]
        assert kinds == [ASSIGNED, REVOKED, ASSIGNED]
        assert len(told(app)[1][1]) == len(told(app)[0][1])


def test_from_range_to_cooperative_sticky_in_two_rounds_of_restarts() -> None:
    """KIP-429's way: both offered first, then the eager one dropped; nothing is held twice."""
    world = World(10)
    apps = [world.start(f"c{n}", "range") for n in range(3)]
    world.run(SETTLE_MS)
    for offered in ("cooperative-sticky,range", "cooperative-sticky"):
        for place, app in enumerate(apps):
            world.stop(app)
            world.run(5_000)
            apps[place] = world.start(f"{app.name}+", offered)
            world.settle()
    assert protocol(world) == "cooperative-sticky"
    world.start("late", "cooperative-sticky")
    world.settle()
    assert all(len(shares) < 6 for _, shares in told(apps[0])[-1:])


# ---------------------------------------------------------------------- subscriptions


def two_topics(seed: int, assignors: str) -> tuple[World, App]:
    """A world of topics t and u, and one member that reads t."""
    world = World(seed, t=2, u=2)
    app = world.start("a", assignors, topics=("t",))
    world.run(SETTLE_MS)
    assert told(app) == [(ASSIGNED, [("t", 0), ("t", 1)])]
    return world, app


T, U = [("t", 0), ("t", 1)], [("u", 0), ("u", 1)]
BOTH, OTHER = "subscribed to u", "subscribed to u, unsubscribed from t"
CHANGES: list[tuple[str, tuple[str, ...], str, list[object]]] = [
    ("range", ("t", "u"), BOTH, [(REVOKED, T), (ASSIGNED, T + U)]),
    ("range", ("u",), OTHER, [(REVOKED, T), (ASSIGNED, U)]),
    ("cooperative-sticky", ("t", "u"), BOTH, [(ASSIGNED, U)]),
    ("cooperative-sticky", ("u",), OTHER, [(REVOKED, T), (ASSIGNED, U)]),
]


@pytest.mark.parametrize(("assignors", "topics", "reason", "callbacks"), CHANGES)
def test_another_subscription_begins_a_rebalance(
    assignors: str, topics: tuple[str, ...], reason: str, callbacks: list[object]
) -> None:
    """At the next poll; a cooperative member gives up only what it no longer subscribes to."""
    world, app = two_topics(11, assignors)
    world.tell(app, Subscribe(topics))
    assert app.client.rejoin_reason == reason
    world.run(SETTLE_MS)
    assert told(app)[1:] == callbacks
    assert world.generation == 2
    assert sorted({one.topic for one in app.client.owned}) == sorted(topics)


def test_the_same_subscription_in_another_order_is_none() -> None:
    """Topics are a set."""
    world = World(12, t=2, u=2)
    app = world.start("a", topics=("t", "u"))
    world.run(SETTLE_MS)
    world.tell(app, Subscribe(("u", "t")))
    world.settle()
    assert (app.client.rejoin_reason, world.generation) == (None, 1)


@pytest.mark.parametrize("state", [ClientState.JOINING, ClientState.SYNCING])
def test_a_subscription_that_changes_on_the_way_counts_in_the_next_rebalance(
    state: ClientState,
) -> None:
    """What was offered stands until the join is over, then the member joins again."""
    world = World(13, t=2, u=2)
    app = world.start("a", topics=("t",))
    while app.client.state is not state or not app.client.identity[1]:
        world.run(1)
    world.run(30 * (state is ClientState.JOINING))  # the JoinGroup with the id is there
    world.tell(app, Subscribe(("u",)))
    world.run(2 * SETTLE_MS)
    assert {one.topic for one in app.client.owned} == {"u"}
    assert world.generation == 2
    assert told(app) == [(ASSIGNED, T), (REVOKED, T), (ASSIGNED, U)]


# ---------------------------------------------------------------------- max.poll.interval.ms


def test_a_static_member_that_stops_polling_says_nothing() -> None:
    """No LeaveGroup: its session has to end first; it comes back having lost everything."""
    world = World(14, disjoint=False)
    stalled = world.start("a", group_instance_id="i1")
    other = world.start("b", group_instance_id="i2")
    world.settle()
    world.stall(stalled)
    world.run(30_000)
    assert len(world.shares()["b"]) == 3  # max.poll.interval.ms over, session not yet
    world.run(10_000 + 15_000)
    assert len(other.client.owned) == 6
    assert not [one for one in stalled.sent if isinstance(one, LeaveGroupRequest)]
    world.wake(stalled)
    world.settle()
    assert [kind for kind, _ in told(stalled)] == [ASSIGNED, LOST, ASSIGNED]


def test_polling_in_time_keeps_the_place() -> None:
    """A pause just shorter than max.poll.interval.ms costs nothing."""
    world, apps = settled(15)
    world.stall(apps[1])
    world.run(28_000)
    world.wake(apps[1])
    world.settle()
    assert world.generation == 1


# ---------------------------------------------------------------------- unsubscribing


@pytest.mark.parametrize("assignors", ["range", "cooperative-sticky"])
def test_who_unsubscribes_gives_up_leaves_and_commits_nothing(assignors: str) -> None:
    """`revoked`, LeaveGroup with the reason, a new member id when it subscribes again."""
    world, apps = settled(4, assignors=assignors)
    gone, held = apps[1], sorted(apps[1].client.owned)
    sent, before = len(gone.sent), gone.client.member_id
    gone.commits = False
    world.tell(gone, Unsubscribe())
    world.run(SETTLE_MS)
    assert (gone.callbacks[-1].kind, sorted(gone.callbacks[-1].partitions)) == (REVOKED, held)
    (leave,) = [one for one in gone.sent[sent:] if isinstance(one, LeaveGroupRequest)]
    assert leave.members[0].reason == "the consumer unsubscribed from all topics"
    assert not any(isinstance(one, OffsetCommitRequest) for one in gone.sent[sent:])
    assert (gone.client.state, gone.client.generation) == (ClientState.UNJOINED, -1)
    assert sorted(n for share in world.shares().values() for n in share) == list(range(6))
    world.tell(gone, Subscribe(("t",)))
    world.settle()
    assert gone.client.member_id not in ("", before)


def test_who_unsubscribes_while_it_joins_is_no_member_afterwards() -> None:
    """Its JoinGroup may be parked; the others do not wait for it."""
    world, _ = settled(5)
    late = world.start("late")
    world.run(50)
    world.tell(late, Unsubscribe())
    world.run(3 * SETTLE_MS)
    assert late.client.state is ClientState.UNJOINED
    assert sorted(n for share in world.shares().values() for n in share) == list(range(6))
    assert not late.client.owned
