"""Plans of changes and deploys: one rebalance, or the sequence of rebalances of a deploy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from kgroups.assignors.other_clients.choices import Choices
from kgroups.core.planning.changes.kinds import Change, Deploy
from kgroups.core.planning.confidence_words import Word
from kgroups.core.planning.deploys.rolling import events_of
from kgroups.core.planning.deploys.walk import Event, Walk
from kgroups.core.planning.metrics import Metrics, measure, member_lag
from kgroups.core.planning.moves import Move, find_moves
from kgroups.core.planning.outcomes.outcome import Outcome, Outcomes, gathered
from kgroups.core.planning.plan import Plan, PlannedMember, plan_group
from kgroups.core.planning.settle import Settled, Shares
from kgroups.core.snapshot import ClusterSnapshot, Group

# How many doubts of a deploy are told in full.
TOLD: Final = 3

# Ways that are followed, and plans that are made on all of them together.
MOST_WALKS: Final = 64
MOST_PLANS: Final = 64


def plan_changes(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change | Deploy] = (),
    assignor_name: str | None = None,
    leader: str | None = None,
    *,
    faithful: bool = False,
) -> Plan:
    """What happens to a group: `plan_group`, and what deploys do, step by step.

    Args:
        changes: those that lead to one rebalance happen first, then the deploys.
        snapshot, group, assignor_name, leader, faithful: as of `plan_group`.
    Raises:
        KgroupsError: as `plan_group`.
    """
    deploys = [change for change in changes if isinstance(change, Deploy)]
    once = [change for change in changes if not isinstance(change, Deploy)]
    plan = plan_group(snapshot, group, once, assignor_name, leader, faithful=faithful)
    if not deploys:
        return plan
    plans: dict[tuple[int, ...], Plan] = {}

    def walked(taken: Sequence[int], length: int) -> Walk:
        walk = Walk(
            snapshot,
            group,
            assignor_name,
            leader,
            choices=Choices(taken),
            plans=plans,
            length=length,
        )
        if once:
            walk.step(Event("the changes are made", tuple(once)))
        for deploy in deploys:
            for event in events_of(deploy, walk):
                walk.step(event)
        return walk

    length = len(walked((), 0).stages)
    return _ending(plan, _walks(lambda taken: walked(taken, length), plans))


def _walks(
    walked: Callable[[Sequence[int]], Walk], plans: Mapping[tuple[int, ...], Plan]
) -> "Walks":
    """The ways through a deploy, the likeliest first: each follows other outcomes of its steps."""
    found: list[Walk] = []
    taken: list[int] | None = []
    while taken is not None and len(found) < MOST_WALKS and len(plans) < MOST_PLANS:
        walk = walked(taken)
        found.append(walk)
        taken = walk.choices.next_run()
    return Walks(tuple(found), taken is None)


@dataclass(frozen=True, slots=True)
class Walks:
    """Ways through a deploy.

    Args:
        each: the first one is shown.
        complete: whether there are no others.
    """

    each: tuple[Walk, ...]
    complete: bool

    @property
    def doubts(self) -> list[str]:
        """Why what happens is not certain."""
        found = [doubt for walk in self.each for doubt in walk.doubts]
        if not self.complete:
            found.append("there are more ways through these steps than were followed")
        return list(dict.fromkeys(found))


def _ending(first: Plan, walks: Walks) -> Plan:
    """The plan of a deploy: from how the group is to how it ends, with all steps between."""
    walk = walks.each[0]
    last = walk.last or first
    before = {m.member_id: m.assignment or {} for m in walk.start.members or ()}
    after = walk.shares()
    lags = {**first.partition_lags, **last.partition_lags}
    members = _members(walk, before, lags)
    readers: dict[str, int] = {}
    for member in members:
        for topic in set(member.topics):
            readers[topic] = readers.get(topic, 0) + 1

    def measured(shares: Shares) -> Metrics:
        return measure(
            shares,
            _moves(last, before, shares),
            wanted=last.partition_counts,
            subscribers=readers,
            forced=frozenset(),
            lags=lags,
            rounds=sum(stage.rebalances for stage in walk.stages),
        )

    outcomes = _outcomes(walks)
    word, reason = _confidence(walks, outcomes)
    return replace(
        last,
        confidence=word,
        confidence_reason=reason,
        members=members,
        leavers=tuple(name for name in before if name not in after),
        moves=tuple(_moves(last, before, after)),
        metrics=measured(after),
        steps=(),
        notes=last.notes,
        partition_lags=lags,
        stages=tuple(walk.stages),
        outcomes=outcomes,
        outcome_metrics=tuple(measured(each.settled.shares) for each in outcomes.each),
    )


def _moves(last: Plan, before: Shares, after: Shares) -> list[Move]:
    protocol = last.rebalance_protocol or "eager"
    return find_moves(before, after, protocol, before.keys() & after.keys())


def _outcomes(walks: Walks) -> Outcomes:
    """How a deploy can end, by the names that members go by."""
    ends = [Outcome(Settled(walk.shares(), (), ()), walk.share, _led(walk)) for walk in walks.each]
    return gathered(ends, complete=not walks.doubts)


def _led(walk: Walk) -> tuple[str, ...]:
    """The libraries that may lead at the last step of a way."""
    return walk.last.leader_clients if walk.last is not None else ()


def _confidence(walks: Walks, outcomes: Outcomes) -> tuple[Word, str]:
    doubts = walks.doubts
    if doubts:
        more = f"; {len(doubts) - TOLD} more" if len(doubts) > TOLD else ""
        told = "; ".join(doubts[:TOLD])
        return "likely", f"the likeliest of each step is followed: {told}{more}"
    stages = walks.each[0].stages
    if len(outcomes.each) == 1:
        return "exact", f"each of {len(stages)} steps ends in one way"
    reasons = dict.fromkeys(
        f"{stage.event}: {stage.confidence_reason}"
        for walk in walks.each
        for stage in walk.stages
        if stage.confidence == "outcomes"
    )
    return "outcomes", "; ".join(list(reasons)[:TOLD])


def _members(
    walk: Walk,
    before: Mapping[str, Mapping[str, Sequence[int]]],
    lags: Mapping[tuple[str, int], int | None],
) -> tuple[PlannedMember, ...]:
    members: list[PlannedMember] = []
    for facts in walk.group.members or ():
        name = walk.names.get(facts.member_id, facts.member_id)
        held = {topic: tuple(numbers) for topic, numbers in (facts.assignment or {}).items()}
        had = before.get(name)
        members.append(
            PlannedMember(
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
                topics=facts.subscription or (),
                rack=facts.rack or None,
            )
        )
    return tuple(members)
