"""A benchmark that runs our command and the official tool's by turns and compares both."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.limits import CommandLimit
from bench.measure import Run, RunFailed, run_measured
from bench.result import Result, Row, summarize
from bench.stage import Stage
from tests.support.kafka.broker_config import SecurityProtocol
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import LOG_SETTINGS
from tests.support.kafka.official_tools import MAIN_CLASSES

# As Kafka's own start script runs its tools when nothing is set in the environment.
SCRIPT_FLAGS = (
    *("-Xmx256M", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent"),
    *("-XX:MaxInlineLevel=15", "-Djava.awt.headless=true"),
    f"-Dlog4j2.configurationFile={LOG_SETTINGS}",
)


def official_command(*words: str) -> list[str]:
    """`kafka-consumer-groups.sh WORDS`, in a fresh JVM."""
    main = MAIN_CLASSES["consumer-groups"]
    return ["java", *SCRIPT_FLAGS, "-cp", class_path(), main, *words]


class Benchmark(Protocol):
    """What every module in `bench.benchmarks` has under the name `BENCHMARK`."""

    @property
    def name(self) -> str:
        """Short, for the command line and the table."""

    def run(self, stage: Stage) -> Row:
        """Run it and give its figures."""


@dataclass(frozen=True)
class AgainstOfficial:
    """Our command beside the official consumer-groups tool in a fresh JVM.

    Args:
        name: short, for the command line and the table.
        ours, official: arguments after `--bootstrap-server ADDRESS`; `{scratch}` stands for a
            folder, in benchmarks that write.
        answers: what must be equal in both outputs: (ours, official) -> two comparable values.
        limit: what ours has to keep to.
        protocol: how both connect.
        is_far: over a way on which a round trip takes 100 ms.
        rounds: pairs of runs that count; one more before them warms the page cache.
        writes: whether they change the stage, which is then filled again before each run.
    """

    name: str
    ours: tuple[str, ...]
    official: tuple[str, ...]
    answers: Callable[[str, str], tuple[object, object]]
    limit: CommandLimit
    protocol: SecurityProtocol = "PLAINTEXT"
    is_far: bool = False
    rounds: int = 5
    writes: bool = False

    @property
    def target(self) -> str:
        """The target in words."""
        return str(self.limit)

    def run(self, stage: Stage) -> Result:
        """Alternate both commands and compare what they say each time.

        Raises:
            RunFailed: a command failed, or the two do not answer the same.
        """
        address = stage.connection(self.protocol, is_far=self.is_far)
        kgroups = str(Path(sys.executable).parent / "kgroups")
        ours = [kgroups, *address, *self.ours]
        official = official_command(*address, *self.official)
        rounds: list[tuple[Run, Run]] = []
        bare: list[Run] = []
        for _ in range(self.rounds + 1):
            pair = (self._once(stage, ours), self._once(stage, official))
            mine, theirs = self.answers(pair[0].stdout, pair[1].stdout)
            if mine != theirs or not mine:
                raise RunFailed(f"{self.name}: the two tools do not answer the same")
            rounds.append(pair)
            if self.limit.max_starts is not None:
                bare.append(run_measured([sys.executable, "-c", "pass"]))
        if self.writes:
            stage.fill()
        return summarize(
            self.name,
            self.target,
            rounds[1:],
            min_ratio=self.limit.times_faster,
            max_peak_mb=self.limit.max_peak_mb,
            bare=bare[1:],
            max_starts=self.limit.max_starts,
        )

    def _once(self, stage: Stage, command: Sequence[str]) -> Run:
        """One run, from the same stage each time."""
        if not self.writes:
            return run_measured(command)
        stage.fill()
        with tempfile.TemporaryDirectory(prefix="kgroups-bench-") as scratch:
            return run_measured([word.replace("{scratch}", scratch) for word in command])
