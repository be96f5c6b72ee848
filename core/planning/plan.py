"""The dry run: a group as it is, what-if changes, and the assignment that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.assignors.spec import Fault
from kgroups.core.errors import RefusedError
from kgroups.core.planning.assignor_request import LagByPartition, first_round, lag_by_partition
from kgroups.core.planning.changes.kinds import Change
from kgroups.core.planning.leaders.strategies import Strategy, find_strategies
from kgroups.core.planning.metrics import Metrics, measure, member_lag
from kgroups.core.planning.moves import Assigned, Move, RebalanceProtocol, RoundStep, find_moves
from kgroups.core.planning.outcomes.draws import Draw, find_outcomes
from kgroups.core.planning.outcomes.outcome import Outcomes, canonical, united_outcomes
from kgroups.core.planning.outcomes.races import finders_of, race_notes, race_outcomes
from kgroups.core.planning.roster import Roster, next_roster
from kgroups.core.planning.settle import Settled, settle
from kgroups.core.snapshot import ClusterSnapshot, Group, Member

MANUAL_NOTE: Final = (
    "its consumers choose their partitions themselves (`assign`): there is no rebalance to predict"
)

# How much likelier the inferred client library is than each other one that may lead.
LIKELIEST_WEIGHT: Final = 4.0

# Outcomes that are measured and shown; nobody reads more.
MEASURED_OUTCOMES: Final = 64

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
        topics: what it subscribes to, patterns resolved.
        rack: None where it shows none.
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
    topics: tuple[str, ...] = ()
    rack: str | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What the next rebalance of a group does under one strategy.

    Args:
        rebalance_protocol: None for a group that does not rebalance.
        assignor: name of the strategy; None likewise.
        leader_client: whose rules were used for a classic group; None server side.
        confidence: `exact`: it follows from what is known, whichever client leads; `outcomes`:
            it depends on ids that do not exist yet, and `outcomes` are all that can happen;
            `likely`: client libraries that may lead disagree, and the likeliest is shown, or
            there are too many orders of ids to try all;
            `counts`: how many partitions members get is sure, which ones is not;
            None: nothing was predicted.
        members: in the broker's order, then those that join.
        leavers: ids of members that leave.
        moves: every partition with its owners before and after.
        steps: the rounds of the rebalance.
        outcomes: the ways in which it can end, likeliest first; the plan shows the first.
        faults: what a Java leader would do wrong.
        notes: what was assumed, one sentence each.
        undecided_ids: see `depends_on_member_ids`.
        partition_counts: partitions of each subscribed topic that exists.
        outcome_metrics: figures of the likeliest outcomes, in their order.
        partition_racks: racks of each partition's replicas, where brokers have racks.
        partition_lags: records to be read of each partition.
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
    undecided_ids: bool = False
    partition_counts: Mapping[str, int] = field(default_factory=dict)
    outcome_metrics: tuple[Metrics, ...] = ()
    partition_racks: Mapping[tuple[str, int], tuple[str | None, ...]] = field(default_factory=dict)
    partition_lags: LagByPartition = field(default_factory=dict)

    @property
    def depends_on_member_ids(self) -> bool:
        """Whether ids that do not exist yet decide who gets what."""
        return self.undecided_ids


def plan_group(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change] = (),
    assignor_name: str | None = None,
    leader: str | None = None,
    *,
    faithful: bool = False,
) -> Plan:
    """What the next rebalance of a group does.

    Args:
        snapshot: has the topics of the group, and of the changes.
        group: with its members.
        changes: what happens first, in order.
        assignor_name: strategy to plan with; None: the group's own.
        leader: client library of the group's leader; None: inferred.
        faithful: repeat what the Java class does wrong instead of reporting it in `faults`.
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
    strategies = find_strategies(group, assignor_name, leader)
    each = [_outcomes(roster, one, lags, faithful=faithful) for one in strategies]
    return _plan(roster, strategies, each, lags, changed=bool(changes))


def _plan(
    roster: Roster,
    strategies: Sequence[Strategy],
    each: Sequence[Outcomes],
    lags: LagByPartition,
    *,
    changed: bool,
) -> Plan:
    strategy = strategies[0]
    outcomes = united_outcomes([(one, LIKELIEST_WEIGHT if one is each[0] else 1.0) for one in each])
    settled = each[0].each[0].settled
    moves = find_moves(_current(roster.group), settled.shares, strategy.protocol, _staying(roster))
    raced = _is_raced(roster, strategy)
    doubts = [*_doubts(settled, each[0], raced=raced), *_disagreement(strategies, each)]
    return Plan(
        group=roster.group.group,
        rebalance_protocol=strategy.protocol,
        assignor=strategy.assignor.name,
        leader_client=strategy.leader_client,
        confidence=_confidence(strategies, each, outcomes, raced=raced),
        members=_members(roster, settled, lags),
        leavers=tuple(member.member_id for member in roster.leavers),
        moves=tuple(moves),
        metrics=_metrics(roster, settled, moves, lags),
        steps=settled.steps,
        outcomes=outcomes,
        faults=settled.faults,
        notes=(
            *roster.notes,
            *strategy.notes,
            *doubts,
            *_coordinator_notes(roster, strategy, changed),
        ),
        undecided_ids=not raced and any(len(one.each) > 1 for one in each),
        partition_counts=_wanted(roster),
        outcome_metrics=_outcome_metrics(roster, strategy, outcomes, lags),
        partition_racks=_racks(roster),
        partition_lags=lags,
    )


