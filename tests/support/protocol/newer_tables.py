"""Tables as a newer Kafka may have them: with tagged fields that nobody knows here (KIP-482)."""

from dataclasses import replace

from kgroups.core.protocol.table import NO_VERSIONS, Field, Table

UNKNOWN = (9_000, 9_001)
CONTENT = b"\x01\x02\xff" * 50


def with_unknown_tags(table: Table) -> Table:
    """The table with two tagged fields more in each of its structs."""
    return replace(table, fields=_more(table.fields, table.flexible))


def _more(fields: list[Field], flexible: range) -> list[Field]:
    known = [
        replace(field, fields=_more(field.fields, flexible)) if field.fields else field
        for field in fields
    ]
    return known + [
        Field(f"unknown_{tag}", "bytes", False, flexible, NO_VERSIONS, tag, True, b"")
        for tag in UNKNOWN
    ]


def add_unknown(message: object) -> None:
    """Give the structs of a message something to say in the fields that nobody knows."""
    if isinstance(message, tuple | list):
        for element in message:
            add_unknown(element)
    elif hasattr(message, "__dict__"):
        for value in list(vars(message).values()):
            add_unknown(value)
        vars(message).update({f"unknown_{tag}": CONTENT for tag in UNKNOWN})
