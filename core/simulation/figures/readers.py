"""Which members really read each partition of a group without a coordinator: two, one or none.

The ledger counts owners by their own account. Here a member that stands still, or whose network
does not reach the brokers, reads nothing, whatever it believes to own.
"""

from collections.abc import Iterable
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.ledger import Stretch

# What the two times are called among a group's counts.
SPLIT_BRAIN: Final = "ms with two readers"
NOBODY_READS: Final = "ms without a reader"


class Readers:
    """The readers of one group's partitions.

    Attributes:
        split: time in which a partition had two readers or more, by partition.
        nobody: time without any, from the first one on.
    """

    def __init__(self) -> None:
        self._held: dict[str, set[TopicPartition]] = {}
        self._stopped: dict[str, int] = {}
        self._awake: dict[TopicPartition, int] = {}
        self.split: dict[TopicPartition, Stretch] = {}
        self.nobody: dict[TopicPartition, Stretch] = {}

    def begin(self, life: str, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """A member reads these too from now on."""
        held = self._held.setdefault(life, set())
        new = [partition for partition in partitions if partition not in held]
        held.update(new)
        if life not in self._stopped:
            self._add(new, 1, now_ms)

    def end(self, life: str, partitions: Iterable[TopicPartition], now_ms: int) -> None:
        """A member reads these no more."""
        held = self._held.get(life, set())
        gone = [partition for partition in partitions if partition in held]
        held.difference_update(gone)
        if life not in self._stopped:
            self._add(gone, -1, now_ms)

    def leave(self, life: str, now_ms: int) -> None:
        """A member's process is gone."""
        self.end(life, tuple(self._held.get(life, ())), now_ms)
        self._held.pop(life, None)
        self._stopped.pop(life, None)

    def stop(self, life: str, now_ms: int) -> None:
        """A member can read nothing for a while; stops may overlap."""
        self._stopped[life] = self._stopped.get(life, 0) + 1
        if self._stopped[life] == 1:
            self._add(self._held.get(life, ()), -1, now_ms)

    def go_on(self, life: str, now_ms: int) -> None:
        """One of the reasons for which a member could read nothing is over."""
        stops = self._stopped.get(life, 0)
        if stops > 1:
            self._stopped[life] = stops - 1
        elif stops == 1:
            del self._stopped[life]
            self._add(self._held.get(life, ()), 1, now_ms)

    def totals(self, now_ms: int) -> tuple[int, int]:
        """Time with two readers and time without any, added up over partitions, until now."""
        totals = []
        for stretches in (self.split, self.nobody):
            for stretch in stretches.values():
                stretch.end(now_ms)
            totals.append(sum(stretch.total_ms for stretch in stretches.values()))
        return totals[0], totals[1]

    def _add(self, partitions: Iterable[TopicPartition], readers: int, now_ms: int) -> None:
        for partition in partitions:
            count = self._awake[partition] = self._awake.get(partition, 0) + readers
            if partition not in self.split:
                self.split[partition], self.nobody[partition] = Stretch(), Stretch()
            if count >= 2:
                self.split[partition].begin(now_ms)
            else:
                self.split[partition].end(now_ms)
            if count == 0:
                self.nobody[partition].begin(now_ms)
            else:
                self.nobody[partition].end(now_ms)
