"""What commands are held to, as data: every bench of commands reads its limits here."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class CommandLimit:
    """What a command beside the official tool has to keep to.

    Args:
        times_faster: at least so many times as fast as the official tool.
        max_starts: at most so many times as long as a bare Python start; None: any.
        max_peak_mb: less than this much memory, 10^6 bytes; None: any.
    """

    times_faster: float
    max_starts: float | None = None
    max_peak_mb: float | None = None

    def __str__(self) -> str:
        words = [f"at least {self.times_faster:g} times faster"]
        if self.max_starts is not None:
            words.append(f"at most {self.max_starts:g} times a bare Python start")
        if self.max_peak_mb is not None:
            words.append(f"peak memory < {self.max_peak_mb:g} MB")
        return ", ".join(words)


LIST: Final = CommandLimit(6, max_starts=16)
DESCRIBE_ONE: Final = CommandLimit(6, max_starts=16)
DESCRIBE_ALL: Final = CommandLimit(25, max_peak_mb=200)
"""As a table, as JSON, and over TLS."""
FAR: Final = CommandLimit(3)
"""At 100 ms a round trip, which is most of what a person waits for then."""
DELETE: Final = CommandLimit(3)
RESET: Final = CommandLimit(10)


@dataclass(frozen=True)
class SizeLimit:
    """What a command on a large cluster has to keep to.

    Args:
        groups: of the cluster.
        max_s: seconds of processor time; on a real broker by the clock; None: any.
        max_peak_mb: memory, 10^6 bytes; None: any.
        times_faster: at least so many times as fast as the official tool; None: it is not run.
    """

    groups: int
    max_s: float | None = None
    max_peak_mb: int | None = None
    times_faster: float | None = None


LARGE: Final = 24_000
"""Groups, of 20 commits each: 480,000 commits."""

HUGE: Final = 500_000
"""Groups, of one commit each."""

ON_LARGE_CLUSTERS: Final = {
    "`snapshot save` as `.jsonl.zst`": SizeLimit(LARGE, 4, 200),
    "`describe --all-groups -o jsonl --from` it": SizeLimit(LARGE, 4, 200),
    "`reset-offsets --all-groups`": SizeLimit(LARGE, 10, 400),
    "`describe --all-groups`": SizeLimit(LARGE, times_faster=20),
    "`list`": SizeLimit(HUGE, max_peak_mb=250),
    "`describe --all-groups -o jsonl`": SizeLimit(HUGE, max_peak_mb=500),
}
"""Of these commands, by their names in the table."""
