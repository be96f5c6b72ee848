"""Answers recorded from the Java classes of Kafka 4.3.0, list order included."""

import pytest

from kgroups.assignors.ranges import RangeAssignor
from kgroups.assignors.roundrobin import RoundRobinAssignor
from kgroups.assignors.spec import Assignor
from kgroups.assignors.sticky import StickyAssignor
from tests.assignors.cases import client_answers, difference, recorded

ENGINES: dict[str, tuple[str, Assignor]] = {
    "range with lists": ("range", RangeAssignor()),
    "range with arrays": ("range", RangeAssignor(vector_from=1)),
    "roundrobin with lists": ("roundrobin", RoundRobinAssignor()),
    "roundrobin with arrays": ("roundrobin", RoundRobinAssignor(vector_from=1)),
    "sticky": ("sticky", StickyAssignor()),
    "cooperative-sticky": (
        "cooperative-sticky",
        StickyAssignor("cooperative-sticky", cooperative=True),
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_equals_java(engine: str) -> None:
    """Every recorded case: same owners, same order of members, same order of lists."""
    family, assignor = ENGINES[engine]
    found = [difference(case, client_answers(case, assignor)) for case in recorded(family)]
    assert [text for text in found if text] == []
