#!/usr/bin/env python3
"""Moves the fragments of changelog.d/ into CHANGELOG.md, under Unreleased.

A fragment is `changelog.d/WORDS.SECTION.md`, where SECTION is added, changed, fixed or removed; its
text is a sentence or two for readers of the changelog.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTIONS = ("added", "changed", "fixed", "removed")


def section_of(fragment: Path) -> str:
    """The section that a fragment goes to.

    Raises:
        ValueError: its name has none, or it says nothing.
    """
    parts = fragment.name.split(".")
    if len(parts) != 3 or parts[1] not in SECTIONS:
        raise ValueError(f"{fragment.name}: not WORDS.SECTION.md with one of {', '.join(SECTIONS)}")
    if not fragment.read_text().strip():
        raise ValueError(f"{fragment.name}: empty")
    return parts[1]


def gathered(changelog: str, fragments: list[Path]) -> str:
    """The changelog with a line for each fragment at the end of its section of Unreleased."""
    head, mark, rest = changelog.partition("\n## Unreleased\n")
    if not mark:
        head, mark, rest = changelog.rstrip("\n") + "\n", "\n## Unreleased\n", ""
    unreleased, mark_after, released = rest.partition("\n## ")
    for section in SECTIONS:
        lines = "".join(
            f"- {' '.join(fragment.read_text().split())}\n"
            for fragment in sorted(fragments)
            if section_of(fragment) == section
        )
        title = f"\n### {section.capitalize()}\n"
        if lines and title not in unreleased:
            before = f"{unreleased.rstrip()}\n" if unreleased.strip() else ""
            unreleased = f"{before}{title}\n{lines}"
        elif lines:
            before, _, after = unreleased.partition(title)
            own, next_title, others = after.partition("\n### ")
            unreleased = f"{before}{title}{own.rstrip()}\n{lines}{next_title}{others}"
    return head + mark + unreleased + mark_after + released


def fragments() -> list[Path]:
    """The files of changelog.d/, but its README."""
    return [file for file in (ROOT / "changelog.d").glob("*.md") if file.name != "README.md"]


def released(changelog: str, version: str, date: str) -> str:
    """The changelog with what was unreleased under the version that has it now.

    Raises:
        ValueError: nothing was unreleased.
    """
    head, mark, rest = changelog.partition("\n## Unreleased\n")
    if not mark:
        raise ValueError("CHANGELOG.md: nothing is unreleased")
    return f"{head}\n## {version} ({date})\n{rest}"


def main() -> int:
    """Gather, and remove what was gathered."""
    changelog, new = ROOT / "CHANGELOG.md", fragments()
    changelog.write_text(gathered(changelog.read_text(), new))
    for fragment in new:
        fragment.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
