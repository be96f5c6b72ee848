"""Draws the states of groups, members and clients into core/coordinator/README.md."""

from collections.abc import Mapping
from pathlib import Path

from kgroups.core.coordinator.classic.states import ALLOWED_PREVIOUS, OUTCOMES, ClassicState
from kgroups.core.coordinator.client.classic.states import CLIENT_OUTCOMES, ClientState
from kgroups.core.coordinator.kip848.member import MemberState
from kgroups.core.coordinator.kip848.steps.reconcile import (
    MOVES,
    STABLE,
    UNRELEASED,
    UNREVOKED,
    Move,
)

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


def draw_group_states() -> str:
    """A Mermaid state diagram of every change of state in the tables, a line each."""
    lines = ["stateDiagram-v2", f"    [*] --> {ClassicState.EMPTY}: first JoinGroup or commit"]
    for source in ClassicState:
        changes: dict[ClassicState, list[str]] = {}
        for ask, row in OUTCOMES.items():
            to = row[source].to
            if to is not None and to is not source:
                changes.setdefault(to, []).append(ask.value)
        for to, asks in changes.items():
            assert source in ALLOWED_PREVIOUS[to], (source, to)
            lines.append(f"    {source} --> {to}: {' / '.join(asks)}")
    lines.append(f"    {ClassicState.DEAD} --> [*]")
    return "\n".join(lines)


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


def draw_client_states() -> str:
    """A Mermaid state diagram of every change of state in the tables, a line each."""
    lines = ["stateDiagram-v2", f"    [*] --> {ClientState.UNJOINED}: subscribe"]
    for source in ClientState:
        changes: dict[ClientState, list[str]] = {}
        for ask, row in CLIENT_OUTCOMES.items():
            to = row[source].to
            if to is not None:
                changes.setdefault(to, []).append(ask.value)
        for to, asks in changes.items():
            lines.append(f"    {source} --> {to}: {' / '.join(asks)}")
    lines.append(f"    {ClientState.CLOSED} --> [*]")
    return "\n".join(lines)


DIAGRAMS = {
    "states": draw_group_states,
    "member states": draw_member_states,
    "client states": draw_client_states,
}


def with_diagram(text: str) -> str:
    """The document with the diagrams between their marks as the tables have them now."""
    for name, draw in DIAGRAMS.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, rest = text.split(begin)
        _, after = rest.split(end)
        text = f"{before}{begin}```mermaid\n{draw()}\n```\n{end}{after}"
    return text


if __name__ == "__main__":
    document = Path(__file__).resolve().parent.parent / "core/coordinator/README.md"
    document.write_text(with_diagram(document.read_text(encoding="utf-8")), encoding="utf-8")
