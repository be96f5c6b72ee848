"""The process around a consumer: it polls, gets records, processes them, polls again.

Between two moments at which anything else happens, nobody looks; so nothing is on the world's
heap for it. `run_to` makes up for the time since the last look, poll after poll, and where a
member has read everything and keeps up easily it passes over the time in one step.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from heapq import heappop, heappush, heapreplace
from random import Random
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.figures.ledger import Highest
from kgroups.core.simulation.scenario.scenario_model import MemberPlan
from kgroups.core.simulation.world.fetcher import HAIR_MS
from kgroups.core.simulation.world.partition_logs import NEVER, Logs
from kgroups.core.simulation.world.read_partitions import ReadPartitions


class WorkerPool:
    """The workers of one life of a process, and the queue before them, which has no end.

    Args:
        highest: takes note of records that begin before an earlier one of their partition is done.

    Attributes:
        handed: offset up to which records of each partition were handed over.
    """

    def __init__(self, workers: int, highest: Highest) -> None:
        # When each worker is free.
        self._free: list[float] = [0.0] * workers
        # When each record is done, soonest first.
        self._work: list[tuple[float, TopicPartition, int]] = []
        self._highest = highest
        self.handed: dict[TopicPartition, int] = {}

    def take(
        self, at_ms: float, positions: Mapping[TopicPartition, int], takes_ms: Callable[[], float]
    ) -> None:
        """Put what lies before these positions and was not handed over in the queue."""
        while self._work and self._work[0][0] <= at_ms:
            heappop(self._work)
        for partition, end in positions.items():
            for offset in range(self.handed.get(partition, end), end):
                begins_ms = max(at_ms, self._free[0])
                done_ms = begins_ms + takes_ms()
                heapreplace(self._free, done_ms)
                heappush(self._work, (done_ms, partition, offset))
                self._highest.work(partition, begins_ms, done_ms)
            self.handed[partition] = end

    def freeze(self, now_ms: float, for_ms: float) -> None:
        """Delays the records in work by so much."""
        self._free = [max(at_ms, now_ms) + for_ms for at_ms in self._free]
        left = [job for job in self._work if job[0] > now_ms]
        self._work = [(at_ms + for_ms, partition, offset) for at_ms, partition, offset in left]

    def drop(self, now_ms: float) -> None:
        """The process is gone, with what it had not done."""
        for at_ms, partition, offset in self._work:
            if at_ms > now_ms:
                self._highest.drop(partition, offset, now_ms)


# So many times the time of a poll with its records is simulated in full before a look.
FULL_STEPS: Final = 8
SKIP_MS: Final = 200


class Application(ReadPartitions):
    """One life of a member's process, as far as records go.

    Arguments and attributes as `ReadPartitions`'.

    Attributes:
        free_ms: when it has processed what it was given, and polls again.
        polled_ms: when it polled last.
        held: whether it has to wait at its poll, because the world has one to make for it.
    """

    def __init__(
        self,
        plan: MemberPlan,
        logs: Logs,
        highest: Highest,
        random: Random,
        *,
        now_ms: int,
        fetch_ms: float,
        brokers: int = 1,
    ) -> None:
        super().__init__(plan, logs, highest, now_ms=now_ms, fetch_ms=fetch_ms, brokers=brokers)
        self._random = random
        self._full_ms = FULL_STEPS * (self._cost_ms + 1)
        self._delay_ms = 0.0
        self._idle = False
        # None where it waits for its workers.
        self._pool = WorkerPool(plan.workers, highest) if plan.polls_on else None
        self.free_ms: float = now_ms
        self.polled_ms: float = now_ms
        self.held = True

    # ------------------------------------------------------------------ what the world tells it

    def begin(self, positions: Mapping[TopicPartition, int]) -> None:
        """Read these from here on too."""
        self.positions.update(positions)
        self._highest.go_on(positions)
        if self._pool is not None:
            self._pool.handed.update(positions)
        self._idle = False
        self._arrange()

    def stop(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these no more."""
        for partition in partitions:
            self.positions.pop(partition, None)
            self.uncommitted.pop(partition, None)
            self._fetched.pop(partition, None)
            if not self._traits.keeps_pauses:
                self._paused.discard(partition)
        self._arrange()

    def let_go(self, now_ms: int, partitions: Iterable[TopicPartition]) -> None:
        """Where to read them is not known for a while; `begin` tells."""
        self.run_to(now_ms)
        for partition in partitions:
            self.positions.pop(partition, None)
            self.uncommitted.pop(partition, None)
        self._arrange()

    def pause(self, now_ms: int, topics: Collection[str]) -> None:
        """Get nothing more than what was fetched of these topics until `resume`; empty: of all."""
        self.run_to(now_ms)
        chosen = [p for p in self.positions if not topics or p.topic in topics]
        self._paused.update(chosen)
        if self._traits.reads_fetched:
            settings, at_ms = self._plan.settings, now_ms - self._fetch_ms
            for partition in chosen:
                self._fetched[partition] = self._logs.fetched(
                    partition, self.positions[partition], settings, at_ms
                )
        self._idle = False
        self._arrange()

    def resume(self, now_ms: int, topics: Collection[str]) -> None:
        """Get records of them again."""
        self.run_to(now_ms)
        for partition in [p for p in self._paused if not topics or p.topic in topics]:
            self._paused.remove(partition)
            self._fetched.pop(partition, None)
        self._idle = False
        self._arrange()

    def hold_up(self, now_ms: int, held: bool) -> None:
        """From now on wait at the poll, or go on."""
        if held and not self.held:
            self.run_to(now_ms)
        elif self.held and not held:
            self.free_ms = max(self.free_ms, now_ms)
            self._idle = False
        self.held = held

    def delay(self, for_ms: int) -> None:
        """The next poll that has records takes this much longer: one of them is poison."""
        self._delay_ms += for_ms

    def cut_off(self, now_ms: int, until_ms: float) -> None:
        """No fetch is answered until then; it polls on."""
        self.run_to(now_ms)
        self._dry_ms = until_ms
        if self._fetcher is not None:
            self._fetcher.begin_anew()

    def is_cut_off(self, now_ms: int) -> bool:
        """Whether no fetch is answered."""
        return self._dry_ms > now_ms

    def freeze(self, now_ms: int, for_ms: int, fetch_ms: int) -> None:
        """The whole process stands still for so long; a fetch that it sends then takes its time."""
        self.run_to(now_ms)
        self.free_ms = max(self.free_ms, now_ms) + for_ms
        if self._pool is not None:
            self._pool.freeze(now_ms, for_ms)
        self._dry_ms = max(self._dry_ms, now_ms + for_ms + fetch_ms)
        self._idle = False

    def kill(self, now_ms: int) -> None:
        """Its process ends without a word; what workers have not done, they never do."""
        self.run_to(now_ms)
        if self._pool is not None:
            self._pool.drop(now_ms)

    # ------------------------------------------------------------------ time

    def run_to(self, now_ms: float) -> None:
        """Poll and process until now, unless it is held at its poll."""
        if self.held:
            return
        if self._drawn != self._logs.changes:
            self._arrange()
        while self.free_ms <= now_ms:
            at_ms = self.free_ms
            if not self._order:
                self.free_ms = self.polled_ms = now_ms
                return
            if self._idle and now_ms - at_ms > SKIP_MS:
                self.free_ms = at_ms = self._passed_over(at_ms, now_ms)
            age_ms = self._plan.skip_older_ms
            before = {} if age_ms is None else self.positions.copy()
            count = self._take(at_ms)
            # Records come in meanwhile where it stands still, is cut off or held: all is not read.
            self._idle = not count and at_ms >= self._dry_ms
            if count:
                self.polled_ms = at_ms
                if age_ms is not None:
                    skipped = self._too_old(before, at_ms - age_ms)
                    self._highest.skipped += skipped
                    count -= skipped
                self._process(at_ms, count)
                continue
            next_ms = self.next_arrival()
            if next_ms > now_ms:
                # It waits in its poll, however long: to the consumer that is polling.
                self.free_ms = self.polled_ms = now_ms
                return
            # Rounding may put an arrival a hair before the record can be read.
            self.free_ms = max(next_ms, self._passed_over(at_ms, now_ms), at_ms + HAIR_MS)

    def _process(self, at_ms: float, count: int) -> None:
        plan = self._plan
        takes_ms = plan.poll.draw(self._random)
        if self._pool is not None:
            self._pool.take(at_ms + takes_ms, self.positions, self._record_ms)
        else:
            takes_ms += plan.record.draw_shared(self._random, count, plan.workers)
            takes_ms, self._delay_ms = takes_ms + self._delay_ms, 0.0
        self.free_ms = at_ms + takes_ms

    def _record_ms(self) -> float:
        """The time that a worker takes for a record; the first one longer, where one is poison."""
        delay_ms, self._delay_ms = self._delay_ms, 0.0
        return self._plan.record.draw(self._random) + delay_ms

    def next_arrival(self) -> float:
        """When the next record can be read; infinity for never."""
        if self._fetcher is not None:
            return self._fetcher.next_ms(self.free_ms)
        due = self._due
        if due is None:
            due = self._due = self._next_records()
        first = due[0][0] if due else NEVER
        return max(first + self._fetch_ms, self._dry_ms)

    def _passed_over(self, at_ms: float, now_ms: float) -> float:
        """Having read everything: skip to shortly before now, if it surely keeps up until then."""
        until_ms = now_ms - self._full_ms
        if not self._easy or until_ms <= at_ms or self._delay_ms or at_ms < self._dry_ms:
            return at_ms
        seen_ms = until_ms - self._fetch_ms
        if self._due is None:
            self._due = [(seen_ms, place) for place in range(len(self._order))]
        self._pass_over_due(self._due, seen_ms)
        return until_ms
