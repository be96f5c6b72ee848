"""Fields of conditions: name, type, unit, meaning, and their values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from kgroups.core.errors import meant

Kind = Literal["number", "text"]
SECONDS: Final = "seconds"
"""The unit of fields that are compared with durations."""


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

    def meant(self, text: str) -> str | None:
        """`did you mean `lag`?`: a hint at the names that are written nearly like the text."""
        return meant(_normal(text), self._named, most=3)


def _normal(text: str) -> str:
    return text.replace("-", "_").lower()


def known(value: Value) -> int | float | str | None:
    """A value that is known as a whole; None for any other."""
    return None if isinstance(value, AtLeast) else value
