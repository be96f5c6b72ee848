"""What the adapter shows of a cluster: the same tests for every cluster that can be asked.

Each test takes `address` only, the bootstrap servers of a plain cluster, and uses names of its own.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.coordinator.releases import V4_4_0, Release
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.broker_settings import broker_support
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import CommittedOffset, Group, Member, PartitionLog
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.hung_transactions import left_open
from tests.support.kafka.kip848_heartbeats import HeartbeatGroup
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import HAS_KIP848, needs_kip848
from tests.support.kafka.releases import RELEASES, chosen_release, offers
from tests.support.kafka.waiting import wait_for_thread, wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    delete_topics,
    expire_records,
    produce,
    topic_id_of,
)
from tests.support.sandbox.frame_client import WireClient

pytestmark = pytest.mark.kafka

# The old coordinator knows an empty name as little as any other.
NO_NAME = "INVALID_GROUP_ID" if offers(chosen_release(), "KIP-848") else "GROUP_ID_NOT_FOUND"
ORDERS, AUDIT = "con-orders", "con-audit"
LIVE = ("con-range", "con-coop", "con-static", "con-kip848")
EMPTY = "con-empty"
ODD_NAMES = (
    "con two words",
    "con 'single' \"double\"",
    "con-übergrößen-日本語-😀",
    "--con-dash",
    "con\ttab",
    " con-blank ",
)


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> str:
    """The cluster under test."""
    return kafka.bootstrap


@pytest.fixture
def release() -> Release:
    """Of Kafka, that its brokers are of."""
    return Release.parse(RELEASES[chosen_release()].version)


@pytest.fixture
def admin(address: str) -> Iterator[ClusterAdmin]:
    """The adapter, connected to it."""
    with ClusterAdmin(ClientSettings(address), timeout_ms=30_000) as admin:
        yield admin


@pytest.fixture(scope="module")
def live(address: str) -> Iterator[dict[str, LiveGroup]]:
    """Groups with members, by name: range, cooperative, static, KIP-848; and one without."""
    create_topics(address, {ORDERS: 6, AUDIT: 3})
    produce(address, {(ORDERS, number): 10 * (number + 1) for number in range(6)})
    produce(address, {(AUDIT, number): 7 for number in range(3)})
    expire_records(address, {(ORDERS, 5): 20})
    commit_offsets(address, {EMPTY: {(ORDERS, 0): 4, (ORDERS, 5): 3, (AUDIT, 2): 9}}, metadata="m")
    wanted = {
        "con-range": LiveGroup(
            address,
            "con-range",
            [MemberSpec("one", (ORDERS, AUDIT)), MemberSpec("two", (ORDERS,))],
        ),
        "con-coop": LiveGroup(
            address,
            "con-coop",
            [MemberSpec("one", (ORDERS,)), MemberSpec("two", (ORDERS,))],
            assignor="cooperative-sticky",
        ),
        "con-static": LiveGroup(
            address,
            "con-static",
            [
                MemberSpec("one", (AUDIT,), instance_id="instance-1"),
                MemberSpec("two", (AUDIT,), instance_id="instance-2"),
            ],
        ),
        "con-kip848": LiveGroup(
            address,
            "con-kip848",
            [MemberSpec("one", (ORDERS,)), MemberSpec("two", ("^con-aud.*",))],
            protocol="consumer",
        ),
    }
    partitions = dict(zip(LIVE, (9, 6, 3, 9), strict=True))
    if not HAS_KIP848:
        del wanted["con-kip848"]
    with ExitStack() as stack:
        for group in wanted.values():
            stack.enter_context(group)
        for name in wanted:
            wanted[name].wait_stable(partitions[name])
        for name in ("con-range", "con-kip848"):
            if name not in wanted:
                continue
            owner = next(m for m in wanted[name].members if (ORDERS, 0) in m.assignment)
            owner.commit({(ORDERS, 0): 6})
        yield wanted


def _group(admin: ClusterAdmin, name: str) -> Group:
    """One group, described without any failure."""
    snapshot = admin.snapshot([name])
    assert snapshot.errors == ()
    (group,) = snapshot.groups
    assert group.group == name
    return group


def _members(group: Group) -> dict[str, Member]:
    """Members by client id."""
    return {member.client_id: member for member in group.members or ()}


def _owned(group: LiveGroup) -> dict[str, set[tuple[str, int]]]:
    """What the members themselves believe to own, by client id."""
    return {member.spec.client_id: member.assignment for member in group.members}


def _assigned(group: Group) -> dict[str, set[tuple[str, int]]]:
    """What the coordinator says that they own, by client id."""
    return {
        member.client_id: {
            (topic, number)
            for topic, numbers in (member.assignment or {}).items()
            for number in numbers
        }
        for member in group.members or ()
    }


def _offsets(group: Group) -> dict[tuple[str, int], int]:
    """Committed offsets without epochs and metadata."""
    return {
        (topic, number): commit.offset
        for topic, commits in (group.offsets or {}).items()
        for number, commit in commits.items()
    }


def test_listing_has_type_state_and_coordinator(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Live and empty groups of both protocols, ascending by name."""
    listing = admin.list_groups()
    assert listing.errors == ()
    names = [group.group for group in listing.groups]
    assert names == sorted(names)
    found = {
        group.group: (group.type, group.state, group.protocol_type) for group in listing.groups
    }
    expected = {
        "con-range": ("classic", "Stable", "consumer"),
        "con-coop": ("classic", "Stable", "consumer"),
        "con-static": ("classic", "Stable", "consumer"),
        "con-kip848": ("consumer", "Stable", "consumer"),
        EMPTY: ("classic", "Empty", ""),
    }
    assert {name: found[name] for name in (*live, EMPTY)} == {
        name: expected[name] for name in (*live, EMPTY)
    }
    ids = {broker.id for broker in listing.brokers}
    assert all(group.coordinator in ids for group in listing.groups)
    assert listing.cluster_id


