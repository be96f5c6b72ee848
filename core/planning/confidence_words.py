"""The words for how sure a plan is, each with its one definition: help and schema repeat it."""

from collections.abc import Mapping
from typing import Final, Literal

Word = Literal["exact", "outcomes", "likely", "counts"]

DEFINITIONS: Final[Mapping[Word, str]] = {
    "exact": "nothing else can happen",
    "outcomes": "one of several things will happen; --outcomes shows all",
    "likely": "the likeliest that is known; something else may happen",
    "counts": "the sizes of the shares are sure, not who gets which",
}
