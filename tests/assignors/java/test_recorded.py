"""Answers recorded from the Java classes of Kafka 4.3.0, list order included."""

import pytest

from tests.support.assignors.cases import answers_of, difference, recorded
from tests.support.assignors.engines import ENGINES


@pytest.mark.parametrize("engine", ENGINES)
def test_equals_the_recorded_answer(engine: str) -> None:
    """Every recorded case: same owners, same order of members, same order of lists."""
    family, assignor = ENGINES[engine]
    found = [difference(case, answers_of(case, assignor)) for case in recorded(family)]
    assert [text for text in found if text] == []
