"""What one code or word means."""

from typing import Literal, NamedTuple

Kind = Literal[
    "exit code",
    "error",
    "blocker",
    "assignor fault",
    "verdict of check",
    "verdict of lag",
    "verdict rule",
    "confidence of a plan",
    "confidence of lag_seconds",
    "lag_seconds_method",
    "trend",
    "lag_status",
    "result",
    "expiry",
]


class Meaning(NamedTuple):
    """A code or word with its explanation.

    Args:
        code: as it is printed.
        kind: where it is met; one word may have several meanings.
        meaning: a sentence without a full stop.
        to_do: likewise; None where nothing needs doing.
        exit_code: what a command ends with when this is its only failure; None of words.
    """

    code: str
    kind: Kind
    meaning: str
    to_do: str | None
    exit_code: int | None = None
