"""Where one member of a consumer group goes next on its way to its target.

Pure: a member, its target and what the others hold go in; the next member comes out. With

    keep = assigned & target        revoke = assigned - keep        want = target - keep

a wanted partition is *unreleased* while another member has it assigned or pending. First the
member gives back `revoke` (state UnrevokedPartitions, epoch unchanged), then it enters the target
epoch with keep and the free part of `want` (UnreleasedPartitions until all of it is free).
Which move follows from which state is in tables; `scripts/draw_states.py` draws them.
Source: KIP-848; `CurrentAssignmentBuilder`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from uuid import UUID

from kgroups.assignors.order.java_order import (
    copied_map_capacity,
    grown_capacity,
    int_map_order,
    uuid_map_order,
)
from kgroups.core.coordinator.kip848.member import (
    Kip848Member,
    MemberState,
    Owned,
    Partitions,
)

STABLE = MemberState.STABLE
UNREVOKED = MemberState.UNREVOKED_PARTITIONS
UNRELEASED = MemberState.UNRELEASED_PARTITIONS


class Situation(StrEnum):
    """How a member stands to its target when it is looked at."""

    SETTLED = "at the target epoch"
    SETTLED_ANEW = "at the target epoch, subscription changed"
    BEHIND = "the target is newer"
    HOLDING = "still has partitions to revoke"
    HOLDING_ANEW = "still has partitions to revoke, subscription changed"
    GAVE_BACK = "has revoked them"
    WAITING = "others may have released partitions"


class Move(Enum):
    """The next step."""

    STAY = "nothing"
    DROP = "revoke topics that it no longer subscribes to"
    ADVANCE = "a step towards the target"


# State -> situation -> move; a situation that is not named cannot occur in that state.
MOVES: Mapping[MemberState, Mapping[Situation, Move]] = {
    STABLE: {
        Situation.SETTLED: Move.STAY,
        Situation.SETTLED_ANEW: Move.DROP,
        Situation.BEHIND: Move.ADVANCE,
    },
    UNREVOKED: {
        Situation.HOLDING: Move.STAY,
        Situation.HOLDING_ANEW: Move.DROP,
        Situation.GAVE_BACK: Move.ADVANCE,
    },
    UNRELEASED: {Situation.WAITING: Move.ADVANCE},
}


# (topic id, partition) -> whether some member has it assigned or pending.
IsHeld = Callable[[UUID, int], bool]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The facts that decide a member's next step.

    Args:
        target_epoch, target: of the group's target assignment.
        subscription_changed: the member's names or pattern changed in this request.
        subscribed_topic_ids: topics that the member subscribes to and that exist.
        names_nothing: it subscribes to nothing, existing or not.
        owned: topic id to partitions as the member said in this request; None: not said, or a
            classic member that leaves it out, which counts as owning everything it had.
        is_held: whether some member has a partition assigned or pending; what is pending at the
            member itself is free for it all the same.
    """

    target_epoch: int
    target: Partitions
    subscription_changed: bool
    subscribed_topic_ids: frozenset[UUID]
    names_nothing: bool
    owned: Partitions | None
    is_held: IsHeld


def reconcile(member: Kip848Member, step: Reconciliation) -> Kip848Member:
    """The member after one step; the same object if nothing changes."""
    match MOVES[member.state][situation_of(member, step)]:
        case Move.STAY:
            return member
        case Move.DROP:
            return _drop_unsubscribed(member, step)
        case Move.ADVANCE:
            return _towards_target(member, step)


def situation_of(member: Kip848Member, step: Reconciliation) -> Situation:
    """How the member stands to its target: where to look in the table."""
    anew = step.subscription_changed
    match member.state:
        case MemberState.STABLE:
            if member.member_epoch != step.target_epoch:
                return Situation.BEHIND
            return Situation.SETTLED_ANEW if anew else Situation.SETTLED
        case MemberState.UNREVOKED_PARTITIONS:
            if not _still_owns(step.owned, member.pending):
                return Situation.GAVE_BACK
            return Situation.HOLDING_ANEW if anew else Situation.HOLDING
        case MemberState.UNRELEASED_PARTITIONS:
            return Situation.WAITING


