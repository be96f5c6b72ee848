"""The words of a condition: signs, brackets, texts, numbers with their units, names."""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, cast

from kgroups.core.times import duration_ms

Sort = Literal["sign", "bracket", "text", "number", "word"]
SIGNS: Final = ("=", "==", "!=", "<", "<=", ">", ">=", "~")
MULTIPLES: Final[Mapping[str, int]] = {
    "k": 1_000,
    "K": 1_000,
    "M": 1_000_000,
    "G": 1_000_000_000,
}

_NUMBER: Final = r"\d{1,18}(?:\.\d{1,9})?"
_WORD: Final = re.compile(
    rf"""\s*(?:
    (?P<sign>>=|<=|==|!=|=|>|<|~)
    | (?P<bracket>[()])
    | (?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<number>-?(?:(?:{_NUMBER}(?:us|ms|[smhdw])(?![A-Za-z]))+ | {_NUMBER}(?:%|[kKMG](?!\w))?))
    | (?P<word>[A-Za-z_][\w-]*)
    )""",
    re.ASCII | re.VERBOSE,
)


class Word(NamedTuple):
    """One word of a condition, as it is written."""

    sort: Sort
    text: str


class Number(NamedTuple):
    """What a number comes to.

    Args:
        value: the number, multiplied; of a duration its seconds; of a percentage its hundredths.
        unit: whether it is a plain number, a percentage, or a duration.
    """

    value: float
    unit: Literal["", "%", "time"]


def words_of(text: str) -> tuple[list[Word], str]:
    """The words of a condition, and the rest in which none begins; empty when all is understood."""
    words: list[Word] = []
    ends = len(text.rstrip())
    place = 0
    while place < ends:
        found = _WORD.match(text, place, ends)
        if found is None:
            return words, text[place:ends].strip()
        sort = cast("Sort", found.lastgroup)
        words.append(Word(sort, found[sort]))
        place = found.end()
    return words, ""


def number_of(text: str) -> Number | None:
    """What the text of a number says; None for a duration beyond a hundred years."""
    if text.endswith("%"):
        return Number(float(text[:-1]), "%")
    if text[-1] in MULTIPLES:
        return Number(float(text[:-1]) * MULTIPLES[text[-1]], "")
    if text[-1].isdigit():
        return Number(float(text), "")
    ms = duration_ms(text.removeprefix("-"))
    if ms is None:
        return None
    return Number((-ms if text.startswith("-") else ms) / 1_000, "time")


def quoted(text: str) -> str:
    """What a text in quotation marks says; a mark within is written twice."""
    mark = text[0]
    return text[1:-1].replace(mark * 2, mark)
