"""A KIP-848 member's states and what leads from one to another, as tables.

`steps.reconcile` looks its move up here; `draw_member_states` draws the diagram in
the README, and a test keeps it so. A group's own state follows from its members and epochs
(`Kip848Group.state`). Source: KIP-848, `CurrentAssignmentBuilder`.
"""

from collections.abc import Mapping
from enum import Enum, StrEnum

from kgroups.core.coordinator.kip848.member import MemberState

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
    """What is done about it."""

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

# Where a move that changes something leads to, and when; the first that fits.
ENDS: Mapping[Move, Mapping[MemberState, str]] = {
    Move.DROP: {UNREVOKED: "it must revoke them", STABLE: "it has none of them"},
    Move.ADVANCE: {
        UNREVOKED: "it must revoke partitions first",
        UNRELEASED: "others still own some of it",
        STABLE: "it has all of it",
    },
}
# A member that is giving something back already goes on doing so.
IMPOSSIBLE = frozenset({(UNREVOKED, Move.DROP, STABLE)})


def name_of(state: MemberState) -> str:
    """The state as the README spells it: UnrevokedPartitions."""
    return state.name.title().replace("_", "")


def edges() -> list[tuple[MemberState, MemberState, str]]:
    """Every change that the tables allow: from, to, why; also those that stay in a state."""
    return [
        (state, end, f"{situation}; {why}")
        for state, row in MOVES.items()
        for situation, move in row.items()
        for end, why in ENDS.get(move, {}).items()
        if (state, move, end) not in IMPOSSIBLE
    ]


def draw_member_states() -> str:
    """A Mermaid state diagram of every change in the tables, a line each."""
    lines = ["stateDiagram-v2", f"    [*] --> {name_of(STABLE)}: joins at epoch 0"]
    lines += [f"    {name_of(a)} --> {name_of(b)}: {why}" for a, b, why in edges() if a is not b]
    lines.append(f"    {name_of(UNREVOKED)} --> [*]: rebalance timeout")
    return "\n".join(lines)
