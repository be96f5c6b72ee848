"""docs/fidelity.md says by which weights changes are drawn."""

import re

from tests.support.fidelity.scripts import WEIGHTS
from tests.support.fidelity.table import PAGE

ROW = re.compile(r"^\| (?P<kinds>[a-z; ]+) \| (?P<weight>\d+)(?: each)? \|$", re.MULTILINE)


def test_the_weights_are_those_of_the_page() -> None:
    """Each kind of change once, with its weight."""
    head = PAGE.read_text(encoding="utf-8").partition("| change | weight |")[2].partition("\n\n")[0]
    said = {
        kind.strip(): int(row["weight"])
        for row in ROW.finditer(head)
        for kind in row["kinds"].split(";")
    }
    assert said == dict(WEIGHTS)
