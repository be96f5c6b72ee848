"""Which libraries may have computed the assignment that a classic group has.

`range` and `roundrobin` start from nothing, so that a group's members and its assignment are an
input and its answer: a library whose code answers otherwise has not led. Where static members and
others mix, libraries differ in the order in which they deal.

What a leader saw may have been something else since: a static member that restarts gets another
id without a rebalance, and topics grow before the leader knows. So the partitions are those that
were dealt, and every order is tried that the ids of static members can have had.

Source: `other_clients.variants` (orders of members); ClassicGroup.replaceStaticMember.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from typing import Final

from kgroups.assignors.other_clients.variants import librdkafka_order
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.core.planning.leaders.libraries import RANGE, ROUND_ROBIN
from kgroups.core.planning.moves import ownership
from kgroups.core.snapshot import Group, Member

STARTS_FROM_NOTHING: Final = frozenset({RANGE, ROUND_ROBIN})
LOOK_AT_RACKS: Final = frozenset({"java", "librdkafka", "franz-go"})
SORT_BY_ID: Final = frozenset({"librdkafka", "sarama", "aiokafka"})

# In larger groups looking takes too long.
MOST_PARTITIONS: Final = 10_000

# Groups of static and other members of which every order is tried.
MOST_MIXED: Final = 6

Members = Sequence[MemberSubscription]


def could_have_assigned(group: Group, library: str) -> bool:
    """Whether a leader of this library can have computed the group's assignment.

    Also where that cannot be told: another strategy, a group that is not at rest, racks at which
    the library may have looked, too many orders or partitions.
    """
    members, name = group.members or (), group.assignor
    if name not in STARTS_FROM_NOTHING or group.state != "Stable":
        return True
    if any(m.assignment_version is None or m.subscription is None for m in members):
        return True
    if name == RANGE and all(member.instance_id is None for member in members):
        return True  # by member id, as everybody orders them
    if name == RANGE and library in LOOK_AT_RACKS and any(member.rack for member in members):
        return True
    counts = dealt_counts(members)
    if counts is None or sum(counts.values()) > MOST_PARTITIONS:
        return True
    if library in SORT_BY_ID and not _keep_their_places(members):
        return True
    listings = _listings(members, library)
    if listings is None:
        return True
    topics = {topic: TopicPartitions(count) for topic, count in counts.items()}
    strategy = assignor(name, library)
    for listed in listings:
        try:
            answer = strategy.assign(AssignmentRequest(listed, topics))
        except AssignorError:
            continue
        if ownership(dict(answer.items())) == dealt_owners(members):
            return True
    return False


def dealt_counts(members: Sequence[Member], *, withheld: bool = False) -> Mapping[str, int] | None:
    """How many partitions of each topic were dealt; None unless each has one owner.

    Args:
        withheld: whether some may wait for the next round: members had them when they joined.
    """
    numbers: dict[str, list[int]] = {}
    for member in members:
        for topic, held in (member.assignment or {}).items():
            numbers.setdefault(topic, []).extend(held)
    for member in members if withheld else ():
        for topic, held in (member.owned or {}).items():
            seen = numbers.setdefault(topic, [])
            seen += [number for number in held if number not in seen]
    if any(sorted(held) != list(range(len(held))) for held in numbers.values()):
        return None
    return {topic: len(held) for topic, held in numbers.items() if held}


def dealt_owners(members: Sequence[Member]) -> frozenset[tuple[str, int, str]]:
    """Who has what, as `ownership` tells it of an answer."""
    return ownership({member.member_id: member.assignment or {} for member in members})


def _keep_their_places(members: Sequence[Member]) -> bool:
    """Whether static members stand where they do by id whatever follows their instance ids."""
    # As much of the id as the member has had all the time.
    starts = [m.member_id if m.instance_id is None else f"{m.instance_id}-" for m in members]
    return not any(
        other.startswith(start) or start.startswith(other)
        for place, start in enumerate(starts)
        if members[place].instance_id is not None
        for other in (*starts[:place], *starts[place + 1 :])
    )


def _listings(members: Sequence[Member], library: str) -> Sequence[Members] | None:
    """The members in every order in which the leader may have met them, as far as it sees that.

    None if there are too many.
    """
    listed = [
        MemberSubscription(m.member_id, m.subscription or (), instance_id=m.instance_id)
        for m in members
    ]
    mixed = len({member.instance_id is None for member in members}) > 1
    if not mixed or library not in ("librdkafka", "kafka-python"):
        return [listed]
    if len(members) > MOST_MIXED:
        return None
    if library == "kafka-python":
        alike = len({frozenset(member.topics) for member in listed}) == 1
        return list(_forgetful(listed, members)) if alike else None
    orders = {
        tuple(chosen[place].member_id for place in librdkafka_order(chosen)): chosen
        for chosen in permutations(listed)
    }
    return list(orders.values())


def _forgetful(listed: Members, members: Sequence[Member]) -> Iterator[Members]:
    """For each choice of members that kafka-python may have forgotten an order in which it does.

    Of static members and of the others it keeps the last unbroken run.
    """
    idle = [
        member_id
        for member_id, m in zip(listed, members, strict=True)
        if not any((m.assignment or {}).values())
    ]
    for count in range(len(idle) + 1):
        for forgotten in combinations(idle, count):
            kept = [member for member in listed if member not in forgotten]
            static = [member for member in kept if member.instance_id is not None]
            dynamic = [member for member in kept if member.instance_id is None]
            if not static or not dynamic:
                continue
            first = [member for member in forgotten if member.instance_id is not None]
            then = [member for member in forgotten if member.instance_id is None]
            last = [*static, *dynamic] if then or not first else [*dynamic, *static]
            yield [*first, *then, *last]
