"""One call of an official tool: arguments in, tables out, an exit code at the end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from kgroups.cli.exits import show_error
from kgroups.cli.official.actions import deleting, deleting_offsets, reading, resetting
from kgroups.cli.official.arguments import Arguments, BadValue, LateError, ParseError
from kgroups.cli.official.kind_validation import share_problems, streams_problems
from kgroups.cli.official.official_cluster import NoClient
from kgroups.cli.official.options import ACTIONS
from kgroups.cli.official.streams import fail_command
from kgroups.cli.official.tools import CONSUMER_TOOL, Tool
from kgroups.cli.official.validation import Misuse, check, opening, usual_problems
from kgroups.core.errors import KgroupsError, RefusedError

RUN: Final[Mapping[str, Callable[[Arguments], int]]] = {
    "list": reading.list_groups,
    "describe": reading.describe,
    "delete": deleting.delete,
    "delete-offsets": deleting_offsets.delete_offsets,
    "reset-offsets": resetting.reset_offsets,
    "validate-regex": reading.validate_regex,
}
PROBLEMS: Final[Mapping[str, Callable[[Arguments], Iterator[str]]]] = {
    "consumer": usual_problems,
    "share": share_problems,
    "streams": streams_problems,
}


def run_groups(words: Sequence[str], tool: Tool = CONSUMER_TOOL) -> int:
    """The exit code of `kafka-consumer-groups.sh WORDS`, or of a like tool, run by us."""
    try:
        arguments = opening(words, tool)
        if isinstance(arguments, int):
            return arguments
        check(arguments, PROBLEMS[tool.kind](arguments))
        action = next(name for name in ACTIONS if arguments.has(name))
        return RUN[action](arguments)
    except (ParseError, Misuse) as error:
        show_error(error)
    except LateError as error:
        if isinstance(error, BadValue) and tool.kind == "streams":  # which tells it as a misuse
            show_error(Misuse(str(error)))
        else:
            fail_command(tool, str(error))
    except NoClient as error:
        fail_command(tool, error.message, error.hint)
    except KgroupsError as error:
        fail_command(tool, error.message, error.hint)
        if isinstance(error, RefusedError):  # by a guard
            return error.exit_code
    return 1
