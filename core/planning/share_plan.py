"""The next assignment of a share group, as its coordinator's `simple` assignor makes it. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kgroups.assignors.kip848.simple import SimpleAssignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.apply import MADE_BY
from kgroups.core.planning.changes.kinds import Change, Deploy, Pattern
from kgroups.core.planning.holders import HoldersPlan, Thing, changed_roster, drawn_id, plan_of
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.roster import Seat
from kgroups.core.snapshot import ClusterSnapshot, Group

KINDS: Final = tuple(kind for kind in MADE_BY if kind is not Pattern)


def plan_shared(
    snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change | Deploy]
) -> HoldersPlan:
    """The group after these changes and one assignment.

    Raises:
        UsageError: a change that share groups cannot have.
        NotFoundError: a member, host or topic that is not there.
    """
    refused = UsageError(
        "members of share groups have no patterns and no instance ids, and are not restarted",
        hint="use --add-members, --remove-member, --drop-host, --subscribe, --add-topic or "
        "--set-partitions",
    )
    roster = changed_roster(snapshot, group, changes, KINDS, refused)

    def assign(seats: Mapping[str, Seat], draw: random.Random) -> Iterator[tuple[Thing, str]]:
        members = [
            MemberSubscription(
                name, seat.topics, owned=list((seat.member.assignment or {}).items())
            )
            for name, seat in seats.items()
        ]
        topics = {
            topic.topic: TopicPartitions(
                len(topic.partitions), topic_id=topic.topic_id or drawn_id(draw)
            )
            for topic in map(roster.topics.__getitem__, roster.subscribed())
        }
        given = SimpleAssignor().assign(AssignmentRequest(members, topics)).items()
        return (((t, number), name) for t, number, name in ownership(dict(given)))

    held = ownership({m.member_id: m.assignment or {} for m in group.members or ()})
    return plan_of(roster, (((topic, n), name) for topic, n, name in held), assign)
