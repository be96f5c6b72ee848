"""The dry run: a group as it is, what-if changes, and the assignment that follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from kgroups.assignors.spec import Fault
from kgroups.core.errors import RefusedError
from kgroups.core.planning.assignor_request import LagByPartition
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import Change
from kgroups.core.planning.confidence import Word, confidence_of
from kgroups.core.planning.leaders.evidence import NOTHING_KNOWN, Known
from kgroups.core.planning.leaders.strategies import Strategy
from kgroups.core.planning.metrics import Metrics, lag_by_partition, measure, member_lag
from kgroups.core.planning.moves import (
    Assigned,
    Move,
    RebalanceProtocol,
    RoundStep,
    find_moves,
    ownership,
)
from kgroups.core.planning.notes import notes_of, outcome_notes
from kgroups.core.planning.outcomes.outcome import Outcomes, Settled
from kgroups.core.planning.outcomes.search import EVERYTHING, Effort
from kgroups.core.planning.prospects import Prospects, find_prospects
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, TopicPartition

EMPTY_NOTE: Final = "the group has no members, so nothing is assigned; --add-members adds some"
COMMITS_NOTE: Final = (
    f"{EMPTY_NOTE} (it only has commits: of consumers that assign their partitions themselves, or "
    "of a tool)"
)


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
class Stage:
    """One step of a deploy, when the group has settled.

    Args:
        rebalances: whether it makes the group rebalance.
        assignment: member to topic to partitions; a member that came back goes by its old id.
        leader_client, confidence, confidence_reason: as of a plan.
    """

    event: str
    rebalances: bool
    assignment: Mapping[str, Mapping[str, tuple[int, ...]]]
    moves: tuple[Move, ...]
    leader_client: str | None
    confidence: Word | None
    confidence_reason: str | None


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in the way of a group that is to change its protocol.

    Args:
        member_id: whose it is; None: the whole group's.
        code: what it is, in capitals.
        message: the same, a sentence without a full stop.
        refused_by: who does not let it pass; None: nobody, but something is lost.
    """

    member_id: str | None
    code: str
    message: str
    hint: str
    refused_by: Literal["broker", "client"] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The next rebalance of a group under its likeliest strategy, with all its outcomes.

    Args:
        rebalance_protocol: None for a group that does not rebalance.
        assignor: name of the strategy; None likewise.
        leader_client: whose rules were used for a classic group; None server side.
        leader_clients: libraries that may lead, that one included, the likeliest first.
        confidence: one of `confidence_words.DEFINITIONS`; None: nothing was predicted.
        members: in the broker's order, then those that join.
        leavers: ids of members that leave.
        moves: every partition with its owners before and after.
        outcomes: the ways in which it can end or fail, likeliest first; the plan shows the
            likeliest of the likeliest leader.
        faults: what a Java leader would do wrong.
        notes: what was assumed, one sentence each.
        depends_on_member_ids: whether ids that do not exist yet decide who gets what.
        roster: who is in the group then; None if nobody was.
        leaders: members that may have led, with what their library can be; None server side.
        strategies: those that may have decided, the likeliest first.
        stages: of a deploy, what happens one after the other.
        blockers: what stands in the way of a move to the other protocol.
        partition_counts: partitions of each subscribed topic that exists.
        outcome_metrics: figures of each outcome, in their order.
        partition_racks: racks of each partition's replicas, where brokers have racks.
        partition_lags: records to be read of each partition.
        outcome_notes: how many outcomes there are, and which of them is shown.
    """

    group: str
    metrics: Metrics
    rebalance_protocol: RebalanceProtocol | None = None
    assignor: str | None = None
    leader_client: str | None = None
    leader_clients: tuple[str, ...] = ()
    confidence: Word | None = None
    confidence_reason: str | None = None
    members: tuple[PlannedMember, ...] = ()
    leavers: tuple[str, ...] = ()
    moves: tuple[Move, ...] = ()
    steps: tuple[RoundStep, ...] = ()
    outcomes: Outcomes = field(default_factory=Outcomes)
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()
    depends_on_member_ids: bool = False
    roster: Roster | None = None
    leaders: Mapping[str, frozenset[str]] | None = None
    strategies: tuple[Strategy, ...] = ()
    stages: tuple["Stage", ...] = ()
    blockers: tuple[Blocker, ...] = ()
    partition_counts: Mapping[str, int] = field(default_factory=dict)
    outcome_metrics: tuple[Metrics, ...] = ()
    partition_racks: Mapping[TopicPartition, tuple[str | None, ...]] = field(default_factory=dict)
    partition_lags: LagByPartition = field(default_factory=dict)
    outcome_notes: tuple[str, ...] = ()


def plan_group(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change] = (),
    assignor_name: str | None = None,
    leader: str | None = None,
    *,
    faithful: bool = False,
    known: Known = NOTHING_KNOWN,
    effort: Effort = EVERYTHING,
) -> Plan:
    """Plan the next rebalance of a group.

    Args:
        snapshot: has the topics of the group, and of the changes.
        group: with its members.
        changes: what happens first, in order.
        assignor_name: strategy to plan with; None: the group's own.
        leader: client library of the group's leader; None: inferred.
        faithful: repeat what the Java class does wrong instead of reporting it in `faults`.
        known: what is known of the members besides what they show.
        effort: how much of what may be is played.
    Raises:
        RefusedError: the group shows no subscriptions now, or is no consumer group.
        NotFoundError: a change names something that is not there.
        UsageError: a change that cannot be made; no such strategy.
        KgroupsError: the strategy failed.
    """
    roster = next_roster(snapshot, group, changes, known)
    lags = lag_by_partition(snapshot, group, roster)
    if not roster.seats and not roster.leavers:
        return _nothing(group, roster, lags)
    prospects = find_prospects(
        roster,
        lags,
        assignor_name=assignor_name,
        leader=leader,
        faithful=faithful,
        effort=effort,
    )
    return _plan(roster, prospects, lags, changed=bool(changes))


def _plan(roster: Roster, prospects: Prospects, lags: LagByPartition, *, changed: bool) -> Plan:
    shown = prospects.shown
    strategy, settled = shown.strategy, shown.outcomes.each[0].settled
    before, stays = _current(roster.group), _staying(roster)
    moves = find_moves(before, settled.shares, strategy.protocol, stays)
    confidence = confidence_of(roster, prospects)
    clients = dict.fromkeys(prospect.strategy.leader_client for prospect in prospects.each)
    return Plan(
        group=roster.group.group,
        rebalance_protocol=strategy.protocol,
        assignor=strategy.assignor.name,
        leader_client=strategy.leader_client,
        leader_clients=tuple(client for client in clients if client is not None),
        confidence=confidence.word,
        confidence_reason=confidence.reason,
        members=_members(roster, settled, lags),
        leavers=tuple(member.member_id for member in roster.leavers),
        moves=tuple(moves),
        metrics=_metrics(roster, settled, moves, lags),
        steps=settled.steps,
        outcomes=prospects.outcomes,
        faults=settled.faults,
        notes=tuple(notes_of(roster, prospects, changed=changed)),
        outcome_notes=tuple(
            outcome_notes(prospects.outcomes, shown.outcomes, strategy.leader_client)
        ),
        roster=roster,
        leaders=prospects.leaders,
        strategies=tuple(prospect.strategy for prospect in prospects.each),
        depends_on_member_ids=any(
            len(prospect.outcomes.each) > 1
            and (
                roster.newcomers or (prospect.strategy.runs_on_broker and roster.topics_without_id)
            )
            for prospect in prospects.each
        ),
        partition_counts=_wanted(roster),
        outcome_metrics=_outcome_metrics(roster, strategy.protocol, prospects.outcomes, lags),
        partition_racks=_racks(roster),
        partition_lags=lags,
    )


def _outcome_metrics(
    roster: Roster, protocol: RebalanceProtocol, outcomes: Outcomes, lags: LagByPartition
) -> tuple[Metrics, ...]:
    """Figures of each outcome, so that a check can look at all that may happen."""
    before, stays = _current(roster.group), _staying(roster)
    return tuple(
        _metrics(
            roster,
            outcome.settled,
            find_moves(before, outcome.settled.shares, protocol, stays),
            lags,
        )
        for outcome in outcomes.each
    )


def _staying(roster: Roster) -> set[str]:
    return {seat.member.member_id for seat in roster.seats if not seat.joins}


def _nothing(group: Group, roster: Roster, lags: LagByPartition) -> Plan:
    """The plan of a group without members, before and after."""
    commits = not group.protocol_type and group.type == "classic" and bool(group.offsets)
    return Plan(
        group=group.group,
        metrics=_metrics(roster, Settled({}), [], lags),
        notes=(*roster.notes, *roster.guesses, COMMITS_NOTE if commits else EMPTY_NOTE),
    )


def _current(group: Group) -> Assigned:
    """The current assignment of the members."""
    members = group.members or ()
    unknown = [member.member_id for member in members if member.assignment is None]
    if unknown:
        raise RefusedError(
            (
                f"`{group.group}` is {group.state or 'in an unknown state'}: the assignment of "
                f"`{unknown[0]}` is not available now"
            ),
            hint="try again when the group is Stable",
            code="REBALANCE_IN_PROGRESS",
        )
    return {member.member_id: member.assignment or {} for member in members}


def _members(roster: Roster, settled: Settled, lags: LagByPartition) -> tuple[PlannedMember, ...]:
    before = _current(roster.group)
    members: list[PlannedMember] = []
    for seat in roster.seats:
        name = seat.member.member_id
        had = None if seat.joins else before.get(name, {})
        held = settled.shares.get(name, {})
        members.append(planned_member(seat.member, name, seat.topics, had, held, lags))
    return tuple(members)


def planned_member(
    facts: Member,
    name: str,
    topics: tuple[str, ...],
    had: Mapping[str, Sequence[int]] | None,
    held: Mapping[str, tuple[int, ...]],
    lags: LagByPartition,
) -> PlannedMember:
    """One member after the changes.

    Args:
        had: what it has now; None for a member that joins.
        held: what it gets.
    """
    return PlannedMember(
        member_id=name,
        client_id=facts.client_id,
        instance_id=facts.instance_id,
        host=facts.host,
        joins=had is None,
        assignment=held,
        partitions=sum(map(len, held.values())),
        lag=member_lag(held, lags),
        partitions_before=None if had is None else sum(map(len, had.values())),
        lag_before=None if had is None else member_lag(had, lags),
        topics=topics,
        rack=facts.rack or None,
    )


def _wanted(roster: Roster) -> dict[str, int]:
    """Partitions of each topic that somebody subscribes to and that exists."""
    return {name: len(roster.topics[name].partitions) for name in roster.subscribed()}


def _racks(roster: Roster) -> dict[TopicPartition, tuple[str | None, ...]]:
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
    reads = {(s.member.member_id, topic) for s in roster.seats for topic in s.topics}
    had = ownership(_current(roster.group))
    forced = frozenset((t, p) for t, p, member in had if (member, t) not in reads)
    return measure(
        settled.shares,
        moves,
        wanted=_wanted(roster),
        subscriptions=[seat.topics for seat in roster.seats],
        forced=forced,
        lags=lags,
        rounds=len(settled.steps),
    )
