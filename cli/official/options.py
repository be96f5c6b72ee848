"""The options of Kafka's tools: how each is written, what it means, and their help pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, Literal

Takes = Literal["nothing", "value", "maybe"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    Args:
        name: without dashes.
        takes: `value` swallows the next word whatever it is, `maybe` only one without a dash.
        value: name of its value in the help.
        only_with: one of these must be given too; empty for an option that stands alone.
    """

    name: str
    help: str
    takes: Takes = "nothing"
    value: str = ""
    only_with: tuple[str, ...] = ()


_COMMON: Final = (
    Option(
        "bootstrap-server", "Broker address; several separated by commas.", "value", "HOST:PORT"
    ),
    Option("command-config", "Client properties, Java's or librdkafka's.", "value", "FILE"),
    Option("help", "Show this page."),
    Option("version", "Show the version."),
)

GROUP_OPTIONS: Final = (
    Option("list", "List the groups."),
    Option("describe", "Describe groups: offsets, members or state."),
    Option("delete", "Delete groups with their offsets."),
    Option("delete-offsets", "Delete a group's offsets of topics."),
    Option("reset-offsets", "Reset a group's offsets; writes nothing without --execute."),
    Option("validate-regex", "Check a regular expression as brokers do.", "value", "REGEX"),
    Option("group", "A group; may be repeated.", "value", "GROUP"),
    Option("all-groups", "Every group."),
    Option(
        "topic",
        "A topic, or some of its partitions: t or t:0,1; may be repeated.",
        "value",
        "TOPIC",
    ),
    Option("all-topics", "Every topic that the group committed."),
    Option("offsets", "View: partitions, offsets, lag (default).", only_with=("describe",)),
    Option("members", "View: the members.", only_with=("describe",)),
    Option(
        "state",
        "View: state; with --list a filter, several by commas.",
        "maybe",
        "STATE",
        ("describe", "list"),
    ),
    Option("type", "Show types, or only these: classic, consumer.", "maybe", "TYPE", ("list",)),
    Option("verbose", "More columns.", only_with=("describe",)),
    Option("to-earliest", "Reset to the start of the log."),
    Option("to-latest", "Reset to the end of the log."),
    Option("to-current", "Reset to what is committed, or the end."),
    Option("to-offset", "Reset to this offset.", "value", "N"),
    Option("shift-by", "Shift by this many records; negative goes back.", "value", "N"),
    Option("by-duration", "Reset to this long ago: PT1H30M.", "value", "DURATION"),
    Option("to-datetime", "Reset to a time: 2026-01-31T12:00:00.000.", "value", "DATETIME"),
    Option("from-file", "Reset to the offsets of a CSV file.", "value", "FILE"),
    Option("dry-run", "Show the plan and write nothing."),
    Option("execute", "Write the changes."),
    Option("export", "Print the plan as CSV."),
    Option("timeout", "Longest wait in milliseconds (30000).", "value", "MS"),
    *_COMMON,
)

RECORD_OPTIONS: Final = (
    Option("offset-json-file", "JSON file of partitions and offsets.", "value", "FILE"),
    *_COMMON,
)

ACTIONS: Final = (
    "list",
    "describe",
    "delete",
    "reset-offsets",
    "delete-offsets",
    "validate-regex",
)
SCENARIOS: Final = (
    "to-offset",
    "to-datetime",
    "by-duration",
    "to-earliest",
    "to-latest",
    "to-current",
    "shift-by",
    "from-file",
)
DEFAULT_TIMEOUT_MS: Final = 30_000

ALL_GROUPS_OPTIONS: Final = (
    Option("list", "List groups of every type."),
    Option("group-type", "Only classic, consumer, share or streams groups.", "value", "TYPE"),
    Option("protocol", "Only groups of this protocol type.", "value", "PROTOCOL"),
    Option("consumer", "Consumer groups, and classic ones of consumers or without protocol."),
    Option("share", "Only share groups."),
    Option("streams", "Only streams groups."),
    *_COMMON,
)


def _picked(names: str) -> tuple[Option, ...]:
    """Options of kafka-consumer-groups.sh that other tools have, too."""
    return tuple(option for option in GROUP_OPTIONS if option.name in names.split())


SHARE_OPTIONS: Final = _picked(
    "list describe delete delete-offsets reset-offsets group all-groups topic all-topics offsets "
    "members state verbose to-earliest to-latest to-current to-offset to-datetime from-file "
    "dry-run execute export timeout bootstrap-server command-config help version"
)
STREAMS_OPTIONS: Final = (
    *_picked("list describe delete delete-offsets reset-offsets group all-groups"),
    Option(
        "input-topic",
        "An input topic, or some of its partitions: t or t:0,1; may be repeated.",
        "value",
        "TOPIC",
    ),
    Option("all-input-topics", "Every input topic that the group committed."),
    *_picked("offsets members state verbose"),
    Option("topology", "View: the nodes of the topology.", only_with=("describe",)),
    *_picked(
        "to-earliest to-latest to-current to-offset shift-by by-duration to-datetime from-file"
    ),
    Option(
        "delete-internal-topic",
        "Delete an internal topic, after a reset; may be repeated.",
        "value",
        "TOPIC",
    ),
    Option("delete-all-internal-topics", "Delete all internal topics, after a reset or deletion."),
    *_picked("dry-run execute export timeout bootstrap-server command-config help version"),
)

_INDENT: Final = 34
_WIDTH: Final = 80


def page(intro: str, options: Sequence[Option]) -> str:
    """A help page."""
    lines = []
    for option in options:
        value = {"nothing": "", "value": f" {option.value}", "maybe": f" [{option.value}]"}
        left = f"  --{option.name}{value[option.takes]}"
        first, *more = wrap(option.help, _WIDTH - _INDENT)
        lines.append(f"{left:<{_INDENT}}{first}")
        lines += [" " * _INDENT + line for line in more]
    return f"{intro}\nOptions:\n" + "\n".join(lines) + "\n"
