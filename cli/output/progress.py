"""How far something is, in one line."""

from typing import Final

WIDTH: Final = 20


def progress_bar(text: str, done: int, total: int) -> str:
    """`reading [#####               ] 250 of 1,000`."""
    filled = min(WIDTH, WIDTH * done // max(1, total))
    return f"{text} [{'#' * filled:<{WIDTH}}] {done:,} of {total:,}"
