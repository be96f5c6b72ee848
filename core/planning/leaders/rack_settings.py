"""Whether a franz-go leader balances racks: what it has dealt says so.

Its application says `BalanceRacks` or does not, and no answer shows which. But a leader goes on as
it began: what members said when they joined last and what they were given is an input and its
answer, and so are the rounds that the leader has led before, as far as `__consumer_offsets` has
them. A setting under which something else would have come is not the leader's.

Of each partition the rack of the leader then is not known, only those of its replicas now: each of
them is tried. Replicas are taken to be where they were then.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

from kgroups.assignors.other_clients.choices import possible_answers
from kgroups.assignors.other_clients.variants import RACK_BALANCING
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.core.planning.leaders.authors import dealt_counts, dealt_owners
from kgroups.core.planning.leaders.strategies import COOPERATIVE
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import Group, Member, Topic

EITHER: Final = frozenset({False, True})
NEVER: Final = frozenset({False})

MOST_PARTITIONS: Final = 2_000
MOST_LEADERSHIPS: Final = 64
MOST_RUNS: Final = 256


def rack_settings(roster: Roster) -> frozenset[bool]:
    """Whether a franz-go leader may balance racks, and whether it may not; never empty.

    Where racks make no difference, it does not.
    """
    racked = any(roster.broker_racks.values()) or not roster.broker_racks
    if not racked or not any(seat.member.rack for seat in roster.seats):
        return NEVER
    if roster.evidence.known.balances_racks is not None:
        return frozenset({roster.evidence.known.balances_racks})
    rounds = _rounds(roster)
    settings = frozenset(
        setting
        for setting in EITHER
        if all(_could_have_dealt(dealt, roster.topics, setting) for dealt in rounds)
    )
    return settings or EITHER


def _rounds(roster: Roster) -> Sequence[Group]:
    """Rounds that the next leader has led, as far as that is known."""
    group = roster.group
    unsure = roster.evidence.someone_may_have_come_back
    gone = {member.member_id for member in roster.leavers}
    leader = next((m for m in group.members or () if m.member_id == group.leader), None)
    if roster.evidence.known.leaders is not None or not roster.broker_racks:
        return ()
    if leader is None:
        return () if gone or unsure else (group,)
    if leader.member_id in gone:
        return ()
    if group.led:
        return group.led
    return () if unsure else (group,)


def _could_have_dealt(group: Group, topics: Mapping[str, Topic], balances_racks: bool) -> bool:
    """Whether a leader with this setting can have assigned what the group has.

    Also where that cannot be told.
    """
    members, name = group.members or (), group.assignor or ""
    counts = dealt_counts(members, withheld=name in COOPERATIVE)
    if name not in RACK_BALANCING or group.state != "Stable" or counts is None:
        return True
    if any(m.assignment_version is None or m.subscription is None for m in members):
        return True
    if sum(counts.values()) > MOST_PARTITIONS:
        return True
    leaderships = [{name: TopicPartitions(count) for name, count in counts.items()}]
    if balances_racks:
        leaderships = list(islice(_leaderships(counts, topics), MOST_LEADERSHIPS + 1))
    if not leaderships or len(leaderships) > MOST_LEADERSHIPS:
        return True
    strategy = RACK_BALANCING[name] if balances_racks else assignor(name, "franz-go")
    listed = [_as_it_joined(member) for member in members]
    for led in leaderships:
        request = AssignmentRequest(listed, led, leader=group.leader)
        given = possible_answers(strategy, request, MOST_RUNS)
        answers = {ownership(dict(answer.items())) for answer in given.each}
        if not given.complete or dealt_owners(members) in answers:
            return True
    return False


def _leaderships(
    counts: Mapping[str, int], topics: Mapping[str, Topic]
) -> Iterator[dict[str, TopicPartitions]]:
    """Every way in which partitions may have been led; none if one is not known any more."""
    logs = [
        topics[name].partitions.get(number) if name in topics else None
        for name, count in counts.items()
        for number in range(count)
    ]
    if not all(log and log.racks for log in logs):
        return
    for racks in product(*(dict.fromkeys(log.racks) for log in logs if log)):
        left = iter(racks)
        yield {
            name: TopicPartitions(count, leader_racks=list(islice(left, count)))
            for name, count in counts.items()
        }


def _as_it_joined(member: Member) -> MemberSubscription:
    """The subscription of its last join."""
    generation = member.generation
    return MemberSubscription(
        member.member_id,
        member.subscription or (),
        member.instance_id,
        member.rack,
        tuple((member.owned or {}).items()),
        -1 if generation is None else generation,
        member.user_data,
    )
