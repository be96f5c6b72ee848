"""Whether a leader notices that topics grow: if not, the group goes on without the new partitions.

A coordinator answers members that join again with what there is; only a leader that joins, or one
with another subscription, makes a classic group rebalance.

Source: GroupMetadataManager.classicGroupJoinExistingMember; KIP-814 (static leaders);
rd_kafka_cgrp_metadata_update_check; loopCheckPartitionNumbers of sarama; need_rejoin of
kafka-python.
"""

from typing import Final

from kgroups.core.planning.leaders.libraries import FORGET_THEY_LEAD, MAY_FORGET_VERSION
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import Member

JAVA: Final = "java"
LIBRDKAFKA: Final = "librdkafka"


def goes_unnoticed(roster: Roster, strategy: Strategy) -> bool | None:
    """Whether topics grow and no rebalance comes of it; None: perhaps.

    Topics that are new count where members name them: a pattern that finds one is noticed.
    """
    if strategy.protocol == "consumer" or not roster.topics_before:
        return False
    if roster.left or any(seat.joins or seat.changed or seat.finds_topics for seat in roster.seats):
        return False
    answers = {_overlooks(roster, seat, strategy) for seat in _leaders(roster, strategy)}
    if answers == {True}:
        return None if _others_may_tell(roster, strategy) else True
    return False if answers <= {False} else None


def _leaders(roster: Roster, strategy: Strategy) -> list[Seat]:
    """Who may lead, with that library."""
    ids = {seat.member.member_id for seat in roster.seats}
    leader = roster.group.leader
    able = strategy.leaders or ({leader} if leader in ids else ids)
    return [seat for seat in roster.seats if seat.member.member_id in able]


def _overlooks(roster: Roster, seat: Seat, strategy: Strategy) -> bool | None:
    """Whether this member, if it leads, does not notice."""
    library, version = strategy.leader_client, seat.member.subscription_version
    if library == LIBRDKAFKA:
        unread = not any(name in seat.topics for name in roster.topics_before)
        return unread and strategy.protocol == "eager"
    back = _is_back(roster, seat.member)
    if library in FORGET_THEY_LEAD:
        return back
    if library == JAVA and version is not None and version <= MAY_FORGET_VERSION:
        return False if back is False else None  # it need not be that old
    return False


def _is_back(roster: Roster, member: Member) -> bool | None:
    """Whether it came back as a static member since the last rebalance; None: perhaps."""
    if member.member_id == roster.group.leader and roster.group.leader_is_back:
        return True
    return None if roster.evidence.may_have_come_back(member) else False


def _others_may_tell(roster: Roster, strategy: Strategy) -> bool:
    """Whether members of librdkafka may notice, and say something else when they join again."""
    leaders = [seat.member.member_id for seat in _leaders(roster, strategy)]
    return strategy.protocol == "cooperative" and any(
        LIBRDKAFKA in roster.evidence.libraries[seat.member.member_id]
        for seat in roster.seats
        if seat.member.member_id not in leaders
        and any(name in seat.topics for name in roster.topics_before)
    )
