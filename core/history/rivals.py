"""Two that commit one partition in turn, as each believes that it is its owner.

A commit names no member. But two that go on from where each of them is make two rising sequences,
and the offset jumps between them; one that reads again climbs back in its own steps.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from kgroups.core.history.roster import Roster

TURNS: Final = 3
"""Jumps there and back: an application that seeks makes one or two that look the same."""
SURE_TURNS: Final = 2
"""The same where producers tell the two apart."""
NO_PRODUCER: Final = -1


class Rivalry(NamedTuple):
    """Two that committed a partition in turn.

    Args:
        turns: how often the offset went from one to the other and back.
        certainty: `certain` where transactions name two producers.
        producer_ids: of them; empty where they commit outside transactions.
        client_ids: of members that had the partition meanwhile; the other one is not among them
            unless there are two.
    """

    topic: str
    partition: int
    turns: int
    certainty: Literal["certain", "likely"]
    producer_ids: tuple[int, ...]
    client_ids: tuple[str, ...]


class Commit(NamedTuple):
    """An offset, and the producer whose transaction it was committed in."""

    offset: int
    producer_id: int = NO_PRODUCER


class Turns:
    """Commits of one partition from the first that went backwards."""

    def __init__(self, last: Commit) -> None:
        self._last = self._high = last
        self._low: Commit | None = None
        self._step = 0  # the longest since it went backwards
        self._goes_on = True  # both are further than at the turn before
        self._is_back = True
        self.turns = self.sure_turns = 0
        self.producer_ids: set[int] = set()

    def take(self, commit: Commit) -> None:
        """The next commit."""
        last, self._last = self._last, commit
        if commit.offset < last.offset:
            is_first, low = self._low is None, self._low or commit
            self._goes_on = is_first or (
                self._is_back and last.offset > self._high.offset and commit.offset > low.offset
            )
            self._high, self._low = last, commit
            self._step, self._is_back = 0, False
        elif commit.offset < self._high.offset:
            self._step = max(self._step, commit.offset - last.offset)
        elif not self._is_back:
            self._is_back = True
            self._turn(last, commit)

    def _turn(self, low: Commit, back: Commit) -> None:
        """It is back where it was before it went backwards."""
        if not self._goes_on or back.offset - low.offset <= 2 * self._step:
            return
        self.turns += 1
        if NO_PRODUCER != self._high.producer_id == back.producer_id != low.producer_id:
            self.sure_turns += 1
            self.producer_ids |= {low.producer_id, back.producer_id}


def rivalry_of(
    turns: Turns, places: Sequence[tuple[str | UUID, int]], roster: Roster
) -> Rivalry | None:
    """Rivalry in the turns of a partition; None if one may have made them alone.

    Args:
        places: the partition by name, and by topic id if that is known.
        roster: who was in the group meanwhile.
    """
    is_sure = turns.sure_turns >= SURE_TURNS
    if not is_sure and turns.turns < TURNS:
        return None
    owners = {seat.client_id for seat in roster.values() if not seat.partitions.isdisjoint(places)}
    return Rivalry(
        str(places[0][0]),
        places[0][1],
        turns.turns,
        "certain" if is_sure else "likely",
        tuple(sorted(turns.producer_ids)) if is_sure else (),
        tuple(sorted(owners)),
    )


def worst(found: Iterable[Rivalry]) -> Mapping[tuple[str, int], Rivalry]:
    """Of each partition the rivalry with most turns."""
    ordered = sorted(found, key=lambda one: one.turns)
    return {(one.topic, one.partition): one for one in ordered}
