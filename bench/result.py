"""The figures of one benchmark, and what they are worth against its target."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from bench.measure import Run


@dataclass(frozen=True)
class Result:
    """One line of the table.

    Args:
        name: the benchmark's.
        target: in words.
        ours_s, reference_s: median seconds of a run.
        ratio: median over the rounds of reference time / our time.
        ours_peak_mb, reference_peak_mb: highest peak of any round, 10^6 bytes.
        passed: whether the target is met.
        ours_cold_s, reference_cold_s: seconds of the first call in a fresh process, where calls are
            measured and not commands; None otherwise.
    """

    name: str
    target: str
    ours_s: float
    reference_s: float
    ratio: float
    ours_peak_mb: float
    reference_peak_mb: float
    passed: bool
    ours_cold_s: float | None = None
    reference_cold_s: float | None = None

    @property
    def verdict(self) -> str:
        """PASS or MISS."""
        return "PASS" if self.passed else "MISS"

    def as_json(self) -> dict[str, object]:
        """The form in results.json: what does not apply is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def summarize(
    name: str,
    target: str,
    rounds: Sequence[tuple[Run, Run]],
    *,
    min_ratio: float,
    max_peak_mb: float | None,
) -> Result:
    """Medians of the rounds (ours, reference) against the target."""
    ratio = statistics.median(reference.wall_s / ours.wall_s for ours, reference in rounds)
    ours_peak_mb = max(ours.peak_bytes for ours, _ in rounds) / 1e6
    return Result(
        name=name,
        target=target,
        ours_s=round(statistics.median(ours.wall_s for ours, _ in rounds), 4),
        reference_s=round(statistics.median(reference.wall_s for _, reference in rounds), 4),
        ratio=round(ratio, 1),
        ours_peak_mb=round(ours_peak_mb),
        reference_peak_mb=round(max(reference.peak_bytes for _, reference in rounds) / 1e6),
        passed=ratio >= min_ratio and (max_peak_mb is None or ours_peak_mb < max_peak_mb),
    )
