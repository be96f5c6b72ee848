"""Which members really read each partition of a group without a coordinator: two, one or none.

The ledger counts owners by their own account. Here a member that stands still, or whose network
does not reach the brokers, reads nothing, whatever it believes to own.
"""

from collections.abc import Iterable
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.ledger import Ledger

# What the two times are called among a group's counts.
SPLIT_BRAIN: Final = "ms with two readers"
NOBODY_READS: Final = "ms without a reader"


class Readers:
    """The readers of one group's partitions."""

    def __init__(self, group: str) -> None:
        # Of who reads: whoever can read nothing has let go of what it believes to own.
        self._ledger = Ledger(group, {})
        self._held: dict[str, set[TopicPartition]] = {}
        self._stopped: dict[str, int] = {}

    def begin(self, life: str, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """A member reads these too from now on."""
        self._held.setdefault(life, set()).update(partitions)
        if life not in self._stopped:
            self._ledger.hold(partitions, life, life, now_ms)

    def end(self, life: str, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """A member reads these no more."""
        self._held.get(life, set()).difference_update(partitions)
        self._ledger.release(partitions, life, now_ms)

    def leave(self, life: str, now_ms: int) -> None:
        """A member's process is gone."""
        self._ledger.release(self._held.pop(life, ()), life, now_ms)
        self._stopped.pop(life, None)

    def stop(self, life: str, now_ms: int) -> None:
        """A member can read nothing for a while; stops may overlap."""
        self._stopped[life] = self._stopped.get(life, 0) + 1
        self._ledger.release(self._held.get(life, ()), life, now_ms)

    def go_on(self, life: str, now_ms: int) -> None:
        """One of the reasons for which a member could read nothing is over."""
        stops = self._stopped.pop(life, 0)
        if stops > 1:
            self._stopped[life] = stops - 1
        elif stops == 1:
            self._ledger.hold(self._held.get(life, ()), life, life, now_ms)

    def totals(self, now_ms: int) -> tuple[int, int]:
        """Time with two readers and time without any, added up over partitions, until now."""
        nobody_ms, split_ms = self._ledger.totals(now_ms)
        return split_ms, nobody_ms