def _outcomes(
    roster: Roster, strategy: Strategy, lags: LagByPartition, *, faithful: bool
) -> Outcomes:
    """The ways in which the rebalance can end under one strategy."""
    brought = first_round(roster.group, server_side=strategy.server_side)

    def run(draw: Draw) -> Settled:
        return settle(
            strategy.assignor,
            roster,
            brought,
            strategy.protocol,
            ids=draw.ids,
            topic_ids=draw.topic_ids,
            lags=lags,
            faithful=faithful,
        )

    if _is_raced(roster, strategy):
        return race_outcomes(
            roster,
            brought,
            lambda known, held: settle(
                strategy.assignor, known, held, strategy.protocol, lags=lags, rounds=1
            ),
        )
    size = len(roster.seats) + sum(_wanted(roster).values())
    return find_outcomes(
        roster, strategy.assignor.name, run, size, server_side=strategy.server_side
    )


def _outcome_metrics(
    roster: Roster, strategy: Strategy, outcomes: Outcomes, lags: LagByPartition
) -> tuple[Metrics, ...]:
    """Figures of each outcome, so that a check can look at all that may happen."""
    if len(outcomes.each) < 2:
        return ()
    before, stays = _current(roster.group), _staying(roster)
    found: list[Metrics] = []
    for outcome in outcomes.each[:MEASURED_OUTCOMES]:
        moves = find_moves(before, outcome.settled.shares, strategy.protocol, stays)
        found.append(_metrics(roster, outcome.settled, moves, lags))
    return tuple(found)


def _staying(roster: Roster) -> set[str]:
    return {seat.member.member_id for seat in roster.seats if not seat.joins}


def _confidence(
    strategies: Sequence[Strategy],
    each: Sequence[Outcomes],
    outcomes: Outcomes,
    *,
    raced: bool,
) -> str:
    if not strategies[0].exact:
        return "counts"
    if raced and not outcomes.complete:
        return "likely"
    if len(outcomes.each) == 1:
        return "exact" if outcomes.complete else "likely"
    return "likely" if len(each[0].each) < len(outcomes.each) else "outcomes"


def _is_raced(roster: Roster, strategy: Strategy) -> bool:
    """Whether members learn of new topics one after another, with a rebalance in between."""
    return (
        strategy.protocol == "cooperative"
        and strategy.leader_client == "librdkafka"
        and bool(finders_of(roster))
        and all(seat.id_known or not seat.joins for seat in roster.seats)
    )


def _disagreement(strategies: Sequence[Strategy], each: Sequence[Outcomes]) -> list[str]:
    """Which client libraries would do something else than the likeliest."""
    shown = {canonical(outcome.settled.shares) for outcome in each[0].each}
    others = [
        strategy.leader_client or ""
        for strategy, found in zip(strategies[1:], each[1:], strict=True)
        if {canonical(outcome.settled.shares) for outcome in found.each} != shown
    ]
    if not others:
        return []
    return [
        f"shown is what a {strategies[0].leader_client} leader does; the leader may also be"
        f" {' or '.join(others)}, which would assign otherwise: say which with `--as`"
    ]


def _coordinator_notes(roster: Roster, strategy: Strategy, changed: bool) -> list[str]:
    """What is peculiar to an assignment by the coordinator."""
    group = roster.group
    if not strategy.server_side or group.type != "consumer":
        return []
    notes: list[str] = []
    own = strategy.assignor.name == (group.assignor or strategy.assignor.name)
    if own and not changed and group.group_epoch == group.target_epoch:
        notes.append(
            "the coordinator computes a new target only when members, subscriptions or topics"
            " change: this is the one that the next change brings"
        )
    moving = [m.member_id for m in group.members or () if _is_moving(m)]
    if moving:
        notes.append(
            f"{len(moving)} of {len(group.members or ())} members have not reached their present"
            " target yet; partitions go from where they are now to where the plan puts them"
        )
    return notes


def _is_moving(member: Member) -> bool:
    target, current = member.target_assignment, member.assignment
    if target is None or current is None:
        return False
    return _as_sets(target) != _as_sets(current)


def _as_sets(held: Mapping[str, Sequence[int]]) -> dict[str, frozenset[int]]:
    return {topic: frozenset(numbers) for topic, numbers in held.items() if numbers}


def _doubts(settled: Settled, outcomes: Outcomes, *, raced: bool) -> list[str]:
    notes = race_notes(outcomes) if raced else []
    if len(outcomes.each) > 1 and not raced:
        notes.append(
            f"ids that do not exist yet decide: {len(outcomes.each)} outcomes are possible, shown"
            f" is the likeliest ({outcomes.each[0].share:.0%})"
        )
    if not outcomes.complete and not raced:
        notes.append(
            "there are more orders of ids that do not exist yet than were tried: the outcomes are"
            " a sample"
        )
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
                topics=seat.topics,
                rack=facts.rack or None,
            )
        )
    return tuple(members)


def _wanted(roster: Roster) -> dict[str, int]:
    """Partitions of each topic that somebody subscribes to and that exists."""
    subscribed = {topic for seat in roster.seats for topic in seat.topics}
    return {
        name: len(topic.partitions) for name, topic in roster.topics.items() if name in subscribed
    }


def _racks(roster: Roster) -> dict[tuple[str, int], tuple[str | None, ...]]:
    """Racks of the replicas of each partition that somebody subscribes to, where there are any."""
    return {
        (name, number): tuple(log.racks)
        for name in _wanted(roster)
        for number, log in roster.topics[name].partitions.items()
        if any(log.racks)
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
