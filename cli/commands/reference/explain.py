"""`kgroups explain`: what a word or code means, and what to do."""

from difflib import get_close_matches
from typing import Annotated, Final

import typer

from kgroups.cli.meanings.codes import ERROR_CODES, EXIT_CODES, Meaning
from kgroups.cli.meanings.group_states import STATES
from kgroups.cli.meanings.judgements import WORDS
from kgroups.cli.meanings.note_codes import NOTES
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, Row, View
from kgroups.cli.params import options_of, plain
from kgroups.cli.source import now_ms
from kgroups.core.errors import UsageError

SCHEMA = "kgroups.explain/1"

HELP = """Explain a state, an error code or another word.

WORD is a state of groups or members (Stable), an error (NON_EMPTY_GROUP), a
verdict (STALL), a lag status, a result or a confidence (below_log_start), or
an exit code (6), in any case. A word may have several meanings.
Without WORD, lists all of them by subject; a subject lists its words.

EXAMPLES
  kgroups explain Stable
  kgroups explain NON_EMPTY_GROUP
  kgroups explain 74
  kgroups explain 'exit code'
  kgroups explain -o json --query 'items[].code'
"""

EVERY: Final = (*STATES, *EXIT_CODES, *ERROR_CODES, *WORDS, *NOTES)
NEIGHBOURS: Final = 3
COLUMNS: Final = (
    Column("code", "CODE"),
    Column("kind", "KIND", shared=True),
    Column("exit_code", "EXIT-CODE", right=True, quiet=(None,)),
    Column("meaning", "MEANING"),
    Column("to_do", "WHAT-TO-DO", quiet=(None,)),
)


NAMES: Final = {plain(each.code): each.code for each in reversed(EVERY)}
"""Every word as it is looked up -> as it is written where it is met first."""


def explain(
    ctx: typer.Context,
    code: Annotated[
        str | None, typer.Argument(metavar="[WORD]", help="Word or code, in any case.")
    ] = None,
) -> None:
    """`kgroups explain`."""
    printer = Printer(options_of(ctx))
    items = [each._asdict() for each in (EVERY if code is None else meanings_of(code))]
    # A few words are read in full: where they do not fit side by side, line by line.
    columns = COLUMNS if code is None else tuple(each._replace(chosen=True) for each in COLUMNS)
    printer.show(
        Report(
            schema=SCHEMA,
            generated_at_ms=now_ms(),
            items=items,
            views=(View("code", columns, _row),),
            summary=lambda: {"codes": len(items)},
        )
    )


def _row(item: Item) -> list[Row]:
    return [tuple(item[column.field] for column in COLUMNS)]


def meanings_of(text: str) -> tuple[Meaning, ...]:
    """What a word means, one for each place where it is met; or every word of a subject.

    Raises:
        UsageError: there is no such word.
    """
    name = plain(text)
    found = tuple(each for each in EVERY if name in (plain(each.code), plain(each.kind)))
    if found:
        return found
    near = [NAMES[each] for each in get_close_matches(name, NAMES, NEIGHBOURS)]
    guess = ", ".join(f"`{each}`" for each in near)
    raise UsageError(
        f"`{text}` is not a word that kgroups explains"
        + (f"; did you mean {guess}?" if near else ""),
        hint="`kgroups explain` lists them",
    )
