"""Two that commit one partition in turn, and one that only looks like two."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import pytest

from kgroups.core.history.changes import Change
from kgroups.core.history.rivals import Rivalry
from tests.support.history.group_log import GroupLog, member

NEAR: Final = tuple(chain.from_iterable((100 + 5 * turn, 99 + 5 * turn) for turn in range(5)))
FAR: Final = tuple(chain.from_iterable((1_000 + 5 * turn, 20 + turn) for turn in range(5)))
OFTEN: Final = tuple(
    chain.from_iterable((1_000 + turn, 20 + 3 * turn, 21 + 3 * turn) for turn in range(5))
)


def committed(
    offsets: Sequence[int], *producers: int, members: Sequence[str] = ("app-1/a",)
) -> tuple[Change, ...]:
    """Partition 0, committed so; by these producers in turn."""
    log = GroupLog().group(1, *(member(name, [0]) for name in members))
    for place, offset in enumerate(offsets):
        log.commit(0, offset, producer=producers[place % len(producers)] if producers else -1)
    return log.read()


def rivals(changes: Sequence[Change]) -> list[Rivalry]:
    """All of them."""
    return [one for each in changes if each.commits for one in each.commits.rivals]


@pytest.mark.parametrize("offsets", [NEAR, FAR, OFTEN])
def test_two_that_go_on_from_where_each_of_them_is(offsets: Sequence[int]) -> None:
    """Near each other, far apart, and where one commits more often."""
    (found,) = rivals(committed(offsets))
    assert (found.topic, found.partition, found.certainty) == ("t", 0, "likely")
    assert found.turns == 4
    assert (found.client_ids, found.producer_ids) == (("app-1",), ())


def test_producers_tell_two_apart() -> None:
    """The same and certain, sooner, and with their ids."""
    (found,) = rivals(committed(FAR[:5], 7, 12))
    assert (found.certainty, found.producer_ids, found.turns) == ("certain", (7, 12), 2)
    assert rivals(committed(FAR[:5], 7)) == []
    assert rivals(committed(FAR[:3], 7, 12)) == []


def test_a_roster_with_two_owners() -> None:
    """Both are named; one that has other partitions is not."""
    (found,) = rivals(committed(FAR, members=("app-1/a", "app-2/b")))
    assert found.client_ids == ("app-1", "app-2")
    assert rivals(committed(FAR, members=()))[0].client_ids == ()


@pytest.mark.parametrize(
    "offsets",
    [
        (100, 20, 120, 140, 160),
        (*range(10, 110, 10), *range(20, 120, 10), *range(30, 130, 10), *range(40, 140, 10)),
        (100, 20, 101, 20, 102, 20, 103, 20, 104),
        (100, 20, 100, 30, 100, 40, 100),
        (100, 90, 80, 70, 60, 50),
        (100, 100, 101, 101, 102, 102),
    ],
    ids=["seeks once", "reads again", "seeks to one place", "stands", "falls", "commits twice"],
)
@pytest.mark.parametrize("producers", [(), (7,)])
def test_one_that_only_looks_like_two(offsets: Sequence[int], producers: Any) -> None:
    """An application that seeks, or reads everything again."""
    assert rivals(committed(offsets, *producers)) == []


def test_producers_that_one_application_shares() -> None:
    """A pool of them commits in turn, and goes only forward."""
    assert rivals(committed(range(100, 120), 7, 12, 7, 15)) == []


def test_owners_that_follow_each_other() -> None:
    """Each begins at an older commit; no two are there at once."""
    log = GroupLog()
    for turn in range(6):
        log.group(turn + 1, member(f"app-{turn % 2}/{turn}", [0]))
        log.commit(0, 100 + turn).commit(0, 20 + turn)
    assert rivals(log.read()) == []
