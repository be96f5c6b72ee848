"""Who leads a classic group, and the rounds it has assigned: the records in `__consumer_offsets`.

A record is written when a leader has assigned, and again, of the same generation, when a static
member comes back with another id and no rebalance: the group then has a leader that has assigned
nothing. So of each generation the first record counts, and only where the one before it can still
be read, as compaction drops what comes first.
Source: GroupMetadataManager.classicGroupSyncToClassicGroup,
updateStaticMemberThenRebalanceOrCompleteJoin; `GroupMetadataValue.leader`.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Final

from kgroups.core.coordinator.log.record_codec import decode_record, encode_key
from kgroups.core.coordinator.log.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataValue,
)
from kgroups.core.errors import ClusterError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.newest_records import FAR, Reach, newest_records
from kgroups.core.kafka.reads.member_subscriptions import classic_member
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.rounds import rounds_of
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, led_round


def group_records(key: bytes, values: Sequence[bytes | None]) -> list[GroupMetadataValue | None]:
    """The records of a classic group; None: it is deleted, or of the other protocol.

    Raises:
        DecodeError: one of them cannot be read.
    """
    return [_record(key, value) for value in values]


def led_rounds(records: Sequence[GroupMetadataValue | None]) -> tuple[Group, ...]:
    """The rounds that the leader of the newest record has assigned under the id it has now.

    Args:
        records: of the group, oldest first and without a gap.
    """
    newest = records[-1] if records else None
    if newest is None or newest.leader is None:
        return ()
    return tuple(_round(s) for s in _assigned(records) if s.members and s.leader == newest.leader)


def leader_is_back(records: Sequence[GroupMetadataValue | None]) -> bool:
    """Whether the leader of the newest record came back without a rebalance.

    Within a generation a leader gets another id in no other way.

    Args:
        records: as of `led_rounds`, at least one.
    """
    newest, *older = reversed(records)
    if newest is None:
        return False
    now = takewhile(
        lambda stored: stored is not None and stored.generation == newest.generation, older
    )
    return any(stored is not None and stored.leader != newest.leader for stored in now)


def _assigned(records: Sequence[GroupMetadataValue | None]) -> Iterator[GroupMetadataValue]:
    """Those that were written when a leader had assigned, as far as that shows."""
    for before, stored in pairwise(records):
        if stored is not None and (before is None or before.generation != stored.generation):
            yield stored


def _record(key: bytes, value: bytes | None) -> GroupMetadataValue | None:
    record = decode_record(key, value)
    stored = record.value if record is not None else None
    return stored if isinstance(stored, GroupMetadataValue) else None


def _round(record: GroupMetadataValue) -> Group:
    members = map(_member, record.members)
    return led_round(record.protocol_type, record.protocol, record.leader, members)


def _member(logged: GroupMetadataMember) -> Member:
    known = Member(logged.member_id, logged.client_id, logged.client_host, logged.group_instance_id)
    return classic_member(known, logged.subscription, logged.assignment)


QUICK: Final = Reach(windows=1, fetches=1)
"""One look at the last records: two round trips."""


@dataclass(frozen=True, slots=True)
class LoggedLeaders:
    """Records that were found.

    Args:
        found: by group, oldest first and without a gap; None: the newest one deletes it.
        failures: Kafka's error name by partition of `__consumer_offsets` that could not be read.
        unread: partitions that hold more than was read, to the offset down to which they were.
    """

    found: Mapping[str, Sequence[GroupMetadataValue | None] | None] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    unread: Mapping[int, int] = field(default_factory=dict)

    def led(self, group: Group) -> Group:
        """The group with its leader, and what that has led, if the record is of its members."""
        records = self.found.get(group.group)
        newest = records[-1] if records else None
        if records is None or newest is None:
            return group
        ids = {member.member_id for member in group.members or ()}
        if {member.member_id for member in newest.members} != ids:
            return group
        return replace(
            group,
            leader=newest.leader,
            generation=newest.generation,
            led=led_rounds(records),
            leader_is_back=leader_is_back(records),
        )


def logged_leaders(
    admin: ClusterAdmin, groups: Iterable[Group], reach: Reach = FAR
) -> LoggedLeaders:
    """Who leads these groups, as their own records say; takes READ on `__consumer_offsets`.

    Args:
        groups: with coordinator and partition; others are left out.
    """
    wanted: dict[tuple[int, int], list[bytes]] = {}
    names: dict[bytes, tuple[int, str]] = {}
    for group in groups:
        if group.coordinator is not None and group.offsets_partition is not None:
            key = encode_key(GroupMetadataKey(group.group))
            names[key] = group.offsets_partition, group.group
            wanted.setdefault((group.coordinator, group.offsets_partition), []).append(key)
    newest = newest_records(admin, wanted, reach)
    found: dict[str, list[GroupMetadataValue | None] | None] = {}
    failures = dict(newest.failures)
    for key, value in newest.found.items():
        partition, name = names[key]
        try:
            records = group_records(key, (*newest.before.get(key, ()), value))
            found[name] = None if records[-1] is None else records
        except DecodeError:
            failures[partition] = "CORRUPT_MESSAGE"
    return LoggedLeaders(found, failures, newest.unread)


class LeaderWatch:
    """Looks into `__consumer_offsets` for groups that are otherwise than in the snapshot before.

    A look is two round trips a partition. What it does not find is not known.
    """

    def __init__(self, admin: ClusterAdmin) -> None:
        self._admin = admin
        self._known: dict[str, tuple[Hashable, str | None, int | None]] = {}

    def add_to(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        """The snapshot with leaders and generations."""
        rounds = {
            group.group: rounds_of(group)
            for group in snapshot.groups
            if group.type == "classic" and group.state == "Stable" and group.members
        }
        new = [
            group
            for group in snapshot.groups
            if group.group in rounds
            and self._known.get(group.group, (None,))[0] != rounds[group.group]
        ]
        names = {group.group for group in snapshot.groups}
        self._known = {name: leader for name, leader in self._known.items() if name in names}
        answer = self._look_up(new)
        for group in new:
            led = answer.led(group)
            # A record of other members: the group is changing, so it is looked up once more.
            if led.leader is not None or group.group not in answer.found:
                self._known[group.group] = rounds[group.group], led.leader, led.generation
        return replace(
            snapshot, groups=tuple(self._led(group, rounds) for group in snapshot.groups)
        )

    def _look_up(self, groups: list[Group]) -> LoggedLeaders:
        try:
            return logged_leaders(self._admin, groups, QUICK) if groups else LoggedLeaders()
        except ClusterError:
            return LoggedLeaders()

    def _led(self, group: Group, rounds: dict[str, Hashable]) -> Group:
        leader = self._known.get(group.group)
        if leader is None or leader[0] != rounds.get(group.group):
            return group
        return replace(group, leader=leader[1], generation=leader[2])
