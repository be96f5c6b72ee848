"""The page that `plan --html` writes: owners step by step, the tables, and what is left out."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_files import SCENARIO
from tests.support.cli.runner import run
from tests.support.pages.browser import PROGRAM, SCREEN, Browser

DEPLOY = ("--rolling-restart", "app-1", "--steps")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A deploy of one group as a page."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "plan.yaml").write_text(SCENARIO)
    path = folder / "plan.html"
    line = ("plan", "orders-app", "--from", str(folder / "plan.yaml"), *DEPLOY)
    outcome = run(*line, "--html", str(path), "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    (folder / "plan.json").write_text(outcome.stdout)
    return path


def test_the_picture_is_the_plan(page: Path) -> None:
    """Each partition's owners, from now to the last step, as the document has them."""
    (item,) = json.loads(page.with_suffix(".json").read_text())["items"]
    (spec,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page.read_text())
    datasets: dict[str, list[dict[str, Any]]] = json.loads(spec)["datasets"]
    spans = [row for rows in datasets.values() for row in rows if "end" in row]
    first = {span["lane"]: span["what"] for span in spans if span["t"] == 0}
    last = {span["lane"]: span["what"] for span in spans if span["end"] == len(item["stages"]) + 1}
    assert first == {f"{m['topic']}-{m['partition']}": m["from"] for m in item["moves"]}
    assert last == {
        f"{topic}-{partition}": member["member_id"]
        for member in item["stages"][-1]["members"]
        for topic, partitions in member["assignment"].items()
        for partition in partitions
    }
    for stage in item["stages"]:
        assert stage["event"].replace("`", "") in page.read_text().replace("`", "")


@pytest.mark.parametrize("size", [SCREEN] if PROGRAM else [])
def test_it_is_drawn(browser: Browser, page: Path, size: tuple[int, int]) -> None:
    """One chart, nothing logged, nothing fetched."""
    shown = browser.show(page, size)
    assert shown.evaluate("document.querySelectorAll('.chart svg').length") == 1
    assert (shown.log, shown.requests) == ([], [])


def test_partitions_that_move_are_drawn_first(tmp_path: Path) -> None:
    """Of many partitions; how many are not drawn is said, and tables say what they leave out."""
    members = {
        f"app-{n}": {"topics": ["orders"], "owned": {"orders": list(range(n * 600, n * 600 + 600))}}
        for n in range(3)
    }
    group = {"assignor": "cooperative-sticky", "client": "java", "members": members}
    scenario = {"topics": {"orders": 1800}, "groups": {"big": group}}
    (tmp_path / "big.yaml").write_text(json.dumps(scenario))
    path = tmp_path / "big.html"
    line = ("plan", "--from", str(tmp_path / "big.yaml"), "--remove-member", "app-2")
    assert run(*line, "--html", str(path)).exit_code == 0
    text = path.read_text()
    assert "1,740 more partitions are not drawn" in text
    (spec,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text)
    spans = [row for rows in json.loads(spec)["datasets"].values() for row in rows if "end" in row]
    assert {span["what"] for span in spans if span["t"] == 0} == {"app-2"}
