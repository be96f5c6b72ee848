"""A `Page` as one HTML file: style, scripts, charts and data inside, nothing fetched.

The page's own content security policy forbids the network, so that what it shows cannot depend
on it. Charts are drawn by Vega in the browser; where no script runs, the tables are there.
"""

import json
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.metadata import version as package_version
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

from kgroups.cli.output.escapes import printable
from kgroups.cli.output.outlet import write_whole
from kgroups.cli.pages.page import Figure, Page, Section, Table
from kgroups.core.input_files.files import kept_text

# `unsafe-eval`: Vega makes functions of a chart's expressions, which are ours.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'"
)

# What every object of JavaScript has. Vega looks names up in objects, and takes these for found.
OF_EVERY_OBJECT = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"}
    | {"toString", "valueOf", "__proto__", "__defineGetter__", "__defineSetter__"}
    | {"__lookupGetter__", "__lookupSetter__"}
)

# What of the bundle the page's own script uses.
EMBED = "window.vegaEmbed = vegaEmbed;"
WIDE_FROM = 8
"""Columns from which on the first and the last stay in view, and paper is turned."""
FOOTER = "Made by kgroups. Times are UTC; a dash means unknown."


def prepare_pages() -> None:
    """Loads what pages are made with, in a thread of its own: for who waits for rows meanwhile."""
    Thread(target=_load, name="pages").start()


def _load() -> None:
    import kgroups.cli.pages.charts  # noqa: F401  Altair: half a second

    _vega()


def write_page(path: Path, page: Page) -> None:
    """Writes a page whole or not at all, over what is there.

    Raises:
        UsageError: it cannot be written there.
    """
    write_whole(path, page_html(page), "the page")


def page_html(page: Page) -> str:
    """The page as text of an HTML file."""
    return "".join(_page(page))


def _page(page: Page) -> Iterator[str]:
    has_charts = any(
        isinstance(part, Figure) for section in page.sections for part in section.parts
    )
    title = _text(page.title)
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        # Without one, a browser asks the server for an icon.
        '<link rel="icon" href="data:,">\n'
        f"<title>{title}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#content">Skip to the content</a>\n'
        f'<header>\n<h1>{title}</h1>\n<p class="lead">{_text(page.lead)}</p>\n</header>\n'
        '<main id="content">\n'
    )
    if page.facts:
        pairs = "".join(
            f"<div><dt>{_text(label)}</dt><dd>{_text(value)}</dd></div>\n"
            for label, value in page.facts
        )
        yield f'<dl class="facts">\n{pairs}</dl>\n'
    if page.notes:
        notes = "".join(f"<li>{_text(note)}</li>\n" for note in page.notes)
        yield f'<section class="notes" aria-label="Notes">\n<ul>\n{notes}</ul>\n</section>\n'
    numbers = iter(range(1, 1_000_000))
    for section in page.sections:
        yield from _section(section, numbers)
    yield f"</main>\n<footer><p>{FOOTER}</p></footer>\n"
    if has_charts:
        yield f"<script>\n{_vega()}\n</script>\n<script>\n{_asset('page.js')}</script>\n"
    yield "</body>\n</html>\n"


def _section(section: Section, numbers: Iterator[int]) -> Iterator[str]:
    name = f"section-{next(numbers)}"
    yield f'<section aria-labelledby="{name}">\n<h2 id="{name}">{_text(section.heading)}</h2>\n'
    if section.text:
        yield f"<p>{_text(section.text)}</p>\n"
    yield '<div class="parts">\n'
    for part in section.parts:
        number = next(numbers)
        if isinstance(part, Figure):
            yield from _figure(part, number)
        else:
            wide = " wide" if len(part.columns) > WIDE_FROM else ""
            yield f'<div class="sheet{wide}">\n{_table(part)}</div>\n'
    yield "</div>\n</section>\n"


def _figure(figure: Figure, number: int) -> Iterator[str]:
    """A figure: to a screen reader its picture is one image with the summary as its text."""
    heading, summary = _text(figure.heading), _text(figure.summary)
    yield (
        f'<div class="panel">\n<figure aria-labelledby="figure-{number}">\n'
        f'<h3 id="figure-{number}">{heading}</h3>\n'
        f'<figcaption class="summary">{summary}</figcaption>\n'
        f'<div role="img" aria-label="{heading}: {summary}">\n'
        f'<div class="chart" id="chart-{number}" data-spec="spec-{number}" aria-hidden="true">'
        "</div>\n</div>\n</figure>\n"
        f'<script type="application/json" id="spec-{number}">{_json(figure.spec)}</script>\n'
        f"<details>\n<summary>{heading} as a table</summary>\n{_table(figure.table)}</details>\n"
        "</div>\n"
    )


def _table(table: Table) -> str:
    """A table that scrolls in its own place, with the keyboard too."""
    count = len(table.columns)
    is_number = [_is_numeric([row[place] for row in table.rows]) for place in range(count)]
    marks = [' class="number"' if numeric else "" for numeric in is_number]
    head = "".join(
        f'<th scope="col"{mark}>{_text(name)}</th>'
        for name, mark in zip(table.columns, marks, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{mark}>{_text(_cell(value))}</td>" for value, mark in zip(row, marks, strict=True)
        )
        + "</tr>\n"
        for row in table.rows
    )
    caption = _text(table.caption)
    if table.left_out:
        caption += f" ({table.left_out:,} further rows are left out)"
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{_text(table.caption)}">\n'
        f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )


def _text(text: str) -> str:
    """Text in an element or an attribute: no markup, and no mark that turns what follows it."""
    return escape(printable(text))


def _is_numeric(values: list[Any]) -> bool:
    numbers = [value for value in values if value is not None]
    return bool(numbers) and all(isinstance(value, int | float) for value in numbers)


def _cell(value: Any) -> str:
    """A value as a person reads it."""
    if value is None or value == "":
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _json(value: Any) -> str:
    """JSON that cannot end the script element that it stands in."""
    text = json.dumps(_spelled(value), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _spelled(value: Any) -> Any:
    """The value with every text in it fit to be drawn; names that would break a chart in quotes."""
    if isinstance(value, str):
        return f'"{value}"' if value in OF_EVERY_OBJECT else printable(value)
    if isinstance(value, dict):
        return {name: _spelled(part) for name, part in value.items()}
    return [_spelled(part) for part in value] if isinstance(value, list | tuple) else value


def _asset(name: str) -> str:
    return (files("kgroups.cli.pages") / name).read_text(encoding="utf-8")


@cache
def _vega() -> str:
    """Vega, Vega-Lite and the embedder, in the versions that Altair writes for.

    Kept: to put them together takes a second and a half of processor time.
    """
    import altair as alt

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])

    def bundle() -> str:
        import vl_convert

        made: str = vl_convert.javascript_bundle(EMBED, vl_version=version)
        return made.replace("</script", "<\\/script")

    return kept_text(f"vega-{version}-{package_version('vl-convert-python')}.js", bundle)
