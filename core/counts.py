"""Large numbers in short: `500`, `10k`, `1m`. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from kgroups.core.errors import UsageError

_MULTIPLES: Final[Mapping[str, int]] = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
COUNT_HINT: Final = "write it like `500`, `10k` or `1m`"


def count_of(text: str) -> int | None:
    """The number; None for any other text, and for 0."""
    match = re.fullmatch(r"(?a)(\d{1,12})([kmg]?)", text.strip().lower())
    return (int(match[1]) * _MULTIPLES[match[2]] or None) if match else None


def parse_count(text: str) -> int:
    """The number.

    Raises:
        UsageError: it is none, or 0.
    """
    count = count_of(text)
    if count is None:
        raise UsageError(f"`{text}` is not a number above 0", hint=COUNT_HINT)
    return count
