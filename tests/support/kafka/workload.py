"""What the tests put into a cluster: topics, records, and the commits of many groups at once."""

import itertools
import struct
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Final

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
)
from confluent_kafka import (
    TopicPartition as ConfluentPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic
from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v3.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v3.response import FindCoordinatorResponse
from kio.schema.offset_commit.v8.request import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kio.schema.offset_commit.v8.response import OffsetCommitResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i8, i32, i64

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_until

Offsets = Mapping[TopicPartition, int]

# The coordinator moves or loads: ask again.
RETRIABLE = frozenset(
    {
        ErrorCode.coordinator_load_in_progress,
        ErrorCode.coordinator_not_available,
        ErrorCode.not_coordinator,
    }
)
COMMITS_IN_FLIGHT = 50

COMPACTED_AT_ONCE: Final[Mapping[str, str]] = {
    "cleanup.policy": "compact",
    "segment.ms": "1",
    "min.cleanable.dirty.ratio": "0.01",
    "max.compaction.lag.ms": "1",
}
"""Of a topic: each batch is a segment, and cleaned as soon as another one follows it."""


class SeedingFailed(RuntimeError):
    """The cluster refused what a test wanted to put into it."""


def admin_of(bootstrap: str, settings: Mapping[str, str] | None = None) -> AdminClient:
    """An admin client that keeps quiet. Keep it referenced until its answers are in."""
    quiet: dict[str, str | int | float] = {"bootstrap.servers": bootstrap, "log_level": 0}
    return AdminClient(quiet | dict(settings or {}))


def create_topics(
    bootstrap: str,
    topics: Mapping[str, int],
    *,
    replicas: Mapping[str, list[list[int]]] | None = None,
    config: Mapping[str, str] | None = None,
) -> None:
    """Create topics and wait until every broker's metadata know them with their leaders.

    Args:
        topics: name -> number of partitions.
        replicas: name -> replica ids of each partition, for topics that must lie somewhere.
        config: topic settings of all of them.
    """
    admin = admin_of(bootstrap)
    placed = replicas or {}
    wanted = []
    for name, count in topics.items():
        if name in placed:
            wanted.append(
                NewTopic(
                    name,
                    len(placed[name]),
                    replica_assignment=placed[name],
                    config=dict(config or {}),
                )
            )
        else:
            wanted.append(NewTopic(name, num_partitions=count, config=dict(config or {})))
    wait_until(lambda: _created(admin, wanted), f"{sorted(topics)} are created")
    for address in bootstrap.split(","):
        one = admin_of(address)
        wait_until(partial(_all_led, one, topics), f"{address} knows {sorted(topics)}")


def _created(admin: AdminClient, wanted: list[NewTopic]) -> bool:
    """Whether all are; with ZooKeeper a topic that metadata have forgotten is still being deleted.

    Raises:
        KafkaException: one is refused, or there already.
    """
    left = {topic.topic: topic for topic in wanted}
    for name, future in admin.create_topics(wanted).items():
        try:
            future.result(60)
        except KafkaException as failure:
            is_known = name in admin.list_topics(timeout=60).topics
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS or is_known:
                raise
        else:
            del left[name]
    wanted[:] = left.values()
    return not left


def _all_led(admin: AdminClient, topics: Mapping[str, int]) -> bool:
    """Whether this client's broker knows the topics and a leader for each partition."""
    known = admin.list_topics(timeout=60).topics
    return all(
        name in known
        and len(known[name].partitions) == count
        and all(partition.leader >= 0 for partition in known[name].partitions.values())
        for name, count in topics.items()
    )


def configure(
    bootstrap: str,
    name: str,
    config: Mapping[str, str],
    *,
    kind: ResourceType = ResourceType.TOPIC,
) -> None:
    """Set these settings of a topic, a broker or a group, and leave the others as they are."""
    entries = [
        ConfigEntry(*each, incremental_operation=AlterConfigOpType.SET) for each in config.items()
    ]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    admin = admin_of(bootstrap)
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(60)


def topic_id_of(bootstrap: str, topic: str) -> str:
    """The id that the cluster gave to a topic, as librdkafka reads it, in Kafka's form."""
    admin = admin_of(bootstrap)
    found = admin.describe_topics(TopicCollection([topic]))[topic].result(60).topic_id
    halves = (found.get_most_significant_bits(), found.get_least_significant_bits())
    raw = struct.pack(">QQ", *(half & 0xFFFFFFFFFFFFFFFF for half in halves))
    return urlsafe_b64encode(raw).decode().rstrip("=")


def delete_topics(bootstrap: str, topics: Iterable[str]) -> None:
    """Delete topics and wait until the metadata have forgotten them."""
    admin, names = admin_of(bootstrap), set(topics)
    for future in admin.delete_topics(sorted(names)).values():
        future.result(60)
    wait_until(lambda: not names & set(admin.list_topics(timeout=60).topics), f"{names} are gone")


def produce(bootstrap: str, counts: Mapping[TopicPartition, int]) -> None:
    """Append so many small records to each partition."""
    failures: list[str] = []
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5, "log_level": 0})

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            failures.append(str(error))

    for (topic, partition), count in counts.items():
        for number in range(count):
            producer.produce(
                topic, str(number).encode(), partition=partition, on_delivery=delivered
            )
            if number % 10_000 == 0:
                producer.poll(0)
    left = producer.flush(180)
    if failures or left:
        raise SeedingFailed(f"{len(failures)} records failed, {left} not sent: {failures[:1]}")


