"""The dry run: a group as it is, what-if changes, and the assignment that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.assignors.spec import Fault
from kgroups.core.errors import RefusedError
from kgroups.core.planning.changes import Change
from kgroups.core.planning.metrics import Metrics, measure, member_lag
from kgroups.core.planning.moves import Assigned, Move, RebalanceProtocol, RoundStep, find_moves
from kgroups.core.planning.outcomes import Outcomes, find_outcomes
from kgroups.core.planning.request import LagByPartition, first_round, lag_by_partition
from kgroups.core.planning.roster import Roster, next_roster
from kgroups.core.planning.settle import Settled, settle
from kgroups.core.planning.strategies import Strategy, find_strategy
from kgroups.core.snapshot import ClusterSnapshot, Group

MANUAL_NOTE: Final = (
    "its consumers choose their partitions themselves (`assign`): there is no rebalance to predict"
)
EMPTY_NOTE: Final = "the group has no members, so nothing is assigned"


@dataclass(frozen=True, slots=True)
class PlannedMember:
    """One member after the changes.

    Args:
        member_id: for a member that joins a name that stands for its id.
        joins: whether it is not in the group yet.
        assignment: topic to partitions, in the strategy's order.
        partitions, lag: what it gets; `lag` in records, None if not known.
        partitions_before, lag_before: what it has now; None for a member that joins.
    """

    member_id: str
    client_id: str
    instance_id: str | None
    host: str
    joins: bool
    assignment: Mapping[str, tuple[int, ...]]
    partitions: int
    lag: int | None
    partitions_before: int | None
    lag_before: int | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next rebalance of a group does under one strategy.

    Args:
        rebalance_protocol: None for a group that does not rebalance.
        assignor: name of the strategy; None likewise.
        leader_client: whose rules were used for a classic group; None server side.
        confidence: `exact`: it follows from what is known; `outcomes`: it depends on ids that
            do not exist yet, and `outcomes` are all that can happen; `likely`: the leader's
            client was inferred; None: nothing was predicted.
        members: in the broker's order, then those that join.
        leavers: ids of members that leave.
        moves: every partition with its owners before and after.
        steps: the rounds of the rebalance.
        outcomes: the ways in which it can end, likeliest first; the plan shows the first.
        faults: what a Java leader would do wrong.
        notes: what was assumed, one sentence each.
    """

    group: str
    rebalance_protocol: RebalanceProtocol | None
    assignor: str | None
    leader_client: str | None
    confidence: str | None
    members: tuple[PlannedMember, ...]
    leavers: tuple[str, ...]
    moves: tuple[Move, ...]
    metrics: Metrics
    steps: tuple[RoundStep, ...]
    outcomes: Outcomes
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def depends_on_member_ids(self) -> bool:
        """Whether ids that do not exist yet decide who gets what."""
        return len(self.outcomes.each) > 1


def plan_group(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change] = (),
    assignor_name: str | None = None,
) -> Plan:
    """What the next rebalance of a group does.

    Args:
        snapshot: has the topics of the group, and of the changes.
        group: with its members.
        changes: what happens first, in order.
        assignor_name: strategy to plan with; None: the group's own.
    Raises:
        RefusedError: the group shows no subscriptions now, or is no consumer group.
        NotFoundError: a change names something that is not there.
        UsageError: a change that cannot be made; no such strategy.
        KgroupsError: the strategy failed.
    """
    roster = next_roster(snapshot, group, changes)
    lags = lag_by_partition(snapshot, group, roster)
    if not roster.seats and not roster.leavers:
        return _nothing(group, roster, lags)
    strategy = find_strategy(group, assignor_name)
    return _plan(roster, strategy, lags)


