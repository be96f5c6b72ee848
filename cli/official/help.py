"""The help page of a tool's options."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Final

from kgroups.cli.official.options import GROUP_OPTIONS, RECORD_OPTIONS, Option

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
_INDENT: Final = 34
_WIDTH: Final = 80


def groups_page() -> str:
    """Help of the options of kafka-consumer-groups.sh."""
    return _page(GROUPS_INTRO, GROUP_OPTIONS)


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
