"""Clusters on paper for the tests of the command line."""

from kgroups.core.errors import ItemError
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)

CAPTURED_AT_MS = 1_795_223_045_678

BROKERS = (Broker(1, "kafka-1.example", 9092, "a"), Broker(2, "kafka-2.example", 9092, "b"))


def log(start: int, end: int, leader: int | None = 1) -> PartitionLog:
    """A partition whose log reaches from `start` to `end`."""
    return PartitionLog(log_start_offset=start, log_end_offset=end, leader=leader)


def shop() -> ClusterSnapshot:
    """A small shop: a classic and a KIP-848 group alive, an empty one, every status of lag."""
    topics = (
        Topic("orders", {0: log(0, 100), 1: log(0, 40), 2: log(50, 90)}, "b3JkZXJzLW9yZGVycy0tLQ"),
        Topic(
            "audit",
            {0: log(0, 7), 1: PartitionLog(error="LEADER_NOT_AVAILABLE")},
            "YXVkaXQtYXVkaXQtLS0tLQ",
        ),
    )
    classic = Group(
        group="billing",
        type="classic",
        state="Stable",
        protocol_type="consumer",
        assignor="range",
        coordinator=1,
        offsets_partition=17,
        members=(
            Member(
                member_id="bill-1-0000",
                client_id="bill-1",
                host="/10.0.0.5",
                instance_id="till-1",
                subscription=("orders",),
                assignment={"orders": (0, 1)},
                subscription_version=3,
                assignment_version=3,
            ),
            Member(
                member_id="bill-2-0000",
                client_id="bill-2",
                host="/10.0.0.6",
                subscription=("orders",),
                assignment={"orders": (2,)},
                subscription_version=3,
                assignment_version=3,
            ),
        ),
        offsets={
            "orders": {
                0: CommittedOffset(90, 3, "checkpoint 7"),
                1: CommittedOffset(40),
                2: CommittedOffset(10),
            }
        },
    )
    kip848 = Group(
        group="shipping",
        type="consumer",
        state="Reconciling",
        protocol_type="consumer",
        assignor="uniform",
        coordinator=2,
        offsets_partition=3,
        group_epoch=5,
        target_epoch=5,
        members=(
            Member(
                member_id="ship-1-0000",
                client_id="ship-1",
                host="/10.0.1.1",
                member_protocol="consumer",
                member_epoch=4,
                subscription=("orders", "audit"),
                assignment={"orders": (0, 1, 2), "audit": (0,)},
                target_assignment={"orders": (0, 1), "audit": (0,)},
            ),
        ),
        offsets={
            "orders": {0: CommittedOffset(100), 1: CommittedOffset(55)},
            "gone": {0: CommittedOffset(5)},
        },
    )
    empty = Group(
        group="audit réports, nightly",
        type="classic",
        state="Empty",
        protocol_type="consumer",
        coordinator=2,
        offsets_partition=44,
        members=(),
        offsets={"audit": {0: CommittedOffset(0), 1: CommittedOffset(3)}},
    )
    return ClusterSnapshot(
        captured_at_ms=CAPTURED_AT_MS,
        groups=(empty, classic, kip848),
        topics={topic.topic: topic for topic in topics},
        brokers=BROKERS,
        cluster_id="c2hvcC1jbHVzdGVyLWlkLQ",
        bootstrap="kafka-1.example:9092",
    )


def broken_shop() -> ClusterSnapshot:
    """The shop, while one broker does not answer."""
    whole = shop()
    return ClusterSnapshot(
        captured_at_ms=whole.captured_at_ms,
        groups=whole.groups[:2],
        topics=whole.topics,
        brokers=whole.brokers,
        cluster_id=whole.cluster_id,
        bootstrap=whole.bootstrap,
        errors=(
            ItemError(
                target="broker 2 (kafka-2.example:9092)",
                code="CLUSTER",
                message="broker 2 (kafka-2.example:9092) does not answer",
                hint="is it running?",
                exit_code=3,
            ),
        ),
    )


def nothing() -> ClusterSnapshot:
    """A cluster without groups."""
    return ClusterSnapshot(CAPTURED_AT_MS, (), {}, BROKERS, "bm90aGluZw", "kafka-1.example:9092")


def fleet(groups: int, partitions: int) -> ClusterSnapshot:
    """Many groups that each committed all partitions of one of ten topics, nobody alive."""
    topics = {
        f"topic-{number}": Topic(
            f"topic-{number}", {p: log(0, 10_000 + p) for p in range(partitions)}
        )
        for number in range(10)
    }
    return ClusterSnapshot(
        captured_at_ms=CAPTURED_AT_MS,
        groups=tuple(
            Group(
                group=f"group-{number:05}",
                type="classic",
                state="Empty",
                protocol_type="consumer",
                coordinator=1,
                offsets_partition=number % 50,
                members=(),
                offsets={
                    f"topic-{number % 10}": {
                        p: CommittedOffset(number + p) for p in range(partitions)
                    }
                },
            )
            for number in range(groups)
        ),
        topics=topics,
        brokers=BROKERS,
        cluster_id="ZmxlZXQ",
        bootstrap="kafka-1.example:9092",
    )
