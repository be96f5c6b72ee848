"""The requests that the adapter sends: each holds the fields of all versions that are spoken."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import TopicPartition

EARLIEST = -2
LATEST = -1
TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
GROUP_RESOURCE = 32
ISOLATION_LEVELS = {"read_uncommitted": 0, "read_committed": 1}

BATCHED_FROM: Final = 8
"""The version of OffsetFetch that takes several groups."""

Value = TypeVar("Value")
Row = TypeVar("Row")


class Early(NamedTuple):
    """A request in a version that every broker knows, so that it can go with ApiVersions."""

    api: Api
    version: int
    message: Any


def introduction() -> Struct:
    """Who we are, in exchange for the versions that the broker speaks."""
    return Struct(client_software_name="kgroups", client_software_version="0.1.0")


def metadata(topics: Sequence[str] | None) -> Struct:
    """Brokers and these topics (None: all); never creates a topic."""
    return Struct(
        topics=None if topics is None else [Struct(name=name, topic_id=None) for name in topics],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


BROKERS: Final = Early(Api.METADATA, 7, metadata([OFFSETS_TOPIC]))
"""All brokers, and where groups live; Kafka has had version 7 since 2.1."""


def find_coordinator(groups: Sequence[str]) -> Struct:
    """The coordinators of these groups; below version 4 of the first one only."""
    return Struct(key_type=0, key=groups[0], coordinator_keys=groups)


def list_groups() -> Struct:
    """The groups that a broker coordinates, unfiltered."""
    return Struct(states_filter=(), types_filter=())


def describe_groups(groups: Sequence[str]) -> Struct:
    """These groups, by any of the four describing APIs."""
    return Struct(groups=groups, group_ids=groups, include_authorized_operations=False)


def offset_fetch(
    groups: Sequence[str], stable: Mapping[str, Iterable[TopicPartition]] | None = None
) -> Struct:
    """All committed offsets of these groups; below version 8 of the first one only.

    Args:
        stable: the partitions of each group to ask about instead, whose pending commits are errors
            (from version 7 on); a group without any is answered when all its commits are stable.
    """
    rows = [
        Struct(group_id=group, topics=None if stable is None else _named(stable.get(group, ())))
        for group in groups
    ]
    return Struct(
        group_id=groups[0],
        topics=rows[0].topics,
        groups=rows,
        require_stable=stable is not None,
    )


def _named(partitions: Iterable[TopicPartition]) -> list[Struct]:
    """Partitions by topic, as OffsetFetch and DescribeProducers name them."""
    numbers = by_topic(dict.fromkeys(partitions), lambda number, _: number)
    return [Struct(name=name, partition_indexes=indexes) for name, indexes in numbers.items()]


def describe_start_offsets(groups: Sequence[str]) -> Struct:
    """All start offsets of these share groups."""
    return Struct(groups=[Struct(group_id=group, topics=None) for group in groups])


def list_offsets(
    times: Mapping[TopicPartition, int], isolation: str = "read_uncommitted"
) -> Struct:
    """The first offset of each of these partitions that is not older.

    Args:
        times: epoch milliseconds, or EARLIEST or LATEST.
        isolation: whose end LATEST is.
    """
    topics = by_topic(times, lambda number, at: Struct(partition_index=number, timestamp=at))
    return Struct(
        replica_id=-1,
        isolation_level=ISOLATION_LEVELS[isolation],
        topics=[Struct(name=name, partitions=rows) for name, rows in topics.items()],
    )


def by_topic(
    partitions: Mapping[TopicPartition, Value], row: Callable[[int, Value], Row]
) -> dict[str, list[Row]]:
    """The partitions of a request, by topic, in the order given.

    Args:
        row: made of a partition's number and its value.
    """
    rows: dict[str, list[Row]] = {}
    for (topic, number), value in partitions.items():
        rows.setdefault(topic, []).append(row(number, value))
    return rows


def offset_for_leader_epoch(epochs: Mapping[TopicPartition, int]) -> Struct:
    """Where each partition's log ends on its leader, whose epoch this is."""
    topics = by_topic(
        epochs,
        lambda number, epoch: Struct(
            partition=number, current_leader_epoch=epoch, leader_epoch=epoch
        ),
    )
    return Struct(
        replica_id=-1,
        topics=[Struct(topic=name, partitions=rows) for name, rows in topics.items()],
    )


def fetch(
    offsets: Mapping[TopicPartition, int], most: int, isolation: str = "read_uncommitted"
) -> Struct:
    """Fetch of partitions from an offset on, about `most` bytes of each, without waiting."""
    topics = by_topic(
        offsets,
        lambda number, offset: Struct(
            partition=number, fetch_offset=offset, partition_max_bytes=most
        ),
    )
    return Struct(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=most * len(offsets),
        isolation_level=ISOLATION_LEVELS[isolation],
        topics=[Struct(topic=name, partitions=rows) for name, rows in topics.items()],
        forgotten_topics_data=(),
    )


def delete_groups(groups: Sequence[str]) -> Struct:
    """Deletes these groups with their offsets."""
    return Struct(groups_names=groups)


def describe_broker_configs(broker: int, names: Sequence[str]) -> Struct:
    """These settings of a broker, which has to be asked itself."""
    resource = Struct(
        resource_type=BROKER_RESOURCE, resource_name=str(broker), configuration_keys=names
    )
    return Struct(resources=[resource])


def describe_producers(partitions: Iterable[TopicPartition]) -> Struct:
    """Who writes to these partitions, and whose transactions are open there."""
    return Struct(topics=_named(partitions))


def list_transactions(producer_ids: Sequence[int]) -> Struct:
    """The transactional ids of these producers, of those that a broker coordinates."""
    return Struct(state_filters=(), producer_id_filters=producer_ids)


def describe_transactions(transactional_ids: Sequence[str]) -> Struct:
    """The transactions of these ids, asked of their coordinator."""
    return Struct(transactional_ids=transactional_ids)


def describe_quorum(topic: str) -> Struct:
    """The voters of the metadata log, with their leader's time."""
    return Struct(topics=[Struct(topic_name=topic, partitions=[Struct(partition_index=0)])])
