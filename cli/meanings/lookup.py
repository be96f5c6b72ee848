"""What a code means, by its name in any case, and every code there is."""

from difflib import get_close_matches
from typing import Final

from kgroups.cli.meanings.error_codes import ERROR_CODES
from kgroups.cli.meanings.exit_codes import EXIT_CODES
from kgroups.cli.meanings.judgements import WORDS
from kgroups.cli.meanings.meaning import Meaning
from kgroups.core.errors import UsageError

EVERY: Final = (*EXIT_CODES, *ERROR_CODES, *WORDS)
NEIGHBOURS: Final = 3


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
