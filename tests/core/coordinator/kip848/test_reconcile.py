"""The reconciler of KIP-848 as a table: one case an edge of a member's way to its target."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

import pytest

from kgroups.core.coordinator.kip848.member import Kip848Member, MemberState, Owned, sets_of
from kgroups.core.coordinator.kip848.steps.reconcile import Reconciliation, reconcile

T, U = UUID(int=1), UUID(int=2)
STABLE, UNREVOKED, UNRELEASED = (
    MemberState.STABLE,
    MemberState.UNREVOKED_PARTITIONS,
    MemberState.UNRELEASED_PARTITIONS,
)
Parts = Mapping[UUID, set[int]]
TARGET_EPOCH = 5


def owned(parts: Parts, epoch: int) -> Owned:
    """Partitions held since an epoch."""
    return {topic: dict.fromkeys(sorted(numbers), epoch) for topic, numbers in parts.items()}


@dataclass(frozen=True)
class Case:
    """A member before and after one step.

    Args:
        says: what the request says to own; None: it does not say.
        held: what some member holds, this one's partitions not counted.
    """

    name: str
    state: MemberState
    epoch: int
    assigned: Parts
    target: Parts
    after: tuple[MemberState, int, Parts, Parts]
    pending: Parts = field(default_factory=dict)
    says: Parts | None = None
    held: Parts = field(default_factory=dict)
    changed: bool = False
    subscribed: frozenset[UUID] = frozenset({T, U})


CASES = (
    Case("stable at the target: nothing", STABLE, 5, {T: {0}}, {T: {0}}, (STABLE, 5, {T: {0}}, {})),
    Case(
        "stable at the target, another subscription, nothing dropped: nothing",
        STABLE, 5, {T: {0}}, {T: {0}}, (STABLE, 5, {T: {0}}, {}), changed=True,
    ),
    Case(
        "stable at the target, a dropped topic still owned: revoke it, epoch stays",
        STABLE, 5, {T: {0}, U: {1}}, {T: {0}, U: {1}}, (UNREVOKED, 5, {T: {0}}, {U: {1}}),
        changed=True, subscribed=frozenset({T}),
    ),
    Case(
        "stable at the target, a dropped topic given up already: it is just gone",
        STABLE, 5, {T: {0}, U: {1}}, {T: {0}, U: {1}}, (STABLE, 5, {T: {0}}, {}),
        changed=True, subscribed=frozenset({T}), says={T: {0}},
    ),
    Case(
        "unrevoked, pending still owned: nothing",
        UNREVOKED, 4, {T: {0}}, {T: {0}}, (UNREVOKED, 4, {T: {0}}, {T: {1}}),
        pending={T: {1}}, says={T: {0, 1}},
    ),
    Case(
        "unrevoked, silent about what it owns: nothing",
        UNREVOKED, 4, {T: {0}}, {T: {0}}, (UNREVOKED, 4, {T: {0}}, {T: {1}}), pending={T: {1}},
    ),
    Case(
        "unrevoked, pending still owned, another subscription: dropped topics join pending",
        UNREVOKED, 4, {T: {0}, U: {0}}, {T: {0}}, (UNREVOKED, 4, {T: {0}}, {T: {1}, U: {0}}),
        pending={T: {1}}, says={T: {0, 1}}, changed=True, subscribed=frozenset({T}),
    ),
    Case(
        "unrevoked, pending given back: on to the target",
        UNREVOKED, 4, {T: {0}}, {T: {0}}, (STABLE, 5, {T: {0}}, {}),
        pending={T: {1}}, says={T: {0}},
    ),
    Case(
        "unrevoked, pending given back, the target gives it again: nobody else holds it",
        UNREVOKED, 4, {T: {0}}, {T: {0, 1}}, (STABLE, 5, {T: {0, 1}}, {}),
        pending={T: {1}}, says={T: {0}}, held={T: {1}},
    ),
    Case(
        "unrevoked, pending given back, the newest target takes more: unrevoked again",
        UNREVOKED, 4, {T: {0, 1}}, {T: {0}}, (UNREVOKED, 4, {T: {0}}, {T: {1}}),
        pending={T: {2}}, says={T: {0, 1}},
    ),
    Case(
        "a new target takes something that is owned: revoke first, epoch stays",
        STABLE, 4, {T: {0, 1}}, {T: {0}, U: {0}}, (UNREVOKED, 4, {T: {0}}, {T: {1}}),
    ),
    Case(
        "a new target takes something given up already: straight to the target",
        STABLE, 4, {T: {0, 1}}, {T: {0}, U: {0}}, (STABLE, 5, {T: {0}, U: {0}}, {}),
        says={T: {0}},
    ),
    Case(
        "free partitions are taken at the target epoch",
        STABLE, 4, {T: {0}}, {T: {0, 1}}, (STABLE, 5, {T: {0, 1}}, {}),
    ),
    Case(
        "some of it is held by another: the free part now, unreleased",
        STABLE, 4, {}, {T: {0, 1}}, (UNRELEASED, 5, {T: {0}}, {}), held={T: {1}},
    ),
    Case(
        "all of it is held by another: nothing yet, unreleased",
        STABLE, 0, {}, {T: {0, 1}}, (UNRELEASED, 5, {}, {}), held={T: {0, 1}},
    ),
    Case(
        "unreleased, the rest is free now: stable",
        UNRELEASED, 5, {T: {0}}, {T: {0, 1}}, (STABLE, 5, {T: {0, 1}}, {}),
    ),
    Case(
        "unreleased, still held: stays",
        UNRELEASED, 5, {T: {0}}, {T: {0, 1}}, (UNRELEASED, 5, {T: {0}}, {}), held={T: {1}},
    ),
    Case(
        "nothing to give and nothing to get: the epoch alone",
        STABLE, 4, {T: {0}}, {T: {0}}, (STABLE, 5, {T: {0}}, {}),
    ),
    Case(
        "the target has a topic that is not subscribed to any more: as if it had it not",
        STABLE, 4, {}, {T: {0}, U: {0}}, (STABLE, 5, {T: {0}}, {}), subscribed=frozenset({T}),
    ),
)  # fmt: skip


def step_of(case: Case) -> tuple[Kip848Member, Kip848Member]:
    """The member of a case, and what it becomes."""
    member = Kip848Member(
        "m",
        member_epoch=case.epoch,
        previous_member_epoch=case.epoch - 1,
        state=case.state,
        assigned=owned(case.assigned, 1),
        pending=owned(case.pending, 1),
    )
    taken = [owned(case.held, 1), member.assigned, member.pending]
    step = Reconciliation(
        TARGET_EPOCH,
        {topic: frozenset(numbers) for topic, numbers in case.target.items()},
        case.changed,
        case.subscribed,
        not case.subscribed,
        None if case.says is None else {t: frozenset(n) for t, n in case.says.items()},
        lambda topic, partition: any(partition in one.get(topic, {}) for one in taken),
    )
    return member, reconcile(member, step)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_step(case: Case) -> None:
    """The member is in the state, at the epoch and with the partitions that the table says."""
    before, after = step_of(case)
    state, epoch, assigned, pending = case.after
    assert (after.state, after.member_epoch) == (state, epoch)
    assert sets_of(after.assigned) == {topic: frozenset(one) for topic, one in assigned.items()}
    assert sets_of(after.pending) == {topic: frozenset(one) for topic, one in pending.items()}
    if after is not before:
        assert after.previous_member_epoch == before.member_epoch


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_partitions_keep_the_epoch_they_were_given_in(case: Case) -> None:
    """What was kept keeps its epoch, what is new has the target's."""
    before, after = step_of(case)
    for topic_id, epochs in after.assigned.items():
        for partition, epoch in epochs.items():
            kept = partition in before.assigned.get(topic_id, {})
            assert epoch == (1 if kept else TARGET_EPOCH)


def test_a_member_that_names_nothing_any_more_writes_once() -> None:
    """At the target with nothing assigned, its previous epoch moves all the same."""
    member = Kip848Member("m", member_epoch=5, previous_member_epoch=4)
    step = Reconciliation(5, {}, True, frozenset(), True, None, lambda topic, partition: False)
    assert reconcile(member, step) == replace(member, previous_member_epoch=5)
