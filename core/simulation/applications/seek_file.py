"""Where an application seeks to, as a file has it."""

from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor
from kgroups.core.simulation.applications.application_events import SeekTarget
from kgroups.core.simulation.scenario.units import parse_ms

TIMESTAMP: Final = "timestamp:"
HINT: Final = "write `beginning`, `end`, an offset, or a time of the run: `timestamp:90s`"


def read_target(cursor: Cursor) -> SeekTarget:
    """`beginning`, `end`, an offset, or `timestamp:90s`."""
    value = cursor.value
    if isinstance(value, int) and not isinstance(value, bool):
        return SeekTarget("offset", cursor.integer(0))
    text = cursor.text()
    if text == "beginning":
        return SeekTarget("beginning")
    if text == "end":
        return SeekTarget("end")
    if text.isascii() and text.isdigit() and len(text) < 19:
        return SeekTarget("offset", int(text))
    if not text.startswith(TIMESTAMP):
        cursor.fail(f"`{text[:60]}` is no place in a log", hint=HINT)
    try:
        return SeekTarget("timestamp", round(parse_ms(text.removeprefix(TIMESTAMP).strip())))
    except UsageError as wrong:
        cursor.fail(wrong.message, hint=wrong.hint)


def read_numbers(cursor: Cursor) -> tuple[int, ...]:
    """Numbers of partitions."""
    found = tuple(each.integer(0) for each in cursor.items())
    if not found:
        cursor.fail("expected at least one partition")
    return found
