"""A roster as the assignor meets it: what each member brings along to the next rebalance.

What a member owns then is its *current assignment*, at the group's current generation; the bytes
of its last join that DescribeGroups shows are one round older. A member that joins owns nothing.
Server side the assignor starts from the target assignment instead.

Source: ConsumerCoordinator.metadata; TargetAssignmentBuilder.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgroups.assignors.rejoin import COOPERATIVE, STICKY, rejoin
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions
from kgroups.core.lag.arithmetic import offset_rows
from kgroups.core.lag.rules import partition_lag
from kgroups.core.planning.outcomes.ids import broker_order
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, PartitionLog, Topic

Holdings = Mapping[str, Sequence[int]]
LagByPartition = Mapping[tuple[str, int], int | None]


@dataclass(frozen=True, slots=True)
class Round:
    """What the members bring to one rebalance.

    Args:
        held: what the assignor is told that they have: member id to topic to partitions; absent
            members own nothing.
        generation: the generation in which they were given.
        current: what they really have, where that is something else (KIP-848).
    """

    held: Mapping[str, Holdings]
    generation: int
    current: Mapping[str, Holdings] | None = None


def first_round(group: Group, *, server_side: bool = False) -> Round:
    """What the members of a group as it is now bring to its next rebalance.

    Args:
        server_side: whether the coordinator assigns: it starts from the target assignment.
    """
    members = group.members or ()
    current = {member.member_id: member.assignment or {} for member in members}
    generation = current_generation(group)
    if not server_side:
        return Round(current, generation)
    target = {member.member_id: _target(member) for member in members}
    return Round(target, generation, current)


def _target(member: Member) -> Holdings:
    shown = member.target_assignment
    return shown if shown is not None else member.assignment or {}


def current_generation(group: Group) -> int:
    """The group's generation, as far as it shows.

    DescribeGroups does not tell it; the subscriptions tell the one before. Only its being the
    same for all members and newer than what joiners bring matters.
    """
    if group.group_epoch is not None:
        return group.group_epoch
    known = [member.generation for member in group.members or () if member.generation is not None]
    return max(known, default=0) + 1


def build_request(
    roster: Roster,
    brought: Round,
    *,
    strategy_name: str,
    ids: Mapping[str, str] | None = None,
    topic_ids: Mapping[str, str] | None = None,
    lags: LagByPartition | None = None,
    faithful: bool = False,
) -> AssignmentRequest:
    """The rebalance that decides this roster.

    Args:
        brought: what the members own when they join.
        strategy_name: decides in which form a member says what it owns.
        ids: assumed ids for members that join: name in the roster to id; None: the names.
        topic_ids: assumed ids of topics that do not exist yet.
        lags: records to be read by partition, for assignors that balance by lag.
        faithful: repeat what Java's class does wrong.
    Returns:
        The request, members in the order in which the coordinator will list them, with the
        topics that somebody subscribes to.
    """
    names = ids or {}
    seats = {names.get(seat.member.member_id, seat.member.member_id): seat for seat in roster.seats}
    present = [member.member_id for member in roster.group.members or ()]
    order = broker_order(
        present,
        [name for name, seat in seats.items() if not seat.joins],
        [name for name, seat in seats.items() if seat.joins],
    )
    subscribed = {topic for seat in roster.seats for topic in seat.topics}
    return AssignmentRequest(
        members=[_subscription(name, seats[name], brought, strategy_name) for name in order],
        topics={
            name: _topic_partitions(topic, lags or {}, (topic_ids or {}).get(name))
            for name, topic in roster.topics.items()
            if name in subscribed
        },
        generation=brought.generation,
        faithful=faithful,
    )


def _subscription(
    member_id: str, seat: Seat, brought: Round, strategy_name: str
) -> MemberSubscription:
    held = brought.held.get(member_id)
    joins = MemberSubscription(
        member_id, seat.topics, instance_id=seat.member.instance_id, rack=seat.member.rack or None
    )
    if held is None:
        return joins
    if strategy_name in (STICKY, COOPERATIVE):
        pairs = [(topic, number) for topic, numbers in held.items() for number in numbers]
        return rejoin(joins, strategy_name, pairs, brought.generation)
    owned = [(topic, tuple(numbers)) for topic, numbers in held.items()]
    return replace(joins, owned=owned, generation=brought.generation)


def _topic_partitions(
    topic: Topic, lags: LagByPartition, assumed_id: str | None
) -> TopicPartitions:
    logs = [topic.partitions[number] for number in sorted(topic.partitions)]
    known = any(rack is not None for log in logs for rack in log.racks)
    count = len(logs)
    lag = [lags.get((topic.topic, number)) for number in range(count)] if lags else ()
    racks = [log.racks for log in logs] if known else ()
    return TopicPartitions(count, racks, lag, topic.topic_id or assumed_id)


def lag_by_partition(snapshot: ClusterSnapshot, group: Group, roster: Roster) -> LagByPartition:
    """Records to be read in each partition that the group reads or will read.

    A partition that only the plan adds is empty. None where the lag is not known.
    """
    lags: dict[tuple[str, int], int | None] = {
        (row.topic, row.partition): row.lag for row in offset_rows(snapshot, group)
    }
    subscribed = {topic for seat in roster.seats for topic in seat.topics}
    for name in subscribed & roster.topics.keys():
        present = snapshot.topics[name].partitions if name in snapshot.topics else {}
        for number, log in roster.topics[name].partitions.items():
            key = (name, number)
            if number not in present:
                lags[key] = 0
            elif key not in lags:
                lags[key] = _uncommitted_lag(log)
    return lags


def _uncommitted_lag(log: PartitionLog) -> int | None:
    return partition_lag(None, log.log_start_offset, log.log_end_offset, error=log.error)[0]
