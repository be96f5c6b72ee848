"""`kgroups explain`: what a code or word in the output means, and what to do."""

from difflib import get_close_matches
from typing import Annotated, Final

import typer

from kgroups.cli.meanings.codes import ERROR_CODES, EXIT_CODES, Meaning
from kgroups.cli.meanings.judgements import WORDS
from kgroups.cli.meanings.note_codes import NOTES
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import options_of
from kgroups.cli.source import now_ms
from kgroups.cli.tree import Command
from kgroups.core.errors import UsageError

SCHEMA = "kgroups.explain/1"

HELP = """Explain an error code, a verdict or an exit code.

CODE is an error code (GROUP_ID_NOT_FOUND), a verdict (STALL), a word such as
a lag status, a result or a confidence (below_log_start, outcomes), or an exit
code (6). A word may have several meanings. Without CODE, lists all of them.

EXAMPLES
  kgroups explain NON_EMPTY_GROUP
  kgroups explain STALL
  kgroups explain 74
  kgroups explain -o json --query 'items[].code'
"""

EVERY: Final = (*EXIT_CODES, *ERROR_CODES, *WORDS, *NOTES)
NEIGHBOURS: Final = 3
COLUMNS: Final = (
    Column("code", "CODE"),
    Column("kind", "KIND"),
    Column("exit_code", "EXIT-CODE", right=True, quiet=(None,)),
    Column("meaning", "MEANING"),
    Column("to_do", "WHAT-TO-DO", quiet=(None,)),
)


def register(app: typer.Typer) -> None:
    """Add `explain` to the program."""
    app.command("explain", help=HELP, cls=Command)(explain)


def explain(
    ctx: typer.Context,
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="Code or word, in any case.")
    ] = None,
) -> None:
    """`kgroups explain`."""
    printer = Printer(options_of(ctx))
    items = [each._asdict() for each in (EVERY if code is None else meanings_of(code))]
    printer.show(
        Report(
            schema=SCHEMA,
            generated_at_ms=now_ms(),
            items=items,
            views=(View("code", COLUMNS, _row),),
            summary=lambda: {"codes": len(items)},
        )
    )


def _row(item: Item) -> list[Row]:
    return [tuple(item[column.field] for column in COLUMNS)]


def meanings_of(text: str) -> tuple[Meaning, ...]:
    """What a code or word means: one for each place where it is met.

    Raises:
        UsageError: there is no such code.
    """
    name = _normal(text)
    found = tuple(each for each in EVERY if _normal(each.code) == name)
    if found:
        return found
    names = {_normal(each.code): each.code for each in EVERY}
    near = [names[each] for each in get_close_matches(name, names, NEIGHBOURS)]
    guess = ", ".join(f"`{each}`" for each in near)
    raise UsageError(
        f"`{text}` is not a code of kgroups" + (f"; did you mean {guess}?" if near else ""),
        hint="`kgroups explain` lists them",
    )


def _normal(text: str) -> str:
    return text.strip().replace("-", "_").upper()
