"""Whether a plan kept its word: what it said beside what came."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgroups.core.planning.plan import Plan, PlannedMember
from kgroups.core.snapshot import Group, Member, TopicPartition

Owned = Mapping[str, frozenset[TopicPartition]]
Verdict = Literal["right", "wrong", "broken"]


@dataclass(frozen=True)
class Judgement:
    """What became of a plan.

    Args:
        verdict: whether its confidence's promise held.
        shown: whether the assignment that it showed came.
        detail: what differed.
    """

    verdict: Verdict
    shown: bool
    detail: str = ""


def name_of(member: Member | PlannedMember) -> str:
    """By which name a driven member goes: instance ids end with it, client ids are it."""
    _, _, name = (member.instance_id or "").partition("-")
    return name or member.client_id


def owned_by_name(group: Group) -> Owned:
    """Name to partitions, as the broker shows them."""
    return {name_of(member): as_set(member.assignment or {}) for member in group.members or ()}


def owned_by_client(group: Group) -> Owned:
    """Client id to partitions, as the broker shows them."""
    return {member.client_id: as_set(member.assignment or {}) for member in group.members or ()}


def clients_of(group: Group) -> dict[str, str]:
    """Member id to client id."""
    return {member.member_id: member.client_id for member in group.members or ()}


def as_set(held: Mapping[str, Sequence[int]]) -> frozenset[TopicPartition]:
    """Partitions of a share."""
    return frozenset((topic, number) for topic, numbers in held.items() for number in numbers)


def judge(plan: Plan, came: Owned) -> Judgement:
    """Whether what came is what the plan promised.

    `exact`: what it shows. `outcomes`: one of its outcomes. `likely`: the likeliest, or at least
    one of its outcomes. `counts`: the sizes of the shares.
    """
    shown = {name_of(member): as_set(member.assignment) for member in plan.members}
    if shown == came:
        return Judgement("right", shown=True)
    told = _difference(shown, came)
    held = False
    if plan.confidence == "counts":
        held = _sizes(shown) == _sizes(came)
    elif plan.confidence in ("outcomes", "likely"):
        held = any(outcome == came for outcome in _outcomes(plan))
    return Judgement("right" if held else "wrong", shown=False, detail=told)


def _outcomes(plan: Plan) -> Iterator[Owned]:
    """The outcomes that a plan names."""
    names = {member.member_id: name_of(member) for member in plan.members}
    for outcome in plan.outcomes.each:
        yield {names[member]: as_set(held) for member, held in outcome.settled.shares.items()}


def _sizes(owned: Owned) -> Counter[int]:
    return Counter(len(held) for held in owned.values())


def _difference(shown: Owned, came: Owned) -> str:
    lines = []
    for name in sorted({*shown, *came}):
        one, other = shown.get(name), came.get(name)
        if one != other:
            lines.append(f"{name}: planned {_text(one)}, came {_text(other)}")
    return "; ".join(lines)


def _text(held: frozenset[TopicPartition] | None) -> str:
    if held is None:
        return "nobody"
    return " ".join(f"{topic.rsplit('-', 1)[-1]}{number}" for topic, number in sorted(held)) or "-"
