"""Plans of changes and deploys: one rebalance, or the sequence of rebalances of a deploy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from kgroups.assignors.other_clients.choices import Choices
from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import Change, Deploy, MoveToProtocol, Pattern
from kgroups.core.planning.confidence import EVEN, Word, same_sizes, stops_alike
from kgroups.core.planning.deploys.rolling import deploy_events
from kgroups.core.planning.deploys.walk import Event, Walk
from kgroups.core.planning.leaders.evidence import Known
from kgroups.core.planning.leaders.libraries import RANGE, SPEAKERS
from kgroups.core.planning.leaders.strategies import COOPERATIVE
from kgroups.core.planning.metrics import Metrics, measure
from kgroups.core.planning.moves import (
    Assigned,
    Move,
    RebalanceProtocol,
    as_shares,
    find_moves,
    ownership,
)
from kgroups.core.planning.notes import outcome_notes
from kgroups.core.planning.outcomes.outcome import Outcome, Outcomes, Settled, gathered
from kgroups.core.planning.outcomes.visible_order import HASH_ONLY, STICKY_FAMILY
from kgroups.core.planning.plan import Plan, PlannedMember, plan_group, planned_member
from kgroups.core.planning.reasons import MORE_WAYS, UNKNOWN_RACKS
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

if TYPE_CHECKING:
    from kgroups.core.planning.migration.broker_rules import BrokerRules
    from kgroups.core.planning.migration.move import ProtocolMove

# Strategies that start from what was before.
REMEMBERING: Final = STICKY_FAMILY | HASH_ONLY

# How many doubts of a deploy are told in full.
TOLD: Final = 3

# Ways that are followed at most, where they have so many steps together or fewer, and at least; and
# plans that are made on all of them together.
MOST_WALKS: Final = 256
MOST_STEPS: Final = 512
LEAST_WALKS: Final = 24
MOST_PLANS: Final = 24

Plans = dict[tuple[int, ...], Plan]


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways through a deploy.

    Args:
        each: the first one is shown.
        complete: whether there are no others.
    """

    each: tuple[Walk, ...]
    complete: bool = True

    @property
    def doubts(self) -> list[str]:
        """Why what happens is not certain."""
        doubts = [doubt for walk in self.each for doubt in walk.doubts]
        if not self.complete:
            doubts.append(MORE_WAYS)
        return list(dict.fromkeys(doubts))

    def outcomes(self) -> Outcomes:
        """How the deploy can end, by the names that members go by."""
        ends = [
            Outcome(
                Settled(walk.shares()), walk.weight, walk.last.leader_clients if walk.last else ()
            )
            for walk in self.each
        ]
        return gathered(ends, complete=not self.doubts)

    def confidence(self, outcomes: Outcomes) -> tuple[Word, str]:
        """How sure it is that the deploy ends as the first way does."""
        doubts = self.doubts
        if doubts:
            more = f"; {len(doubts) - TOLD} more" if len(doubts) > TOLD else ""
            first_doubts = "; ".join(doubts[:TOLD])
            sure = self._deals_evenly() or self._stops_alike()
            if sure and same_sizes(outcomes) and not any(way.guessed for way in self.each):
                return "counts", first_doubts + more
            return "likely", f"follows the likeliest outcome of each step: {first_doubts}{more}"
        if len(outcomes.each) == 1:
            stages = self.each[0].stages
            steps = len(stages)
            alike = len(self.each) > 1
            ground = f"all ways through {steps} steps end so" if alike else f"all {steps} steps are"
            # A member that is back sooner may join the rebalance that its leaving began.
            last = self.each[0].last
            counts = last is not None and last.assignor in REMEMBERING
            many = sum(stage.rebalances for stage in stages) > 1
            settles = ", if the group settles after each" if counts and many else ""
            return "exact", ground + settles
        reasons = dict.fromkeys(
            f"{stage.event}: {stage.confidence_reason}"
            for walk in self.each
            for stage in walk.stages
            if stage.confidence == "outcomes"
        )
        return "outcomes", "; ".join(list(reasons)[:TOLD])

    def _deals_evenly(self) -> bool:
        """Whether the sizes of shares are known whatever comes, racks too."""
        walk = self.each[0]
        last = walk.last
        members = walk.group.members or ()
        return (
            last is not None
            and last.assignor in EVEN
            and len({frozenset(member.subscription or ()) for member in members}) == 1
        )

    def _stops_alike(self) -> bool:
        """Whether the last rebalance of each way ends with the same sizes, whatever it begins with.

        Where members read different topics, a strategy that looks at racks may stop elsewhere.
        """
        return not any(UNKNOWN_RACKS in way.doubts for way in self.each) and all(
            last is not None
            and last.roster is not None
            and all(outcome.settled.settled for outcome in last.outcomes.each)
            and stops_alike(last.roster, last.strategies)
            for last in (way.last for way in self.each)
        )


