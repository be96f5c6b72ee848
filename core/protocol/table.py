"""A message's table as data: its fields with types, versions and defaults.

The text of a table has a line for the message, `MetadataRequest 0-13 flexible 9+`, and one for each
field, those of structs behind four more spaces: name, type, then what is not as usual. `[]` before
a type makes an array, `?` behind it says that null may stand there. `4+`, `4-10` and `4` are the
versions that have the field, where they are not those of what it is in; `null 12+` those in which
it may be null; `tag 0` its number as a tagged field (KIP-482); `default -1` what it is where it is
left out.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pkgutil import get_data
from typing import Any, Final

from kgroups.core.protocol.tables.api_keys import Api

LATEST: Final = 1 << 15
NO_VERSIONS: Final = range(0)
FORMATS: Final = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
}
"""`struct`'s letters for Kafka's numbers."""

_IMPLICIT: Final[Mapping[str, Any]] = {
    "bool": False,
    "string": "",
    "bytes": b"",
    "records": None,
    "uuid": None,
    "float64": 0.0,
}


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One field of a message or struct.

    Args:
        name: Kafka's, in snake case.
        kind: `int32`, `string`, ... or `struct`.
        versions: that have it; `nullable` those in which it may be null.
        tag: its number, if it is a tagged field.
        has_default: whether the table names one; `default` is Kafka's implicit one if it does not.
        fields: of a struct.
    """

    name: str
    kind: str
    is_array: bool
    versions: range
    nullable: range
    tag: int | None
    has_default: bool
    default: Any
    fields: list["Field"] = field(default_factory=list)

    @property
    def may_be_left_out(self) -> bool:
        """Whether a writer need not be given it."""
        return self.has_default or self.tag is not None or self.name in _OPTIONAL


_OPTIONAL: Final = ("error_code", "throttle_time_ms")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A message in all its versions.

    Args:
        flexible: versions with compact lengths and tagged fields.
    """

    name: str
    versions: range
    flexible: range
    fields: list[Field]


def fields_at(fields: list[Field], version: int) -> Iterator[Field]:
    """Those of the fields that a version has."""
    return (entry for entry in fields if version in entry.versions)


@cache
def parse_table(text: str) -> Table:
    """The table that a text is."""
    head, *lines = text.strip().splitlines()
    name, span, *flexible = head.split()
    versions = _versions(span, LATEST)
    table = Table(name, versions, _versions(flexible[1], LATEST) if flexible else NO_VERSIONS, [])
    levels: list[tuple[list[Field], range]] = [(table.fields, versions)]
    for line in lines:
        depth = (len(line) - len(line.lstrip())) // 4
        del levels[depth:]
        fields, within = levels[-1]
        entry = _field(line.split(), within)
        fields.append(entry)
        levels.append((entry.fields, entry.versions))
    return table


def _versions(text: str, last: int) -> range:
    first, _, end = text.removesuffix("+").partition("-")
    return range(int(first), (last if text.endswith("+") else int(end or first)) + 1)


def _field(words: list[str], within: range) -> Field:
    name, kind, *rest = words
    versions = _versions(rest.pop(0), within[-1]) if rest and rest[0][0].isdigit() else within
    extras = dict(zip(rest[::2], rest[1::2], strict=True))
    nullable = versions if kind.endswith("?") else NO_VERSIONS
    if "null" in extras:
        nullable = _versions(extras["null"], versions[-1])
    is_array, kind = kind.startswith("[]"), kind.removeprefix("[]").removesuffix("?")
    default: Any = () if is_array else _IMPLICIT.get(kind, 0)
    if "default" in extras:
        text = extras["default"]
        default = int(text, 16) if text.startswith("0x") else json.loads(text)
    tag = int(extras["tag"]) if "tag" in extras else None
    return Field(name, kind, is_array, versions, nullable, tag, "default" in extras, default)


@cache
def request_table(api: int) -> Table:
    """The table of an API's requests.

    Raises:
        ValueError: kgroups does not speak this API.
    """
    return tables_of(Api(api).name.lower())[0]


@cache
def response_table(api: int) -> Table:
    """The table of an API's answers.

    Raises:
        ValueError: kgroups does not speak this API.
    """
    return tables_of(Api(api).name.lower())[1]


def tables_of(name: str) -> tuple[Table, ...]:
    """The tables of a file in `tables/`, between empty lines."""
    data = get_data("kgroups.core.protocol.tables", f"{name}.txt") or b""
    return tuple(parse_table(text) for text in data.decode().split("\n\n"))
