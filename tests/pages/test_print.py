"""Pages on paper: printed by headless Chromium, and looked at page by page."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pypdfium2
import pytest

from kgroups.cli.commands.history.history_page import history_page
from kgroups.cli.commands.history.history_report import GroupHistory
from kgroups.cli.pages.charts import lines, shares, spans
from kgroups.cli.pages.page import Page, Section, Table
from kgroups.cli.pages.render import write_page
from kgroups.core.history.causes import with_causes
from kgroups.core.history.looks import CapturedReader, looks_at
from kgroups.core.snapshot import ClusterSnapshot, PartitionLog, Topic
from tests.core.history.test_looks import group
from tests.support.cli.cli_files import SCENARIO
from tests.support.cli.runner import run
from tests.support.pages.browser import PROGRAM, SCREEN, Browser
from tests.support.pages.samples import sample_page

PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)} if PROGRAM else {}
POINTS = 72
MARGIN = 14 / 25.4 * POINTS
WHITE = 255
LINE = 5  # how far letters reach below a line
ROWS = 90
COLUMNS = (
    *("GROUP", "TOPIC", "PARTITION", "COMMITTED", "LOG-END", "LAG", "LAG-MAX", "LOST"),
    *("RATE-IN", "RATE-OUT", "CATCH-UP-SECONDS", "STALLED-SECONDS", "MEMBER", "VERDICT"),
)
MEMBERS = [f"billing-consumer-7f9c4b8d6-{n:04x}-3b1f" for n in range(12)]


def long_page() -> Page:
    """Charts of as many lanes as there may be, and a table that is wide and long."""
    owners = [(f"orders-{n}", 0.0, 9.0 + n, MEMBERS[n % 12]) for n in range(60)]
    over_time = [(float(t), name, 5.0 * t) for name in MEMBERS for t in range(9)]
    parts = [(f"group-{n}", name, 9.0) for n in range(40) for name in MEMBERS[:4]]
    row = ["billing", "orders-by-customer-and-region", *[1_234_567] * 10, MEMBERS[0], "STOP"]
    return Page(
        "A long page",
        "of everything",
        (
            Section(
                "Charts",
                (
                    spans("Owners", "60.", owners, lane="partition", kind="member"),
                    lines("Lag", "12.", over_time, unit="records", kind="member", axis="seconds"),
                    shares("Shares", "40.", parts, unit="lag", lane="group", part="member"),
                ),
            ),
            Section("Rows", (Table(COLUMNS, [row] * ROWS, "90 rows"),)),
        ),
    )


def long_history() -> Page:
    """A group whose members were all replaced, one by one, and captured meanwhile."""
    taken = []
    for number in range(80):
        members = [f"{MEMBERS[0]}-{n}/{n}" for n in range(number, number + 20)]
        owned = {name: (n,) for n, name in enumerate(members)}
        one = group(owned, number=number + 1, committed=number)
        topics = {"t": Topic("t", {0: PartitionLog(0, 900 * number)})}
        taken.append(ClusterSnapshot(60_000 * number, (one,), topics))
    reader = CapturedReader(0, list(looks_at("g", taken)))
    found = GroupHistory("g", with_causes(reader.end()), reader)
    return history_page([found], taken, (0, 60_000 * 80), ())


class Sheet(NamedTuple):
    """A page of a PDF.

    Args:
        size: width and height in points.
        boxes: of its characters: left, bottom, right and top.
        text: without blanks, from top to bottom.
        last: its lowest line, without blanks.
    """

    size: tuple[float, float]
    pixels: np.ndarray
    boxes: list[tuple[float, float, float, float]]
    text: str
    last: str


def sheets(pdf: bytes) -> Iterator[Sheet]:
    """The pages of a PDF, a pixel a point."""
    with pypdfium2.PdfDocument(pdf) as document:
        for page in document:
            text = page.get_textpage()
            count = text.count_chars()
            signs = [(text.get_text_range(n, 1), text.get_charbox(n)) for n in range(count)]
            signs = [(sign, box) for sign, box in signs if sign.strip()]
            lowest = min(box[1] for _, box in signs)
            last = [(box[0], sign) for sign, box in signs if box[1] < lowest + LINE]
            yield Sheet(
                page.get_size(),
                page.render(scale=1).to_numpy().copy(),
                [box for _, box in signs],
                "".join(sign for sign, _ in signs),
                "".join(sign for _, sign in sorted(last)),
            )
            text.close()
            page.close()


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The long page as a file."""
    path = tmp_path_factory.mktemp("print") / "long.html"
    write_page(path, long_page())
    return path


