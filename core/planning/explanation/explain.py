"""Why a partition goes to its member: the strategy's rule, and what becomes of the owner before."""

from dataclasses import dataclass

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.explanation.strategy_rules import RULES, Question, history
from kgroups.core.planning.moves import Move
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import TopicPartition


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a partition has the owner that the plan gives it.

    Args:
        before, after: member ids; None if nobody.
        reasons: one sentence each, the rule first.
    """

    topic: str
    partition: int
    before: str | None
    after: str | None
    reasons: tuple[str, ...]


def parse_partition(text: str) -> TopicPartition:
    """The partition that `TOPIC:N` or `TOPIC-N` names.

    Raises:
        UsageError: not of that form.
    """
    sign = ":" if ":" in text else "-"
    topic, sign_at, number = text.rpartition(sign)
    if not sign_at or not topic or not (number.isascii() and number.isdecimal()):
        raise UsageError(f"`--explain {text}` is not a partition", hint="expected TOPIC:N")
    return topic, int(number)


def explain(plan: Plan, topic: str, partition: int) -> Explanation:
    """Why the plan gives this partition to its member.

    Raises:
        NotFoundError: the plan does not know the partition.
    """
    move = next((m for m in plan.moves if (m.topic, m.partition) == (topic, partition)), None)
    if move is None:
        raise NotFoundError(
            f"`{plan.group}` has no partition {topic}-{partition}, before or after",
            hint="`kgroups plan GROUP --moves` lists the partitions that move",
            code="UNKNOWN_TOPIC_OR_PARTITION",
        )
    owner = next((m for m in plan.members if m.member_id == move.target), None)
    if owner is None:
        reasons = ["no remaining member subscribes to its topic, or the topic is gone"]
    else:
        readers = [member for member in plan.members if topic in member.topics]
        asked = Question(plan, move, owner, readers)
        rule = RULES.get(plan.assignor or "")
        unknown = f"`{plan.assignor}` assigned it to this member and gives no reason"
        reasons = rule(asked) if rule else [unknown, *history(asked)]
        reasons += _rounds(plan, move)
    return Explanation(topic, partition, move.source, move.target, (*reasons, *_chance(plan, move)))


def _rounds(plan: Plan, move: Move) -> list[str]:
    """In which rounds of a cooperative rebalance it is given up and handed on."""
    if move.kind != "revoked_first" or plan.rebalance_protocol != "cooperative":
        return []
    place = (move.topic, move.partition)
    given = [n for n, step in enumerate(plan.steps, 1) for e in step.revoked if e[:2] == place]
    taken = [n for n, step in enumerate(plan.steps, 1) for e in step.assigned if e[:2] == place]
    if not given or not taken:
        return []
    return [(f"cooperative: `{move.source}` revokes it in round {given[0]}, and it is assigned "
            f"in round {taken[-1]}")]  # fmt: skip


def _chance(plan: Plan, move: Move) -> list[str]:
    """How sure it is that it ends there, where that is not certain."""
    outcomes = plan.outcomes
    if len(outcomes.each) < 2:
        return []
    ranks = [
        rank
        for outcome, rank in zip(outcomes.each, outcomes.ranks(), strict=False)
        if move.partition in outcome.settled.shares.get(move.target or "", {}).get(move.topic, ())
    ]
    return [
        f"this is its owner in {len(ranks)} of {len(outcomes.each)} possible outcomes, at best"
        f" of rank {min(ranks)}"
    ]
