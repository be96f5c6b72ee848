"""README's pictures show what the program prints, and are small."""

import re

import pytest

from scripts.pictures import PAGE, ROOT, TERMINAL, terminal_svg

BYTES = 200_000


@pytest.fixture(scope="module")
def drawn() -> str:
    """The terminal as it is drawn now."""
    return terminal_svg()


def test_terminal_is_what_the_program_prints(drawn: str) -> None:
    """`make docs` draws it; this says when it has to."""
    assert drawn == TERMINAL.read_text(encoding="utf-8")


def test_terminal_asks_nobody_for_anything(drawn: str) -> None:
    """Fonts and styles are in the picture."""
    assert re.findall(r"(?:https?:)?//[^\"' ]+", drawn) == ["http://www.w3.org/2000/svg"]


def test_pictures_are_small_and_shown() -> None:
    """Both are in README, and take no more than a moment to load."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for picture in (TERMINAL, PAGE):
        assert f"]({picture.relative_to(ROOT)})" in readme
    assert TERMINAL.stat().st_size + PAGE.stat().st_size <= BYTES
