"""Which of the two grammars a command line is written in."""

from collections.abc import Collection, Sequence
from typing import Final

from kgroups.cli.official.arguments import ParseError, walk
from kgroups.cli.official.options import ACTIONS, GROUP_OPTIONS, Option
from kgroups.cli.official.tools import (
    ALL_GROUPS_TOOL,
    CONSUMER_TOOL,
    SHARE_TOOL,
    STREAMS_TOOL,
)
from kgroups.cli.params import GLOBAL_OPTIONS

FORCED: Final = "official"
RECORDS: Final = "delete-records"
TOOLS: Final = {
    tool.name: tool for tool in (CONSUMER_TOOL, SHARE_TOOL, STREAMS_TOOL, ALL_GROUPS_TOOL)
}
"""By their names, which come first in a line of `official`, or that a link to the program has."""

# Options that may stand before an action or a command, of both grammars.
_KNOWN: Final = {
    **{
        flag.lstrip("-"): Option(
            flag.lstrip("-"), option.help, "nothing" if option.parse is None else "value"
        )
        for option in GLOBAL_OPTIONS
        for flag in option.flags
    },
    **{option.name: option for option in GROUP_OPTIONS},
}


def official_arguments(words: Sequence[str], commands: Collection[str]) -> list[str] | None:
    """The arguments for the official grammar; None if the line is in our own.

    Those of kafka-delete-records.sh begin with `delete-records`, wherever it stood.

    Args:
        words: what follows the program's name.
        commands: names of our own commands.
    """
    forced = list(words[:1]) == [FORCED]
    own = list(words[1:]) if forced else list(words)
    if forced and own[:1] and own[0] in TOOLS:
        return own
    command = next((word for word in own if word in commands), RECORDS)
    if command == RECORDS and _names(own) & {"offset-json-file"}:
        return [RECORDS, *(word for word in own if word != RECORDS)]
    if forced:
        return own
    try:
        for given in walk(words, _KNOWN):
            if given.option is None:
                if given.text in commands:
                    return None
            elif given.option.name in ACTIONS:
                return list(words)
    except ParseError:
        return _unreadable(words, commands)
    return None


def _unreadable(words: Sequence[str], commands: Collection[str]) -> list[str] | None:
    """A line with an unknown option: official if it has an action and no command at all."""
    if any(word in commands for word in words):
        return None
    return list(words) if _names(words) & set(ACTIONS) else None


def _names(words: Sequence[str]) -> set[str]:
    return {word.lstrip("-").partition("=")[0] for word in words if word.startswith("-")}
