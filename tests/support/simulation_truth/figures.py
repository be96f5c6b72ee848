"""The figures that are compared, counted by the simulation's own ledger from a log of ownership."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.ledger import Highest, Ledger


@dataclass(frozen=True)
class Told:
    """Something that happened.

    Args:
        rows: partitions (topic, number) of `got` and `gave`; with `read` (topic, number, first
            offset, offset after the last); with `new` partitions that the group is to read too.
    """

    at_ms: int
    kind: Literal["got", "gave", "read", "new"]
    name: str
    rows: tuple[tuple[str | int, ...], ...]

    @property
    def partitions(self) -> list[TopicPartition]:
        """What it is about."""
        return [TopicPartition(str(row[0]), int(row[1])) for row in self.rows]


@dataclass(frozen=True)
class Figures:
    """From an event on.

    Args:
        generations: new epochs.
        sizes: partitions of each member at the end, sorted; those that have none are left out.
        longest_s: the longest time that a partition had no owner.
        unowned_s, doubled_s: time with no owner, and with two, added up over partitions.
        read_again: records.
        read_paused: records that came while every member had paused what it had.
    """

    generations: int
    sizes: tuple[int, ...]
    longest_s: float
    unowned_s: float
    doubled_s: float
    read_again: int
    read_paused: int = 0


# At one moment something is given up before it is taken.
ORDER: Final = {"new": 0, "gave": 1, "got": 2, "read": 3}


def count(
    log: Iterable[Told],
    start_ms: int,
    end_ms: int,
    *,
    generations: int,
    paused_ms: range = range(0),
) -> Figures:
    """The figures of a log between two times.

    Args:
        generations: new epochs in that time.
        paused_ms: the part of it in which everything was paused.
    """
    ordered = sorted(log, key=lambda told: (told.at_ms, ORDER[told.kind]))
    before = [told for told in ordered if told.at_ms < start_ms]
    after = [told for told in ordered if start_ms <= told.at_ms <= end_ms]
    ledger, highest = Ledger("", {}), Highest()
    for partition, name in owners_of(before):
        ledger.hold([partition], name, name, start_ms)
    _read(highest, before)
    known = highest.read_again
    for told in after:
        if told.kind == "new":
            ledger.expect(told.partitions, told.at_ms, count=True)
        elif told.kind == "got":
            ledger.hold(told.partitions, told.name, told.name, told.at_ms)
        elif told.kind == "gave":
            ledger.release(told.partitions, told.name, told.at_ms)
    _read(highest, after)
    sizes: dict[str, int] = {}
    for account in ledger.accounts.values():
        for owner in account.owners:
            sizes[owner] = sizes.get(owner, 0) + 1
    unowned_ms, doubled_ms = ledger.totals(end_ms)
    ledger.finish(end_ms)
    longest_ms = max((one.unowned.longest_ms for one in ledger.accounts.values()), default=0)
    return Figures(
        generations,
        tuple(sorted(sizes.values())),
        longest_ms / 1_000,
        unowned_ms / 1_000,
        doubled_ms / 1_000,
        highest.read_again - known,
        _read_in(paused_ms, after),
    )


def _read_in(times_ms: range, log: Sequence[Told]) -> int:
    rows = [
        row for told in log if told.kind == "read" and told.at_ms in times_ms for row in told.rows
    ]
    return sum(int(end) - int(begin) for _, _, begin, end in rows)


def owners_of(log: Iterable[Told]) -> list[tuple[TopicPartition, str]]:
    """Each partition with each of its owners, after all of a log that is in order."""
    owners: dict[tuple[TopicPartition, str], None] = {}
    for told in log:
        for partition in told.partitions:
            if told.kind == "got":
                owners[partition, told.name] = None
            elif told.kind == "gave":
                owners.pop((partition, told.name), None)
    return list(owners)


def _read(highest: Highest, log: Sequence[Told]) -> None:
    for told in log:
        if told.kind == "read":
            for topic, number, begin, end in told.rows:
                place = TopicPartition(str(topic), int(number))
                highest.note(place, int(begin), int(end))
