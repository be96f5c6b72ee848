"""Names of fields that several documents have in common: one name, one meaning.

The table of docs/scripting.md is made from it and the schemas; `tests/cli/test_document_names.py`
holds all schemas to it.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

SCHEMAS: Final = Path(__file__).parents[1] / "cli" / "schemas"
INPUTS: Final = frozenset({"scenario", "simulation"})
"""Schemas of files that people write."""

MEANINGS: Final[Mapping[str, str]] = {
    "group": "name of a group",
    "type": "`classic`, `consumer`, `share` or `streams`",
    "state": "state of a group, as Kafka spells it",
    "protocol_type": "what a classic group is for: `consumer`, `connect`, …",
    "assignor": "assignor in use, or planned with",
    "group_epoch": "epoch of a KIP-848 group",
    "target_epoch": "epoch of its target assignment",
    "coordinator": "broker that coordinates the group: `id`, `host`, `port`; "
    "`coordinator_id` in conditions and CSV",
    "offsets_partition": "partition of `__consumer_offsets` that holds the group",
    "members": "members of a group",
    "member_count": "how many there are",
    "idle_members": "how many have no partition",
    "member_id": "a member's id; with `client_id`, `instance_id` and `host` of the same member",
    "client_id": "a member's `client.id`",
    "instance_id": "a static member's `group.instance.id`",
    "host": "where a member, or a broker, is",
    "topic": "name of a topic",
    "partition": "number of a partition",
    "partitions": "how many partitions; a list of them where each has fields of its own",
    "assignment": "topic to partitions",
    "committed_offset": "offset of the next record that the group reads, as it committed it",
    "log_end_offset": "offset behind the last record",
    "log_start_offset": "offset of the first record that the log still holds",
    "lag": "records still to be read; null if it is not known of any partition",
    "lag_max": "largest lag of a partition",
    "lost": "records that expired before they were read",
    "lag_seconds": "age of the oldest unread record",
    "lag_seconds_method": "how that age was found",
    "rate_in": "records written per second",
    "rate_out": "records read per second",
    "catch_up_seconds": "time until the lag is gone at these rates; null if never",
    "unknown_partitions": "partitions whose lag is not known, and not in `lag`",
    "unowned_partitions": "partitions that are not assigned to any member",
    "beyond_end_partitions": "partitions whose committed offset is beyond the log end",
    "stalled_partitions": "owned partitions with lag whose commit stands still, with `--over`",
    "held_partitions": "partitions that an open transaction holds; null if not looked at",
    "old_offset": "committed offset before a write",
    "new_offset": "committed offset after it",
    "lag_before": "lag before a change, or in the window before",
    "lag_after": "lag after it",
    "skipped_records": "unread records that a write of offsets skips",
    "read_again": "records that are read another time",
    "moved": "partitions that change their owner",
    "figures": "figures by their names, as conditions name them",
    "verdict": "what a check or a report concludes",
    "expires_at": "when the broker deletes a commit",
    "generated_at": "when the facts were read",
    "action": "what a write does to an item",
    "result": "what became of it: `done`, `planned`, `refused`, `failed`, `skipped`, `unknown`",
    "error": "why it failed",
    "note": "what to know of it",
    "reason": "why it is so",
    "value": "of a configuration, a header, a record, a trial",
    "source": "what tells it: `records`, `captures`; of a configuration, where it is set",
    "undo_file": "file that takes the write back",
    "file": "path of a file",
    "plan_file": "file that holds the plan, with `--plan`",
    "kind": "which of several sorts of items it is",
    "rebalances": "how many began, or were seen; a list where each has fields of its own",
    "records": "how many records, by kind where there are several",
    "code": "code of an error or note: `kgroups explain CODE`",
    "message": "what happened, for people",
    "hint": "what to do about it",
    "target": "what an error, a note or a step is about; null: the command as a whole",
    "context": "name of a context, where several are asked",
    "cluster": "the cluster that was asked: `id`, `bootstrap`; its name in rows of lag reports",
    "seed": "what random draws start from",
}

Kinds = Mapping[str, Mapping[str, frozenset[str]]]


def documents() -> dict[str, dict[str, Any]]:
    """The schemas of all documents by their names."""
    paths = sorted(SCHEMAS.glob("*.json"))
    return {path.stem: json.loads(path.read_text()) for path in paths if path.stem not in INPUTS}


def kinds_of_names() -> Kinds:
    """Name of a field to its kinds (number, string, array, …) to the documents that have it so."""
    schemas = documents()
    by_id = {schema["$id"]: schema for schema in schemas.values()}
    kinds: dict[str, dict[str, frozenset[str]]] = {}
    for document, schema in schemas.items():
        for name, field in _fields(schema):
            for kind in _kinds(field, by_id, schema):
                named = kinds.setdefault(name, {})
                named[kind] = named.get(kind, frozenset()) | {document}
    return kinds


def times() -> set[str]:
    """Names of fields that hold a time."""
    reference = "urn:kgroups:schema:common:1#/$defs/timestamp"
    return {
        name
        for schema in documents().values()
        for name, field in _fields(schema)
        if reference in {way.get("$ref") for way in (field, *field.get("anyOf", ()))}
    }


def names_table() -> str:
    """A row for each name that documents share: what it is, and how many have it."""
    kinds = kinds_of_names()
    rows = ["| name | | documents |", "|---|---|---|"]
    for name, meaning in MEANINGS.items():
        having = frozenset().union(*kinds[name].values()) - {"common"}
        rows.append(f"| `{name}` | {meaning} | {len(having)} |")
    return "\n".join(rows)


def _fields(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, list):
        for part in schema:
            yield from _fields(part)
    if isinstance(schema, dict):
        yield from schema.get("properties", {}).items()
        of_names = ("properties", "$defs", "patternProperties")
        parts = [part for key in of_names for part in schema.get(key, {}).values()]
        one = ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems")
        for part in (*parts, *(schema.get(key) for key in one)):
            yield from _fields(part)


def _kinds(
    field: dict[str, Any], by_id: Mapping[str, dict[str, Any]], schema: dict[str, Any]
) -> set[str]:
    if "$ref" in field:
        base, _, place = field["$ref"].partition("#")
        schema = by_id[base] if base else schema
        target: Any = schema
        for step in place.strip("/").split("/"):
            target = target[step]
        return _kinds(target, by_id, schema)
    ways = field.get("anyOf") or field.get("oneOf")
    if ways:
        return set().union(*(_kinds(way, by_id, schema) for way in ways))
    types = field.get("type")
    if types is None:
        values = field.get("enum", [field.get("const")])
        types = ["null" if value is None else type(value).__name__ for value in values]
    types = [types] if isinstance(types, str) else types
    plain = {"integer": "number", "int": "number", "str": "string", "bool": "boolean"}
    return {plain.get(kind, kind) for kind in types} - {"null"}
