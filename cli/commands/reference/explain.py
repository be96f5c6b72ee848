"""`kgroups explain`: what a word or code means, and what to do."""

from difflib import get_close_matches
from typing import Annotated, Final

import typer

from kgroups.assignors.registry import CLASSES
from kgroups.cli.meanings.client_properties import ALIASES, CONSUMER_PROPERTIES
from kgroups.cli.meanings.codes import ERROR_CODES, EXIT_CODES
from kgroups.cli.meanings.findings import FINDINGS
from kgroups.cli.meanings.group_states import STATES
from kgroups.cli.meanings.judgements import WORDS
from kgroups.cli.meanings.meaning import Meaning
from kgroups.cli.meanings.note_codes import NOTES
from kgroups.cli.meanings.protocol_words import PROTOCOL_WORDS
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import options_of, plain
from kgroups.cli.usage import Text, argument
from kgroups.core.errors import UsageError

SCHEMA = "kgroups.explain/1"

HELP = """Explain a state, an error code or another word.

WORD is a state of groups or members (Stable), a word of the protocols
(generation), an assignor (range), a consumer property with its defaults
(session.timeout.ms), an error (NON_EMPTY_GROUP), a verdict (STALL), a lag
status, a result or a confidence (below_log_start), a finding (DATA_LOST), or
an exit code (6), in any case. A word may have several meanings.
Without WORD, lists all of them by subject (--verbose: in full); a subject
('consumer property') lists its words in full.

EXAMPLES
  kgroups explain Stable
  kgroups explain session.timeout.ms
  kgroups explain NON_EMPTY_GROUP
  kgroups explain 74
  kgroups explain 'consumer property'
  kgroups explain -o json --query 'items[].code'
"""

EVERY: Final = (
    *STATES,
    *PROTOCOL_WORDS,
    *CONSUMER_PROPERTIES,
    *EXIT_CODES,
    *ERROR_CODES,
    *WORDS,
    *NOTES,
    *FINDINGS,
)
NEIGHBOURS: Final = 3
COLUMNS: Final = (
    Column("code", "CODE"),
    Column("kind", "KIND", shared=True),
    Column("exit_code", "EXIT-CODE", right=True, quiet=(None,)),
    Column("meaning", "MEANING"),
    Column("to_do", "WHAT-TO-DO", quiet=(None,)),
    Column("on_rebalance", "ON-REBALANCE", quiet=(None,)),
    Column("defaults", "DEFAULTS", quiet=("",)),
)


LISTED: Final = tuple(
    column._replace(verbose=column.field not in ("code", "kind", "meaning")) for column in COLUMNS
)
"""Of all words: what to do and the rest with --verbose."""
OTHER_NAMES: Final = {plain(name): plain(word) for name, word in {**CLASSES, **ALIASES}.items()}
"""Kafka's classes of assignors, and what libraries call properties -> the word, looked up."""
NAMES: Final = {plain(meaning.code): meaning.code for meaning in reversed(EVERY)}
"""Every word as it is looked up -> as it is written where it is met first."""


def explain(
    ctx: typer.Context,
    code: Annotated[Text, argument("[WORD]", "Word or code, in any case.")] = None,
) -> None:
    printer = Printer(options_of(ctx))
    items = [_item(meaning) for meaning in (EVERY if code is None else meanings_of(code))]
    # A few words are read in full: where they do not fit side by side, line by line.
    columns = LISTED if code is None else tuple(column._replace(chosen=True) for column in COLUMNS)
    printer.show(
        Report(
            SCHEMA,
            items,
            (plain_view("code", columns, _rows),),
            summary=lambda: {"codes": len(items)},
        )
    )


def _item(meaning: Meaning) -> Item:
    return meaning._asdict() | {"defaults": [default._asdict() for default in meaning.defaults]}


def _rows(item: Item) -> list[Item]:
    """One row; defaults that are alike stand together."""
    clients: dict[str, list[str]] = {}
    for default in item["defaults"]:
        named = f"{default['client']} {default['versions']}"
        clients.setdefault(default["value"] or "none", []).append(named)
    defaults = "; ".join(f"{value} ({', '.join(named)})" for value, named in clients.items())
    return [{**item, "defaults": defaults}]


def meanings_of(text: str) -> tuple[Meaning, ...]:
    """Meanings of a word, one for each place where it is met; or every word of a subject.

    Raises:
        UsageError: there is no such word.
    """
    name = plain(text)
    name = OTHER_NAMES.get(name, name)
    meanings = tuple(m for m in EVERY if name in (plain(m.code), plain(m.kind)))
    if meanings:
        return meanings
    near = [NAMES[name_near] for name_near in get_close_matches(name, NAMES, NEIGHBOURS)]
    guess = ", ".join(f"`{guessed}`" for guessed in near)
    raise UsageError(
        f"`{text}` is not a word that kgroups explains"
        + (f"; did you mean {guess}?" if near else ""),
        hint="`kgroups explain` lists them",
    )
