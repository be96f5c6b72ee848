"""From a group's records to its changes, one record after the other.

A classic group has one record, written when its leader has assigned and when it becomes empty; so
a generation without one either was removed by compaction, or ended before anything was assigned.
A KIP-848 group has a record for its epoch, which comes after those of the members that made it
change, and one for each member as it follows.
Source: GroupMetadataManager.replay; GroupCoordinatorRecordHelpers.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from kgroups.core.coordinator.log import records as r
from kgroups.core.history.assigned import (
    Partitions,
    assigned_partitions,
    partitions_by_id,
    subscribed_topics,
)
from kgroups.core.history.changes import Change, Protocol
from kgroups.core.history.commit_counter import CommitCounter
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.roster import Departure, Difference, Roster, Seat, difference

CONVERSION_MS: Final = 1_000
"""A group whose records of one protocol are deleted goes on in the other within this time."""


class HistoryReader:
    """Takes a group's records in their order; `changes` are those since a time.

    Args:
        since_ms: epoch milliseconds; what was before is known, not told.
    Attributes:
        oldest_ms: time of the first record.
        whole_since_ms: from when on compaction has removed nothing; None: it never has.
        records, captures: how many there were of the group.
    """

    def __init__(self, since_ms: int = 0) -> None:
        self.changes: list[Change] = []
        self.oldest_ms: int | None = None
        self.whole_since_ms: int | None = None
        self.records = 0
        self.captures = 0
        self._since_ms = since_ms
        self._commits = CommitCounter(since_ms)
        self._type: Protocol | None = None
        self._number: int | None = None
        self._before: dict[str, Seat] = {}  # as it was after the last change
        self._now: dict[str, Seat] = {}
        self._joined_ms: dict[str, int | None] = {}
        self._facts: set[str] = set()
        self._lost: Partitions = frozenset()  # by the last rebalance
        self._owned: Partitions | None = None
        self._rebalance_ms: int | None = None
        self._is_torn = False
        self._deleted: Change | None = None
        self._metadata: object = None
        self._targets: dict[str, Partitions] = {}
        self._epochs: dict[str, tuple[int, int]] = {}  # of members, with their states
        self._last_rebalance: int | None = None  # its place in `changes`
        self._within_ms: int | None = None  # of what is told now: see `Change`
        self._highest: dict[str | UUID, int] = {}  # partition of a topic that had an owner

    def take(self, entry: LogEntry) -> None:
        """The next record."""
        self.records += 1
        if self.oldest_ms is None:
            self.oldest_ms = entry.at_ms
        if entry.is_torn:
            self.whole_since_ms = entry.at_ms
        self._is_torn |= entry.is_torn
        if self._deleted and entry.at_ms - self._deleted.at_ms > CONVERSION_MS:
            self._tell_deletion()
        key, value = entry.record
        if isinstance(key, r.OffsetCommitKey):
            assert value is None or isinstance(value, r.OffsetCommitValue)
            self._commits.take(
                key,
                value,
                entry.at_ms,
                self._owned_now(),
                is_torn=entry.is_torn,
                producer_id=entry.producer_id,
            )
            return
        taker = TAKERS.get(type(key))
        if taker is not None:
            taker(self, entry, key, value)

    @property
    def members(self) -> tuple[Seat, ...]:
        """Who is in the group after the last record."""
        return tuple(self._now.values())

    def end(self) -> tuple[Change, ...]:
        """Every change, now that there are no more records."""
        self._tell_deletion()
        self._count_commits()
        return tuple(self.changes)

    @property
    def standing(self) -> Mapping[tuple[str, int], tuple[int, int]]:
        """The commit of each partition, and since when it has stood there."""
        return self._commits.standing

    def _classic(self, entry: LogEntry, _: Any, value: r.GroupMetadataValue | None) -> None:
        if value is None:
            self._delete(entry, "classic")
            return
        self._now = {member.member_id: _classic_seat(member) for member in value.members}
        if self._begins(entry.at_ms, "classic", value.generation):
            self._rebalance(entry.at_ms, value.generation, value.leader, value.protocol)
        else:
            self._members(entry.at_ms, value.leader, value.protocol)

    def _epoch(self, entry: LogEntry, _: Any, value: r.ConsumerGroupMetadataValue | None) -> None:
        if value is None:
            self._delete(entry, "consumer")
            return
        self._note_metadata(value.metadata_hash)
        if self._begins(entry.at_ms, "consumer", value.epoch):
            self._rebalance(entry.at_ms, value.epoch, None, None)

    def _topics(self, _: LogEntry, __: Any, value: Any) -> None:
        if value is not None:
            self._note_metadata(value)

    def _member(
        self,
        entry: LogEntry,
        key: r.ConsumerGroupMemberMetadataKey,
        value: r.ConsumerGroupMemberMetadataValue | None,
    ) -> None:
        if value is None:
            self._now.pop(key.member_id, None)
            return
        old = self._now.get(key.member_id)
        self._now[key.member_id] = Seat(
            value.client_id,
            key.member_id,
            value.instance_id,
            value.client_host,
            value.rebalance_timeout_ms,
            None if value.classic is None else value.classic.session_timeout_ms,
            (value.subscribed_topic_names, value.subscribed_topic_regex, value.server_assignor),
            frozenset() if old is None else old.partitions,
        )

    def _target_epoch(self, entry: LogEntry, _: Any, value: Any) -> None:
        if value is None:
            return
        target = {name: self._targets.get(name, frozenset()) for name in self._now}
        self._expect(frozenset().union(*target.values()), entry.at_ms)
        self._amend(
            target_epoch=value.assignment_epoch,
            partitions=sum(map(len, target.values())),
            moved=sum(len(given - self._now[name].partitions) for name, given in target.items()),
        )

    def _target(self, _: LogEntry, key: Any, value: Any) -> None:
        if value is None:
            self._targets.pop(key.member_id, None)
        else:
            self._targets[key.member_id] = partitions_by_id(value.topic_partitions)

    def _current(
        self,
        entry: LogEntry,
        key: r.ConsumerGroupCurrentMemberAssignmentKey,
        value: r.ConsumerGroupCurrentMemberAssignmentValue | None,
    ) -> None:
        if value is None:
            self._epochs.pop(key.member_id, None)
            return
        self._epochs[key.member_id] = value.member_epoch, value.state
        seat = self._now.get(key.member_id)
        if seat is None:
            return
        given = (*value.assigned_partitions, *value.partitions_pending_revocation)
        self._now[key.member_id] = seat._replace(partitions=partitions_by_id(given))
        if key.member_id not in self._before and self._number is not None:
            self._members(entry.at_ms, None, None)
        self._before[key.member_id] = self._now[key.member_id]
        self._owned = None
        self._settle(entry, seat)

    def _settle(self, entry: LogEntry, last: Seat) -> None:
        """See whether every member has followed the group's epoch."""
        if all(self._epochs.get(name) == (self._number, 0) for name in self._now):
            at = self._last_rebalance
            if at is not None and self.changes[at].settled_ms is None:
                took_ms = entry.at_ms - self.changes[at].at_ms
                self._amend(settled_ms=took_ms, last_member=last.client_id)

    def _expect(self, given: Partitions, at_ms: int) -> None:
        """See which partitions were added to topics that the group read before."""
        before = dict(self._highest)
        for topic, number in given:
            self._highest[topic] = max(number, self._highest.get(topic, number))
        self._commits.expect([(topic, n) for topic, n in given if n > before.get(topic, n)], at_ms)

    def _amend(self, **more: Any) -> None:
        """Add to the last rebalance, if that is told."""
        if self._last_rebalance is not None:
            at = self._last_rebalance
            self.changes[at] = replace(self.changes[at], **more)

    def _note_metadata(self, metadata: object) -> None:
        """See whether topics have changed: their hash, or until Kafka 4.0 they themselves."""
        old, self._metadata = self._metadata, metadata
        if type(old) is type(metadata) and old != metadata:
            self._facts.add("metadata")

    def _begins(self, at_ms: int, of: Protocol, number: int) -> bool:
        """Whether a generation or epoch begins with this record; a gap before it is told."""
        if self._deleted is not None and self._type != of:
            self._deleted, self._number = None, None
            self._facts.add("converted")
        self._tell_deletion()
        self._type = of
        if number == self._number:
            return False
        self._count_commits()
        before, self._number = self._number, number
        if before is None:
            if "converted" in self._facts:
                return True
            self._facts.add("older" if self._is_torn and number > 1 else "first")
            before = 0
        if number < before:  # made anew, and compaction has removed the deletion
            before = 0
            self._is_torn = True
        # a coordinator of KIP-848 writes every epoch, and begins at 1 or 2
        misses = self._is_torn or of == "classic" or self._within_ms is not None
        if number > before + 1 and misses:
            self._tell_gap(at_ms, before + 1, number - 1)
        return number > 0

    def _tell_gap(self, at_ms: int, first: int, last: int) -> None:
        self._tell(Change(at_ms, "gap", last, first, self._type, is_torn=self._is_torn))

    def _delete(self, entry: LogEntry, of: Protocol) -> None:
        if self._type not in (None, of):
            return  # what a conversion left behind
        self._type = of
        self._deleted = Change(entry.at_ms, "deleted", self._number, type=of)

    def _tell_deletion(self) -> None:
        """The group did not go on in the other protocol: it is deleted."""
        deleted, self._deleted = self._deleted, None
        if deleted is None:
            return
        self._count_commits()
        self._tell(replace(deleted, is_torn=self._is_torn))
        self._number = self._rebalance_ms = self._owned = None
        self._before = {}

    def _rebalance(
        self, at_ms: int, number: int | None, leader: str | None, protocol: str | None
    ) -> None:
        is_older = "older" in self._facts
        if is_older:  # members that are there may have joined long before
            self._before = dict(self._now)
        members = self._difference(at_ms)
        had, has = _all_of(self._before), _all_of(self._now)
        is_classic = self._type == "classic"
        if is_classic:
            self._expect(has, at_ms)
        if is_classic and has != had:
            is_second = bool(has - had) and has - had <= self._lost
            self._facts.add("second_round" if is_second else "partitions")
        self._lost = had - has
        old = {name: self._before.get(name, seat) for name, seat in self._now.items()}
        if any(old[name].asks_otherwise(seat) for name, seat in self._now.items()):
            self._facts.add("subscription")
        before_ms, self._rebalance_ms = self._rebalance_ms, at_ms
        self._last_rebalance = None
        self._tell(
            Change(
                at_ms,
                "rebalance",
                number,
                type=self._type,
                leader=leader,
                protocol=protocol,
                member_count=len(self._now),
                members=members,
                partitions=len(has) if is_classic else None,
                moved=_moved(self._before, self._now) if is_classic and not is_older else None,
                is_torn=self._is_torn,
                facts=frozenset(self._facts),
                since_previous_ms=_since(at_ms, before_ms),
            )
        )
        if self.changes and self.changes[-1].kind == "rebalance":
            self._last_rebalance = len(self.changes) - 1
        self._go_on()

    def _members(self, at_ms: int, leader: str | None, protocol: str | None) -> None:
        """Members changed, and no generation began."""
        members = self._difference(at_ms)
        if not (members.came or members.gone):
            return
        self._count_commits()
        self._tell(
            Change(
                at_ms,
                "members",
                self._number,
                type=self._type,
                leader=leader,
                protocol=protocol,
                member_count=len(self._now),
                members=members,
                is_torn=self._is_torn,
            )
        )
        self._go_on()

    def _go_on(self) -> None:
        self._before = dict(self._now)
        self._owned = None
        self._facts = set()
        self._is_torn = False

    def _difference(self, at_ms: int) -> Difference:
        def departed(seat: Seat) -> Departure:
            joined_ms = self._joined_ms.pop(seat.member_id, None)
            last_ms = self._commits.last_ms(seat)
            return Departure(seat, _since(at_ms, joined_ms), _since(at_ms, last_ms))

        changed = difference(self._before, self._now, departed)
        joined_ms = None if self._is_torn and not self._before else at_ms
        self._joined_ms.update(dict.fromkeys((seat.member_id for seat in changed.came), joined_ms))
        return changed

    def _owned_now(self) -> Partitions | None:
        """Partitions that members have; None without members."""
        if self._owned is None and self._now:
            self._owned = _all_of(self._now)
        return self._owned if self._now else None

    def _count_commits(self) -> None:
        """Tell the commits since the last change."""
        counted = self._commits.counted(self._before)
        if counted is not None:
            self.changes.append(replace(counted, type=self._type, number=self._number))

    def _tell(self, change: Change) -> None:
        if change.at_ms >= self._since_ms:
            self.changes.append(replace(change, within_ms=self._within_ms))


