"""A page as text: whole, escaped, and with a table for every chart."""

import itertools
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.pages.chart_parts import COLOURS
from kgroups.cli.pages.charts import bars, lines, shares
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.cli.pages.render import page_html, write_page
from kgroups.core.errors import UsageError
from tests.support.pages.samples import EVIL, START_MS, sample_page

VOID = frozenset({"meta", "link", "br", "input"})


class Outline(HTMLParser):
    """Checks that elements close in order; keeps ids and headings."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element opens."""
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It closes, and nothing else was open in it."""
        assert self.open.pop() == tag


def values_of(figure: Figure) -> list[dict[str, Any]]:
    """The data inside a chart."""
    (values,) = figure.spec["datasets"].values()
    return list(values)


def test_well_formed() -> None:
    """Every element closes, ids are single, and headings skip no level."""
    outline = Outline()
    outline.feed(page_html(sample_page()))
    assert outline.open == []
    assert len(set(outline.ids)) == len(outline.ids)
    levels = [int(name[1]) for name in outline.headings]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))


def test_names_are_text() -> None:
    """A group's name that is HTML stays text, in the head, in tables and in the charts' data."""
    html = page_html(sample_page())
    assert EVIL not in html
    specs = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html)
    assert len(specs) == 5
    assert all(EVIL in json.dumps(json.loads(spec)) for spec in (*specs[:3], specs[4]))


def test_controls_in_names_are_spelled_out() -> None:
    """Neither markup nor a chart holds what turns the direction of writing, or no text at all."""
    name = "a\u202eb\x1b\x00\ud800"
    figure = bars("Lag", f"Of {name}.", [(name, 5)], unit="records", lane="group")
    html = page_html(Page(name, name, (Section(name, (figure,)),), ((name, name),), (name,)))
    page = html[: html.index("<script>\n")]
    assert html.encode()
    assert all(char.isprintable() for char in page.replace("\n", ""))
    assert page.count("a\\u202eb\\x1b\\x00\\ud800") >= 8
    (spec,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html)
    assert "a\\u202eb" in json.dumps(json.loads(spec), ensure_ascii=False).replace("\\\\", "\\")


def test_every_figure_has_its_rows() -> None:
    """A chart's values stand in its table; what is not known is a dash there."""
    figure = lines("Lag", "Two.", [(START_MS, "a", 5), (START_MS, "b", None)], unit="records")
    assert [tuple(row) for row in figure.table.rows] == [
        ("2025-11-21 04:40:00", "a", 5),
        ("2025-11-21 04:40:00", "b", None),
    ]
    html = page_html(Page("t", "l", (Section("s", (figure,)),)))
    assert '<td>b</td><td class="number">\N{EN DASH}</td>' in html


def test_a_long_table_says_what_it_leaves_out() -> None:
    """More rows than the page's table has are counted in its caption."""
    rows = [(float(second), "a", 1.0) for second in range(800)]
    figure = lines("Lag", "Long.", rows, unit="records", axis="seconds")
    assert (len(figure.table.rows), figure.table.left_out) == (500, 300)
    assert "(300 further rows are left out)" in page_html(
        Page("t", "l", (Section("s", (figure,)),))
    )


def test_largest_share_first() -> None:
    """Parts of a bar are in order of their amount, whatever the order of the rows."""
    figure = shares(
        "M", "s", [("g", "x", 1.0), ("g", "y", 9.0)], unit="lag", lane="group", part="m"
    )
    values = values_of(figure)
    assert [(row["part"], row["place"]) for row in values] == [("y", 1), ("x", 2)]


def test_bars_without_anything() -> None:
    """Bars that are all zero still have a scale."""
    figure = bars("V", "s", [("OK", 0)], unit="groups", lane="verdict")
    assert figure.spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert values_of(figure)[0]["colour"] == COLOURS[0]


def test_a_page_without_charts_has_no_scripts() -> None:
    """Tables need none."""
    html = page_html(Page("t", "l", (Section("s", (Table(("a",), [(1,)], "c"),)),)))
    assert "<script" not in html
    assert len(html) < 10_000


def test_written_whole_or_not_at_all(tmp_path: Path) -> None:
    """An old page is replaced; a place that cannot be written is one sentence."""
    path = tmp_path / "report.html"
    page = Page("t", "l", ())
    path.write_text("old")
    write_page(path, page)
    assert path.read_text() == page_html(page)
    with pytest.raises(UsageError, match="cannot be written"):
        write_page(tmp_path / "none" / "report.html", page)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
