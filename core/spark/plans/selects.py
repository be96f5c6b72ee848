"""A `SELECT`, and when two of them, one around the other, are one.

Spark resolves a query from the inside out, and goes through its hundred rules for each level; its
parser looks through every pair of parentheses several times. On few rows that is most of the work.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from kgroups.core.spark.plans.columns import named

_WORD: Final = re.compile(r"`(?:[^`]|``)+`|\w+")
_SEVERAL: Final = re.compile(r"\b(?:pos)?(?:explode|inline|stack)(?:_outer)?\s*\(", re.IGNORECASE)
_WINDOW: Final = re.compile(r"\bover\s*\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Select:
    """One `SELECT`.

    Args:
        source: what stands after `FROM`: frames (`Frame`), with text between where they are joined.
        items: names and texts of columns, after all of the source's where `has_all`.
        tests: all of them hold for the rows that are kept.
        group: keys that rows are put together by; "": all are one row; None: they are not.
    """

    source: tuple[Any, ...]
    items: tuple[tuple[str, str], ...] = ()
    has_all: bool = False
    tests: tuple[str, ...] = ()
    group: str | None = None
    order: str | None = None
    limit: int | None = None

    @property
    def parts(self) -> Iterator[Any]:
        """Its text, with frames between."""
        texts = ["*"] if self.has_all else []
        for name, text in self.items:
            own = named(name).text
            texts.append(own if text == own else f"{text} AS {own}")
        yield f"SELECT {', '.join(texts)} FROM "
        yield from self.source
        if self.tests:
            yield " WHERE " + " AND ".join(
                self.tests if len(self.tests) == 1 else (f"({test})" for test in self.tests)
            )
        if self.group:
            yield f" GROUP BY {self.group}"
        if self.order is not None:
            yield f" ORDER BY {self.order}"
        if self.limit is not None:
            yield f" LIMIT {self.limit}"

    @property
    def has_windows(self) -> bool:
        """Whether a column is of the rows around it."""
        return any(_WINDOW.search(text) for _name, text in self.items)

    @property
    def has_several(self) -> bool:
        """Whether a column makes several rows of one, which are there without the column, too."""
        return any(_SEVERAL.search(text) for _name, text in self.items)

    @property
    def computed(self) -> set[str]:
        """The columns that its source does not have as they are."""
        return {name.lower() for name, text in self.items if text != named(name).text}

    @property
    def is_cut(self) -> bool:
        """Whether it is its source with a limit."""
        rest = replace(self, limit=None)
        return rest == Select(self.source, has_all=True)


def mentioned(texts: Iterable[str]) -> set[str]:
    """All words in texts, and so at least the columns that they name."""
    words = (word for text in texts for word in _WORD.findall(text))
    return {
        (word[1:-1].replace("``", "`").replace("{{", "{").replace("}}", "}")).lower()
        if word[0] == "`"
        else word.lower()
        for word in words
    }


def merged(outer: Select, inner: Select) -> Select | None:
    """One `SELECT` in the place of two; None where it would say something else.

    A column of the inner one that is computed is moved, not copied: where the outer one makes
    something of it, both are needed.

    Args:
        outer: of the rows of `inner` and nothing else.
    """
    if inner.limit is not None or inner.has_several:
        return None
    if inner.order is not None:
        return replace(inner, limit=outer.limit) if outer.is_cut else None
    own = [text for name, text in outer.items if text != named(name).text]
    if outer.tests and (inner.group is not None or inner.has_windows):
        return None
    if inner.group is not None and (own or outer.group is not None or outer.order is not None):
        return None
    used = mentioned([*own, *outer.tests, outer.group or ""])
    if used & inner.computed or (outer.group is not None and inner.has_windows):
        return None
    texts = dict(inner.items)
    items = tuple(
        (name, texts.get(name, text) if text == named(name).text else text)
        for name, text in outer.items
    )
    if outer.has_all:
        items = (*inner.items, *items)
    return Select(
        inner.source,
        items,
        outer.has_all and inner.has_all,
        (*inner.tests, *outer.tests),
        inner.group if outer.group is None else outer.group,
        outer.order,
        outer.limit,
    )
