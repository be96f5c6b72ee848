"""The small language of offsets: where a partition is to be put. Pure: the time of day is given."""

from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.counts import parse_count
from kgroups.core.errors import UsageError
from kgroups.core.times import duration_ms, is_instant, parse_instant_ms, parse_moment_ms

TargetKind = Literal[
    "earliest",
    "latest",
    "current",
    "next",
    "first",
    "offset",
    "shift",
    "time",
    "file",
    "group",
    "committed",
]

FORMS: Final = (
    "earliest, latest, current, next, `next:5`, first, an offset (`1500`), a shift (`+10`, "
    "`-10`), a time with its zone (`2026-11-21T06:00:00Z`), a span of time (`1h30m`), "
    "`committed@TIME`, `file:PATH` or `group:NAME`"
)

_WORDS: Final[dict[str, TargetKind]] = {
    "earliest": "earliest",
    "latest": "latest",
    "current": "current",
    "first": "first",
}
COMMITTED_AT: Final = "committed@"
MAX_OFFSET: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Target:
    """Where partitions are to be put.

    Args:
        number: the offset, the shift, how many records are passed, or the time in epoch
            milliseconds; 0 for the other forms.
        name: the path of `file`, the group of `group`; empty for the other forms.
    """

    kind: TargetKind
    number: int = 0
    name: str = ""


def parse_target(text: str, now_ms: int, hint: str = f"one of {FORMS}") -> Target:
    """The target that a text names.

    Args:
        text: one of the forms of `FORMS`.
        now_ms: epoch milliseconds, from which a span of time counts back.
        hint: what to write instead of a text that is none.
    Raises:
        UsageError: the text is none, or a time without zone, before 1970 or that never was; or
            one of a commit that has not come.
    """
    word = text.strip()
    kind = _WORDS.get(word.lower())
    if kind is not None:
        return Target(kind)
    prefix, colon, name = word.partition(":")
    if word.startswith(COMMITTED_AT):
        return Target("committed", parse_moment_ms(word.removeprefix(COMMITTED_AT), now_ms))
    if prefix.lower() == "next":
        return Target("next", parse_count(name) if colon else 1)
    if colon and name and prefix in ("file", "group"):
        return Target("file" if prefix == "file" else "group", name=name)
    digits = word[1:] if word[:1] in "+-" and word else word
    if digits.isascii() and digits.isdecimal():
        if int(digits) > MAX_OFFSET:
            raise UsageError(f"`{text}` is larger than any offset")
        return Target("offset" if digits == word else "shift", int(word))
    if is_instant(word) or duration_ms(word) is not None:
        return Target("time", parse_instant_ms(word, now_ms))
    raise UsageError(f"`{text}` is not a target", hint=hint)
