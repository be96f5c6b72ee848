"""Fragments of the changelog: their names say where they go, and all of them arrive."""

from pathlib import Path

import pytest

from scripts.changelog import gathered, released, section_of

ROOT = Path(__file__).parents[2]
CHANGELOG = """\
# Changelog

## Unreleased

### Added

- First.

### Fixed

- Second.

## 0.1.0

### Added

- All.
"""


def fragment(folder: Path, name: str, text: str = "Something new.") -> Path:
    """A file with this text."""
    file = folder / name
    file.write_text(text)
    return file


def test_fragments_here_have_a_section() -> None:
    """Each file of `changelog.d/`, but its README."""
    for file in (ROOT / "changelog.d").iterdir():
        if file.name != "README.md":
            section_of(file)


def test_they_come_last_in_their_section(tmp_path: Path) -> None:
    """Of Unreleased alone, in the order of their names; a missing section is made."""
    fragments = [
        fragment(tmp_path, "b.added.md", "Over\ntwo lines.\n"),
        fragment(tmp_path, "a.added.md"),
        fragment(tmp_path, "c.removed.md", "Gone."),
    ]
    told = gathered(CHANGELOG, fragments)
    assert told == CHANGELOG.replace(
        "- First.\n", "- First.\n- Something new.\n- Over two lines.\n"
    ).replace("- Second.\n", "- Second.\n\n### Removed\n\n- Gone.\n")
    assert gathered(CHANGELOG, []) == CHANGELOG


def test_after_a_release(tmp_path: Path) -> None:
    """The first fragment makes the section of what is not released."""
    told = gathered("# Changelog\n", [fragment(tmp_path, "a.fixed.md")])
    assert told == "# Changelog\n\n## Unreleased\n\n### Fixed\n\n- Something new.\n"


@pytest.mark.parametrize(
    ("name", "text"), [("a.md", "x"), ("a.better.md", "x"), ("a.added.md", " \n")]
)
def test_a_wrong_fragment(tmp_path: Path, name: str, text: str) -> None:
    """No section, an unknown one, no text."""
    with pytest.raises(ValueError, match=name):
        section_of(fragment(tmp_path, name, text))


def test_a_release_heads_what_was_unreleased() -> None:
    """With its date; without anything new there is no release."""
    told = released(CHANGELOG, "0.2.0", "2026-11-27")
    assert told == CHANGELOG.replace("## Unreleased", "## 0.2.0 (2026-11-27)")
    with pytest.raises(ValueError, match="nothing is unreleased"):
        released(told, "0.3.0", "2026-11-28")
