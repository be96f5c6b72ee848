"""Messages as dicts and lists, which tests spell and compare with less ado."""

from typing import Any

from kgroups.core.protocol.reader import Row
from kgroups.core.protocol.writer import Struct

Body = dict[str, Any]
"""A message or struct of it: Kafka's field in snake case to value."""


def as_message(value: Any) -> Any:
    """What our writers take: structs for dicts, in lists too."""
    if isinstance(value, dict):
        return Struct(**{name: as_message(each) for name, each in value.items()})
    return [as_message(each) for each in value] if isinstance(value, list | tuple) else value


def as_plain(value: Any) -> Any:
    """Dicts for the rows and structs of a message, with the fields that their version has."""
    if isinstance(value, Row):
        return {name: as_plain(each) for name, each in zip(value._fields, value, strict=True)}
    if isinstance(value, Struct):
        return {name: as_plain(each) for name, each in vars(value).items()}
    return [as_plain(each) for each in value] if isinstance(value, list | tuple) else value
