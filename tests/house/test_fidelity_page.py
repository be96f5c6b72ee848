"""docs/fidelity.md says by which weights changes are drawn, and why plans were not exact."""

import re

import pytest

from tests.support.fidelity.scripts import CHANGES
from tests.support.fidelity.table import OTHER, PAGE, REASONS, reason_of

ROW = re.compile(r"^\| (?P<kinds>[a-z; ]+) \| (?P<weight>\d+)(?: each)? \|$", re.MULTILINE)


def test_the_weights_are_those_of_the_page() -> None:
    """Each kind of change once, with its weight."""
    head = PAGE.read_text(encoding="utf-8").partition("| change | weight |")[2].partition("\n\n")[0]
    said = {
        kind.strip(): int(row["weight"])
        for row in ROW.finditer(head)
        for kind in row["kinds"].split(";")
    }
    assert said == {kind: weight for kind, (weight, _) in CHANGES.items()}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("a sarama leader chooses at random; `__consumer_offsets` names the leader", 1),
        ("the leader may be a java or sarama client, and they assign differently", 5),
        ("they assign differently; it depends on the ids that new members get", 2),
        ("the members may be of a java release whose `sticky` is older than ours", 6),
    ],
)
def test_reasons_that_nobody_can_know_count_first(told: str, expected: int) -> None:
    """Of several, as no other knowledge would make such a plan exact."""
    assert reason_of(told) == REASONS[expected][0]
    assert reason_of("") == OTHER
