"""The partitions that a process reads: where it is in each, and what comes next.

A member that has read everything keeps a heap of when the next record of each partition is there;
one that is behind goes round its partitions until its poll is full.
"""

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.figures.ledger import Highest
from kgroups.core.simulation.scenario.scenario_model import MemberPlan
from kgroups.core.simulation.world.fetcher import HAIR_MS, Fetcher, fetches_matter
from kgroups.core.simulation.world.partition_logs import FetchedRecords, Logs, Records

# A member that is busy for less than this share of its time has read everything soon again.
EASY_SHARE: Final = 0.8


class ReadPartitions:
    """The partitions that one life of a process reads.

    Args:
        plan: how many records a poll gives, how long it takes.
        highest: takes note of what is handed over.
        fetch_ms: how old a record is before a fetch brings it: the network's one way.

    Attributes:
        positions: next offset to read of each partition that it reads.
        uncommitted: what the last poll gave, where every poll commits what the last one gave.
    """

    def __init__(
        self,
        plan: MemberPlan,
        logs: Logs,
        highest: Highest,
        *,
        now_ms: int,
        fetch_ms: float,
        brokers: int,
    ) -> None:
        self._plan, self._logs, self._highest = plan, logs, highest
        self._fetch_ms = fetch_ms
        settings = plan.settings
        self._committed = settings.isolation_level == "read_committed"
        # None where limits in bytes are never felt, which costs less.
        self._fetcher: Fetcher | None = None
        if fetches_matter(settings, logs.sizes):
            self._fetcher = Fetcher(settings, fetch_ms, brokers, logs.sizes)
        self._cost_ms = plan.record.mean_ms / plan.workers + plan.poll.mean_ms
        # A pool is given a record for each of its workers, whatever the library hands out at once.
        self._room = max(settings.max_poll_records, plan.workers)
        self._even = "heavy" not in (plan.record.shape, plan.poll.shape)
        self._cursor = 0
        self._order: list[tuple[TopicPartition, Records]] = []
        self._traits = LIBRARIES[plan.library]
        self._paused: set[TopicPartition] = set()
        self._fetched: dict[TopicPartition, FetchedRecords] = {}
        # When the next record of each partition is there, with its place in the order, soonest
        # first; None where it has to be looked up anew.
        self._due: list[tuple[float, int]] | None = None
        self._per_ms, self._drawn = 0.0, logs.changes
        # Whether it surely keeps up with what comes.
        self._easy = False
        self._dry_ms: float = now_ms
        self.positions: dict[TopicPartition, int] = {}
        self.uncommitted: dict[TopicPartition, int] = {}

    def _arrange(self) -> None:
        seen, committed = self._logs.seen, self._committed
        paused = self._paused
        self._order = [(p, seen(p, committed=committed)) for p in self.positions if p not in paused]
        for partition, fetched in self._fetched.items():
            if partition in self.positions:
                self._order.append((partition, fetched))
        self._per_ms = sum([records.per_ms for _, records in self._order])
        self._due, self._drawn = None, self._logs.changes
        self._easy = (
            self._fetcher is None
            and self._even
            and not self._plan.polls_on
            and self._plan.skip_older_ms is None
            and self._per_ms * self._cost_ms <= EASY_SHARE
            and bool(self._order)
        )
        if self._fetcher is not None:
            self._fetcher.arrange(self._order)

    def fetched(self) -> Iterable[TopicPartition]:
        """Those that it asks brokers for."""
        return (partition for partition in self.positions if partition not in self._paused)

    def known(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Next offset of those of these partitions that it reads."""
        positions = self.positions
        return {p: positions[p] for p in partitions if p in positions}

    def _take(self, at_ms: float) -> int:
        """Hand over what a poll gives now; how many records that was."""
        if self._fetcher is not None:
            return self._take_fetched(self._fetcher, at_ms)
        if at_ms < self._dry_ms:
            return 0
        due, seen_ms = self._due, at_ms - self._fetch_ms
        if due is not None:
            taken = self._take_due(due, seen_ms)
            if taken is not None:
                return taken
        room = self._room
        order, positions = self._order, self.positions
        size = len(order)
        # Each poll begins one further: a partition with a backlog is not passed over for ever.
        cursor = self._cursor = (self._cursor + 1) % size if size else 0
        left = room
        for partition, records in order[cursor:] + order[:cursor]:
            begin = positions[partition]
            count = records.end(seen_ms) - begin
            if count > left:
                count = left
            if count > 0:
                positions[partition] = begin + count
                self._highest.note(partition, begin, begin + count)
                left -= count
                if not left:
                    break
        # What is left is found by going round again; who has read everything waits for the next.
        self._due = self._next_records() if left else None
        return room - left

    def _too_old(self, before: Mapping[TopicPartition, int], oldest_ms: float) -> int:
        """How many of the records taken since then came earlier than this."""
        return sum(
            min(max(records.end(oldest_ms), before[partition]), self.positions[partition])
            - before[partition]
            for partition, records in self._order
            if partition in before
        )

    def _take_fetched(self, fetcher: Fetcher, at_ms: float) -> int:
        """Hand over what was fetched in bytes."""
        count, positions = 0, self.positions
        room = self._room
        for partition, begin, end in fetcher.take(at_ms, room, positions, self._dry_ms):
            positions[partition] = end
            self._highest.note(partition, begin, end)
            count += end - begin
        return count

    def _take_due(self, due: list[tuple[float, int]], seen_ms: float) -> int | None:
        """Hand over what has come to a member that has read everything; None if it is too much."""
        if not due or due[0][0] > seen_ms:
            return 0
        order, positions = self._order, self.positions
        came: list[tuple[int, int, int, float]] = []
        room = self._room
        while due and due[0][0] <= seen_ms:
            _, place = heappop(due)
            partition, records = order[place]
            begin = positions[partition]
            end = max(begin, records.end(seen_ms))
            came.append((place, begin, end, records.time_of(end)))
            room -= end - begin
        if room < 0:
            self._due = None
            return None
        for place, begin, end, next_ms in came:
            if end > begin:
                partition = order[place][0]
                positions[partition] = end
                self._highest.note(partition, begin, end)
                heappush(due, (next_ms, place))
            else:
                # Rounding may put an arrival a hair before the record can be read.
                heappush(due, (seen_ms + HAIR_MS, place))
        return self._room - room

    def _next_records(self) -> list[tuple[float, int]]:
        """When the next record of each partition that gets any is there, as a heap."""
        positions = self.positions
        due = [
            (records.time_of(positions[partition]), place)
            for place, (partition, records) in enumerate(self._order)
        ]
        heapify(due)
        return due

    @property
    def longest_wait_ms(self) -> float:
        """How long a fetch waits for records at most, as they come on average."""
        limit_ms = self._plan.settings.fetch_max_wait_ms
        return min(limit_ms, 1 / self._per_ms) if self._per_ms else limit_ms

    def _pass_over_due(self, due: list[tuple[float, int]], seen_ms: float) -> None:
        """Read what has come by then."""
        if not due or due[0][0] > seen_ms:
            return
        order, positions, note = self._order, self.positions, self._highest.note
        # Rounding may put an arrival a hair before the record can be read.
        soonest_ms, later = seen_ms + HAIR_MS, list[tuple[float, int]]()
        for at_ms, place in due:
            if at_ms <= seen_ms:
                partition, records = order[place]
                begin, end = positions[partition], records.end(seen_ms)
                if end > begin:
                    note(partition, begin, end)
                    positions[partition] = end
                else:
                    end = begin
                at_ms = records.time_of(end)
                if at_ms < soonest_ms:
                    at_ms = soonest_ms
            later.append((at_ms, place))
        heapify(later)
        self._due = later
