"""The options of Kafka's two tools: how each is written, what it means, and their help pages."""

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
        help: what it does.
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
    Option("list", "List consumer groups."),
    Option("describe", "Describe groups: offsets, members or state."),
    Option("delete", "Delete groups with their offsets."),
    Option("delete-offsets", "Delete a group's offsets of topics."),
    Option("reset-offsets", "Reset a group's offsets; writes nothing without --execute."),
    Option("validate-regex", "Check a regular expression as brokers do.", "value", "REGEX"),
    Option("group", "A group; may be repeated.", "value", "GROUP"),
    Option("all-groups", "Every consumer group."),
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

GROUPS_INTRO: Final = """Usage: kgroups official OPTIONS

The options and layouts of Kafka's own kafka-consumer-groups.sh: list,
describe, delete consumer groups, reset or delete their offsets. The word
`official` may be left out when one of --list, --describe, --delete,
--reset-offsets, --delete-offsets, --validate-regex is given.

A long option takes one dash or two; its value follows it or an `=`.
Exit code: 0 done, 1 anything else.
"""
RECORDS_INTRO: Final = """Usage: kgroups delete-records --bootstrap-server HOST:PORT
           --offset-json-file FILE

The options and the output of Kafka's own kafka-delete-records.sh: delete the
records of partitions below an offset. FILE holds
{"partitions": [{"topic": "t", "partition": 0, "offset": 5}], "version": 1};
offset -1 is the end of the log.
"""
ALL_GROUPS_INTRO: Final = """Usage: kgroups official kafka-groups.sh OPTIONS

The options and the layout of Kafka's own kafka-groups.sh: list groups of
every type. Exit code: 0 done, 1 anything else.
"""
_INDENT: Final = 34
_WIDTH: Final = 80


def groups_page() -> str:
    """Help of the options of kafka-consumer-groups.sh."""
    return _page(GROUPS_INTRO, GROUP_OPTIONS)


def all_groups_page() -> str:
    """Help of the options of kafka-groups.sh."""
    return _page(ALL_GROUPS_INTRO, ALL_GROUPS_OPTIONS)


def records_page() -> str:
    """Help of the options of kafka-delete-records.sh."""
    return _page(RECORDS_INTRO, RECORD_OPTIONS)


def _page(intro: str, options: Sequence[Option]) -> str:
    lines = []
    for option in options:
        value = {"nothing": "", "value": f" {option.value}", "maybe": f" [{option.value}]"}
        left = f"  --{option.name}{value[option.takes]}"
        first, *more = wrap(option.help, _WIDTH - _INDENT)
        lines.append(f"{left:<{_INDENT}}{first}")
        lines += [" " * _INDENT + line for line in more]
    return f"{intro}\nOptions:\n" + "\n".join(lines) + "\n"