@pytest.fixture(scope="module", params=["sample", "long", "plan", "history"])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page as a file."""
    if request.param == "long":
        path: Path = request.getfixturevalue("long")
        return path
    folder = tmp_path_factory.mktemp("print")
    path = folder / "page.html"
    if request.param == "plan":
        (folder / "plan.yaml").write_text(SCENARIO)
        deploy = ("orders-app", "--rolling-restart", "all", "--html", str(path))
        assert run("plan", "--from", str(folder / "plan.yaml"), *deploy).exit_code == 0
    else:
        write_page(path, long_history() if request.param == "history" else sample_page())
    return path


@pytest.mark.share(3)
@pytest.mark.parametrize("paper", PAPERS.values(), ids=PAPERS.keys())
def test_printed_pages(
    browser: Browser, page: Path, long: Path, paper: tuple[float, float]
) -> None:
    """Nothing is cut: margins are white, all text is inside; no page ends with a heading."""
    shown = browser.show(page)
    titles = "[...document.querySelectorAll('h2, h3, summary')].map(each => each.textContent)"
    headings = {"".join(title.split()) for title in shown.evaluate(titles)}
    assert len(headings) > 3
    texts = []
    for number, sheet in enumerate(sheets(browser.printed(paper)), 1):
        width, height = sheet.size
        rim = sheet.pixels.copy()
        edge = int(MARGIN) - 1
        rim[edge:-edge, edge:-edge] = WHITE
        assert (rim >= WHITE - 1).all(), f"page {number}: something in the margin"
        for left, bottom, right, top in sheet.boxes:
            assert MARGIN - 1 < left <= right < width - MARGIN + 1, number
            assert MARGIN - 1 < bottom <= top < height - MARGIN + 1, number
        assert sheet.last not in headings, number
        texts.append(sheet.text)
    assert shown.log == []
    if page == long:
        assert_the_wide_table_is_whole(texts)


def assert_the_wide_table_is_whole(printed: list[str]) -> None:
    """Each row has its verdict, each page the headings; charts have their tables opened."""
    verdicts = [text.count("STOP") for text in printed]
    assert sum(verdicts) == ROWS
    assert [text.count("VERDICT") for text in printed] == [min(1, count) for count in verdicts]
    assert sum(text.count("orders-59") for text in printed) == 2  # the chart's lane, and its row


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_first_and_last_column_stay_in_view(
    browser: Browser, long: Path, size: tuple[int, int]
) -> None:
    """However far a wide table is scrolled."""
    shown = browser.show(long, size)
    for to in (0, 300, 10_000):
        seen = shown.evaluate(
            f"""(() => {{
                const box = document.querySelector('.wide .scroll');
                box.scrollLeft = {to};
                const around = box.getBoundingClientRect().left;
                const cells = box.querySelectorAll('tbody tr:first-child td');
                const [first, last] = [cells[0], cells[cells.length - 1]]
                    .map(each => each.getBoundingClientRect());
                return [first.left - around, around + box.clientWidth - last.right];
            }})()"""
        )
        assert seen == pytest.approx([0, 0], abs=1)


def test_long_names_stay_apart() -> None:
    """Though they begin and end alike: in a legend as on an axis."""
    names = [*MEMBERS, *(f"{name}-and-{n}-more" for n, name in enumerate(MEMBERS))]
    names += [f"{'x' * 20}{n}{'y' * 20}" for n in range(3)]
    figure = lines("", "", [(0.0, name, 1.0) for name in names], unit="records")
    labels = {
        value["name"]: value["label"] for value in next(iter(figure.spec["datasets"].values()))
    }
    assert list(labels) == names
    assert len(set(labels.values())) == len(names)
    assert max(map(len, labels.values())) < 25
