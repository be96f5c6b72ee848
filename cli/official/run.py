"""One call of an official tool: arguments in, tables out, an exit code at the end."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kgroups.cli.exits import show_error
from kgroups.cli.official.actions import deleting, deleting_offsets, reading, resetting
from kgroups.cli.official.arguments import Arguments, LateError, ParseError, parse
from kgroups.cli.official.official_cluster import NoClient
from kgroups.cli.official.options import ACTIONS, GROUP_OPTIONS, groups_page
from kgroups.cli.official.streams import fail_command, say, show
from kgroups.cli.official.validation import Misuse, check
from kgroups.core.errors import KgroupsError, RefusedError
from kgroups.core.release import VERSION

Action = Callable[[Arguments], int]

RUN: Final[Mapping[str, Action]] = {
    "list": reading.list_groups,
    "describe": reading.describe,
    "delete": deleting.delete,
    "delete-offsets": deleting_offsets.delete_offsets,
    "reset-offsets": resetting.reset_offsets,
    "validate-regex": reading.validate_regex,
}


def run_groups(words: Sequence[str]) -> int:
    """The exit code of `kafka-consumer-groups.sh WORDS`, run by us."""
    try:
        arguments = parse(words, GROUP_OPTIONS)
        if not words:
            say(groups_page().rstrip("\n"))
            return 1
        if arguments.has("help"):
            show(groups_page())
            return 0
        if arguments.has("version"):
            show(version_line())
            return 0
        check(arguments)
        action = next(name for name in ACTIONS if arguments.has(name))
        return RUN[action](arguments)
    except (ParseError, Misuse) as error:
        show_error(error)
    except LateError as error:
        fail_command(str(error))
    except NoClient as error:
        fail_command(error.message, error.hint)
    except KgroupsError as error:
        fail_command(error.message, error.hint)
        if isinstance(error, RefusedError):  # by a guard
            return error.exit_code
    return 1


def version_line() -> str:
    """Our version, and whose options these are."""
    return f"kgroups {VERSION} (options of Kafka 4.4.0)\n"
