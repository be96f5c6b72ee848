"""Hypothesis strategies for snapshots of any shape that a cluster can show."""

from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from kgroups.core.errors import ItemError
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    PartitionLog,
    Topic,
    led_round,
)
from kgroups.core.uuids import uuid_text

NAMES = st.text(max_size=12)
TOPIC_NAMES = st.sampled_from(["orders", "a.b", "_x-1", "T"])
OFFSETS = st.integers(0, 2**63 - 1)
EPOCHS = st.integers(-1, 2**31 - 1)
PARTITIONS = st.integers(0, 40)
TIMES_MS = st.integers(0, 4_000_000_000_000)
ASSIGNMENTS = st.dictionaries(
    TOPIC_NAMES, st.lists(PARTITIONS, unique=True, max_size=4).map(tuple), max_size=3
)


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """A value or None."""
    return st.none() | values


COMMITS = st.builds(
    CommittedOffset,
    offset=OFFSETS,
    leader_epoch=maybe(EPOCHS),
    metadata=NAMES,
    committed_at_ms=maybe(TIMES_MS),
    lag=st.none(),  # of share groups only, which have none here
)
LOGS = st.builds(
    PartitionLog,
    log_start_offset=maybe(OFFSETS),
    log_end_offset=maybe(OFFSETS),
    last_stable_offset=maybe(OFFSETS),
    leader=maybe(EPOCHS),
    racks=st.lists(st.none() | NAMES, max_size=3).map(tuple),
    error=maybe(st.just("LEADER_NOT_AVAILABLE")),
    current_leader_epoch=maybe(EPOCHS),
    in_sync_replicas=st.lists(EPOCHS, max_size=3).map(tuple),
)
MEMBERS = st.builds(
    Member,
    member_id=NAMES,
    client_id=NAMES,
    host=NAMES,
    instance_id=maybe(NAMES),
    member_protocol=st.sampled_from(["classic", "consumer"]),
    member_epoch=maybe(EPOCHS),
    subscription=maybe(st.lists(TOPIC_NAMES, max_size=3).map(tuple)),
    subscription_regex=maybe(NAMES),
    assignment=maybe(ASSIGNMENTS),
    target_assignment=maybe(ASSIGNMENTS),
    rack=maybe(NAMES),
    subscription_version=maybe(st.integers(0, 3)),
    generation=maybe(EPOCHS),
    owned=maybe(ASSIGNMENTS),
    user_data=maybe(st.binary(max_size=8)),
    assignment_version=maybe(st.integers(0, 3)),
    assignment_user_data=maybe(st.binary(max_size=8)),
)


def led_by(group: Group, rounds: list[tuple[str, list[Member]]], is_back: bool) -> Group:
    """The group with what its leader has led; without a leader nothing is known."""
    if group.leader is None:
        return group
    led = tuple(
        led_round(group.protocol_type, assignor, group.leader, members)
        for assignor, members in rounds
    )
    return replace(group, led=led, leader_is_back=is_back)


BARE_GROUPS = st.builds(
    Group,
    group=NAMES,
    type=st.sampled_from(get_args(GroupType)),
    state=maybe(st.sampled_from(["Stable", "Empty", "Assigning"])),
    protocol_type=maybe(NAMES),
    assignor=maybe(NAMES),
    coordinator=maybe(EPOCHS),
    offsets_partition=maybe(PARTITIONS),
    group_epoch=maybe(EPOCHS),
    target_epoch=maybe(EPOCHS),
    leader=maybe(NAMES),
    members=maybe(st.lists(MEMBERS, unique_by=lambda m: m.member_id, max_size=4).map(tuple)),
    offsets=maybe(
        st.dictionaries(
            TOPIC_NAMES, st.dictionaries(PARTITIONS, COMMITS, min_size=1, max_size=4), max_size=3
        )
    ),
)


def lag_follows(group: Group) -> Group:
    """The group; without commits if it is a share group, whose lag reads back as what was told."""
    return replace(group, offsets=None) if group.type == "share" else group


GROUPS = st.builds(
    led_by,
    BARE_GROUPS.map(lag_follows),
    st.lists(st.tuples(NAMES, st.lists(MEMBERS, max_size=2)), max_size=2),
    st.booleans(),
)
TOPICS = st.builds(
    Topic,
    topic=TOPIC_NAMES,
    partitions=st.dictionaries(PARTITIONS, LOGS, max_size=4),
    topic_id=maybe(st.uuids().map(uuid_text)),
)
SNAPSHOTS = st.builds(
    ClusterSnapshot,
    captured_at_ms=TIMES_MS,
    groups=st.lists(GROUPS, unique_by=lambda g: g.group, max_size=3).map(tuple),
    topics=st.lists(TOPICS, unique_by=lambda t: t.topic, max_size=3).map(
        lambda topics: {topic.topic: topic for topic in topics}
    ),
    brokers=st.lists(
        st.builds(
            Broker, id=EPOCHS, host=NAMES, port=st.integers(0, 65535), rack=st.none() | NAMES
        ),
        unique_by=lambda b: b.id,
        max_size=2,
    ).map(tuple),
    cluster_id=maybe(NAMES),
    bootstrap=maybe(NAMES),
    errors=st.lists(
        st.builds(
            ItemError,
            target=NAMES,
            code=NAMES,
            message=NAMES,
            hint=st.none() | NAMES,
            exit_code=st.integers(1, 6),
        ),
        max_size=2,
    ).map(tuple),
)


def sample_snapshot() -> ClusterSnapshot:
    """A small cluster: one classic group with two members, one group without members."""
    return ClusterSnapshot(
        captured_at_ms=1_795_222_923_456,
        groups=(
            Group(
                group="billing",
                type="classic",
                state="Stable",
                protocol_type="consumer",
                assignor="range",
                coordinator=1,
                offsets_partition=7,
                members=(
                    Member(
                        "app-b", "app", "/10.0.0.2", None, assignment={"orders": (2, 3)},
                        subscription=("orders",), subscription_version=3, generation=4,
                        user_data=b"\x00\xff",
                    ),
                    Member(
                        "app-a", "app", "/10.0.0.1", "i1", assignment={"orders": (0, 1)},
                        subscription=("orders",), rack="r1",
                    ),
                ),
                offsets={"orders": {0: CommittedOffset(5), 1: CommittedOffset(9, 2, "note")}},
            ),
            Group(group="idle", type="consumer", state="Empty", members=(), offsets={}),
        ),
        topics={
            "orders": Topic(
                "orders",
                {p: PartitionLog(0, 10 * (p + 1), None, 1, ("r1", None)) for p in range(4)},
                "AAAAAAAAAAEAAAAAAAAAAQ",
            )
        },
        brokers=(Broker(1, "kafka-1", 9092, "r1"),),
        cluster_id="c1",
        bootstrap="localhost:9092",
    )  # fmt: skip
