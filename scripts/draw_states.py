"""Writes the diagram of a classic group's states into ARCHITECTURE.md, from the tables."""

from pathlib import Path

from kgroups.core.coordinator.states import draw_states

BEGIN, END = "<!-- states: begin -->\n", "<!-- states: end -->"


def with_diagram(text: str) -> str:
    """The document with the diagram between its marks as the tables have it now."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}```mermaid\n{draw_states()}\n```\n{END}{after}"


if __name__ == "__main__":
    document = Path(__file__).resolve().parent.parent / "ARCHITECTURE.md"
    document.write_text(with_diagram(document.read_text(encoding="utf-8")), encoding="utf-8")
