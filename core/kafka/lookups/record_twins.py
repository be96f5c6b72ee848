"""Reads where groups stand in one log, and looks for the same records in one of another cluster."""

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import (
    FIRST_BYTES,
    Allowance,
    End,
    Stand,
    walk,
)
from kgroups.core.kafka.lookups.record_walk import Spot as Walked
from kgroups.core.offsets.record_match import (
    NEIGHBOURS,
    Edge,
    Sightings,
    Spot,
    Standing,
    fingerprint,
)
from kgroups.core.protocol.batches import CONTROL, LOG_APPEND_TIME, Record, whole_batches

APART: Final = 1_000
"""Commits that are not farther apart are read around in one go."""
LATER: Final = 1_000
"""So many records in a row must be newer than one before it is given up: times may be mixed."""
STEP_BACK: Final = 64


async def standings(
    log: OffsetsLog, stand: Stand, commits: Sequence[int], allowance: Allowance
) -> dict[int, Standing]:
    """Records on both sides of each commit; those beyond the log's end, or the limit, are absent.

    Args:
        commits: ascending.
    Raises:
        BrokerFailure: the log cannot be read.
        CorruptBatch: what it holds cannot be understood.
    """
    found: dict[int, Standing] = {}
    inside = [commit for commit in commits if commit <= stand.log_end]
    breaks = [n + 1 for n, (one, other) in enumerate(pairwise(inside)) if other - one > APART]
    for begin, end in zip([0, *breaks], [*breaks, len(inside)], strict=True):
        run = inside[begin:end]
        spots = await _around(log, stand, run, allowance) if run else None
        if spots is None:
            continue
        offsets = [spot.offset for spot in spots]
        for commit in run:
            at = bisect_left(offsets, commit)
            before, after = spots[max(0, at - NEIGHBOURS) : at], spots[at : at + NEIGHBOURS]
            found[commit] = Standing(before, after)
    return found


async def _around(
    log: OffsetsLog, stand: Stand, run: Sequence[int], allowance: Allowance
) -> list[Spot] | None:
    """The records from some before the first commit to some behind the last; None: the limit."""
    width = 2 * NEIGHBOURS
    while True:
        spots: list[Spot] = []
        low = max(stand.log_start, min(run[0], stand.log_end) - width)
        ahead, is_cut = NEIGHBOURS, False

        def take(spot: Walked, spots: list[Spot] = spots) -> bool:
            nonlocal ahead, is_cut
            is_cut = isinstance(spot, End) and spot.reason == "limit"
            if isinstance(spot, Record):
                spots.append(Spot(spot.offset, spot.timestamp_ms, fingerprint(spot)))
                ahead -= spot.offset >= run[-1]
            return ahead == 0

        await walk(log, low, allowance, take)
        if is_cut:
            return None
        if low <= stand.log_start or (spots and spots[0].offset < run[0]):
            return spots
        width *= 8


class _Sweep:
    """The way through the other log, from the oldest record that is looked for to the newest.

    Args:
        spans: lowest and highest time of what belongs to one commit, ascending; none of a log that
            has times of its own, where `missing` says what is still to be found.
    """

    def __init__(self, seen: Sightings, spans: Sequence[tuple[int, int]], *, timed: bool) -> None:
        self.seen, self.timed = seen, timed
        self.left = deque(spans)
        self.missing = set() if timed else set(seen.wanted)
        self.last_ms = -1
        self.is_over = False
        self._count = self._found_at = 0
        self._lows: deque[tuple[int, int]] = deque()  # the lowest times of the last LATER records

    def begin(self) -> None:
        """Somewhere else: what was seen before is no neighbour."""
        self._count = self._found_at = 0
        self._lows.clear()

    def take(self, spot: Walked) -> bool:
        """Whether to stop, as all is found, or what is left may lie much farther on."""
        if isinstance(spot, Record):
            self._add(spot)
            return self._is_enough()
        if isinstance(spot, End):
            self.is_over, self.seen.looked_to = True, spot.offset
            if spot.reason == "limit":
                self.seen.unfinished = self.left[0][0] if self.left else None
            is_end = spot.reason == "log_end"
            self.seen.end = spot.offset if is_end else None
            self.seen.edge(Edge.END if is_end else Edge.UNKNOWN)
        return False

    def _add(self, record: Record) -> None:
        mark = fingerprint(record, timed=self.timed)
        self.seen.add(Spot(record.offset, record.timestamp_ms, mark))
        self.last_ms, self._count = record.timestamp_ms, self._count + 1
        if mark in self.missing:
            self.missing.discard(mark)
            self._found_at = self._count
        while self._lows and self._lows[-1][1] >= self.last_ms:
            self._lows.pop()
        self._lows.append((self._count, self.last_ms))
        if self._lows[0][0] <= self._count - LATER:
            self._lows.popleft()

    def _is_enough(self) -> bool:
        if not self.timed:
            self.is_over = not self.missing and self._count - self._found_at >= LATER
            if self.is_over:
                self.left.clear()
            return self.is_over
        before = len(self.left)
        while self.left and self._count >= LATER and self._lows[0][1] > self.left[0][1]:
            self.left.popleft()
        self.is_over = not self.left
        return self.is_over or (before > len(self.left) and self.left[0][0] > self.last_ms)


async def sightings(
    log: OffsetsLog, stand: Stand, wanted: Sequence[Standing], allowance: Allowance
) -> tuple[Sightings, bool]:
    """Twins of these records in the other log; whether their times were compared.

    In a log that has times of its own (LogAppendTime) everything is read from the oldest time on.

    Raises:
        BrokerFailure: the log cannot be read.
        CorruptBatch: what it holds cannot be understood.
    """
    timed = not await _has_own_times(log, stand)
    marks = wanted if timed else [one.untimed() for one in wanted]
    prints = frozenset(spot.print for one in marks for side in one for spot in side)
    seen = Sightings(prints, looked_to=stand.log_start)
    spans = sorted({one.times for one in wanted if one.times is not None})
    sweep = _Sweep(seen, spans, timed=timed)
    offset = -1
    while sweep.left and not sweep.is_over:
        first = await log.first_at(sweep.left[0][0])
        start = max(stand.log_start, (stand.log_end if first is None else first) - STEP_BACK)
        if start > offset:
            seen.edge(Edge.START if start == stand.log_start else Edge.UNKNOWN)
            sweep.begin()
        start = max(start, offset)

        def take(spot: Walked) -> bool:
            nonlocal offset
            offset = spot.next_offset
            return sweep.take(spot)

        await walk(log, start, allowance, take)
    return seen, timed


async def _has_own_times(log: OffsetsLog, stand: Stand) -> bool:
    """Whether records have the time when they were appended."""
    part = await log.fetch(max(stand.log_start, stand.log_end - STEP_BACK), FIRST_BYTES)
    batches = whole_batches(bytes(part.records or b"") if part is not None else b"")
    marks = LOG_APPEND_TIME | CONTROL
    return any(header.attributes & marks == LOG_APPEND_TIME for header, _ in batches)
