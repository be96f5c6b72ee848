"""A snapshot's document read strictly: complaints name file, line and place."""

import base64
import binascii
import datetime
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeVar, cast, get_args

from kgroups.core.errors import ItemError
from kgroups.core.input_files.document import Cursor, Document, Fields
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    MemberProtocol,
    PartitionLog,
    Topic,
    TopicPartition,
)
from kgroups.core.uuids import parse_uuid

SCHEMA: Final = "kgroups.snapshot/1"

_T = TypeVar("_T")


MAX_INT32: Final = 2**31 - 1


# What is accepted beside the required keys; the second list holds figures that follow from the
# rest and are not read.
_ENVELOPE_KEYS: Final = ("cluster", "generated_at", "captured_at_ms", "brokers", "errors")
_ENVELOPE_DERIVED: Final = ("summary",)
_GROUP_KEYS: Final = (
    "protocol_type",
    "assignor",
    "coordinator",
    "offsets_partition",
    "group_epoch",
    "target_epoch",
    "leader",
    "members",
    "offsets",
)
_GROUP_DERIVED: Final = ("lag_summary",)
_MEMBER_KEYS: Final = (
    "instance_id",
    "member_protocol",
    "member_epoch",
    "subscription",
    "subscription_regex",
    "assignment",
    "target_assignment",
    "rack",
    "subscription_version",
    "generation",
    "owned",
    "user_data",
    "assignment_version",
    "assignment_user_data",
)
_MEMBER_DERIVED: Final = ("partitions", "lag")
_OFFSET_KEYS: Final = ("committed_offset", "leader_epoch", "metadata", "committed_at_ms")
_OFFSET_DERIVED: Final = (
    "log_start_offset",
    "log_end_offset",
    "last_stable_offset",
    "lag",
    "lag_status",
    "lost",
    "member_id",
    "client_id",
    "host",
    "error",
)
_LOG_KEYS: Final = (
    "log_start_offset",
    "log_end_offset",
    "last_stable_offset",
    "leader",
    "racks",
    "error",
)


def parse_snapshot(document: Document) -> ClusterSnapshot:
    """The snapshot that a parsed document holds.

    Raises:
        UsageError: it is not a snapshot; names file, line and place.
    """
    root = document.root
    if isinstance(root.value, dict) and "schema" in root.value:
        schema = root.child("schema", root.value["schema"])
        if schema.text() != SCHEMA:
            schema.fail(
                f"expected `{SCHEMA}`, found `{schema.value}`",
                hint="a snapshot is what `kgroups snapshot save` writes",
            )
    fields = root.fields(("schema", "items", "topics"), (*_ENVELOPE_KEYS, *_ENVELOPE_DERIVED))
    cluster_id, bootstrap = fields.optional("cluster", _cluster) or (None, None)
    return ClusterSnapshot(
        captured_at_ms=_captured_at_ms(fields),
        groups=tuple(
            _unique(fields["items"].items(), read_group, lambda group: group.group, "group")
        ),
        topics={
            topic.topic: topic
            for topic in _unique(fields["topics"].items(), _topic, lambda t: t.topic, "topic")
        },
        brokers=tuple(
            _unique(_optional_items(fields, "brokers"), _broker, lambda broker: broker.id, "id")
        ),
        cluster_id=cluster_id,
        bootstrap=bootstrap,
        errors=tuple(_item_error(item) for item in _optional_items(fields, "errors")),
    )


def _unique(
    items: Iterator[Cursor], read: Callable[[Cursor], _T], key: Callable[[_T], object], name: str
) -> Iterator[_T]:
    seen: set[object] = set()
    for item in items:
        value = read(item)
        if key(value) in seen:
            item.fail(f"the {name} `{key(value)}` appears twice in this list")
        seen.add(key(value))
        yield value


def _optional_items(fields: Fields, key: str) -> Iterator[Cursor]:
    return fields.optional(key, Cursor.items) or iter(())


def _captured_at_ms(fields: Fields) -> int:
    exact = fields.optional("captured_at_ms", Cursor.integer)
    if exact is not None:
        return exact
    shown = fields.optional("generated_at", _time_ms)
    if shown is None:
        fields.cursor.fail("one of the keys `generated_at` and `captured_at_ms` is required")
    return shown


def _time_ms(cursor: Cursor) -> int:
    text = cursor.text()
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        cursor.fail(f"expected a time like `2026-11-21T01:02:03.456Z`, found `{text}`")
    if moment.tzinfo is None:
        cursor.fail(f"the time `{text}` has no zone", hint="end it with `Z`")
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return (moment - epoch) // datetime.timedelta(milliseconds=1)


def _cluster(cursor: Cursor) -> tuple[str | None, str | None]:
    fields = cursor.fields((), ("id", "bootstrap"))
    return fields.optional("id", Cursor.text), fields.optional("bootstrap", Cursor.text)


def _broker(cursor: Cursor) -> Broker:
    fields = cursor.fields(("id", "host", "port"), ("rack",))
    return Broker(
        id=fields["id"].integer(),
        host=fields["host"].text(),
        port=fields["port"].integer(),
        rack=fields.optional("rack", Cursor.text),
    )


def _item_error(cursor: Cursor) -> ItemError:
    fields = cursor.fields(("target", "code", "message"), ("hint", "exit_code"))
    return ItemError(
        target=fields["target"].text(),
        code=fields["code"].text(),
        message=fields["message"].text(),
        hint=fields.optional("hint", Cursor.text),
        exit_code=fields.optional("exit_code", Cursor.integer) or 1,
    )


