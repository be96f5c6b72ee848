"""Why a partition goes to its member: the strategy's rule, with this group's numbers in it.

Source: the Java classes RangeAssignor, RoundRobinAssignor, AbstractStickyAssignor,
UniformHomogeneousAssignmentBuilder and the server side's RangeAssignor.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.planning.plan import Plan, PlannedMember


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


def parse_partition(text: str) -> tuple[str, int]:
    """The partition that `TOPIC:N` or `TOPIC-N` names.

    Raises:
        UsageError: not of that form.
    """
    sign = ":" if ":" in text else "-"
    topic, found, number = text.rpartition(sign)
    if not found or not topic or not (number.isascii() and number.isdecimal()):
        raise UsageError(f"`--explain {text}` names no partition", hint="expected TOPIC:N")
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
            hint="`kgroups plan GROUP --moves` lists those that change hands",
            code="UNKNOWN_TOPIC_OR_PARTITION",
        )
    reasons: list[str] = []
    if move.target is None:
        reasons.append("no member that is left subscribes to its topic, or the topic is gone")
    else:
        rule = RULES.get(plan.assignor or "")
        readers = _readers(plan, topic)
        reasons += rule(plan, topic, partition, readers) if rule else [_unknown_rule(plan)]
        reasons += _history(plan, move.source, move.target)
    if plan.depends_on_member_ids:
        same = sum(
            outcome.share
            for outcome in plan.outcomes.each
            if partition in outcome.settled.shares.get(move.target or "", {}).get(topic, ())
        )
        reasons.append(f"in {same:.0%} of the possible outcomes it ends there")
    return Explanation(topic, partition, move.source, move.target, tuple(reasons))


def _readers(plan: Plan, topic: str) -> list[PlannedMember]:
    return [member for member in plan.members if topic in member.topics]


def _range(plan: Plan, topic: str, partition: int, readers: Sequence[PlannedMember]) -> list[str]:
    count = plan.partition_counts.get(topic, 0)
    each, more = divmod(count, len(readers))
    owner = _owner(plan, topic, partition)
    block = sorted(owner.assignment.get(topic, ())) if owner else []
    extra = f", the first {more} get one more" if more else ""
    ends = f"{block[0]} to {block[-1]}" if len(block) > 1 else f"{block[0]}" if block else "none"
    return [
        f"`range` cuts the {count} partitions of `{topic}` into blocks for its {len(readers)}"
        f" readers, in the order of instance ids, then member ids: {each} each{extra}",
        f"the block of `{owner.member_id if owner else ''}` is {ends}",
    ]


def _roundrobin(
    plan: Plan, topic: str, partition: int, readers: Sequence[PlannedMember]
) -> list[str]:
    names = sorted(plan.partition_counts)
    place = sum(plan.partition_counts[name] for name in names[: names.index(topic)]) + partition
    total = sum(plan.partition_counts.values())
    return [
        "`roundrobin` deals the partitions of all topics, by name and number, to the members in"
        " turn, in the order of instance ids, then member ids",
        f"this is number {place + 1} of {total}, and {len(readers)} of {len(plan.members)} members"
        " read its topic; others are passed by",
    ]


def _sticky(plan: Plan, topic: str, partition: int, readers: Sequence[PlannedMember]) -> list[str]:
    total, members = sum(plan.partition_counts.values()), len(plan.members)
    alike = len({member.topics for member in plan.members}) == 1
    if not alike:
        return [
            "subscriptions differ: partitions stay where they are, free ones go to the least loaded"
            " reader, and single ones move until no reader holds two more than another"
        ]
    low, more = divmod(total, members)
    return [
        f"{total} partitions over {members} members make {low} each"
        + (f", and {more} members with one more" if more else "")
        + "; a member keeps what it has up to that, and free partitions go to those below it"
    ]


def _history(plan: Plan, source: str | None, target: str) -> list[str]:
    """What became of the owner before."""
    members = {member.member_id: member for member in plan.members}
    if source is None:
        return ["nobody has it now"]
    if source == target:
        return [f"`{target}` has it now and keeps it"]
    if source in plan.leavers or source not in members:
        return [f"`{source}`, which has it now, leaves"]
    before, after = members[source].partitions_before, members[source].partitions
    return [f"`{source}`, which has it now, goes from {before} to {after} partitions"]


def _owner(plan: Plan, topic: str, partition: int) -> PlannedMember | None:
    return next((m for m in plan.members if partition in m.assignment.get(topic, ())), None)


def _unknown_rule(plan: Plan) -> str:
    return f"`{plan.assignor}` gave it to this member; it does not say why"


Rule = Callable[[Plan, str, int, Sequence[PlannedMember]], list[str]]
RULES: Final[Mapping[str, Rule]] = {
    "range": _range,
    "roundrobin": _roundrobin,
    "sticky": _sticky,
    "cooperative-sticky": _sticky,
    "uniform": _sticky,
}
