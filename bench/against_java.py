"""A benchmark that gives one group to our assignor and to Java's, cold and warm, and compares both.

Each side runs in a process of its own: a first call, cold, then a few, warm. Only the call is
measured, not the building of its input. Both must give the same partitions to the same members.
"""

import json
import sys
from dataclasses import dataclass, replace

from bench.assignor_groups import Shape
from bench.measure import Run, RunFailed
from bench.result import Result, summarize
from bench.stage import Stage
from tests.support.assignors.oracle import java_command
from tests.support.kafka.child import run_program

REPEATS = 5
TIMEOUT_S = 600


@dataclass(frozen=True)
class AgainstJava:
    """Our assignor beside the Java class.

    Args:
        name: short, for the command line and the table.
        shape: the group.
        min_ratio: how many times faster than warm Java it has to be.
        repeats: calls that count on either side.
    """

    name: str
    shape: Shape
    min_ratio: float
    repeats: int = REPEATS

    @property
    def target(self) -> str:
        """The target in words."""
        faster = f"at least {self.min_ratio:g} times faster" if self.min_ratio > 1 else "no slower"
        return f"{faster} than warm Java, in no more memory"

    def run(self, stage: Stage) -> Result:
        """Run both and compare; the memory is what a call adds, Java's the peak of its heap.

        Raises:
            RunFailed: one failed, or they do not agree.
        """
        shape = self.shape
        words = [str(w) for w in (shape.topics, shape.partitions, shape.members, shape.mode)]
        words = [shape.strategy, *words, str(self.repeats)]
        ours = _figures([sys.executable, "-m", "bench.assignor_child", *words])
        java = _figures(java_command("AssignorBench", *words, options=("-Xmx3g",)))
        if ours["checksum"] != java["checksum"]:
            raise RunFailed(f"{self.name}: the two do not give the same assignment")
        rounds = [
            (
                Run(ours["warm_ms"] / 1e3, 0.0, ours["peak_mb"] << 20, ""),
                Run(java["warm_ms"] / 1e3, 0.0, java["heap_peak_mb"] << 20, ""),
            )
        ]
        limit = (java["heap_peak_mb"] << 20) / 1e6
        found = summarize(
            self.name, self.target, rounds, min_ratio=self.min_ratio, max_peak_mb=limit
        )
        return replace(
            found,
            ours_cold_s=round(ours["cold_ms"] / 1e3, 4),
            reference_cold_s=round(java["cold_ms"] / 1e3, 4),
        )


def _figures(command: list[str]) -> dict[str, int]:
    """The JSON line that a measuring process prints."""
    done = run_program(command, timeout_s=TIMEOUT_S)
    if done.returncode != 0:
        raise RunFailed(f"{' '.join(command[-6:])} failed: {done.stderr[-2_000:]}")
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found
