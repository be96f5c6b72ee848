"""Lag of every group over virtual time, in a number of samples that does not grow."""

from typing import Final

from kgroups.core.simulation.figures.ledger import Ledger, Stretch
from kgroups.core.simulation.figures.outcome import Sample
from kgroups.core.simulation.world.partition_logs import Logs

MAX_SAMPLES: Final = 240
# A group that is behind by less than it gets in this time reads as records come.
PASSING_MS: Final = 2_000


class LagWatch:
    """One group's samples; where they get too many, every other one is left out.

    Attributes:
        samples: kept ones.
        behind: time in which the group was behind by more than in passing.
        peak: most unread records at a sample since somebody owned a partition; it is kept.
    """

    def __init__(self, ledger: Ledger, logs: Logs) -> None:
        self._ledger, self._logs = ledger, logs
        self._every, self._seen, self._start_ms = 1, 0, 0
        self.samples: list[Sample] = []
        self.behind = Stretch()
        self.peak = 0
        self._highest: Sample | None = None

    def look(self, now_ms: int, start_ms: int) -> Sample:
        """Take a sample."""
        self._start_ms = start_ms
        sample, coming = self._measure(now_ms, start_ms)
        if self._ledger.first_owned_ms is not None:
            self._judge(now_ms, sample, coming)
        if self._seen % self._every == 0:
            self.samples.append(sample)
        self._seen += 1
        if len(self.samples) > MAX_SAMPLES:
            del self.samples[1::2]
            self._every *= 2
        return sample

    def kept(self) -> tuple[Sample, ...]:
        """Samples from when the group began to read, the peak among them."""
        first_ms = self._ledger.first_owned_ms
        if first_ms is None or self._highest is None:
            return tuple(self.samples)
        from_ms = first_ms - self._start_ms
        samples = {sample.at_ms: sample for sample in (*self.samples, self._highest)}
        return tuple(samples[at_ms] for at_ms in sorted(samples) if at_ms >= from_ms)

    def _judge(self, now_ms: int, sample: Sample, coming: float) -> None:
        """Whether the group is behind; before anybody read, nobody could be."""
        if self._highest is None or sample.unread > self.peak:
            self.peak, self._highest = sample.unread, sample
        if sample.unread > coming * PASSING_MS + len(self._ledger.accounts):
            self.behind.begin(now_ms)
        else:
            self.behind.end(now_ms)

    def _measure(self, now_ms: int, start_ms: int) -> tuple[Sample, float]:
        unread = lag = 0
        coming = 0.0
        logs, committed = self._logs.partitions, self._ledger.committed
        read, elsewhere = self._ledger.highest.offsets, self._ledger.highest.elsewhere
        for partition in self._ledger.accounts:
            records = logs[partition]
            end = records.end(now_ms)
            at = committed.get(partition, 0)
            seen = read.get(partition, at)
            if seen < at:
                seen = at
            if elsewhere and partition in elsewhere:
                seen = elsewhere[partition]
            unread += end - seen
            lag += end - at
            coming += records.per_ms
        return Sample(now_ms - start_ms, unread, lag), coming
