"""The program `kgroups`: its commands, and how it ends when something goes wrong.

What answers a line is imported where it is needed: `--version` waits for no parser of arguments.
"""

import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from kgroups.cli import signals
from kgroups.cli.completion.ready import ready_answer
from kgroups.cli.nouns import NOUNS
from kgroups.cli.output import outlet
from kgroups.core.errors import (
    EXIT_CODE_BUG,
    EXIT_CODE_INTERRUPTED,
    EXIT_CODE_UNPRINTED,
    KgroupsError,
)

if TYPE_CHECKING:
    import typer

HELP = """Inspect, change and plan Apache Kafka consumer groups.

Global options go before or after the command. A flag beats the environment
(KGROUPS_CONTEXT, KGROUPS_BOOTSTRAP_SERVER, KGROUPS_COMMAND_CONFIG,
KGROUPS_OUTPUT, KGROUPS_TIMEOUT), which beats the context (`kgroups context`),
which beats the default.

EXIT CODES
  0  done                        7    a deadline passed
  1  an item failed              70   a bug in kgroups
  2  usage                       74   done, but the result was not printed
  3  cluster unreachable         129  interrupted by SIGHUP
  4  refused: state or guard     130  interrupted by Ctrl-C
  5  not found                   143  interrupted by SIGTERM
  6  a condition was met

EXAMPLES
  export KGROUPS_BOOTSTRAP_SERVER=localhost:9092
  kgroups list
  kgroups describe my-group
  kgroups describe --all-groups --output json
"""

OFFICIAL: Final = frozenset({"official", "delete-records"})
"""First words that may begin a line in the grammar of Kafka's tools."""

ALLOCATIONS_A_COLLECTION: Final = 100_000
"""A whole cluster is some hundred thousand small objects that live to the end: looking for
cycles among them after every 700 new ones, as Python does, takes a tenth of the time."""


def program(nouns: Iterable[str] = NOUNS) -> "typer.Typer":
    """The program with these of its commands, in the order of its help."""
    from kgroups.cli.parsing.typer_params import Commands
    from kgroups.cli.tree import CONTEXT_SETTINGS, Root, root

    app = Commands(
        name="kgroups",
        cls=Root,
        help=HELP,
        context_settings=CONTEXT_SETTINGS,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    for noun in nouns:
        import_module(f"kgroups.cli.{NOUNS[noun]}").register(app)
    app.callback()(root)
    return app


def nouns_on(arguments: Sequence[str]) -> Iterable[str]:
    """The command on the line; all of them where it is not plain to see."""
    first = first_word(arguments)
    return (first,) if first in NOUNS else NOUNS


def first_word(arguments: Sequence[str]) -> str:
    """The word behind the global options; empty where those are not all plain to see."""
    takes_value = _global_flags()
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return word
        flag, equals, _ = word.partition("=")
        if flag not in takes_value or (equals and not takes_value[flag]):
            return ""
        if takes_value[flag] and not equals and next(words, "-").startswith("-"):
            return ""
    return ""


@cache
def _global_flags() -> dict[str, bool]:
    """Every flag of a global option, and whether a value follows it."""
    from kgroups.cli.params import GLOBAL_OPTIONS

    return {flag: option.parse is not None for option in GLOBAL_OPTIONS for flag in option.flags}


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(ALLOCATIONS_A_COLLECTION, 20, 20)
    atexit.register(signals.ignore_signals)
    atexit.register(gc.freeze)  # else the interpreter goes through every object before it ends
    outlet.protect()
    try:
        _leave(_run(sys.argv[1:]))
    except KeyboardInterrupt:  # while the program was leaving
        os._exit(signals.exit_code())


def _run(arguments: Sequence[str]) -> int:
    """Run the line; its exit code."""
    try:
        start = _starter(arguments)
        signals.interrupt_on_signals()
        start()
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        signals.be_quiet()
        return EXIT_CODE_INTERRUPTED
    except KgroupsError as error:
        from kgroups.cli.exits import show_error

        show_error(error)
        return error.exit_code
    except Exception as error:
        _report_bug(error)
        return EXIT_CODE_BUG


def _starter(arguments: Sequence[str]) -> Callable[[], object]:
    """What runs the line."""
    text = ready_answer(arguments)
    if text is not None:
        return partial(outlet.write_text, text)
    return (
        _official(arguments)
        or _plain(arguments)
        or partial(program(nouns_on(arguments)), prog_name="kgroups")
    )


def _plain(arguments: Sequence[str]) -> Callable[[], object] | None:
    """What runs the line without Typer; None where that has to read it."""
    from kgroups.cli.parsing.plain_lines import plain_call

    return plain_call(first_word(arguments), arguments)


def _leave(code: int) -> NoReturn:
    """Leave with this exit code, or with the one for a result that could not be printed."""
    sys.stdout.flush()
    if outlet.is_lost(sys.stdout):
        from kgroups.cli.exits import unprinted

        code = unprinted(code, EXIT_CODE_UNPRINTED)
    sys.stderr.flush()
    if code != EXIT_CODE_INTERRUPTED:
        signals.leave_on_signals(code)
        sys.exit(code)
    code = signals.exit_code()
    signals.leave_on_signals(code)
    os._exit(code)  # what was interrupted is not destroyed piece by piece, which is not silent


def _official(arguments: Sequence[str]) -> Callable[[], NoReturn] | None:
    """What runs the line as Kafka's tools would; None if it is not written in their grammar."""
    first = first_word(arguments)
    if first in NOUNS and first not in OFFICIAL:
        return None
    from kgroups.cli.commands import official
    from kgroups.cli.official.dispatch import official_arguments, record_arguments

    words = official_arguments(arguments, NOUNS.keys())
    if words is not None:
        return partial(official.run, words)
    records = record_arguments(arguments)
    return None if records is None else partial(official.run_delete_records, records)


def _report_bug(error: Exception) -> None:
    from kgroups.cli.exits import write_lines

    if "--verbose" in sys.argv:
        import traceback

        write_lines(traceback.format_exc().rstrip("\n").split("\n"), ())
    write_lines(
        [f"error: a bug in kgroups: {type(error).__name__}: {error}"],
        [
            "please report it in the project's issue tracker, with the command and what "
            "`--verbose` adds here"
        ],
    )
