"""Every key of a scenario of `simulate`, out of its schema: the tables of docs/scenario.md."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

Schema = Any

SCHEMA: Final = Path(__file__).parents[1] / "cli" / "schemas" / "simulation.json"
TIMES: Final = {
    ": 500ms, 10s, 5m; a number is milliseconds.": "a time",
    ": 30s, 5m; a number is seconds, as in a manifest.": "a time, in seconds",
}
SHAPES: Final = ("fixed", "normal", "deviation", "exponential", "heavy", "tail")
"""Keys of a time that varies."""
APART: Final = ("groups", "members", "autoscaler", "events")
"""What has a table of its own."""
OF_KAFKA: Final = ("cluster", "settings", "config")
"""Mappings of Kafka's own properties, which are listed and not explained here."""


def scenario_tables() -> str:
    """A table for each part of the file."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    group = schema["properties"]["groups"]["additionalProperties"]
    member = group["properties"]["members"]["additionalProperties"]
    parts = {
        "The file": schema,
        "A group": group,
        "An entry of members": member,
        "An autoscaler of a group": group["properties"]["autoscaler"],
        "An event": schema["properties"]["events"]["items"],
        "A time that varies": _spread(member),
    }
    return "\n\n".join(f"## {title}\n\n{_table(part, '')}" for title, part in parts.items())


def _table(schema: Schema, prefix: str) -> str:
    rows = (f"| `{key}` | {value} | {meaning} |" for key, value, meaning in _rows(schema, prefix))
    return "\n".join(("| key | value | meaning |", "|---|---|---|", *rows))


def _rows(schema: Schema, prefix: str) -> Iterator[tuple[str, str, str]]:
    """Each key with what it takes and what it means, those below it after it."""
    for key, value in schema["properties"].items():
        if key == "schema":
            value = value | {"enum": [value["const"]]}
        text = value["description"]
        ending = next((each for each in TIMES if text.endswith(each)), "")
        meaning = text.removesuffix(ending).rstrip(".")
        path = f"{prefix}{key}"
        if key in OF_KAFKA:
            names = ", ".join(f"`{name}`" for name in value.get("properties", ()))
            if key == "settings" and "members" not in schema["properties"]:
                names = "those of a group"
            yield path, "a mapping", f"{meaning}: {names}" if names else meaning
            continue
        yield path, _kind(value, ending), meaning
        if key in APART:
            continue
        fixed = {name: below for name, below in _keys(value).items() if name not in SHAPES}
        yield from _rows({"properties": fixed}, f"{path}.")
        if path == "topics" and "additionalProperties" in value:
            yield from _rows(value["additionalProperties"], "topics.TOPIC.")


def _forms(schema: Schema) -> Iterator[Schema]:
    """A value's schema, and those of its forms."""
    yield schema
    for form in schema.get("anyOf", ()):
        yield from _forms(form)


def _keys(schema: Schema) -> dict[str, Schema]:
    """The fixed keys of a value's forms."""
    return {
        key: value for form in _forms(schema) for key, value in form.get("properties", {}).items()
    }


def _spread(member: Schema) -> Schema:
    """The keys of a time that varies."""
    every = _keys(member["properties"]["processing"])
    return {"properties": {shape: every[shape] for shape in SHAPES}}


def _kind(schema: Schema, ending: str) -> str:
    """What a value is, in a word or two."""
    if ending:
        return TIMES[ending]
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "exponential" in _keys(schema):
        return "a time, or one that varies"
    if schema.get("type") == ["integer", "number", "string"]:
        return "a time"
    words: list[str] = []
    for form in _forms(schema):
        kinds = form.get("type", [])
        words += [_WORDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds)]
        words += [f"`{each}`" for each in form.get("enum", ())]
    return " or ".join(dict.fromkeys(words))


_WORDS: Final = {
    "array": "a list",
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "null": "nothing",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
