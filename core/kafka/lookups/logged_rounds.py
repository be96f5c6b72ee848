"""The rounds that a classic group's leader has assigned, as the group's records tell them.

A record is written when a leader has assigned, and again, of the same generation, when a static
member comes back with another id and no rebalance: the group then has a leader that has assigned
nothing. So of each generation the first record counts, and only where the one before it can still
be read, as compaction drops what comes first.
Source: GroupMetadataManager.classicGroupSyncToClassicGroup,
updateStaticMemberThenRebalanceOrCompleteJoin.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.coordinator.log.records import GroupMetadataMember, GroupMetadataValue
from kgroups.core.kafka.reads.member_subscriptions import Identity, classic_member
from kgroups.core.snapshot import Group, Member


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
    return tuple(
        _round(one) for one in _assigned(records) if one.members and one.leader == newest.leader
    )


def leader_is_back(records: Sequence[GroupMetadataValue | None]) -> bool:
    """Whether the leader of the newest record came back without a rebalance.

    Within a generation a leader gets another id in no other way.

    Args:
        records: as of `led_rounds`, at least one.
    """
    newest, *older = reversed(records)
    if newest is None:
        return False
    now = takewhile(lambda one: one is not None and one.generation == newest.generation, older)
    return any(one is not None and one.leader != newest.leader for one in now)


def _assigned(records: Sequence[GroupMetadataValue | None]) -> Iterator[GroupMetadataValue]:
    """Those that were written when a leader had assigned, as far as that shows."""
    for before, one in pairwise(records):
        if one is not None and (before is None or before.generation != one.generation):
            yield one


def _record(key: bytes, value: bytes | None) -> GroupMetadataValue | None:
    record = decode_record(key, value)
    found = record.value if record is not None else None
    return found if isinstance(found, GroupMetadataValue) else None


def _round(record: GroupMetadataValue) -> Group:
    return Group(
        group="",
        type="classic",
        state="Stable",
        protocol_type=record.protocol_type,
        assignor=record.protocol,
        leader=record.leader,
        members=tuple(_member(member) for member in record.members),
    )


def _member(logged: GroupMetadataMember) -> Member:
    identity = Identity(
        logged.member_id, logged.client_id, logged.client_host, logged.group_instance_id
    )
    return classic_member(identity, logged.subscription, logged.assignment)
