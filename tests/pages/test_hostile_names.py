"""A lag report on names that were chosen to break its page, in the browser: none of them runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.commands.lag.lag_answer import lag_document, write_files
from kgroups.cli.output.escapes import printable
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.core.lag.report import LagQuery
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.capture_writer import captured_row
from tests.support.lag.made_history import START_MS, STEP_MS, write_rows
from tests.support.pages.browser import PROGRAM, SCREEN, Browser

HOSTILE = (
    "</script><img src=x onerror=window.ran=1>",
    "</title><script>window.ran=1</script>",
    '"\' onmouseover=window.ran=1 x="',
    "<!--<script>",
    "\u202egnp.egami\u202c \u2067isolated\u2069",
    "&lt;b&gt; ${window.ran=1} {{window.ran=1}} \\u003cimg src=x onerror=window.ran=1>",
    "n" * 249,
    "\N{GRINNING FACE} \N{ARABIC LETTER ALEF}\N{HEBREW LETTER ALEF} \x1b[31m\x00\r\n\t",
    "__proto__",
    "constructor",
)
CAPTURES = 3
UNKNOWN = "\N{EN DASH}"
# The pointer over every mark of every chart: what a tooltip shows is made only then.
HOVER = """(() => {
  const told = [];
  for (const mark of document.querySelectorAll('.chart svg [class*="mark-"] path')) {
    const at = mark.getBoundingClientRect();
    const where = {bubbles: true, clientX: at.x + at.width / 2, clientY: at.y + at.height / 2};
    mark.dispatchEvent(new PointerEvent('pointerover', where));
    mark.dispatchEvent(new PointerEvent('pointermove', where));
    const tip = document.querySelector('#vg-tooltip-element.visible');
    if (tip) { told.push(tip.textContent); }
  }
  return told;
})()"""
ROWS = """[...[...document.querySelectorAll('main table')].at(-1).querySelectorAll('tbody tr')].map(
  (row) => [...row.cells].map((cell) => cell.textContent))"""


def rows() -> list[dict[str, Any]]:
    """A group, a topic and a member of each name; every second client is called nothing."""
    return [
        captured_row(
            START_MS + step * STEP_MS,
            cluster=HOSTILE[0],
            group=name,
            group_state="Stable",
            topic=name,
            partition=partition,
            committed_offset=1_000 + place,
            log_start_offset=0,
            log_end_offset=12_345 * (place + 1) + step * 100,
            member_id=name,
            client_id=name if partition else "",
            host=name,
        )
        for step in range(CAPTURES)
        for place, name in enumerate(HOSTILE)
        for partition in range(2)
    ]


def value_in(cell: str, expected: Any) -> Any:
    """What a cell of the page says, as the document would."""
    if cell == UNKNOWN:
        return expected if expected in (None, "") else cell
    if isinstance(expected, float):
        return float(cell.replace(",", ""))
    return int(cell.replace(",", "")) if isinstance(expected, int) else cell


@pytest.mark.parametrize("by", ["member"] if PROGRAM else [])
def test_no_name_runs(
    browser: Browser,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    by: str,
) -> None:
    """No script of a name's, no element of its own; each figure is that of the JSON document."""
    folder, path = tmp_path / "captures", tmp_path / "lag.html"
    write_rows(folder, rows())
    answer = lag_report_over(
        folder,
        LagQuery(by=by, pictures=True),
        since_ms=START_MS,
        until_ms=START_MS + CAPTURES * STEP_MS,
        engine="duckdb",
    )
    shown = lag_document(None, by, answer, generated_at_ms=1)
    write_files(answer, shown, path, None)
    Printer(GlobalOptions(output="json")).show(shown)
    items = json.loads(capsys.readouterr().out)["items"]

    page = browser.show(path, SCREEN)
    told = page.evaluate(HOVER)
    assert page.evaluate("typeof window.ran") == "undefined"
    assert (page.log, page.requests) == ([], [])
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, object, [onmouseover]').length") == 0
    )
    charts = page.evaluate("document.querySelectorAll('.chart svg').length")
    assert charts == page.evaluate("document.querySelectorAll('.chart').length") == 4
    # The library, what draws, and the data of each chart: no script more.
    assert page.evaluate("document.scripts.length") == charts + 2
    assert any(HOSTILE[0] in text for text in told), told[:3]

    found = page.evaluate(ROWS)
    assert len(found) == len(items) >= len(HOSTILE)
    for cells, item in zip(found, items, strict=True):
        for cell, (name, value) in zip(cells, item.items(), strict=True):
            expected = round(value, 1) if isinstance(value, float) else value
            expected = printable(expected) if isinstance(expected, str) else expected
            assert value_in(cell, expected) == expected, name
