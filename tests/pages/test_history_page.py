"""The page that `history --html` writes: members, rebalances and lag, drawn by a browser."""

import time
from pathlib import Path

import pytest

from kgroups.cli.commands.history.history_page import Stay, history_page, stays
from kgroups.cli.commands.history.history_report import GroupHistory
from kgroups.core.history.looks import CapturedReader
from kgroups.core.history.reader import HistoryReader
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.snapshot import ClusterSnapshot, Group, PartitionLog, Topic
from tests.core.history.test_looks import group, looks
from tests.pages.test_simulation_page import charts_of, layers_of
from tests.support.cli.runner import run
from tests.support.pages.browser import PROGRAM, SCREEN, Browser

A, B = "app-1/a", "<b>app-2/b"
MINUTE_MS = 60_000
GROUPS = (
    group({A: (0, 1)}, number=7, committed=10),
    group({A: (0,), B: (1,)}, number=8, committed=20),
    group({A: (0,), B: (1,)}, number=8, committed=20),
    group({A: (0, 1)}, number=9, committed=90),
)


def captured(at_ms: int, one: Group) -> ClusterSnapshot:
    """A capture of it, with 100 records in the log."""
    return ClusterSnapshot(at_ms, (one,), {"t": Topic("t", {0: PartitionLog(0, 100)})}, (), "c1")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of captures, a minute apart."""
    folder = tmp_path_factory.mktemp("history")
    first_ms = time.time_ns() // 1_000_000 - 10 * MINUTE_MS
    for number, one in enumerate(GROUPS):
        write_capture(folder / "captures", captured(first_ms + number * MINUTE_MS, one))
    path = folder / "g.html"
    outcome = run("history", "g", "--captures", str(folder / "captures"), "--html", str(path))
    assert outcome.exit_code == 0, outcome.stderr
    return path


def test_who_was_there_when() -> None:
    """From joining to leaving; of who was there before, from where the window begins."""
    reader = CapturedReader(0, looks(*GROUPS))
    found = GroupHistory("g", reader.end(), reader)
    spans = [(one.seat.member_id, one.from_ms, one.to_ms) for one in stays(found, (0, 9_000))]
    assert spans == [(A, 0, 9_000), (B, 1_000, 3_000)]
    nothing = GroupHistory("g", (), HistoryReader())
    assert stays(nothing, (0, 9)) == list[Stay]()
    empty = history_page([nothing], (), (0, 9), ())
    assert [len(section.parts) for section in empty.sections] == [1]


def test_the_pictures_have_the_history_in_them(page: Path) -> None:
    """Lag of each capture, a bar a member, a line a rebalance with its cause."""
    lag, members = charts_of(page)
    line, rules = layers_of(lag)
    assert [row["value"] for row in line.rows] == [90, 80, 80, 10]
    assert [row["event"] for row in rules.rows] == [
        f"{B.partition('/')[0]} joined: member joined (likely)",
        f"{B.partition('/')[0]} left: member left (likely)",
    ]
    bars = next(layer for layer in layers_of(members) if layer.mark == "bar")
    assert [row["lane"] for row in bars.rows] == ["app-1", "<b>app-2"]
    assert bars.rows[1]["end"] - bars.rows[1]["t"] == 2 * MINUTE_MS
    text = page.read_text(encoding="utf-8")
    assert "<b>app" not in text.partition("<script>")[0]


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_it_is_drawn(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """Two charts, nothing logged, nothing fetched; a member that left has the shorter bar."""
    shown = browser.show(page, size)
    drawn = "[...document.querySelectorAll('.chart')].map(c => c.querySelectorAll('svg').length)"
    assert shown.evaluate(drawn) == [1] * 2
    assert (shown.log, shown.requests) == ([], [])
    bars = "[...document.querySelectorAll('.mark-rect path')].map(p => p.getBBox().width)"
    longest, shorter, *_ = sorted(shown.evaluate(bars), reverse=True)
    assert longest == pytest.approx(5 * shorter, rel=0.1)
