"""The figures of one benchmark, and what they are worth against its target."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from bench.measure import Run


class Row(Protocol):
    """One line of a table."""

    @property
    def name(self) -> str: ...

    @property
    def target(self) -> str: ...

    @property
    def passed(self) -> bool: ...

    @property
    def figures(self) -> str:
        """The figures in words."""

    def as_json(self) -> dict[str, Any]:
        """The form in results.json."""


def verdict(passed: object) -> str:
    """PASS or MISS."""
    return "PASS" if passed else "MISS"


def seconds(value: object) -> str:
    """A time as people read it: milliseconds where a second is too coarse."""
    assert isinstance(value, int | float)
    return f"{value:.2f} s" if value >= 0.1 else f"{value * 1e3:.1f} ms"


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
        starts: median over the rounds of our time / that of a bare Python start; None where there
            is no limit to it.
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
    starts: float | None = None
    ours_cold_s: float | None = None
    reference_cold_s: float | None = None

    @property
    def figures(self) -> str:
        """The figures in words, with what the first calls took where calls are measured."""
        cold = ""
        if self.ours_cold_s is not None and self.reference_cold_s is not None:
            cold = f" (cold {seconds(self.ours_cold_s)} against {seconds(self.reference_cold_s)})"
        starts = "" if self.starts is None else f", {self.starts:g} bare starts"
        return (
            f"{seconds(self.ours_s)} against {seconds(self.reference_s)}{cold},"
            f" {self.ratio} times faster{starts}, peak {self.ours_peak_mb:g} MB"
        )

    def as_json(self) -> dict[str, Any]:
        """The form in results.json: what does not apply is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True)
class PlanResult:
    """One line of the table of plans, which have nothing beside them: medians of whole commands.

    Args:
        name: the benchmark's.
        target: in words.
        broker_s, embedded_s: seconds from start to end, on a real broker and the embedded cluster.
        broker_cpu_s, embedded_cpu_s: the command's processor time, seconds.
        peak_mb: highest peak of any run, 10^6 bytes.
        passed: whether the target is met.
    """

    name: str
    target: str
    broker_s: float
    broker_cpu_s: float
    embedded_s: float
    embedded_cpu_s: float
    peak_mb: float
    passed: bool

    @property
    def figures(self) -> str:
        """The figures in words."""
        return (
            f"{seconds(self.broker_s)} (processor {seconds(self.broker_cpu_s)}), on the embedded"
            f" cluster {seconds(self.embedded_s)} ({seconds(self.embedded_cpu_s)}),"
            f" peak {self.peak_mb:g} MB"
        )

    def as_json(self) -> dict[str, Any]:
        """The form in results.json."""
        return asdict(self)


def summarize(
    name: str,
    target: str,
    rounds: Sequence[tuple[Run, Run]],
    *,
    min_ratio: float,
    max_peak_mb: float | None,
    bare: Sequence[Run] = (),
    max_starts: float | None = None,
) -> Result:
    """Medians of the rounds (ours, reference) against the target.

    Args:
        bare: a bare Python start in each round, where ours is held to `max_starts` times it.
    """
    passed = True
    starts = None
    if max_starts is not None:
        pairs = zip(rounds, bare, strict=True)
        starts = round(statistics.median(ours.wall_s / run.wall_s for (ours, _), run in pairs), 1)
        passed = starts <= max_starts
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
        passed=passed
        and ratio >= min_ratio
        and (max_peak_mb is None or ours_peak_mb < max_peak_mb),
        starts=starts,
    )


def summarize_plan(
    name: str, target: str, broker: Sequence[Run], embedded: Sequence[Run], *, limit_s: float
) -> PlanResult:
    """Medians of the runs on a real broker and on the embedded cluster.

    Members and clusters share the processors with the command, so that its processor time is held
    to the limit, on both.
    """
    walls = [statistics.median(run.wall_s for run in runs) for runs in (broker, embedded)]
    cpus = [statistics.median(run.cpu_s for run in runs) for runs in (broker, embedded)]
    return PlanResult(
        name=name,
        target=target,
        broker_s=round(walls[0], 4),
        broker_cpu_s=round(cpus[0], 4),
        embedded_s=round(walls[1], 4),
        embedded_cpu_s=round(cpus[1], 4),
        peak_mb=round(max(run.peak_bytes for run in (*broker, *embedded)) / 1e6),
        passed=max(cpus) < limit_s,
    )
