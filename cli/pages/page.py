"""The parts of a page. Plain data: nothing here knows HTML or charts' grammar."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings.

    Args:
        rows: one value a heading; None is shown as a dash, numbers stand right.
        left_out: how many further rows are not shown.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, and the same in words and as a table.

    Args:
        heading: what is shown, a few words.
        summary: what one sees in it, a sentence or two: read out instead of the picture.
        spec: the chart in Vega-Lite's grammar, with its data.
    """

    heading: str
    summary: str
    spec: Mapping[str, Any]
    table: Table


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a page: a heading, a sentence, and what stands under them in order."""

    heading: str
    parts: Sequence[Figure | Table]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page.

    Args:
        title: its name, in the window's title too.
        lead: one sentence under the title: of what, from when.
        facts: the few figures that matter most, as (label, value).
        notes: what went wrong or is not known; shown before the sections.
    """

    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[tuple[str, str]] = ()
    notes: Sequence[str] = ()