def find_ways(walked: Callable[[Sequence[int], int, Plans], Walk]) -> Ways:
    """The ways through a deploy, the likeliest first: each follows other outcomes of its steps.

    Args:
        walked: from the outcomes to follow, the number of steps (0 while that is not known), and
            the plans made so far, which it adds to, to the walk.
    """
    plans: Plans = {}
    length = len(walked((), 0, plans).stages)
    most = max(LEAST_WALKS, min(MOST_WALKS, MOST_STEPS // max(length, 1)))
    walks: list[Walk] = []
    taken: list[int] | None = []
    while taken is not None and len(walks) < most and len(plans) < MOST_PLANS:
        walk = walked(taken, length, plans)
        walks.append(walk)
        taken = walk.choices.next_run()
    return Ways(tuple(walks) or (walked((), 0, plans),), taken is None)


CHANGES_MADE: Final = "the changes are applied"


def plan_changes(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change | Deploy] = (),
    assignor_name: str | None = None,
    leader: str | None = None,
    *,
    alike: bool = False,
    faithful: bool = False,
    rules: "BrokerRules | None" = None,
    balances_racks: bool | None = None,
    release: str | None = None,
) -> Plan:
    """Plan changes as `plan_group` does, and then deploys, step by step.

    Args:
        changes: those that lead to one rebalance happen first, then the deploys.
        snapshot, group, leader, faithful: as of `plan_group`.
        assignor_name: as of `plan_group`; of a group that moves to the other protocol, what its
            members ask for then.
        alike: whether all members have the library of the leader, as those of one application do.
        rules: what the brokers allow of such moves; None: not known.
        balances_racks: whether franz-go applications say `BalanceRacks`; None: inferred.
        release: of the Java leader, one of `assignors.java.former_leaders.RELEASES`; None: today's.
    Raises:
        UsageError: a deploy that takes a classic group to another assignor.
        KgroupsError: as `plan_group`.
    """
    deploys = [change for change in changes if isinstance(change, Deploy)]
    once = [change for change in changes if not isinstance(change, Deploy)]
    moves = any(isinstance(deploy, MoveToProtocol) for deploy in deploys)
    if deploys and not moves:
        _check_assignor(group, assignor_name)
    strategy = assignor_name
    if moves:  # of a group whose assignor is not known nothing is computed: it stays as it is
        is_known = group.type != "classic" or group.assignor in (None, *SPEAKERS)
        strategy = None if is_known else RANGE
    known = Known(balances_racks=balances_racks, release=release)
    plan = plan_group(snapshot, group, once, strategy, leader, faithful=faithful, known=known)
    if not deploys:
        return plan
    begin = partial(Walk, snapshot, group, strategy, leader, known, alike)
    once = once if plan.members else []
    if not moves:
        return _ending(
            plan,
            find_ways(
                lambda taken, length, plans: _walked(
                    begin(choices=Choices(taken), plans=plans, length=length), once, deploys
                )
            ),
        )
    # The coordinator, in which a move is rehearsed, takes 30 ms to import.
    from kgroups.core.planning.migration.move import ProtocolMove, move_to_protocol

    walk, moved = _walked(begin(), once, ()), ProtocolMove((), ())
    patterns = [change for change in once if isinstance(change, Pattern)]
    for deploy in deploys:
        if isinstance(deploy, MoveToProtocol):
            moved = move_to_protocol(
                walk, deploy, assignor=assignor_name, rules=rules, patterns=patterns
            )
        else:
            _walked(walk, (), [deploy])
    return _after_move(plan, walk, moved)


def _check_assignor(group: Group, assignor: str | None) -> None:
    """Refuse to take a classic group from one assignor to another in the course of one deploy.

    The coordinator chooses an assignor that all members support, so the first member that comes
    back with another one alone is refused; it takes a restart of all with both, and a second one.
    Source: ClassicGroup.supportsProtocols; KIP-429.
    """
    is_other = assignor is not None and group.assignor is not None and assignor != group.assignor
    if group.type == "classic" and is_other and len(group.members or ()) > 1:
        raise UsageError(
            f"`{group.group}` cannot move from `{group.assignor}` to `{assignor}` in one deploy: a "
            f"member that comes back with `{assignor}` alone is refused while the others have only "
            f"`{group.assignor}`",
            hint=f"restart all members with both, then again with `{assignor}` alone; without the "
            "deploy, `--assignor` plans what follows",
            code="INCONSISTENT_GROUP_PROTOCOL",
        )


def _walked(walk: Walk, once: Sequence[Change], deploys: Sequence[Deploy]) -> Walk:
    """The walk after all changes and deploys."""
    if once:
        walk.step(Event(CHANGES_MADE, tuple(once)))
    for deploy in deploys:
        for event in deploy_events(deploy, walk):
            walk.step(event)
    return walk


def _after_move(first: Plan, walk: Walk, moved: "ProtocolMove") -> Plan:
    """The plan of a group that moves to the other protocol, as far as it can."""
    ended = _ending(first, Ways((walk,)))
    if not walk.stages:
        ended = replace(ended, confidence=None, confidence_reason=None)
    elif walk.group.type == "consumer" or walk.last is None:
        ended = replace(
            ended,
            rebalance_protocol=_protocol_of(walk.group),
            assignor=walk.group.assignor,
            leader_client=None,
            leader_clients=(),
            leaders=None,
            strategies=(),
            faults=(),
        )
    if moved.guesses:
        doubts = [] if ended.confidence == "exact" else [ended.confidence_reason or ""]
        reason = "; ".join((*moved.guesses, *doubts))
        ended = replace(ended, confidence="likely", confidence_reason=reason)
    return replace(
        ended,
        outcomes=Outcomes(),
        outcome_metrics=(),
        notes=moved.notes,
        outcome_notes=(),
        blockers=moved.blockers,
        metrics=replace(ended.metrics, blockers=len(moved.blockers)),
    )


def _protocol_of(group: Group) -> RebalanceProtocol:
    if group.type == "consumer":
        return "consumer"
    return "cooperative" if group.assignor in COOPERATIVE else "eager"


def _ending(first: Plan, ways: Ways) -> Plan:
    """The plan of a deploy: from how the group is to how it ends, with all steps between."""
    walk = ways.each[0]
    last = walk.last or first
    before = {m.member_id: m.assignment or {} for m in walk.start.members or ()}
    after = walk.shares()
    lags = {**first.partition_lags, **last.partition_lags}
    members = _members(walk, before, lags)

    def measured(shares: Assigned) -> Metrics:
        return measure(
            shares,
            _moves(last, before, shares),
            wanted=last.partition_counts,
            subscriptions=[member.topics for member in members],
            forced=frozenset(),
            lags=lags,
            rounds=sum(stage.rebalances for stage in walk.stages),
        )

    outcomes = ways.outcomes()
    word, reason = ways.confidence(outcomes)
    return replace(
        last,
        confidence=word,
        confidence_reason=reason,
        members=members,
        leavers=tuple(name for name in before if name not in after),
        moves=tuple(_moves(last, before, after)),
        metrics=measured(after),
        steps=(),
        outcome_notes=tuple(outcome_notes(outcomes, _first(outcomes, after), None)),
        partition_lags=lags,
        stages=tuple(walk.stages),
        outcomes=outcomes,
        outcome_metrics=tuple(measured(outcome.settled.shares) for outcome in outcomes.each),
    )


def _first(outcomes: Outcomes, shares: Assigned) -> Outcomes:
    """The outcomes, first the one of these shares: the first way shows it."""
    shown = ownership(shares)
    ranked = sorted(outcomes.each, key=lambda outcome: ownership(outcome.settled.shares) != shown)
    return replace(outcomes, each=tuple(ranked))


def _moves(last: Plan, before: Assigned, after: Assigned) -> list[Move]:
    protocol = last.rebalance_protocol or "eager"
    return find_moves(before, after, protocol, before.keys() & after.keys())


def _members(
    walk: Walk,
    before: Mapping[str, Mapping[str, Sequence[int]]],
    lags: Mapping[TopicPartition, int | None],
) -> tuple[PlannedMember, ...]:
    held = as_shares(walk.shares())
    members: list[PlannedMember] = []
    for facts in walk.group.members or ():
        name = walk.names.get(facts.member_id, facts.member_id)
        topics = facts.subscription or ()
        members.append(planned_member(facts, name, topics, before.get(name), held[name], lags))
    return tuple(members)
