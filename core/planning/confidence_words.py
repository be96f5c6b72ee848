"""The words for how sure a plan is, each with its one definition: help and schema repeat it."""

from collections.abc import Mapping
from typing import Final, Literal

Word = Literal["exact", "outcomes", "likely", "counts"]

DEFINITIONS: Final[Mapping[Word, str]] = {
    "exact": "the only possible outcome",
    "outcomes": "one of several possible outcomes; --outcomes shows all",
    "likely": "the likeliest outcome; others cannot be ruled out",
    "counts": "how many partitions each member gets is certain, not which",
}
