"""The requests that the adapter sends, each as a function from a version to the message."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.transport.framing import build, build_part, schema
from kgroups.core.snapshot import TopicPartition

Body = Callable[[int], Any]
"""Makes the request of a version."""


class Early(NamedTuple):
    """A request in a version that every broker knows, so that it can go with ApiVersions."""

    api: str
    version: int
    body: Body


EARLIEST = -2
LATEST = -1
BROKER_RESOURCE = 4
ISOLATION_LEVELS = {"read_uncommitted": 0, "read_committed": 1}


def metadata(topics: Sequence[str] | None) -> Body:
    """Brokers and these topics (None: all); never creates a topic."""

    named = None if topics is None else [{"name": name, "topic_id": None} for name in topics]
    return lambda version: build(
        "metadata",
        version,
        topics=named,
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


BROKERS: Final = Early("metadata", 7, metadata([OFFSETS_TOPIC]))
"""All brokers, and where groups live; Kafka has had version 7 since 2.1."""


def find_coordinator(groups: Sequence[str]) -> Body:
    """The coordinators of these groups; below version 4 of the first one only."""
    return lambda version: build(
        "find_coordinator",
        version,
        key_type=0,
        key=groups[0],
        coordinator_keys=tuple(groups),
    )


def list_groups() -> Body:
    """The groups that a broker coordinates, unfiltered."""
    return lambda version: build("list_groups", version, states_filter=(), types_filter=())


def describe_groups(api: str, groups: Sequence[str]) -> Body:
    """These groups, by any of the four describing APIs."""
    name = "groups" if api == "describe_groups" else "group_ids"
    return lambda version: build(
        api, version, **{name: tuple(groups)}, include_authorized_operations=False
    )


def offset_fetch(groups: Sequence[str]) -> Body:
    """All committed offsets of these groups; below version 8 of the first one only."""

    def body(version: int) -> Any:
        if version < 8:
            return build(
                "offset_fetch", version, group_id=groups[0], topics=None, require_stable=False
            )
        module = schema("offset_fetch", version, "request")
        parts = tuple(
            build_part(module, "OffsetFetchRequestGroup", group_id=group, topics=None)
            for group in groups
        )
        return build("offset_fetch", version, groups=parts, require_stable=False)

    return body


def list_offsets(
    partitions: Mapping[str, Sequence[int]], timestamp: int, isolation: str = "read_uncommitted"
) -> Body:
    """One offset of each of these partitions.

    Args:
        partitions: topic to partition numbers.
        timestamp: EARLIEST or LATEST.
        isolation: whose end LATEST is.
    """
    timestamps = {topic: dict.fromkeys(numbers, timestamp) for topic, numbers in partitions.items()}
    return _list_offsets(timestamps, isolation)


def fetch(topic: str, partition: int, offset: int, most: int) -> Body:
    """What a partition holds from an offset on, about `most` bytes of it, without waiting."""

    from datetime import timedelta  # kio's form of a time to wait

    def body(version: int) -> Any:
        module = schema("fetch", version, "request")
        wanted = build_part(
            module,
            "FetchPartition",
            partition=partition,
            fetch_offset=offset,
            partition_max_bytes=most,
        )
        return build(
            "fetch",
            version,
            max_wait=timedelta(0),
            min_bytes=0,
            max_bytes=most,
            topics=(build_part(module, "FetchTopic", topic=topic, partitions=(wanted,)),),
            forgotten_topics_data=(),
        )

    return body


def list_offsets_at(times: Mapping[TopicPartition, int]) -> Body:
    """The first offset of each partition that is not older than its time, in epoch ms."""
    timestamps: dict[str, dict[int, int]] = {}
    for (topic, number), time_ms in times.items():
        timestamps.setdefault(topic, {})[number] = time_ms
    return _list_offsets(timestamps, "read_uncommitted")


def _list_offsets(timestamps: Mapping[str, Mapping[int, int]], isolation: str) -> Body:
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": number, "current_leader_epoch": -1, "timestamp": timestamp}
                for number, timestamp in numbers.items()
            ],
        }
        for topic, numbers in timestamps.items()
    ]
    return lambda version: build(
        "list_offsets",
        version,
        replica_id=-1,
        isolation_level=ISOLATION_LEVELS[isolation],
        topics=topics,
    )


def delete_groups(groups: Sequence[str]) -> Body:
    """Deletes these groups with their offsets."""
    return lambda version: build("delete_groups", version, groups_names=tuple(groups))


def describe_broker_configs(broker: int, names: Sequence[str]) -> Body:
    """These settings of a broker, which has to be asked itself."""

    def body(version: int) -> Any:
        module = schema("describe_configs", version, "request")
        resource = build_part(
            module,
            "DescribeConfigsResource",
            resource_type=BROKER_RESOURCE,
            resource_name=str(broker),
            configuration_keys=tuple(names),
        )
        return build(
            "describe_configs",
            version,
            resources=(resource,),
            include_synonyms=False,
            include_documentation=False,
        )

    return body


def describe_quorum(topic: str) -> Body:
    """The voters of the metadata log, with their leader's time."""

    def body(version: int) -> Any:
        module = schema("describe_quorum", version, "request")
        parts = (module.PartitionData(partition_index=0),)
        return build(
            "describe_quorum",
            version,
            topics=(module.TopicData(topic_name=topic, partitions=parts),),
        )

    return body
