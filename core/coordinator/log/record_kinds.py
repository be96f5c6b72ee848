"""Kinds of records in `__consumer_offsets`: how the key and the value of each are laid out."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.log.record_bytes import ZERO_ID, Reader, Writer

OFFSET_VERSION = 4
OFFSET_VERSION_WITH_EXPIRY = 1
GROUP_VERSION = 3


class Kind(NamedTuple):
    """How one kind of record is written and read.

    Args:
        fields: of the key, in order.
        version: what this value is written as.
        flexible_from: first compact version of the value.
        newest: last version that can be read.
    """

    number: int
    key: type
    fields: tuple[str, ...]
    version: Callable[[r.RecordValue], int]
    flexible_from: int
    newest: int
    write: Callable[[Writer, r.RecordValue, int], None]
    read: Callable[[Reader, int], r.RecordValue]


def _write_offset(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.OffsetCommitValue)
    out.int64(value.offset)
    if version >= 3:
        out.int32(value.leader_epoch)
    out.string(value.metadata)
    out.int64(value.commit_timestamp_ms)
    if version == OFFSET_VERSION_WITH_EXPIRY:
        out.int64(value.expire_timestamp_ms)
    has_id = value.topic_id is not None and value.topic_id != ZERO_ID
    out.tags([(0, value.topic_id.bytes)] if value.topic_id is not None and has_id else [])


def _read_offset(source: Reader, version: int) -> r.RecordValue:
    offset = source.int64()
    leader_epoch = source.int32() if version >= 3 else -1
    metadata = source.string()
    commit_ms = source.int64()
    expire_ms = source.int64() if version == OFFSET_VERSION_WITH_EXPIRY else r.NO_TIMESTAMP
    raw_id = source.tags().get(0)
    topic_id = None if raw_id is None else Reader(raw_id).uuid()
    return r.OffsetCommitValue(offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id)


def _write_group(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.GroupMetadataValue)

    def member(one: r.GroupMetadataMember) -> None:
        out.string(one.member_id)
        if version >= 3:
            out.string(one.group_instance_id)
        out.string(one.client_id)
        out.string(one.client_host)
        if version >= 1:
            out.int32(one.rebalance_timeout_ms)
        out.int32(one.session_timeout_ms)
        out.blob(one.subscription)
        out.blob(one.assignment)
        out.tags()

    out.string(value.protocol_type)
    out.int32(value.generation)
    out.string(value.protocol)
    out.string(value.leader)
    if version >= 2:
        out.int64(value.current_state_timestamp_ms)
    out.array(value.members, member)
    out.tags()


def _read_group(source: Reader, version: int) -> r.RecordValue:
    def member() -> r.GroupMetadataMember:
        member_id = source.string()
        instance_id = source.optional_string() if version >= 3 else None
        client_id, client_host = source.string(), source.string()
        rebalance_ms = source.int32() if version >= 1 else -1
        session_ms = source.int32()
        subscription, assignment = source.blob(), source.blob()
        source.tags()
        return r.GroupMetadataMember(
            member_id,
            instance_id,
            client_id,
            client_host,
            session_ms if rebalance_ms == -1 else rebalance_ms,
            session_ms,
            subscription,
            assignment,
        )

    protocol_type, generation = source.string(), source.int32()
    protocol, leader = source.optional_string(), source.optional_string()
    since_ms = source.int64() if version >= 2 else r.NO_TIMESTAMP
    members = source.array(member)
    source.tags()
    return r.GroupMetadataValue(protocol_type, generation, protocol, leader, since_ms, members)


def _write_kip848_group(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupMetadataValue)
    out.int32(value.epoch)
    raw = value.metadata_hash.to_bytes(8, "big", signed=True)
    out.tags([(0, raw)] if value.metadata_hash else [])


def _read_kip848_group(source: Reader, version: int) -> r.RecordValue:
    epoch = source.int32()
    raw = source.tags().get(0)
    return r.ConsumerGroupMetadataValue(epoch, 0 if raw is None else Reader(raw).int64())


def _write_partition_metadata(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupPartitionMetadataValue)

    def topic(one: r.TopicMetadata) -> None:
        out.uuid(one.topic_id)
        out.string(one.topic_name)
        out.int32(one.num_partitions)
        out.array((), out.int32)  # racks by partition, not written since 4.0
        out.tags()

    out.array(value.topics, topic)
    out.tags()


def _read_partition_metadata(source: Reader, version: int) -> r.RecordValue:
    def racks() -> None:
        source.int32()
        source.array(source.string)
        source.tags()

    def topic() -> r.TopicMetadata:
        one = r.TopicMetadata(source.uuid(), source.string(), source.int32())
        source.array(racks)
        source.tags()
        return one

    topics = source.array(topic)
    source.tags()
    return r.ConsumerGroupPartitionMetadataValue(topics)


def _write_member(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupMemberMetadataValue)
    out.string(value.instance_id)
    out.string(value.rack_id)
    out.string(value.client_id)
    out.string(value.client_host)
    out.array(value.subscribed_topic_names, out.string)
    out.string(value.subscribed_topic_regex)
    out.int32(value.rebalance_timeout_ms)
    out.string(value.server_assignor)
    classic = Writer(flexible=True)
    if value.classic is None:
        classic.int8(0)
    else:

        def protocol(one: r.ClassicProtocol) -> None:
            classic.string(one.name)
            classic.blob(one.metadata)
            classic.tags()

        classic.int8(1)
        classic.int32(value.classic.session_timeout_ms)
        classic.array(value.classic.supported_protocols, protocol)
        classic.tags()
    out.tags([(0, bytes(classic.out))])


def _read_member(source: Reader, version: int) -> r.RecordValue:
    instance_id, rack_id = source.optional_string(), source.optional_string()
    client_id, client_host = source.string(), source.string()
    names, regex = source.array(source.string), source.optional_string()
    rebalance_ms, assignor = source.int32(), source.optional_string()
    classic = None
    nested = Reader(source.tags().get(0, b"\0"), flexible=True)
    if nested.int8() > 0:

        def protocol() -> r.ClassicProtocol:
            one = r.ClassicProtocol(nested.string(), nested.blob())
            nested.tags()
            return one

        classic = r.ClassicMemberMetadata(nested.int32(), nested.array(protocol))
    return r.ConsumerGroupMemberMetadataValue(
        instance_id, rack_id, client_id, client_host, names, regex, rebalance_ms, assignor, classic
    )


def _write_target_epoch(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupTargetAssignmentMetadataValue)
    out.int32(value.assignment_epoch)
    raw = value.assignment_timestamp_ms.to_bytes(8, "big", signed=True)
    out.tags([(0, raw)] if value.assignment_timestamp_ms else [])


def _read_target_epoch(source: Reader, version: int) -> r.RecordValue:
    epoch = source.int32()
    raw = source.tags().get(0)
    at_ms = 0 if raw is None else Reader(raw).int64()
    return r.ConsumerGroupTargetAssignmentMetadataValue(epoch, at_ms)


def _write_topic(out: Writer, one: r.AssignedTopic) -> None:
    out.uuid(one.topic_id)
    out.array(one.partitions, out.int32)
    epochs = Writer(flexible=True)
    if one.assignment_epochs:
        epochs.array(one.assignment_epochs, epochs.int32)
    out.tags([(0, bytes(epochs.out))] if one.assignment_epochs else [])


def _read_topic(source: Reader) -> r.AssignedTopic:
    topic_id, partitions = source.uuid(), source.array(source.int32)
    raw = source.tags().get(0)
    if raw is None:
        return r.AssignedTopic(topic_id, partitions)
    nested = Reader(raw, flexible=True)
    return r.AssignedTopic(topic_id, partitions, nested.array(nested.int32))


def _write_target(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupTargetAssignmentMemberValue)
    out.array(value.topic_partitions, lambda one: _write_topic(out, one))
    out.tags()


def _read_target(source: Reader, version: int) -> r.RecordValue:
    topics = source.array(lambda: _read_topic(source))
    source.tags()
    return r.ConsumerGroupTargetAssignmentMemberValue(topics)


def _write_current(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupCurrentMemberAssignmentValue)
    out.int32(value.member_epoch)
    out.int32(value.previous_member_epoch)
    out.int8(value.state)
    out.array(value.assigned_partitions, lambda one: _write_topic(out, one))
    out.array(value.partitions_pending_revocation, lambda one: _write_topic(out, one))
    out.tags()


def _read_current(source: Reader, version: int) -> r.RecordValue:
    epoch, previous, state = source.int32(), source.int32(), source.int8()
    assigned = source.array(lambda: _read_topic(source))
    pending = source.array(lambda: _read_topic(source))
    source.tags()
    return r.ConsumerGroupCurrentMemberAssignmentValue(epoch, previous, state, assigned, pending)


def _write_regex(out: Writer, value: r.RecordValue, version: int) -> None:
    assert isinstance(value, r.ConsumerGroupRegularExpressionValue)
    out.array(value.topics, out.string)
    out.int64(value.version)
    out.int64(value.timestamp_ms)
    out.tags()


def _read_regex(source: Reader, version: int) -> r.RecordValue:
    topics = source.array(source.string)
    value = r.ConsumerGroupRegularExpressionValue(topics, source.int64(), source.int64())
    source.tags()
    return value


def _offset_version(value: r.RecordValue) -> int:
    assert isinstance(value, r.OffsetCommitValue)
    own_expiry = value.expire_timestamp_ms != r.NO_TIMESTAMP
    return OFFSET_VERSION_WITH_EXPIRY if own_expiry else OFFSET_VERSION


def _kip848_kind(
    number: int,
    key: type,
    write: Callable[[Writer, r.RecordValue, int], None],
    read: Callable[[Reader, int], r.RecordValue],
    *fields: str,
) -> Kind:
    return Kind(number, key, ("group_id", *fields), lambda value: 0, 0, 0, write, read)


KINDS: tuple[Kind, ...] = (
    Kind(
        1,
        r.OffsetCommitKey,
        ("group_id", "topic", "partition"),
        _offset_version,
        4,
        4,
        _write_offset,
        _read_offset,
    ),
    Kind(
        2,
        r.GroupMetadataKey,
        ("group_id",),
        lambda value: GROUP_VERSION,
        4,
        4,
        _write_group,
        _read_group,
    ),
    _kip848_kind(3, r.ConsumerGroupMetadataKey, _write_kip848_group, _read_kip848_group),
    _kip848_kind(
        4,
        r.ConsumerGroupPartitionMetadataKey,
        _write_partition_metadata,
        _read_partition_metadata,
    ),
    _kip848_kind(5, r.ConsumerGroupMemberMetadataKey, _write_member, _read_member, "member_id"),
    _kip848_kind(
        6, r.ConsumerGroupTargetAssignmentMetadataKey, _write_target_epoch, _read_target_epoch
    ),
    _kip848_kind(
        7, r.ConsumerGroupTargetAssignmentMemberKey, _write_target, _read_target, "member_id"
    ),
    _kip848_kind(
        8, r.ConsumerGroupCurrentMemberAssignmentKey, _write_current, _read_current, "member_id"
    ),
    _kip848_kind(
        16, r.ConsumerGroupRegularExpressionKey, _write_regex, _read_regex, "regular_expression"
    ),
)
BY_KEY: Mapping[type, Kind] = {kind.key: kind for kind in KINDS}
# Kind 0 is kind 1 in logs of before Kafka 0.9.
BY_NUMBER: Mapping[int, Kind] = {0: KINDS[0], **{kind.number: kind for kind in KINDS}}
