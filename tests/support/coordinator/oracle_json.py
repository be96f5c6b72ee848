"""Kafka's own JSON of messages and records, in every version, from and to the coordinator's."""

from typing import Final

from kgroups.core.coordinator.log.record_codec import BY_KEY, encode_record
from kgroups.core.coordinator.log.records import Record
from kgroups.core.protocol.kafka_json import Json as Json
from kgroups.core.protocol.kafka_json import to_json
from kgroups.core.protocol.reader import Cursor, decode, reader
from kgroups.core.protocol.table import Table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.wire.coordinator_codec import Asked, read_json

APIS: Final = {
    "join": Api.JOIN_GROUP,
    "sync": Api.SYNC_GROUP,
    "heartbeat": Api.HEARTBEAT,
    "leave": Api.LEAVE_GROUP,
    "commit": Api.OFFSET_COMMIT,
    "fetch": Api.OFFSET_FETCH,
    "delete_offsets": Api.OFFSET_DELETE,
    "describe": Api.DESCRIBE_GROUPS,
    "list": Api.LIST_GROUPS,
    "delete_groups": Api.DELETE_GROUPS,
    "consumer_heartbeat": Api.CONSUMER_GROUP_HEARTBEAT,
    "consumer_describe": Api.CONSUMER_GROUP_DESCRIBE,
}


def read_request(op: Json) -> Asked:
    """The request that an operation carries."""
    return read_json(
        APIS[op["op"]],
        op["version"],
        op["request"],
        client_id=op.get("client_id", "client"),
        client_host="/" + op.get("host", "127.0.0.1"),
    )


def write_record(record: Record, *, raw: bool) -> Json:
    """The JSON of a record; with its bytes in hex if `raw`."""
    kind = BY_KEY[type(record.key)]
    key, value = encode_record(record)
    out: Json = {"type": kind.number, "key": _as_json(kind.key.table, 0, key), "value": None}
    if value is not None:
        version = out["version"] = int.from_bytes(value[:2])
        out["value"] = _as_json(kind.value.table, version, value)
    if raw:
        out |= {"k": key.hex()} | ({} if value is None else {"v": value.hex()})
    return out


def _as_json(table: Table, version: int, raw: bytes) -> Json:
    return to_json(table, version, decode(reader(table, version), Cursor(raw, 2)))
