"""The tables of a KIP-848 member's states: every change that they allow happens, and no other."""

from collections.abc import Iterator
from itertools import product
from uuid import UUID

from kgroups.core.coordinator.kip848.member import Kip848Member, MemberState, Owned
from kgroups.core.coordinator.kip848.steps.reconcile import (
    MOVES,
    UNREVOKED,
    Move,
    Reconciliation,
    Situation,
    reconcile,
    situation_of,
)
from scripts.draw_states import ENDS, edges

T, U = UUID(int=1), UUID(int=2)
TARGET_EPOCH = 5
SETS = [frozenset[int](), frozenset({0}), frozenset({1}), frozenset({0, 1})]


def held_since(numbers: frozenset[int], epoch: int) -> Owned:
    """Partitions of topic T with their epoch."""
    return {T: dict.fromkeys(sorted(numbers), epoch)} if numbers else {}


def small_cases() -> Iterator[tuple[Kip848Member, Reconciliation]]:
    """Every member of one topic of two partitions, in every state, before every step."""
    for state, assigned, pending, target, foreign, said in product(
        MemberState, SETS, SETS, SETS, SETS, [None, *SETS]
    ):
        if (state is UNREVOKED) != bool(pending) or assigned & pending:
            continue
        for behind, anew, subscribed in product([False, True], repeat=3):
            member = Kip848Member(
                "m",
                state=state,
                member_epoch=TARGET_EPOCH - behind,
                assigned=held_since(assigned, 2),
                pending=held_since(pending, 2),
            )
            mine = assigned | pending

            def is_held(
                topic: UUID,
                partition: int,
                holders: frozenset[int] = frozenset(foreign - mine | mine),
            ) -> bool:
                return topic == T and partition in holders

            yield (
                member,
                Reconciliation(
                    TARGET_EPOCH,
                    {T: target} if target else {},
                    anew,
                    frozenset({T}) if subscribed else frozenset({U}),
                    False,
                    None if said is None else {T: said},
                    is_held,
                ),
            )


def test_every_situation_of_a_state_has_a_move() -> None:
    """Each state has a row, and each situation stands in the row of one state."""
    assert set(MOVES) == set(MemberState)
    placed = [situation for row in MOVES.values() for situation in row]
    assert sorted(placed) == sorted(Situation)
    assert {move for row in MOVES.values() for move in row.values()} == set(Move)
    assert set(ENDS) == set(Move) - {Move.STAY}


def test_small_members_go_where_the_tables_say_and_nowhere_else() -> None:
    """Over all small cases the changes that happen are just those of the tables."""
    allowed = {(a, b, why.split(";")[0]) for a, b, why in edges()}
    seen = set()
    for member, step in small_cases():
        situation = situation_of(member, step)
        move = MOVES[member.state][situation]
        after = reconcile(member, step)
        if move is Move.STAY:
            assert after is member
        elif after is not member:
            seen.add((member.state, after.state, situation.value))
    assert seen == allowed


def test_dropped_topics_join_what_is_pending() -> None:
    """The one edge that no recorded trace takes: not all is given back, and topics are dropped."""
    member = Kip848Member(
        "m",
        state=UNREVOKED,
        member_epoch=4,
        assigned={T: {0: 1}, U: {0: 1}},
        pending={T: {1: 1}},
    )
    said = {T: frozenset({0, 1})}
    step = Reconciliation(
        TARGET_EPOCH, {T: frozenset({0})}, True, frozenset({T}), False, said, lambda *_: True
    )
    after = reconcile(member, step)
    assert (after.state, after.member_epoch) == (UNREVOKED, 4)
    assert (after.assigned, after.pending) == ({T: {0: 1}}, {T: {1: 1}, U: {0: 1}})
