"""What members are called that join during a run: `app-4` after `app-3`."""

from collections.abc import Container, Sized
from typing import Protocol


class Names(Sized, Container[str], Protocol):
    """Names that are taken."""


def next_name(like: str, taken: Names) -> str:
    """The name of one more member like this one."""
    label, dash, number = like.rpartition("-")
    label = label if dash and number.isdigit() else like
    place = len(taken) + 1
    while f"{label}-{place}" in taken:
        place += 1
    return f"{label}-{place}"