def test_listing_is_filtered_by_state_and_type(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """States and types in any case; both filters hold together."""

    def names(*, states: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> set[str]:
        listing = admin.list_groups(states=states, types=types)
        return {group.group for group in listing.groups} & {*live, EMPTY}

    assert names(states=("empty",)) == {EMPTY}
    assert names(types=("CONSUMER",)) == {"con-kip848"} & {*live}
    assert names(states=("Stable", "Empty"), types=("classic",)) == {*live, EMPTY} - {"con-kip848"}
    assert names(states=("Dead",)) == set()


def test_classic_members_have_subscription_and_assignment(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """A range group: who subscribed to what and owns what, as the members themselves see it."""
    group = _group(admin, "con-range")
    assert (group.type, group.state, group.assignor) == ("classic", "Stable", "range")
    assert _assigned(group) == _owned(live["con-range"])
    members = _members(group)
    assert set(members["one"].subscription or ()) == {ORDERS, AUDIT}
    assert members["two"].subscription == (ORDERS,)
    assert members["one"].member_protocol == "classic"
    assert members["one"].host.startswith("/")
    assert members["one"].member_epoch is None


def test_cooperative_members_show_what_they_owned_at_the_last_join(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Owned partitions and generation come out of the subscription bytes."""
    group = _group(admin, "con-coop")
    assert group.assignor == "cooperative-sticky"
    assert _assigned(group) == _owned(live["con-coop"])
    for member in group.members or ():
        assert member.subscription_version is not None
        assert member.subscription_version >= 1
        assert member.owned is not None
        assert member.user_data is not None


def test_static_members_have_instance_ids(admin: ClusterAdmin, live: dict[str, LiveGroup]) -> None:
    """Instance ids beside member ids that start with them."""
    group = _group(admin, "con-static")
    for member in group.members or ():
        assert member.instance_id in ("instance-1", "instance-2")
        assert member.member_id.startswith(f"{member.instance_id}-")
    assert _assigned(group) == _owned(live["con-static"])


@needs_kip848
def test_kip848_members_have_epochs_and_targets(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """A KIP-848 group: epochs, target assignment, a pattern instead of names."""
    group = _group(admin, "con-kip848")
    assert (group.type, group.state, group.assignor) == ("consumer", "Stable", "uniform")
    assert group.group_epoch is not None
    assert group.target_epoch == group.group_epoch
    assert _assigned(group) == _owned(live["con-kip848"])
    members = _members(group)
    assert members["one"].subscription == (ORDERS,)
    assert members["one"].subscription_regex is None
    assert "con-aud" in (members["two"].subscription_regex or "")
    for member in members.values():
        assert member.member_protocol == "consumer"
        assert member.target_assignment == member.assignment
        assert member.member_epoch == group.group_epoch


def test_commits_and_log_bounds_are_those_of_the_broker(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Offsets with metadata; start and end of each log, expired records counted out."""
    snapshot = admin.snapshot([EMPTY])
    (group,) = snapshot.groups
    assert group.state == "Empty"
    assert group.members == ()
    assert group.offsets == {
        AUDIT: {2: CommittedOffset(9, None, "m")},
        ORDERS: {0: CommittedOffset(4, None, "m"), 5: CommittedOffset(3, None, "m")},
    }
    assert set(snapshot.topics) == {ORDERS, AUDIT}
    logs = snapshot.topics[ORDERS].partitions
    assert list(logs) == [0, 1, 2, 3, 4, 5]
    bounds = [(log.log_start_offset, log.log_end_offset) for log in logs.values()]
    assert bounds == [(0, 10), (0, 20), (0, 30), (0, 40), (0, 50), (20, 60)]
    assert all(log.leader is not None and log.error is None for log in logs.values())
    assert snapshot.topics[ORDERS].topic_id == topic_id_of(admin.settings.bootstrap_servers, ORDERS)


def test_partition_that_was_never_committed_is_absent(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Owned but not committed: no commit, not a commit of 0; its log is there all the same."""
    snapshot = admin.snapshot(["con-range", "con-coop"])
    commits = {group.group: group.offsets for group in snapshot.groups}
    assert commits["con-coop"] == {}
    assert list((commits["con-range"] or {})[ORDERS]) == [0]
    assert snapshot.topics[ORDERS].partitions[3].log_end_offset == 40


def test_times_before_1970(
    admin: ClusterAdmin, live: dict[str, LiveGroup], release: Release
) -> None:
    """Newer brokers take them for special times that they do not know."""
    times = {(AUDIT, 0): -(2**41), (AUDIT, 1): 0}
    refused = "UNSUPPORTED_VERSION" if release >= Release(3, 9, 0) else 0
    assert offsets_at_times(admin, times) == {(AUDIT, 0): refused, (AUDIT, 1): 0}


def test_group_is_placed_on_its_offsets_partition(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """The partition of `__consumer_offsets` follows from the name."""
    for group in admin.snapshot(list(live)).groups:
        assert group.offsets_partition == offsets_partition(group.group, 50)


def test_groups_are_placed_whether_they_exist_or_not(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """The coordinator of a name is the broker that `describe` gives."""
    placement = admin.coordinators([*live, "con-no-such"])
    assert placement.partitions == 50
    assert placement.errors == ()
    for group in admin.snapshot(list(live)).groups:
        assert placement.coordinators[group.group].id == group.coordinator
    assert "con-no-such" in placement.coordinators


def test_unknown_group_does_not_hide_the_others(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """A row in `errors` with exit code 5; the group that exists is there, once."""
    snapshot = admin.snapshot(["con-no-such", EMPTY, EMPTY, ""])
    assert [group.group for group in snapshot.groups] == [EMPTY]
    assert {error.target: (error.code, error.exit_code) for error in snapshot.errors} == {
        "con-no-such": ("GROUP_ID_NOT_FOUND", 5),
        "": (NO_NAME, 5),
    }


def test_all_groups_are_described_as_one_by_one(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Asking for every group gives the same groups as asking for each, once they are at rest."""

    def same() -> list[str]:
        everything = admin.snapshot()
        assert everything.errors == ()
        if any(everything.group(name) != _group(admin, name) for name in (*live, EMPTY)):
            return []
        return [group.group for group in everything.groups]

    names = wait_until(same, "all groups are described as one by one")
    assert names == sorted(names)


@needs_kip848
def test_parts_that_are_not_asked_for_are_none(
    admin: ClusterAdmin, live: dict[str, LiveGroup]
) -> None:
    """Without members, offsets or log offsets the rest is there and those are None."""
    bare = admin.snapshot(members=False, offsets=False).group("con-range")
    assert bare is not None
    assert (bare.state, bare.members, bare.offsets) == ("Stable", None, None)
    named = admin.snapshot(["con-kip848"], offsets=False, log_offsets=False)
    assert named.groups[0].offsets is None
    assert named.topics[ORDERS].partitions[0].log_end_offset is None
    without = admin.snapshot(["con-kip848"], members=False)
    assert without.groups[0].members is None
    assert without.groups[0].assignor == "uniform"
    assert without.groups[0].offsets is not None


def test_names_for_completion(admin: ClusterAdmin, live: dict[str, LiveGroup]) -> None:
    """Names of groups and topics, ascending."""
    groups, topics = admin.group_names(), admin.topic_names()
    assert {*live, EMPTY} <= set(groups)
    assert list(groups) == sorted(groups)
    assert {ORDERS, AUDIT} <= set(topics)
    assert list(topics) == sorted(topics)


def test_progress_says_what_is_waited_for(admin: ClusterAdmin, live: dict[str, LiveGroup]) -> None:
    """Each step is told before it is waited for."""
    said: list[str] = []
    admin.snapshot([EMPTY], progress=said.append)
    assert said == [
        "listing groups",
        "describing 1 group",
        "reading offsets of 2 topics",
    ]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_taken_as_they_are(admin: ClusterAdmin, address: str, name: str) -> None:
    """Blanks, quotes, other alphabets, a leading dash: listed, described, deleted."""
    create_topics_once(address, "con-odd")
    commit_offsets(address, {name: {("con-odd", 0): 0}})
    assert name in admin.group_names()
    group = _group(admin, name)
    assert group.offsets == {"con-odd": {0: CommittedOffset(0)}}
    assert group.offsets_partition == offsets_partition(name, 50)
    (outcome,) = admin.delete_groups([name])
    assert (outcome.target, outcome.result) == (name, "done")
    assert name not in admin.group_names()


def create_topics_once(address: str, topic: str) -> None:
    """Creates a topic of one partition unless it is there."""
    with ClusterAdmin(ClientSettings(address)) as admin:
        if topic not in admin.topic_names():
            create_topics(address, {topic: 1})


@needs_kip848
def test_each_group_has_its_own_outcome_of_a_deletion(
    admin: ClusterAdmin, address: str, live: dict[str, LiveGroup]
) -> None:
    """Live groups are refused (4), unknown ones not found (5), the empty one is gone."""
    commit_offsets(address, {"con-doomed": {(AUDIT, 0): 1}, "con-spared": {(AUDIT, 0): 1}})
    names = ["con-range", "con-doomed", "con-no-such", "con-kip848", "con-doomed"]
    outcomes = admin.delete_groups(names)
    assert [
        (item.target, item.result, item.error.code if item.error else None) for item in outcomes
    ] == [
        ("con-range", "refused", "NON_EMPTY_GROUP"),
        ("con-doomed", "done", None),
        ("con-no-such", "failed", "GROUP_ID_NOT_FOUND"),
        ("con-kip848", "refused", "NON_EMPTY_GROUP"),
    ]
    assert [item.error.exit_code for item in outcomes if item.error] == [4, 5, 4]
    left = set(admin.group_names())
    assert "con-doomed" not in left
    assert {"con-spared", *live} <= left


def test_open_transaction_holds_back_the_last_stable_offset(
    admin: ClusterAdmin, address: str
) -> None:
    """With `read_committed` both ends are known: high watermark and last stable offset."""
    create_topics(address, {"con-tx": 1})
    produce(address, {("con-tx", 0): 5})
    commit_offsets(address, {"con-tx": {("con-tx", 0): 1}})
    producer = left_open(address, "con-tx", {("con-tx", 0): 1})
    log = admin.snapshot(["con-tx"], isolation="read_committed").topics["con-tx"].partitions[0]
    plain = admin.snapshot(["con-tx"]).topics["con-tx"].partitions[0]
    producer.abort_transaction(30)
    leader, epoch = log.leader, log.current_leader_epoch
    assert leader is not None
    assert log == PartitionLog(0, 6, 5, leader, log.racks, None, epoch, (leader,))
    assert plain == log._replace(last_stable_offset=None)
    assert epoch in (0, None)  # librdkafka tells none


@needs_kip848
def test_group_of_many_kip848_members(admin: ClusterAdmin, address: str) -> None:
    """Every member with its two partitions; nothing is cut."""
    create_topics(address, {"con-many": 600})
    crowd = HeartbeatGroup(address.split(",")[0], "con-many", ["con-many"], 300, client_id="crowd")
    with crowd.join(600):
        group = _group(admin, "con-many")
    members = group.members or ()
    assert len(members) == 300
    assert {len((member.assignment or {})["con-many"]) for member in members} == {2}
    owned = {n for member in members for n in (member.assignment or {})["con-many"]}
    assert owned == set(range(600))
    delete_topics(address, ["con-many"])


def test_rebalancing_group_is_shown_as_such(admin: ClusterAdmin, address: str) -> None:
    """Nothing is waited for: the state is what it is, unknown subscriptions are None."""
    create_topics(address, {"con-moving": 4})
    seen: set[str | None] = set()
    done = threading.Event()

    def watch() -> None:
        with ClusterAdmin(ClientSettings(address)) as watcher:
            while not done.is_set():
                for group in watcher.snapshot(["con-moving"]).groups:
                    seen.add(group.state)
                    for member in group.members or ():
                        assert group.state == "Stable" or member.subscription is None

    thread = threading.Thread(target=watch)
    with LiveGroup(address, "con-moving", [MemberSpec("one", ("con-moving",))]) as group:
        group.wait_stable(4)
        thread.start()
        group.add(MemberSpec("two", ("con-moving",)))
        group.wait_stable(4)
        wait_until(lambda: "Stable" in seen, "the watcher has seen the group")
    done.set()
    wait_for_thread(thread)
    assert seen <= {"Stable", "PreparingRebalance", "CompletingRebalance", "Empty"}


def test_both_ways_in_show_the_same(address: str, live: dict[str, LiveGroup]) -> None:
    """What librdkafka hands out at all is equal to what came over the wire."""
    names = [*live, EMPTY, "con-no-such"]
    settings = ClientSettings(address)
    with (
        ClusterAdmin(settings, timeout_ms=30_000) as wire,
        ClusterAdmin(replace(settings, through_librdkafka=True), timeout_ms=30_000) as other,
    ):
        assert wire.notice is None
        assert "librdkafka" in (other.notice or "")
        ours = wire.snapshot(names, isolation="read_committed")
        theirs = other.snapshot(names, isolation="read_committed")
        assert wire.topic_names() == other.topic_names()
        listed, told = (
            [
                (group.group, group.type, group.state)
                for group in admin.list_groups().groups
                if group.group in names  # those of other tests may be on the move
            ]
            for admin in (wire, other)
        )
        assert listed == told
        assert {name for name, *_ in listed} == set(names) - {"con-no-such"}
        assert wire.coordinators(names) == other.coordinators(names)
        refused = other.delete_groups(["con-range", "con-no-such", ""])
        assert [outcome.result for outcome in refused] == ["refused", "failed", "failed"]
    assert ours.errors == theirs.errors
    assert ours.cluster_id == theirs.cluster_id
    for mine, their in zip(ours.groups, theirs.groups, strict=True):
        for field in ("group", "type", "state", "assignor", "coordinator"):
            assert getattr(mine, field) == getattr(their, field), (mine.group, field)
        assert _offsets(mine) == _offsets(their)
        assert mine.offsets_partition == their.offsets_partition
        assert _assigned(mine) == _assigned(their)
        assert [(m.client_id, m.host, m.instance_id) for m in mine.members or ()] == [
            (m.client_id, m.host, m.instance_id) for m in their.members or ()
        ]
    for topic, mine_topic in ours.topics.items():
        assert [log[:4] for log in mine_topic.partitions.values()] == [
            log[:4] for log in theirs.topics[topic].partitions.values()
        ]


def test_metadata_names_topics_in_the_order_of_a_set(address: str) -> None:
    """What librdkafka's leaders deal partitions by: as they came up to four, by hash beyond."""
    names = [f"con-set-{letter}" for letter in "abcdefgh"]
    create_topics(address, dict.fromkeys(names, 1))
    try:
        with WireClient(address) as client:
            for asked in (names[:4][::-1], names[::-1], [*names[3:], "con-set-none"]):
                body = {
                    "topics": [{"name": name} for name in asked],
                    "allow_auto_topic_creation": False,
                }
                found = client.ask(Api.METADATA, 4, body)["topics"]
                there = [name for name in scala_set_order(asked) if name in names]
                missing = [name for name in asked if name not in names]
                assert [topic["name"] for topic in found] == there + missing
    finally:
        delete_topics(address, names)


def test_a_broker_shows_its_release(
    admin: ClusterAdmin, address: str, live: dict[str, LiveGroup], release: Release
) -> None:
    """As far as its API versions tell: from 4.4 on, or before."""
    (group,) = admin.snapshot([EMPTY]).groups
    assert group.coordinator is not None
    (support,) = broker_support(admin, {group.coordinator: EMPTY}).values()
    assert support.kip848 == ("served" if HAS_KIP848 else support.kip848)
    assert {found >= V4_4_0 for found in support.releases} == {release >= V4_4_0}