def expire_records(bootstrap: str, before: Offsets) -> None:
    """Move log starts: records below each offset are gone afterwards, as retention would do."""
    admin = admin_of(bootstrap)
    wanted = [
        ConfluentPartition(topic, number, offset) for (topic, number), offset in before.items()
    ]
    for future in admin.delete_records(wanted).values():
        future.result(60)


def end_offsets(bootstrap: str, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Offset after the last record of each partition."""
    return _log_offsets(bootstrap, partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]


def start_offsets(
    bootstrap: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """Where each partition's log starts."""
    earliest = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
    return _log_offsets(bootstrap, partitions, earliest)


def _log_offsets(
    bootstrap: str, partitions: Iterable[TopicPartition], spec: OffsetSpec
) -> dict[TopicPartition, int]:
    admin = admin_of(bootstrap)
    answers = admin.list_offsets({ConfluentPartition(*each): spec for each in partitions})
    return {(at.topic, at.partition): future.result(60).offset for at, future in answers.items()}


def fetch_offsets(bootstrap: str, group: str) -> dict[TopicPartition, int]:
    """Everything one group has committed.

    Raises:
        KafkaException: the group, or one of its partitions, is answered with an error.
    """
    admin = admin_of(bootstrap)
    futures = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
    rows = futures[group].result(60).topic_partitions
    for row in rows:
        if row.error is not None:
            raise KafkaException(row.error)
    return {(row.topic, row.partition): row.offset for row in rows}


def commit_offsets(
    bootstrap: str,
    groups: Mapping[str, Offsets],
    *,
    metadata: str = "",
    leader_epoch: int = -1,
) -> None:
    """Commit offsets of groups without members, thousands of groups in seconds.

    One OffsetCommit a group, many on their way at once, over one connection a coordinator; the
    answer of each partition is read and retriable ones are sent again.

    Raises:
        SeedingFailed: a partition was refused for good.
    """
    waiting = dict(groups)
    with ExitStack() as connections:
        open_to: dict[str, WireConnection] = {}

        def round_is_the_last() -> bool:
            for address, names in coordinators_of(bootstrap, waiting).items():
                if address not in open_to:
                    open_to[address] = connections.enter_context(WireConnection(address))
                for name in _commit_on(open_to[address], names, waiting, metadata, leader_epoch):
                    del waiting[name]
            return not waiting

        wait_until(round_is_the_last, "all commits are accepted")


def coordinators_of(bootstrap: str, groups: Iterable[str]) -> dict[str, list[str]]:
    """Address -> the groups that it coordinates; groups without a coordinator are left out."""
    found: dict[str, list[str]] = {}
    with WireConnection(bootstrap.split(",")[0]) as connection:
        for names in _batches(groups, 1_000):
            for name in names:
                connection.send(FindCoordinatorRequest(key=name, key_type=i8(0)))
            for name in names:
                each = connection.receive(FindCoordinatorResponse)
                if each.error_code == ErrorCode.none:
                    found.setdefault(f"{each.host}:{each.port}", []).append(name)
    return found


def _commit_on(
    connection: WireConnection,
    names: Sequence[str],
    offsets: Mapping[str, Offsets],
    metadata: str,
    leader_epoch: int,
) -> list[str]:
    """Send the commits of these groups; which of them were accepted whole."""
    accepted = []
    for batch in _batches(names, COMMITS_IN_FLIGHT):
        for name in batch:
            connection.send(_commit_request(name, offsets[name], metadata, leader_epoch))
        for name in batch:
            answer = connection.receive(OffsetCommitResponse)
            codes = {
                partition.error_code for topic in answer.topics for partition in topic.partitions
            }
            refused = codes - {ErrorCode.none} - RETRIABLE
            if refused:
                raise SeedingFailed(f"commit of {name!r}: {sorted(code.name for code in refused)}")
            if codes <= {ErrorCode.none}:
                accepted.append(name)
    return accepted


def _commit_request(
    group: str, offsets: Offsets, metadata: str, leader_epoch: int
) -> OffsetCommitRequest:
    """One group's commit, as a client without membership sends it."""
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, number), offset in sorted(offsets.items()):
        row = OffsetCommitRequestPartition(
            partition_index=i32(number),
            committed_offset=i64(offset),
            committed_leader_epoch=i32(leader_epoch),
            committed_metadata=metadata,
        )
        by_topic.setdefault(topic, []).append(row)
    return OffsetCommitRequest(
        group_id=GroupId(group),
        member_id="",
        topics=tuple(
            OffsetCommitRequestTopic(name=TopicName(topic), partitions=tuple(rows))
            for topic, rows in by_topic.items()
        ),
    )


def many_commits(groups: int, topic: str, partitions: int) -> dict[str, dict[TopicPartition, int]]:
    """Commits for groups `group-0000`, ..: offset 0 to 99, the same in every run."""
    return {
        f"group-{number:04d}": {
            (topic, partition): zlib.crc32(f"{number}/{partition}".encode()) % 100
            for partition in range(partitions)
        }
        for number in range(groups)
    }


def _batches(items: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """The items in tuples of at most `size`."""
    rest = iter(items)
    while batch := tuple(itertools.islice(rest, size)):
        yield batch
