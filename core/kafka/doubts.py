"""Which writes may have been carried out although no answer says so.

A request that was sent and never answered may have been carried out, or may be even later. And a
coordinator that loses its place in the middle answers `NOT_COORDINATOR` or
`COORDINATOR_NOT_AVAILABLE` for records that it had appended already: whether they stay is known
only when the next one has loaded them (GroupCoordinatorService, CoordinatorRuntime in Kafka 4).
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from kgroups.core.errors import ItemError
from kgroups.core.kafka.failures import BrokerFailure, Lost, item_error, may_repeat
from kgroups.core.offsets.result import Doubt

Item = TypeVar("Item")
Failure = str | BrokerFailure | None

WRITING: Final = 2 / 3
"""Part of the time that is for writing; the rest is for seeing what became of it."""

_REFUSED_UNREAD: Final = frozenset({"COORDINATOR_LOAD_IN_PROGRESS"})
"""Said before anything was appended."""


class Doubts(Generic[Item]):
    """The attempts at a write that may have been carried out, by item."""

    def __init__(self) -> None:
        self._sent: dict[Item, str | BrokerFailure] = {}

    def note(self, item: Item, failure: Failure) -> None:
        """Remember how an attempt failed; a request that got no answer outweighs all answers."""
        if isinstance(failure, Lost):
            self._sent[item] = failure
        elif isinstance(failure, str) and failure not in _REFUSED_UNREAD and may_repeat(failure):
            self._sent.setdefault(item, failure)

    def holds(self, item: Item) -> bool:
        """Whether an attempt at this item may have been carried out."""
        return item in self._sent

    def error(
        self,
        item: Item,
        target: str,
        failure: Failure,
        explain: Callable[[str, str | BrokerFailure], ItemError] = item_error,
    ) -> ItemError | None:
        """Outcome of an item after the last attempt: a `Doubt` if it may be done.

        Args:
            failure: of the last attempt; None if it was done.
        """
        if failure is None:
            return None
        sent = self._sent.get(item)
        if sent is None:
            return explain(target, failure)
        if may_repeat(failure) and isinstance(sent, Lost):
            failure = sent
        error = explain(target, failure)
        return Doubt(
            target,
            error.code,
            f"outcome unknown: {error.message}",
            error.hint,
            error.exit_code,
            error.message,
            in_flight=isinstance(failure, Lost) and may_repeat(failure),
        )
