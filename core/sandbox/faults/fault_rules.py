"""Rules that make the cluster misbehave: which requests, how often, and what happens to them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from uuid import UUID

from kgroups.core.errors import UsageError
from kgroups.core.protocol.errors import ERROR_NAMES, ErrorCode
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.wire.frame_codec import Request


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the connection instead of answering; the request is not carried out."""


@dataclass(frozen=True, slots=True)
class LoseRequest:
    """Neither carry out nor answer the request; the connection stays open and silent."""


Action = Drop | LoseRequest | int | None
"""The action after the delay: drop, lose, answer an error code, or None: go on as usual."""


NameOf = Callable[[UUID], str | None]


@dataclass(slots=True)
class Fault:
    """One rule.

    Args:
        api: what is asked; None for everything.
        group: of the request; None for any, also for requests without a group.
        topic: that the request names, by name or by id; None for any, also for requests without.
        client: client id as the request says it; None for any.
        action: what is done to a request that fits.
        delay_ms: how long it waits before that.
        times: how many requests the rule is for; None for all.
        skip: how many fitting requests pass first.
        hits: how many requests it was applied to so far.
    """

    api: Api | None = None
    group: str | None = None
    topic: str | None = None
    client: str | None = None
    broker: int | None = None
    action: Action = None
    delay_ms: int = 0
    times: int | None = 1
    skip: int = 0
    hits: int = 0
    number: int = field(default=0, compare=False)

    def fits(self, broker: int, request: Request, name_of: NameOf) -> bool:
        """Whether the rule is for this request, how often it was used aside."""
        return (
            self.api in (None, request.api)
            and self.broker in (None, broker)
            and self.client in (None, request.client_id)
            and (self.group is None or self.group in groups_of(request.body))
            and (self.topic is None or self.topic in topics_of(request.body, name_of))
        )

    def describe(self) -> str:
        """The fault in words."""
        match self.action:
            case Drop():
                what = "connection dropped"
            case LoseRequest():
                what = "request lost"
            case None:
                what = "answered late" if self.delay_ms else "let through"
            case code:
                what = f"answered {error_text(code)}"
        return f"{what} after {self.delay_ms} ms" if self.delay_ms else what


class FaultRules:
    """The rules in force, asked before every request; the first that fits is used."""

    def __init__(self, name_of: NameOf) -> None:
        self._name_of = name_of
        self._rules: list[Fault] = []
        self._numbers = count(1)

    def add(self, fault: Fault) -> Fault:
        """Put a rule in force, after those that are."""
        fault.number = next(self._numbers)
        self._rules.append(fault)
        return fault

    def remove(self, fault: Fault) -> None:
        """Take a rule out of force; one that is used up is out already."""
        self._rules = [rule for rule in self._rules if rule is not fault]

    def clear(self) -> None:
        """Take every rule out of force."""
        self._rules.clear()

    def match(self, broker: int, request: Request) -> Fault | None:
        """The rule to apply to this request, counted as used; None for none."""
        for rule in self._rules:
            if not rule.fits(broker, request, self._name_of):
                continue
            if rule.skip > 0:
                rule.skip -= 1
                continue
            rule.hits += 1
            if rule.times is not None:
                rule.times -= 1
                if rule.times <= 0:
                    self.remove(rule)
            return rule
        return None

    def __len__(self) -> int:
        return len(self._rules)


def groups_of(body: Message) -> list[str]:
    """The groups that a request names, wherever its API keeps them."""
    group_id = getattr(body, "group_id", None)
    named = [] if group_id is None else [group_id]
    for key in ("groups", "groups_names", "group_ids", "keys"):
        entries = getattr(body, key, None) or ()
        named += [entry if isinstance(entry, str) else entry.group_id for entry in entries]
    return named


def topics_of(body: Message, name_of: NameOf) -> list[str]:
    """The topics that a request names, wherever its API keeps them."""
    named: list[str] = []
    for key in ("topics", "topic_data", "topic_names", "topic_partitions"):
        for entry in getattr(body, key, None) or ():
            if isinstance(entry, str):
                named.append(entry)
                continue
            name = getattr(entry, "name", None) or getattr(entry, "topic", None)
            topic_id = getattr(entry, "topic_id", None)
            if not name and topic_id is not None:
                name = name_of(topic_id)
            if name:
                named.append(name)
    for group in getattr(body, "groups", None) or ():
        if not isinstance(group, str):
            named += topics_of(group, name_of)
    return named


def error_text(code: int) -> str:
    """Kafka's name of an error number, or the number."""
    return ERROR_NAMES.get(code, f"error {code}")


def error_code(name: str) -> int:
    """The number of an error, from Kafka's name.

    Raises:
        UsageError: there is no such error.
    """
    try:
        return ErrorCode[name.upper()]
    except KeyError:
        raise UsageError(
            f"unknown error `{name}`", hint="Kafka's names, as NOT_COORDINATOR"
        ) from None
