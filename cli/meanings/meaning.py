"""A word with its explanation."""

from typing import Literal, NamedTuple

Kind = Literal[
    "state of a classic group",
    "state of a consumer group",
    "state of a share group",
    "state of a streams group",
    "state of a classic member",
    "state of a consumer member",
    "former state of a group",
    "protocol word",
    "assignor",
    "consumer property",
    "exit code",
    "error",
    "blocker",
    "assignor fault",
    "note",
    "finding",
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
    "exactness",
    "cause of a change",
]


class Default(NamedTuple):
    """A default of a property.

    Args:
        client: library.
        versions: of it that have this default.
    """

    client: str
    versions: str
    value: str | None


class Meaning(NamedTuple):
    """A code or word with its explanation.

    Args:
        kind: where it is met; one word may have several meanings.
        meaning: a sentence without a full stop.
        to_do: likewise; None where nothing needs doing.
        exit_code: what a command ends with when this is its only failure; None of words.
        on_rebalance: what a property does to one; None of others.
        defaults: of a property; empty of others.
    """

    code: str
    kind: Kind
    meaning: str
    to_do: str | None
    exit_code: int | None = None
    on_rebalance: str | None = None
    defaults: tuple[Default, ...] = ()
