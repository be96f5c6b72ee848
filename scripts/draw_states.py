"""Draws the states of groups, members and clients into core/coordinator/README.md."""

from pathlib import Path

from kgroups.core.coordinator.classic.states import draw_states
from kgroups.core.coordinator.client.classic.states import draw_client_states
from kgroups.core.coordinator.kip848.steps.reconcile import draw_member_states

DIAGRAMS = {
    "states": draw_states,
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
