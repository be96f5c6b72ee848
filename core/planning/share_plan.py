"""The next assignment of a share group, as its coordinator's `simple` assignor makes it. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from kgroups.assignors.kip848.simple import SimpleAssignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    MemberSubscription,
    TopicPartition,
    TopicPartitions,
)
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.apply import MADE_BY, meant_in, next_roster
from kgroups.core.planning.changes.kinds import AddMembers, Change, Deploy, Pattern
from kgroups.core.planning.holders import Holders, HoldersPlan, drawn, drawn_id
from kgroups.core.planning.plan import EMPTY_NOTE
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import ClusterSnapshot, Group


def plan_shared(
    snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change | Deploy]
) -> HoldersPlan[TopicPartition]:
    """The group after these changes and one assignment.

    Raises:
        UsageError: a change that share groups cannot have.
        NotFoundError: a member, host or topic that is not there.
    """
    like = replace(group, type="consumer", protocol_type=None)  # members join as in KIP-848 groups
    meant = [_possible(change) for change in meant_in(like, changes)]
    roster = next_roster(snapshot, like, meant, may_match=False)
    after, certain = drawn(lambda draw: _assigned(roster, draw))
    return HoldersPlan(
        group.group,
        len(roster.seats),
        _holders({m.member_id: m.assignment or {} for m in group.members or ()}),
        after,
        "likely" if roster.guesses else "exact" if certain else "ids",
        (*roster.notes, *roster.guesses, *([] if roster.seats else [EMPTY_NOTE])),
    )


def _possible(change: Change | Deploy) -> Change:
    """The change.

    Raises:
        UsageError: share groups cannot have it.
    """
    joins = isinstance(change, AddMembers) and (change.pattern or change.instance_id)
    if type(change) not in MADE_BY or isinstance(change, Pattern) or joins:
        raise UsageError(
            "members of share groups have no patterns and no instance ids, and are not restarted",
            hint="use --add-members, --remove-member, --drop-host, --subscribe, --add-topic or "
            "--set-partitions",
        )
    return cast(Change, change)


def _assigned(roster: Roster, draw: random.Random) -> Holders[TopicPartition]:
    """Who is given each partition, where unknown ids are drawn."""
    names = {
        seat.member.member_id if seat.id_known else drawn_id(draw): seat for seat in roster.seats
    }
    members = [
        MemberSubscription(name, seat.topics, owned=list((seat.member.assignment or {}).items()))
        for name, seat in names.items()
    ]
    topics = {
        name: TopicPartitions(len(topic.partitions), topic_id=topic.topic_id or drawn_id(draw))
        for name, topic in ((name, roster.topics[name]) for name in roster.subscribed())
    }
    given = SimpleAssignor().assign(AssignmentRequest(members, topics)).items()
    return _holders({names[name].member.member_id: held for name, held in given})


def _holders(held: Mapping[str, Mapping[str, Sequence[int]]]) -> Holders[TopicPartition]:
    """Member ids by partition, out of partitions by member id."""
    found: dict[TopicPartition, list[str]] = {}
    for name in sorted(held):
        for topic, numbers in held[name].items():
            for number in numbers:
                found.setdefault((topic, number), []).append(name)
    return found
