"""Plans of changes and deploys: one rebalance, or the sequence of rebalances of a deploy."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from kgroups.core.planning.changes.kinds import Change, Deploy
from kgroups.core.planning.confidence_words import Word
from kgroups.core.planning.deploys.rolling import events_of
from kgroups.core.planning.deploys.walk import Event, Walk
from kgroups.core.planning.metrics import measure, member_lag
from kgroups.core.planning.moves import find_moves
from kgroups.core.planning.plan import Plan, PlannedMember, plan_group
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

# How many doubts of a deploy are told in full.
TOLD: Final = 3


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
    walk = Walk(snapshot, group, assignor_name, leader)
    if once:
        walk.step(Event("the changes are applied", tuple(once)))
    for deploy in deploys:
        for event in events_of(deploy, walk):
            walk.step(event)
    return _ending(plan, walk)


def _ending(first: Plan, walk: Walk) -> Plan:
    """The plan of a deploy: from how the group is to how it ends, with all steps between."""
    last = walk.last or first
    before = {m.member_id: m.assignment or {} for m in walk.start.members or ()}
    after = walk.shares()
    protocol = last.rebalance_protocol or "eager"
    moves = find_moves(before, after, protocol, before.keys() & after.keys())
    lags = {**first.partition_lags, **last.partition_lags}
    members = _members(walk, before, lags)
    readers: dict[str, int] = {}
    for member in members:
        for topic in set(member.topics):
            readers[topic] = readers.get(topic, 0) + 1
    word, reason = _confidence(list(dict.fromkeys(walk.doubts)), len(walk.stages))
    return replace(
        last,
        confidence=word,
        confidence_reason=reason,
        members=members,
        leavers=tuple(name for name in before if name not in after),
        moves=tuple(moves),
        metrics=measure(
            after,
            moves,
            wanted=last.partition_counts,
            subscribers=readers,
            forced=frozenset(),
            lags=lags,
            rounds=sum(stage.rebalances for stage in walk.stages),
        ),
        steps=(),
        notes=last.notes,
        partition_lags=lags,
        stages=tuple(walk.stages),
    )


def _confidence(doubts: Sequence[str], steps: int) -> tuple[Word, str]:
    if not doubts:
        return "exact", f"all {steps} steps are"
    more = f"; {len(doubts) - TOLD} more" if len(doubts) > TOLD else ""
    return "likely", "follows the likeliest outcome of each step: " + "; ".join(
        doubts[:TOLD]
    ) + more


def _members(
    walk: Walk,
    before: Mapping[str, Mapping[str, Sequence[int]]],
    lags: Mapping[TopicPartition, int | None],
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
