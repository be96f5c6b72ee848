"""Member ids in tables that are too wide for a terminal, and given back to options."""

from dataclasses import replace
from pathlib import Path

import pytest

from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.runner import run
from tests.support.cli.terminal_run import run_on_terminal

IDS = (
    "orders-1-8a59c1d0-0f0e-4d6e-9a5c-0123456789ab",
    "orders-1-8a5fc1d0-0f0e-4d6e-9a5c-0123456789ab",
)
SHORT = ("orders-1-8a59…", "orders-1-8a5f…")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A snapshot of a group whose members have ids as clients make them."""
    shop = clusters.shop()
    (group,) = (group for group in shop.groups if group.group == "billing")
    assert group.members is not None
    pairs = zip(group.members, IDS, strict=True)
    members = tuple(replace(member, member_id=own) for member, own in pairs)
    path = tmp_path / "long.json"
    write_snapshot(replace(shop, groups=(replace(group, members=members),)), path)
    return str(path)


@pytest.mark.parametrize(
    ("width", "more", "wanted"),
    [("90", (), SHORT), ("200", (), IDS), ("90", ("--verbose",), IDS)],
    ids=["too narrow", "wide", "verbose"],
)
def test_on_a_terminal(
    file: str, width: str, more: tuple[str, ...], wanted: tuple[str, ...]
) -> None:
    """Short where they would not fit, whole otherwise, if folded over several lines."""
    line = ("describe", "billing", "--members", "--from", file, *more)
    code, written = run_on_terminal(*line, COLUMNS=width, NO_COLOR="1")
    assert code == 0
    assert ("…" in written) == (wanted == SHORT)
    if not more:
        assert all(each in written for each in wanted)


def test_in_a_pipe(file: str) -> None:
    """Whole, however narrow the terminal around it is."""
    line = ("describe", "billing", "--members", "--from", file)
    for form in ("table", "json", "csv"):
        stdout = run(*line, "-o", form, env={"COLUMNS": "40"}).stdout
        assert all(each in stdout for each in IDS)


OPTIONS = {
    "--remove-member": "{}",
    "--restart": "{}",
    "--expire": "{}",
    "--subscribe": "{}=orders,audit",
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_of_plan(file: str, option: str) -> None:
    """A unique beginning is as good as the id; another one is ambiguous, and names the members."""
    line = ("plan", "billing", "--from", file, "-o", "json", option)
    whole, short = (run(*line, OPTIONS[option].format(each[1])) for each in (IDS, SHORT))
    assert whole.exit_code == short.exit_code == 0, short.stderr
    assert short.document["items"][0]["members"] == whole.document["items"][0]["members"]
    ambiguous = run(*line, OPTIONS[option].format("orders-1-8a"))
    assert ambiguous.exit_code == 2
    assert all(each in ambiguous.stderr for each in IDS)
    assert run(*line, OPTIONS[option].format("orders-2")).exit_code == 5
