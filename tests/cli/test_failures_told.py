"""Failures on stderr: few one by one, many of one cause as one line with their number."""

import json

import pytest

from kgroups.cli.exits import MANY, show_item_errors
from kgroups.core.errors import ItemError
from tests.support.cli.runner import run

HINT = "check the port, and that the broker is running"


def told(errors: list[ItemError], capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines on stderr."""
    show_item_errors(errors)
    return capsys.readouterr().err.splitlines()


def unreachable(target: str, address: str) -> ItemError:
    """A failure that a dead broker causes."""
    message = f"{address} cannot be reached: connection refused"
    return ItemError(target, "BROKER_NOT_AVAILABLE", message, HINT, 3)


def test_few_failures_are_told_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Though they are alike: each name counts, and the shared hint stands once."""
    errors = [unreachable(f"g{number}", "h:1") for number in range(MANY)]
    lines = told(errors, capsys)
    reason = "h:1 cannot be reached: connection refused"
    assert lines == [*(f"error: `g{n}`: {reason}" for n in range(MANY)), "", f"hint: {HINT}"]


def test_what_one_dead_broker_refused_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """750 rows, and one failure of another kind that is still told."""
    errors = [unreachable(f"g{number} t-0", "h:1") for number in range(750)]
    errors.insert(7, ItemError("gone", "GROUP_ID_NOT_FOUND", "no such group", None, 5))
    assert told(errors, capsys) == [
        "error: `g0 t-0`, `g1 t-0`, `g2 t-0` and 747 more: h:1 cannot be reached: connection "
        "refused",
        "error: `gone`: no such group",
        "",
        f"hint: {HINT}",
    ]


def test_a_few_dead_brokers_are_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    """By code and broker."""
    errors = [unreachable(f"g{number}", f"h:{number % 2}") for number in range(40)]
    assert told(errors, capsys)[:2] == [
        "error: `g0`, `g2`, `g4` and 17 more: h:0 cannot be reached: connection refused",
        "error: `g1`, `g3`, `g5` and 17 more: h:1 cannot be reached: connection refused",
    ]


def test_thousands_of_dead_brokers_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a sentence of its own with its address: the first stands for all."""
    errors = [unreachable(f"broker {n} (h:{n})", f"h:{n}") for n in range(3_000)]
    assert told(errors, capsys) == [
        "error: `broker 0 (h:0)`, `broker 1 (h:1)`, `broker 2 (h:2)` and 2,997 more: h:0 cannot be "
        "reached: connection refused",
        "",
        f"hint: {HINT}",
    ]


@pytest.mark.usefixtures("files")
def test_lines_of_json_end_with_the_items_that_failed() -> None:
    """Who reads only stdout is told too; an error of an item is no item."""
    outcome = run("describe", "billing", "nope", "-o", "jsonl", "--from", "shop.json")
    first, last = map(json.loads, outcome.stdout.splitlines())
    assert (outcome.exit_code, first["group"], last["items"]) == (5, "billing", [])
    assert [(each["target"], each["code"]) for each in last["errors"]] == [
        ("nope", "GROUP_ID_NOT_FOUND")
    ]
