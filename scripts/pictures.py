"""Draws README's pictures: its first sessions as a terminal shows them, and a page of a report.

`make docs` draws them. The terminal's is the same on every machine, so `tests/cli/test_pictures.py`
draws it again; the page is drawn by Chromium, whose versions differ by some pixels.
"""

import re
import shlex
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import finish
from tests.support.cli.terminal_run import run_on_terminal
from tests.support.pages.browser import PROGRAM, Browser

ROOT = Path(__file__).parents[1]
TERMINAL = ROOT / "docs" / "pictures" / "terminal.svg"
PAGE = ROOT / "docs" / "pictures" / "simulation.png"
COLUMNS = 118
SHOWN = (
    "kgroups list --lag '*ing'",
    "kgroups describe billing",
    "kgroups plan billing --add-members 1 --metrics --moves",
)
SIZE = (1000, 580)
CHART = "Owners of partitions"
# Rich's own template asks a server for its font; a picture in a README may not.
FORMAT = """\
<svg viewBox="0 0 {terminal_width} {terminal_height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px monospace; line-height: {line_height}px; \
font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}
</defs>
<rect fill="#1e1e1e" width="{terminal_width}" height="{terminal_height}" rx="8"/>
<g transform="translate(9, 9)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def terminal_svg() -> str:
    """Sessions on the tests' snapshot, which stands in for a cluster."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "shop.json"
        write_snapshot(clusters.shop(), snapshot)
        for line in SHOWN:
            words = [*shlex.split(line)[1:], "--from", str(snapshot), "--quiet"]
            code, written = run_on_terminal(*words, COLUMNS=str(COLUMNS))
            assert code == 0, written
            console.print(Text.assemble(("$ ", "bold green"), (line, "bold")))
            console.print(Text.from_ansi(written))
    text = console.export_svg(
        theme=MONOKAI, code_format=FORMAT, unique_id="terminal", font_aspect_ratio=0.61
    )
    return re.sub(r"[ \t]+\n", "\n", text)


def draw_page(path: Path) -> None:
    """A chart of the page that docs/simulation.md's first scenario gives."""
    document = (ROOT / "docs" / "simulation.md").read_text(encoding="utf-8")
    block = re.search(r"```yaml\n(# deploy\.yaml\n.*?)```", document, re.DOTALL)
    assert block is not None
    with tempfile.TemporaryDirectory() as folder:
        scenario, page = Path(folder) / "deploy.yaml", Path(folder) / "page.html"
        scenario.write_text(block[1], encoding="utf-8")
        code, _, stderr = finish("simulate", str(scenario), "--html", str(page))
        assert code == 0, stderr
        with Browser() as browser:
            shown = browser.show(page, SIZE)
            shown.evaluate(
                f"[...document.querySelectorAll('figure')]"
                f".find(each => each.textContent.includes('{CHART}')).scrollIntoView()"
            )
            browser.screenshot(path, whole=False)


def draw() -> None:
    """Both pictures; that of a page only where there is Chromium."""
    TERMINAL.write_text(terminal_svg(), encoding="utf-8")
    if PROGRAM is not None:
        draw_page(PAGE)


if __name__ == "__main__":
    draw()
