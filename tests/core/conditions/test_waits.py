"""What is waited for: since when it holds, what is told, what is missing at the deadline."""

from dataclasses import replace

import pytest

from kgroups.core.conditions.fields import Values
from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.conditions.group_figures import GROUP_FIELDS
from kgroups.core.conditions.waits import SHORTHANDS, Wait
from kgroups.core.errors import ItemError
from kgroups.core.protocol.errors import broker_error
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import Group, Member


def waiting(*groups: str, stable_ms: int = 0, until: str = "lag = 0") -> Wait:
    """A wait for these groups."""
    return Wait(groups, parse_condition(until, GROUP_FIELDS, "--until"), stable_ms)


def lag(value: int | None) -> Values:
    """Figures of a group."""
    return {"lag": value}


def gone(name: str, code: str = "GROUP_ID_NOT_FOUND") -> dict[str, ItemError]:
    """The failure of a group that could not be looked at."""
    return {name: broker_error(name, code)}


def test_one_look_is_enough() -> None:
    """All groups must meet it in the same look."""
    wait = waiting("a", "b")
    wait.look(0, {"a": lag(0), "b": lag(5)}, {})
    assert not wait.is_over(0)
    wait.look(500, {"a": lag(7), "b": lag(0)}, {})
    assert not wait.is_over(500)
    wait.look(900, {"a": lag(0), "b": lag(0)}, {})
    assert wait.is_over(900)


BREAKS: list[tuple[str, Values | None]] = [
    ("false", lag(1)),
    ("unknown", lag(None)),
    ("outage", None),
]


@pytest.mark.parametrize("figures", [b[1] for b in BREAKS], ids=[b[0] for b in BREAKS])
def test_it_must_hold_without_a_break(figures: Values | None) -> None:
    """What breaks it starts the time anew."""
    wait = waiting("a", stable_ms=1_000)
    wait.look(0, {"a": lag(0)}, {})
    assert (wait.due_ms, wait.is_over(999), wait.is_over(1_000)) == (1_000, False, True)
    if figures is None:
        wait.miss()
    else:
        wait.look(500, {"a": figures}, {})
    assert (wait.due_ms, wait.is_over(5_000)) == (None, False)
    wait.look(900, {"a": lag(0)}, {})
    assert (wait.due_ms, wait.is_over(1_899), wait.is_over(1_900)) == (1_900, False, True)


def test_the_last_to_begin_decides() -> None:
    """With several groups the time counts from when the last one began to hold."""
    wait = waiting("a", "b", stable_ms=1_000)
    wait.look(0, {"a": lag(0), "b": lag(1)}, {})
    wait.look(700, {"a": lag(0), "b": lag(0)}, {})
    assert wait.due_ms == 1_700
    assert (wait.reached("a", 1_000), wait.reached("b", 1_000)) == (True, False)


def test_a_line_a_change() -> None:
    """What is waited for at first, then only what is new."""
    wait = waiting("a")
    assert wait.look(0, {}, gone("a")) == ["`a`: waiting for `lag = 0`: no such group"]
    assert wait.look(1, {}, gone("a")) == []
    assert wait.look(2, {"a": lag(9)}, {}) == ["`a`: waiting for `lag = 0`: lag is 9"]
    assert wait.look(3, {"a": lag(9)}, {}) == []
    assert wait.look(4, {"a": lag(0)}, {}) == ["`a`: `lag = 0` holds: lag is 0"]


def codes(wait: Wait) -> list[tuple[str, str, int]]:
    """Target, code and exit code of what is missing at the deadline."""
    return [(e.target, e.code, e.exit_code) for e in wait.failures(60_000)]


def test_what_is_missing_at_the_deadline() -> None:
    """Never there is 5, there and not so is 7, not to be asked is 3; what holds is no failure."""
    wait = waiting("never", "late", "gone", "away", "good")
    there = {"late": lag(3), "gone": lag(3), "away": lag(3), "good": lag(0)}
    wait.look(0, there, gone("never"))
    away = gone("away", "COORDINATOR_NOT_AVAILABLE")
    wait.look(1, {"late": lag(3), "good": lag(0)}, {**gone("never"), **gone("gone"), **away})
    assert codes(wait) == [
        ("never", "GROUP_ID_NOT_FOUND", 5),
        ("late", "DEADLINE_PASSED", 7),
        ("gone", "DEADLINE_PASSED", 7),
        ("away", "COORDINATOR_NOT_AVAILABLE", 3),
    ]
    texts = [error.message for error in wait.failures(60_000)]
    assert texts[1] == "`lag = 0` did not hold within 1m00s: lag is 3"
    assert texts[2] == "`lag = 0` did not hold within 1m00s: no such group"


@pytest.mark.parametrize("word", SHORTHANDS)
def test_shorthands_are_conditions(word: str) -> None:
    """They can be understood, and name figures of groups."""
    assert parse_condition(SHORTHANDS[word], GROUP_FIELDS, "--until").fields


def test_a_group_that_has_just_come_has_not_caught_up() -> None:
    """It has no lag, for it has no partitions: brokers show a group before its first commit."""
    wait = waiting("a", until=SHORTHANDS["caught-up"])
    wait.look(0, {"a": {"partitions": 0, "lag": 0}}, {})
    assert not wait.is_over(0)
    wait.look(1, {"a": {"partitions": 2, "lag": 0}}, {})
    assert wait.is_over(1)


def group_with(*members: Member, epoch: int | None = None) -> Group:
    """A group as it was found."""
    return Group("a", "classic", "Stable", group_epoch=epoch, members=members)


AS_IT_WAS = Member("m-1", "m", "/h", assignment={"t": (0, 1)}, generation=4, member_epoch=7)
REBALANCES: dict[str, Group] = {
    "a new id": group_with(replace(AS_IT_WAS, member_id="m-2")),
    "a member more": group_with(AS_IT_WAS, replace(AS_IT_WAS, member_id="m-2", assignment={})),
    "an assignment": group_with(replace(AS_IT_WAS, assignment={"t": (0,)})),
    "a generation": group_with(replace(AS_IT_WAS, generation=5)),
    "a member epoch": group_with(replace(AS_IT_WAS, member_epoch=8)),
    "a group epoch": group_with(AS_IT_WAS, epoch=8),
}


@pytest.mark.parametrize("after", REBALANCES.values(), ids=REBALANCES)
def test_a_rebalance_is_an_interruption(after: Group) -> None:
    """Also where the condition holds before and after it."""
    wait = waiting("a", stable_ms=30_000)
    before = {"a": rounds_of(group_with(AS_IT_WAS))}
    wait.look(0, {"a": lag(0)}, {}, before)
    assert wait.look(10_000, {"a": lag(0)}, {}, before) == []
    assert wait.due_ms == 30_000
    told = wait.look(20_000, {"a": lag(0)}, {}, {"a": rounds_of(after)})
    assert told == ["`a`: it rebalanced; --stable starts over"]
    assert (wait.due_ms, wait.is_over(30_000)) == (50_000, False)


def test_looks_are_frequent_while_the_time_counts() -> None:
    """Each second, or a group could rebalance in between and be as it was."""
    wait = waiting("a", stable_ms=1_500)
    wait.look(0, {"a": lag(1)}, {})
    assert wait.next_look_ms(0) is None
    wait.look(500, {"a": lag(0)}, {})
    assert [wait.next_look_ms(at_ms) for at_ms in (500, 1_500)] == [1_500, 2_000]