TAKERS: Final[Mapping[type, Callable[[HistoryReader, LogEntry, Any, Any], None]]] = {
    r.GroupMetadataKey: HistoryReader._classic,
    r.ConsumerGroupMetadataKey: HistoryReader._epoch,
    r.ConsumerGroupPartitionMetadataKey: HistoryReader._topics,
    r.ConsumerGroupMemberMetadataKey: HistoryReader._member,
    r.ConsumerGroupTargetAssignmentMetadataKey: HistoryReader._target_epoch,
    r.ConsumerGroupTargetAssignmentMemberKey: HistoryReader._target,
    r.ConsumerGroupCurrentMemberAssignmentKey: HistoryReader._current,
}
"""The handler of each kind of record; the others are skipped."""


def _classic_seat(member: r.GroupMetadataMember) -> Seat:
    return Seat(
        member.client_id,
        member.member_id,
        member.group_instance_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.session_timeout_ms,
        subscribed_topics(member.subscription),
        assigned_partitions(member.assignment),
    )


def _all_of(roster: Roster) -> Partitions:
    return frozenset().union(*(seat.partitions for seat in roster.values()))


def _moved(before: Roster, after: Roster) -> int:
    """How many partitions have an owner that did not have them."""
    return sum(
        len(seat.partitions - (before[name].partitions if name in before else frozenset()))
        for name, seat in after.items()
    )


def _since(at_ms: int, then_ms: int | None) -> int | None:
    return None if then_ms is None else at_ms - then_ms