def _plan(roster: Roster, strategy: Strategy, lags: LagByPartition) -> Plan:
    brought = first_round(roster.group)

    def run(ids: Mapping[str, str]) -> Settled:
        return settle(strategy.assignor, roster, brought, strategy.protocol, ids=ids, lags=lags)

    size = len(roster.seats) + sum(_wanted(roster).values())
    outcomes = find_outcomes(roster, strategy.assignor.name, run, size)
    settled = outcomes.each[0].settled
    before = _current(roster.group)
    stays = {seat.member.member_id for seat in roster.seats if not seat.joins}
    moves = find_moves(before, settled.shares, strategy.protocol, stays)
    return Plan(
        group=roster.group.group,
        rebalance_protocol=strategy.protocol,
        assignor=strategy.assignor.name,
        leader_client=strategy.leader_client,
        confidence="exact" if len(outcomes.each) == 1 else "outcomes",
        members=_members(roster, settled, lags),
        leavers=tuple(member.member_id for member in roster.leavers),
        moves=tuple(moves),
        metrics=_metrics(roster, settled, moves, lags),
        steps=settled.steps,
        outcomes=outcomes,
        faults=settled.faults,
        notes=(*roster.notes, *strategy.notes, *_doubts(settled, outcomes)),
    )


def _doubts(settled: Settled, outcomes: Outcomes) -> list[str]:
    notes: list[str] = []
    if len(outcomes.each) > 1:
        notes.append(
            f"ids of joining members decide: {len(outcomes.each)} outcomes are possible, shown is"
            f" the likeliest ({outcomes.each[0].share:.0%})"
        )
    if not outcomes.complete:
        notes.append("the group is too large to try every order of ids: outcomes are a sample")
    if not settled.settled:
        notes.append(f"the group is still moving after {len(settled.steps)} rounds")
    return notes


def _nothing(group: Group, roster: Roster, lags: LagByPartition) -> Plan:
    """The plan of a group without members, before and after."""
    manual = not group.protocol_type and group.type == "classic" and bool(group.offsets)
    return Plan(
        group=group.group,
        rebalance_protocol=None,
        assignor=None,
        leader_client=None,
        confidence=None,
        members=(),
        leavers=(),
        moves=(),
        metrics=_metrics(roster, Settled({}, (), ()), [], lags),
        steps=(),
        outcomes=Outcomes(()),
        notes=(*roster.notes, MANUAL_NOTE if manual else EMPTY_NOTE),
    )


def _current(group: Group) -> Assigned:
    """What the members have now."""
    members = group.members or ()
    unknown = [member.member_id for member in members if member.assignment is None]
    if unknown:
        raise RefusedError(
            f"`{group.group}` is {group.state or 'in an unknown state'}: what `{unknown[0]}` is"
            " assigned is not shown now",
            hint="try again when the group is Stable",
            code="REBALANCE_IN_PROGRESS",
        )
    return {member.member_id: member.assignment or {} for member in members}


def _members(roster: Roster, settled: Settled, lags: LagByPartition) -> tuple[PlannedMember, ...]:
    before = _current(roster.group)
    members: list[PlannedMember] = []
    for seat in roster.seats:
        facts = seat.member
        held = settled.shares.get(facts.member_id, {})
        had = None if seat.joins else before.get(facts.member_id, {})
        members.append(
            PlannedMember(
                member_id=facts.member_id,
                client_id=facts.client_id,
                instance_id=facts.instance_id,
                host=facts.host,
                joins=seat.joins,
                assignment=held,
                partitions=sum(map(len, held.values())),
                lag=member_lag(held, lags),
                partitions_before=None if had is None else sum(map(len, had.values())),
                lag_before=None if had is None else member_lag(had, lags),
            )
        )
    return tuple(members)


def _wanted(roster: Roster) -> dict[str, int]:
    """Partitions of each topic that somebody subscribes to and that exists."""
    subscribed = {topic for seat in roster.seats for topic in seat.topics}
    return {
        name: len(topic.partitions) for name, topic in roster.topics.items() if name in subscribed
    }


def _metrics(
    roster: Roster, settled: Settled, moves: Sequence[Move], lags: LagByPartition
) -> Metrics:
    subscribers: dict[str, int] = {}
    for seat in roster.seats:
        for topic in set(seat.topics):
            subscribers[topic] = subscribers.get(topic, 0) + 1
    reads = {(s.member.member_id, topic) for s in roster.seats for topic in s.topics}
    had = (
        (member, topic, partition)
        for member, topics in _current(roster.group).items()
        for topic, partitions in topics.items()
        for partition in partitions
    )
    forced = frozenset((t, p) for member, t, p in had if (member, t) not in reads)
    return measure(
        settled.shares,
        moves,
        wanted=_wanted(roster),
        subscribers=subscribers,
        forced=forced,
        lags=lags,
        rounds=len(settled.steps),
    )
