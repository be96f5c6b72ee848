"""Looks at a group from captures, where its records are gone, taken between the records.

Compaction leaves a hole before a record; the looks between that record and the one before it tell
what was there. Where no record is missing looks are not taken, so that nothing is told twice. A
look says how the group was, so what became of it since the look before is as exact as their
distance, and two changes in between look like one.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from kgroups.core.history.assigned import Partitions
from kgroups.core.history.changes import Change, Protocol
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.reader import HistoryReader
from kgroups.core.history.roster import Roster, Seat
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic
from kgroups.core.uuids import uuid_from


class Look(NamedTuple):
    """A group in one capture.

    Args:
        within_ms: since the capture before; 0: there is none.
        type: None: the capture does not have the group.
        number: generation or group epoch, where known.
        members: None where they are not known.
        owners_told: whether it is known what they are assigned.
    """

    at_ms: int
    within_ms: int
    type: Protocol | None = None
    number: int | None = None
    leader: str | None = None
    protocol: str | None = None
    members: Roster | None = None
    owners_told: bool = True
    offsets: Mapping[tuple[str, int], int] = {}


def looks_at(name: str, snapshots: Iterable[ClusterSnapshot]) -> Iterator[Look]:
    """The looks at a group in captures, the oldest first."""
    before_ms: int | None = None
    for snapshot in snapshots:
        at_ms = snapshot.captured_at_ms
        within_ms, before_ms = 0 if before_ms is None else at_ms - before_ms, at_ms
        group = snapshot.group(name)
        if group is None:
            yield Look(at_ms, within_ms)
        elif group.type in ("classic", "consumer"):
            yield _look(snapshot, group, within_ms)


def _look(snapshot: ClusterSnapshot, group: Group, within_ms: int) -> Look:
    is_classic = group.type == "classic"
    topics = {} if is_classic else snapshot.topics
    return Look(
        snapshot.captured_at_ms,
        within_ms,
        "classic" if is_classic else "consumer",
        group.generation if is_classic else group.group_epoch,
        group.leader,
        group.assignor if is_classic else None,
        None
        if group.members is None
        else {member.member_id: _seat(member, topics) for member in group.members},
        all(member.assignment is not None for member in group.members or ()),
        {at: commit.offset for at, commit in group.commits()},
    )


def _seat(member: Member, topics: Mapping[str, Topic]) -> Seat:
    """A member as a look has it, its partitions by topic id if topics are given."""
    partitions: set[tuple[str | UUID, int]] = set()
    for name, numbers in (member.assignment or {}).items():
        topic_id = topics[name].topic_id if name in topics else None
        key = name if topic_id is None else uuid_from(topic_id)
        partitions.update((key, number) for number in numbers)
    return Seat(
        member.client_id,
        member.member_id,
        member.instance_id,
        member.host,
        None,
        partitions=frozenset(partitions),
    )


class CapturedReader(HistoryReader):
    """A reader that takes looks where records are missing.

    Args:
        since_ms: as of `HistoryReader`.
        looks: the oldest first.
    """

    def __init__(self, since_ms: int, looks: Sequence[Look]) -> None:
        super().__init__(since_ms)
        self._looks = deque(looks)
        self.captures = sum(look.type is not None for look in looks)
        self._is_first = True
        self._entry_ms = 0
        self._gone: Look | None = None

    def take(self, entry: LogEntry) -> None:
        """The next record; looks before it first, if records are missing there."""
        while self._looks and self._looks[0].at_ms < entry.at_ms:
            look = self._looks.popleft()
            if entry.is_torn:  # records told everything up to the one before
                since_ms = look.at_ms - self._entry_ms
                self._see(look._replace(within_ms=min(look.within_ms or since_ms, since_ms)))
        self._entry_ms = entry.at_ms
        super().take(entry)

    def end(self) -> tuple[Change, ...]:
        """Every change; looks alone if there were no records."""
        while self._looks and not self.records:
            self._see(self._looks.popleft())
        if self._gone is not None and not self.records:
            self._tell_gone(self._gone)
        return super().end()

    def _see(self, look: Look) -> None:
        """Tell how the group differs from what it was."""
        self.oldest_ms = look.at_ms if self.oldest_ms is None else self.oldest_ms
        is_first, self._is_first = self._is_first and self._number is None, False
        if look.type is None:
            self._gone = self._gone or look
            return
        self._gone = None
        self._commits.see(look.offsets, look.at_ms, look.within_ms)
        if look.members is None:
            return
        self._now = dict(look.members) if look.owners_told else self._with_partitions(look.members)
        if is_first:
            self._type, self._number = look.type, look.number
            self._go_on()
            return
        torn, self._is_torn, self._within_ms = self._is_torn, False, look.within_ms
        self._tell_look(look)
        self._is_torn, self._within_ms = torn, None

    def _tell_look(self, look: Look) -> None:
        assert look.type is not None, "the capture has the group"
        if self._type not in (None, look.type):
            self._facts.add("converted")
            self._number = None
        if look.number is not None:
            if self._number is None and self._type is not None:  # it was not known before
                self._number = look.number - 1 if self._differs() else look.number
            begins = self._begins(look.at_ms, look.type, look.number)
        else:
            self._type = look.type
            begins = self._differs() and not self._only_static_came_back()
            if begins:
                self._number = None
                self._count_commits()
        if begins:
            self._rebalance(look.at_ms, look.number, look.leader, look.protocol)
        else:
            self._members(look.at_ms, look.leader, look.protocol)

    def _with_partitions(self, members: Roster) -> dict[str, Seat]:
        """Members with what they had, while it is not told."""
        nothing: Partitions = frozenset()
        return {
            name: seat._replace(
                partitions=self._now[name].partitions if name in self._now else nothing
            )
            for name, seat in members.items()
        }

    def _differs(self) -> bool:
        """Whether members, or what a classic group's members have, are others than before."""
        if self._now.keys() != self._before.keys():
            return True
        return self._type != "consumer" and any(
            seat.partitions != self._before[name].partitions for name, seat in self._now.items()
        )

    def _only_static_came_back(self) -> bool:
        """Whether static members have other ids, and nothing else has changed."""
        return {(s.instance_id, s.partitions) for s in self._now.values()} == {
            (s.instance_id, s.partitions) for s in self._before.values()
        } and all(seat.instance_id for seat in self._now.values())

    def _tell_gone(self, look: Look) -> None:
        """The last captures do not have the group."""
        self._count_commits()
        self._within_ms = look.within_ms
        self._tell(Change(look.at_ms, "deleted", self._number, type=self._type, certainty="likely"))
        self._within_ms = None