def _drop_unsubscribed(member: Kip848Member, step: Reconciliation) -> Kip848Member:
    """The member without topics that it does not subscribe to any more, its epoch unchanged."""
    topics = step.subscribed_topic_ids
    dropped = {topic: owned for topic, owned in member.assigned.items() if topic not in topics}
    if not dropped:
        if member.state is MemberState.STABLE and step.names_nothing:
            return replace(member, previous_member_epoch=member.member_epoch)
        return member
    kept = {topic: owned for topic, owned in member.assigned.items() if topic in topics}
    if member.state is MemberState.UNREVOKED_PARTITIONS or _still_owns(step.owned, dropped):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            pending=_union(member.pending, dropped),
        )
    return replace(member, previous_member_epoch=member.member_epoch, assigned=kept)


def _towards_target(member: Kip848Member, step: Reconciliation) -> Kip848Member:
    keep: dict[UUID, Mapping[int, int]] = {}
    revoke: dict[UUID, Mapping[int, int]] = {}
    free: dict[UUID, Mapping[int, int]] = {}
    unreleased = False
    wanted = {t: step.target[t] for t in step.target if t in step.subscribed_topic_ids}
    for topic_id in _ordered(wanted, member.assigned):
        has = member.assigned.get(topic_id, {})
        wants = wanted.get(topic_id, frozenset())
        had = _in_map_order(has, copied_map_capacity(len(has)))
        kept = {partition: epoch for partition, epoch in had.items() if partition in wants}
        gone = {partition: epoch for partition, epoch in had.items() if partition not in wants}
        new = sorted(wants - has.keys())
        giving_back = member.pending.get(topic_id, {})
        ready = [p for p in new if p in giving_back or not step.is_held(topic_id, p)]
        unreleased = unreleased or len(ready) < len(new)
        if kept:
            keep[topic_id] = kept
        if gone:
            revoke[topic_id] = gone
        if ready:
            free[topic_id] = dict.fromkeys(ready, step.target_epoch)
    if revoke and _still_owns(step.owned, revoke):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_member_epoch=member.member_epoch,
            assigned=keep,
            pending=revoke,
        )
    # `HashMap.computeIfAbsent`, which adds the new topics, puts each at the head of its bucket.
    assigned = {
        topic_id: _in_map_order(
            {**keep.get(topic_id, {}), **free.get(topic_id, {})},
            copied_map_capacity(len(member.assigned[topic_id])) if topic_id in keep else None,
        )
        for topic_id in uuid_map_order([*reversed([p for p in free if p not in keep]), *keep])
    }
    return _enter(member, step.target_epoch, assigned, unreleased=unreleased)


def _in_map_order(epochs: Mapping[int, int], capacity: int | None) -> Mapping[int, int]:
    """In the order of Kafka's HashMap, which was a copy of what the member had, if it had any."""
    order = int_map_order(epochs) if capacity is None else int_map_order(epochs, capacity)
    return {partition: epochs[partition] for partition in order}


def _enter(member: Kip848Member, epoch: int, assigned: Owned, *, unreleased: bool) -> Kip848Member:
    return replace(
        member,
        state=MemberState.UNRELEASED_PARTITIONS if unreleased else MemberState.STABLE,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
        pending={},
    )


def _still_owns(owned: Partitions | None, given_up: Owned) -> bool:
    if owned is None:
        return True
    return any(
        not owned.get(topic_id, frozenset()).isdisjoint(partitions)
        for topic_id, partitions in given_up.items()
    )


def _ordered(first: Iterable[UUID], second: Iterable[UUID]) -> Iterable[UUID]:
    return uuid_map_order(dict.fromkeys((*first, *second)))


def _union(first: Owned, other: Owned) -> Owned:
    merged: dict[UUID, Mapping[int, int]] = dict(first)
    for topic_id, added in other.items():
        held = first.get(topic_id)
        if held is None:
            merged[topic_id] = added
        else:
            capacity = grown_capacity(len(added), copied_map_capacity(len(held)))
            merged[topic_id] = _in_map_order({**held, **added}, capacity)
    return {topic_id: merged[topic_id] for topic_id in uuid_map_order(merged)}