def _topic(cursor: Cursor) -> Topic:
    fields = cursor.fields(("topic", "partitions"), ("topic_id",))
    logs = _unique(fields["partitions"].items(), _log, lambda log: log[0], "partition")
    return Topic(
        topic=fields["topic"].text(),
        partitions=dict(logs),
        topic_id=fields.optional("topic_id", read_topic_id),
    )


def read_topic_id(cursor: Cursor) -> str:
    """A topic id in Kafka's form; files of older versions have it as a UUID."""
    text = cursor.text()
    try:
        return parse_uuid(text)
    except ValueError:
        cursor.fail(
            f"expected a topic id, found `{text[:40]}`",
            hint="22 characters of base64, as `kafka-topics.sh --describe` shows them",
        )


def _log(cursor: Cursor) -> tuple[int, PartitionLog]:
    fields = cursor.fields(("partition",), _LOG_KEYS)
    return _partition(fields["partition"]), PartitionLog(
        log_start_offset=fields.optional("log_start_offset", _offset),
        log_end_offset=fields.optional("log_end_offset", _offset),
        last_stable_offset=fields.optional("last_stable_offset", _offset),
        leader=fields.optional("leader", Cursor.integer),
        racks=fields.optional("racks", read_racks) or (),
        error=fields.optional("error", Cursor.text),
    )


def _partition(cursor: Cursor) -> int:
    return cursor.integer(0, MAX_INT32)


def _offset(cursor: Cursor) -> int:
    return cursor.integer(0)


def read_racks(cursor: Cursor) -> tuple[str | None, ...]:
    """The rack of each replica of a partition; None where one has none."""
    return tuple(None if rack.value is None else rack.text() for rack in cursor.items())


def read_group(cursor: Cursor) -> Group:
    """A group as an item of the document."""
    fields = cursor.fields(("group", "type", "state"), (*_GROUP_KEYS, *_GROUP_DERIVED))
    return Group(
        group=fields["group"].text(),
        type=cast(GroupType, fields["type"].text(get_args(GroupType))),
        state=fields.optional("state", Cursor.text),
        protocol_type=fields.optional("protocol_type", Cursor.text),
        assignor=fields.optional("assignor", Cursor.text),
        coordinator=fields.optional("coordinator", _coordinator),
        offsets_partition=fields.optional("offsets_partition", _partition),
        group_epoch=fields.optional("group_epoch", Cursor.integer),
        target_epoch=fields.optional("target_epoch", Cursor.integer),
        leader=fields.optional("leader", Cursor.text),
        members=fields.optional("members", _members),
        offsets=fields.optional("offsets", _offsets),
    )


def _coordinator(cursor: Cursor) -> int:
    fields = cursor.fields(("id",), ("host", "port"))
    return fields["id"].integer()


def _members(cursor: Cursor) -> tuple[Member, ...]:
    return tuple(
        _unique(cursor.items(), _member, lambda member: member.member_id, "member"),
    )


def _member(cursor: Cursor) -> Member:
    fields = cursor.fields(("member_id", "client_id", "host"), (*_MEMBER_KEYS, *_MEMBER_DERIVED))

    def protocol(field: Cursor) -> MemberProtocol:
        return cast(MemberProtocol, field.text(get_args(MemberProtocol)))

    return Member(
        member_id=fields["member_id"].text(),
        client_id=fields["client_id"].text(),
        host=fields["host"].text(),
        instance_id=fields.optional("instance_id", Cursor.text),
        member_protocol=fields.optional("member_protocol", protocol) or "classic",
        member_epoch=fields.optional("member_epoch", Cursor.integer),
        subscription=fields.optional("subscription", _texts),
        subscription_regex=fields.optional("subscription_regex", Cursor.text),
        assignment=fields.optional("assignment", _assignment),
        target_assignment=fields.optional("target_assignment", _assignment),
        rack=fields.optional("rack", Cursor.text),
        subscription_version=fields.optional("subscription_version", Cursor.integer),
        generation=fields.optional("generation", Cursor.integer),
        owned=fields.optional("owned", _assignment),
        user_data=fields.optional("user_data", _bytes),
        assignment_version=fields.optional("assignment_version", Cursor.integer),
        assignment_user_data=fields.optional("assignment_user_data", _bytes),
    )


def _texts(cursor: Cursor) -> tuple[str, ...]:
    return tuple(item.text() for item in cursor.items())


def _assignment(cursor: Cursor) -> Mapping[str, tuple[int, ...]]:
    return {
        topic: tuple(_partition(item) for item in partitions.items())
        for topic, partitions in cursor.entries()
    }


def _bytes(cursor: Cursor) -> bytes:
    text = cursor.text()
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        cursor.fail(f"expected base64, found the string `{text[:40]}`")


def _offsets(cursor: Cursor) -> Mapping[str, Mapping[int, CommittedOffset]]:
    offsets: dict[str, dict[int, CommittedOffset]] = {}
    seen: set[TopicPartition] = set()
    for row in cursor.items():
        fields = row.fields(("topic", "partition"), (*_OFFSET_KEYS, *_OFFSET_DERIVED))
        topic, partition = fields["topic"].text(), _partition(fields["partition"])
        if (topic, partition) in seen:
            row.fail(f"the partition `{topic}-{partition}` appears twice in this list")
        seen.add((topic, partition))
        offset = fields.optional("committed_offset", Cursor.integer)
        if offset is not None:
            offsets.setdefault(topic, {})[partition] = CommittedOffset(
                offset=offset,
                leader_epoch=fields.optional("leader_epoch", Cursor.integer),
                metadata=fields.optional("metadata", Cursor.text) or "",
                committed_at_ms=fields.optional("committed_at_ms", Cursor.integer),
            )
    return offsets
