"""The program `kgroups`: its commands, and how it ends when something goes wrong."""

import sys
from typing import Annotated

import typer

from kgroups.cli import complete
from kgroups.cli.commands import (
    completion,
    coordinator,
    delete,
    delete_offsets,
    describe,
    lag,
    list,
    official,
    plan,
    remove_members,
    reset_offsets,
    sandbox,
    simulate,
    snapshot,
)
from kgroups.cli.exits import show_error, write_lines
from kgroups.cli.official.dispatch import official_arguments, record_arguments
from kgroups.cli.output import write_text
from kgroups.cli.tree import CONTEXT_SETTINGS, Root
from kgroups.core.errors import EXIT_CODE_BUG, EXIT_CODE_INTERRUPTED, KgroupsError

HELP = """Consumer groups of Apache Kafka: list, describe, change, and predict.

Global options stand before the command or after it; a flag beats the
environment (KGROUPS_BOOTSTRAP_SERVER, KGROUPS_COMMAND_CONFIG, KGROUPS_OUTPUT,
KGROUPS_TIMEOUT), which beats the default.

EXIT CODES
  0  done                        5  not found
  1  an item failed              6  a check said no
  2  usage                       70 a bug in kgroups
  3  cluster unreachable         130 interrupted
  4  refused by a group's state

EXAMPLES
  export KGROUPS_BOOTSTRAP_SERVER=localhost:9092
  kgroups list
  kgroups describe my-group
  kgroups describe --all-groups --output json
"""

app = typer.Typer(
    name="kgroups",
    cls=Root,
    help=HELP,
    context_settings=CONTEXT_SETTINGS,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
NOUNS = (
    list,
    describe,
    plan,
    simulate,
    lag,
    delete,
    reset_offsets,
    delete_offsets,
    remove_members,
    coordinator,
    snapshot,
    sandbox,
    official,
    completion,
    complete,
)
for noun in NOUNS:
    noun.register(app)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        write_text(f"kgroups {version('kgroups')}\n")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Only holds the options that stand before a command."""


def command_names() -> frozenset[str]:
    """Names of our own commands, as they stand first on a command line."""
    commands = [command.name for command in app.registered_commands]
    groups = [group.name for group in app.registered_groups]
    return frozenset(name for name in commands + groups if isinstance(name, str))


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # names are UTF-8 in Kafka, whatever the locale says
            reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        in_official_words = official_arguments(sys.argv[1:], command_names())
        if in_official_words is not None:
            official.run(in_official_words)
        records = record_arguments(sys.argv[1:])
        if records is not None:
            official.run_delete_records(records)
        app(prog_name="kgroups")
    except KeyboardInterrupt:
        sys.exit(EXIT_CODE_INTERRUPTED)
    except KgroupsError as error:
        show_error(error)
        sys.exit(error.exit_code)
    except Exception as error:
        _report_bug(error)
        sys.exit(EXIT_CODE_BUG)


def _report_bug(error: Exception) -> None:
    if "--verbose" in sys.argv:
        import traceback

        traceback.print_exc()
    write_lines(
        [f"error: a bug in kgroups: {type(error).__name__}: {error}"],
        [
            "please report it in the project's issue tracker, with the command and what "
            "`--verbose` adds here"
        ],
    )
