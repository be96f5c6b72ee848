"""ApiVersions, Metadata, DescribeCluster and DescribeTopicPartitions."""

from collections.abc import Sequence

from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.writer import Struct
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.storage.topics import (
    NO_LEADER,
    OFFSETS_TOPIC,
    Partition,
    Topic,
    name_fault,
)
from kgroups.core.sandbox.wire.frame_codec import api_versions_answer

NAMES_BROKER = 5
"""Version of ApiVersions from which it says whom it is meant for."""

NO_OPERATIONS = -(2**31)
"""Authorized operations, where they were not asked for or there is no authorizer."""


def api_versions(call: Call) -> Message:
    """The APIs offered; whoever takes this for another broker is told that it is not (KIP-1242)."""
    place = call.cluster.cluster_id, call.broker.broker_id
    meant = None if call.version < NAMES_BROKER else (call.body.cluster_id, call.body.node_id)
    if meant is None or meant[0] is None or meant == place:
        return api_versions_answer(call.cluster.caps)
    return Struct(error_code=ErrorCode.REBOOTSTRAP_REQUIRED, api_keys=())


def metadata(call: Call) -> Struct:
    """Brokers, and the topics asked for or all of them."""
    cluster = call.cluster
    asked = call.body.topics
    everything = asked is None or (call.version == 0 and not asked)
    if everything:
        topics = [_topic_row(call, topic) for topic in cluster.topics]
    else:
        may_create = call.body.allow_auto_topic_creation
        topics = [_asked_topic(call, entry, may_create) for entry in _as_answered(asked)]
        topics.sort(key=lambda row: row.error_code != 0)
    return Struct(
        brokers=cluster.broker_rows(),
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        topics=topics,
        cluster_authorized_operations=NO_OPERATIONS,
    )


def _as_answered(asked: Sequence[Message]) -> list[Message]:
    """The topics asked for, in the order in which a broker answers; librdkafka's leaders go by it.

    Source: KafkaApis.handleTopicMetadataRequest, which puts the names into a Scala set.
    """
    named = {entry.name: entry for entry in asked if entry.name}
    by_id = [entry for entry in asked if not entry.name]
    return by_id + [named[name] for name in scala_set_order(named)]


def _asked_topic(call: Call, entry: Message, may_create: bool) -> Struct:
    name, topic_id = entry.name, entry.topic_id
    topic = call.cluster.topics.get(name, topic_id)
    if topic is not None:
        return _topic_row(call, topic)
    if not name:
        return _missing_row("" if call.version < 12 else None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if name_fault(name) is not None:
        return _missing_row(name, None, ErrorCode.INVALID_TOPIC_EXCEPTION)
    if name == OFFSETS_TOPIC or (may_create and call.cluster.options.auto_create_topics):
        return _topic_row(call, call.cluster.create_topic(name))
    return _missing_row(name, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _missing_row(name: str | None, topic_id: object, code: ErrorCode) -> Struct:
    return Struct(
        error_code=code,
        name=name,
        topic_id=topic_id,
        is_internal=False,
        partitions=[],
        topic_authorized_operations=NO_OPERATIONS,
    )


def _topic_row(call: Call, topic: Topic) -> Struct:
    return Struct(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[partition_row(call, partition) for partition in topic.partitions],
        topic_authorized_operations=NO_OPERATIONS,
    )


def partition_row(call: Call, partition: Partition) -> Struct:
    """A partition as Metadata and DescribeTopicPartitions show it."""
    brokers = call.cluster.brokers
    up = [broker for broker in partition.replicas if brokers[broker].is_up]
    leaderless = partition.leader == NO_LEADER
    return Struct(
        error_code=ErrorCode.LEADER_NOT_AVAILABLE if leaderless else 0,
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=up,
        eligible_leader_replicas=[],
        last_known_elr=[],
        offline_replicas=[b for b in partition.replicas if not brokers[b].is_up],
    )


def describe_cluster(call: Call) -> Struct:
    """Brokers, controller and cluster id."""
    cluster = call.cluster
    return Struct(
        error_code=0,
        error_message=None,
        endpoint_type=1,
        cluster_id=cluster.cluster_id,
        controller_id=cluster.controller_id,
        brokers=[
            Struct(broker_id=row.node_id, is_fenced=False, **vars(row))
            for row in cluster.broker_rows()
        ],
        cluster_authorized_operations=NO_OPERATIONS,
    )


def describe_topic_partitions(call: Call) -> Struct:
    """Topics in order of name, cut where the client's limit is reached (KIP-966)."""
    topics = call.cluster.topics
    asked = {entry.name for entry in call.body.topics}
    names = sorted(asked or {topic.name for topic in topics})
    cursor = call.body.cursor
    first = 0
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
        first = cursor.partition_index if names[:1] == [cursor.topic_name] else 0
    left = max(1, min(call.body.response_partition_limit, _MAX_PARTITIONS))
    rows: list[Struct] = []
    next_cursor = None
    for name in names:
        if left <= 0:
            next_cursor = Struct(topic_name=name, partition_index=0)
            break
        topic = topics.get(name)
        if topic is None:
            wrong = name_fault(name) is not None
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            rows.append(
                _missing_row(name, None, ErrorCode.INVALID_TOPIC_EXCEPTION if wrong else unknown)
            )
            continue
        row = _topic_row(call, topic)
        row.partitions = row.partitions[first : first + left]
        rows.append(row)
        left -= len(row.partitions)
        reached = first + len(row.partitions)
        if reached < len(topic.partitions):
            next_cursor = Struct(topic_name=name, partition_index=reached)
            break
        first = 0
    return Struct(topics=rows, next_cursor=next_cursor)


_MAX_PARTITIONS = 2000
