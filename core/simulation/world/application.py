"""What the process around a consumer does: it polls, gets records, processes them, polls again.

Between two moments at which anything else happens, nobody looks; so nothing is on the world's
heap for it. `run_to` makes up for the time since the last look, poll after poll, and where a
member has read everything and keeps up easily it passes over the time in one step.
"""

from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from random import Random
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.figures.highest import Highest
from kgroups.core.simulation.scenario.scenario_model import MemberPlan
from kgroups.core.simulation.world.fetcher import HAIR_MS, Fetcher, fetches_matter
from kgroups.core.simulation.world.partition_logs import NEVER, FetchedRecords, Logs, Records

# A member that is busy for less than this share of its time has read everything soon again.
EASY_SHARE: Final = 0.8
# So many times the time of a poll with its records is simulated in full before a look.
FULL_STEPS: Final = 8
SKIP_MS: Final = 200
# From one record for so many partitions on, it costs less to look at each than to keep their order.
MANY: Final = 4


class Application:
    """One life of a member's process, as far as records go.

    Args:
        plan: how long it takes, how many records a poll gives.
        fetch_ms: how old a record is before a fetch brings it: the network's one way.
        brokers: that share the partitions.

    Attributes:
        positions: next offset to read of each partition that it reads.
        free_ms: when it has processed what it was given, and polls again.
        polled_ms: when it polled last.
        held: whether it has to wait at its poll, because the world has one to make for it.
        uncommitted: what the last poll gave, where every poll commits what the last one gave.
    """

    __slots__ = (
        "_committed",
        "_cost_ms",
        "_cursor",
        "_delay_ms",
        "_drawn",
        "_dry_ms",
        "_due",
        "_even",
        "_fetch_ms",
        "_fetched",
        "_fetcher",
        "_highest",
        "_idle",
        "_logs",
        "_order",
        "_paused",
        "_per_ms",
        "_plan",
        "_random",
        "_room",
        "_traits",
        "free_ms",
        "held",
        "polled_ms",
        "positions",
        "uncommitted",
    )

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
        self._plan, self._logs, self._highest, self._random = plan, logs, highest, random
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
        self._delay_ms = 0.0
        self._dry_ms: float = now_ms
        self._idle = False
        self.positions: dict[TopicPartition, int] = {}
        self.free_ms: float = now_ms
        self.polled_ms: float = now_ms
        self.held = True
        self.uncommitted: dict[TopicPartition, int] = {}

    # ------------------------------------------------------------------ what the world tells it

    def begin(self, positions: Mapping[TopicPartition, int]) -> None:
        """Read these from here on too."""
        self.positions.update(positions)
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
        chosen = [one for one in self.positions if not topics or one.topic in topics]
        self._paused.update(chosen)
        if self._traits.reads_fetched:
            settings, at_ms = self._plan.settings, now_ms - self._fetch_ms
            for one in chosen:
                self._fetched[one] = self._logs.fetched(one, self.positions[one], settings, at_ms)
        self._idle = False
        self._arrange()

    def resume(self, now_ms: int, topics: Collection[str]) -> None:
        """Get records of them again."""
        self.run_to(now_ms)
        for one in [one for one in self._paused if not topics or one.topic in topics]:
            self._paused.remove(one)
            self._fetched.pop(one, None)
        self._idle = False
        self._arrange()

    def _arrange(self) -> None:
        seen, committed = self._logs.seen, self._committed
        paused = self._paused
        self._order = [
            (one, seen(one, committed=committed)) for one in self.positions if one not in paused
        ]
        for one, fetched in self._fetched.items():
            if one in self.positions:
                self._order.append((one, fetched))
        self._per_ms = sum([records.per_ms for _, records in self._order])
        self._due, self._drawn = None, self._logs.changes
        if self._fetcher is not None:
            self._fetcher.arrange(self._order)

    def known(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Next offset of those of these partitions that it reads."""
        positions = self.positions
        return {one: positions[one] for one in partitions if one in positions}

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
        self._dry_ms = max(self._dry_ms, now_ms + for_ms + fetch_ms)
        self._idle = False

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
            count = self._take(at_ms)
            # Records come in meanwhile where it stands still, is cut off or held: all is not read.
            self._idle = not count and at_ms >= self._dry_ms
            if count:
                self.polled_ms = at_ms
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
        takes_ms += plan.record.draw_shared(self._random, count, plan.workers)
        self.free_ms = at_ms + takes_ms + self._delay_ms
        self._delay_ms = 0.0

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
        cursor, size = self._cursor, len(order)
        left = room
        for _ in order:
            cursor = (cursor + 1) % size
            partition, records = order[cursor]
            begin = positions[partition]
            found = records.end(seen_ms) - begin
            if found > left:
                found = left
            if found > 0:
                positions[partition] = begin + found
                self._highest.note(partition, begin, begin + found)
                left -= found
                if not left:
                    break
        self._cursor = cursor
        # What is left is found by going round again; who has read everything waits for the next.
        self._due = self._next_records() if left else None
        return room - left

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
            end, next_ms = records.read_on(begin, seen_ms)
            came.append((place, begin, end, next_ms))
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
        until_ms = now_ms - FULL_STEPS * (self._cost_ms + 1)
        if (
            self._fetcher is not None
            or until_ms <= at_ms
            or self._delay_ms
            or at_ms < self._dry_ms
            or not self._even
        ):
            return at_ms
        if self._per_ms * self._cost_ms > EASY_SHARE:
            return at_ms
        seen_ms, due = until_ms - self._fetch_ms, self._due
        if due is None:
            everything = [(seen_ms, place) for place in range(len(self._order))]
            self._due = self._read_on(everything, seen_ms, 0.0)
            heapify(self._due)
        elif due and due[0][0] <= seen_ms:
            self._pass_over_due(due, seen_ms, (until_ms - at_ms) * self._per_ms)
        return until_ms

    def _pass_over_due(self, due: list[tuple[float, int]], seen_ms: float, count: float) -> None:
        """Read what has come by then; `count`: about so many records."""
        # Rounding may put an arrival a hair before the record can be read.
        soonest_ms = seen_ms + HAIR_MS
        if count * MANY >= len(due):
            self._due = self._read_on(due, seen_ms, soonest_ms)
            heapify(self._due)
            return
        came: list[tuple[float, int]] = []
        while due and due[0][0] <= seen_ms:
            came.append(heappop(due))
        for entry in self._read_on(came, seen_ms, soonest_ms):
            heappush(due, entry)

    def _read_on(
        self, due: list[tuple[float, int]], seen_ms: float, soonest_ms: float
    ) -> list[tuple[float, int]]:
        """Read what is due by then of these; when their next records are there, in their order."""
        order, positions, note = self._order, self.positions, self._highest.note
        later: list[tuple[float, int]] = []
        for entry in due:
            if entry[0] <= seen_ms:
                place = entry[1]
                partition, records = order[place]
                begin = positions[partition]
                end, next_ms = records.read_on(begin, seen_ms)
                if end > begin:
                    note(partition, begin, end)
                    positions[partition] = end
                entry = (next_ms if next_ms > soonest_ms else soonest_ms, place)
            later.append(entry)
        return later
