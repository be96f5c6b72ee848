"""Fields of conditions: name, type, unit, meaning, and their values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple

Kind = Literal["number", "text"]
SECONDS: Final = "seconds"
"""The unit of fields that are compared with durations."""
NEIGHBOURS: Final = 3


class AtLeast(NamedTuple):
    """A number of which only a part is known: the whole is this or more."""

    number: float


Value = int | float | str | AtLeast | None
"""The value of a field; None is unknown."""
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Field:
    """One figure that conditions may name.

    Args:
        name: as the document spells it.
        unit: `records`, `partitions`, `seconds`, ...; None of a text or a plain number.
        meaning: a phrase without a full stop.
        whole: the field that a percentage is of; None: `%` has no meaning.
    """

    name: str
    kind: Kind
    unit: str | None
    meaning: str
    whole: str | None = None


class Fields:
    """The fields that conditions on one kind of thing may name.

    Args:
        of: what they are of, for messages: `a plan`.
        rows: in the order in which they are listed.
    """

    def __init__(self, of: str, rows: Iterable[Field]) -> None:
        self.of = of
        self.rows = tuple(rows)
        self._named = {field.name: field for field in self.rows}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names in order."""
        return tuple(self._named)

    def field(self, text: str) -> Field | None:
        """The field that a text spells, in any case and with `-` for `_`; None if there is none."""
        return self._named.get(_normal(text))

    def neighbours(self, text: str) -> list[str]:
        """Names that are written nearly like the text, the nearest first."""
        return get_close_matches(_normal(text), self._named, NEIGHBOURS)


def _normal(text: str) -> str:
    return text.replace("-", "_").lower()


def known(value: Value) -> int | float | str | None:
    """A value that is known as a whole; None for any other."""
    return None if isinstance(value, AtLeast) else value
