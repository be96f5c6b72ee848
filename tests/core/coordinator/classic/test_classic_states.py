"""The classic protocol's tables, complete and consistent; every diagram of the README."""

from itertools import pairwise, product
from pathlib import Path

import pytest

from kgroups.core.coordinator.classic.group import ClassicGroup
from kgroups.core.coordinator.classic.states import (
    ALLOWED_PREVIOUS,
    OUTCOMES,
    Act,
    Ask,
    ClassicState,
)
from kgroups.core.protocol.errors import ErrorCode
from scripts.draw_states import with_diagram

PAGE = Path(__file__).parents[4] / "core/coordinator/README.md"


def test_every_state_has_an_outcome_for_everything_that_can_come() -> None:
    """The table has an entry for every pair."""
    assert {(ask, state) for ask, row in OUTCOMES.items() for state in row} == set(
        product(Ask, ClassicState)
    )


def test_every_change_of_state_in_the_table_is_allowed() -> None:
    """No outcome leads where the state machine must not go."""
    changes = [
        (source, outcome.to)
        for row in OUTCOMES.values()
        for source, outcome in row.items()
        if outcome.to is not None
    ]
    assert all(source in ALLOWED_PREVIOUS[to] for source, to in changes)
    assert {to for _, to in changes} == set(ClassicState)


def test_an_outcome_refuses_exactly_when_it_has_an_error() -> None:
    """An error goes with a refusal, a handed out id, or a heartbeat during a rebalance."""
    with_error = {
        outcome.act
        for row in OUTCOMES.values()
        for outcome in row.values()
        if outcome.error is not ErrorCode.NONE
    }
    assert with_error == {Act.REFUSE, Act.HAND_OUT_ID, Act.RESTART_SESSION}


@pytest.mark.parametrize("path", [(ClassicState.STABLE,), (ClassicState.PREPARING_REBALANCE,) * 2])
def test_a_state_that_may_not_follow_is_a_bug(path: tuple[ClassicState, ...]) -> None:
    """Entering it raises and names what may come before."""
    group = ClassicGroup("g", 0)
    for state in path[:-1]:
        group.move_to(state, 5)
    with pytest.raises(AssertionError, match="follows"):
        group.move_to(path[-1], 6)


def test_a_whole_life_is_allowed_and_stamped() -> None:
    """From Empty through a generation and back, each state with its time."""
    group = ClassicGroup("g", 0)
    life = [
        ClassicState.EMPTY,
        ClassicState.PREPARING_REBALANCE,
        ClassicState.COMPLETING_REBALANCE,
        ClassicState.STABLE,
        ClassicState.PREPARING_REBALANCE,
        ClassicState.EMPTY,
        ClassicState.DEAD,
    ]
    for at_ms, (before, after) in enumerate(pairwise(life)):
        assert group.state is before
        group.move_to(after, at_ms)
        assert (group.state_since_ms, group.previous_state) == (at_ms, before)


def test_every_diagram_is_drawn_from_its_tables() -> None:
    """`python scripts/draw_states.py` would change nothing."""
    text = PAGE.read_text(encoding="utf-8")
    assert with_diagram(text) == text
