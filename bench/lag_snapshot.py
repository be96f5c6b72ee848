"""A benchmark of `kgroups lag report` on a snapshot, beside the same report on Spark's defaults.

Run as a program (snapshot file, number of rows) it is the reference: a session as Spark makes it
when nothing is set. Prints the rows as JSON.
"""

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.lag_captures import CACHE
from bench.measure import Run, RunFailed, run_measured
from bench.result import Result, summarize
from bench.stage import Stage, say
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    PartitionLog,
    Topic,
)
from kgroups.core.snapshot_file import read_snapshot, write_snapshot

PARTITIONS, MEMBERS, TOPICS = 24, 6, 50
TOP = 20


def snapshot_of(groups: int) -> Path:
    """A snapshot file of `groups` groups with 24 partitions and 6 members each."""
    path = CACHE / f"snapshot-{groups}.json"
    if not path.exists():
        say(f"making a snapshot of {groups * PARTITIONS:,} partitions")
        CACHE.mkdir(parents=True, exist_ok=True)
        write_snapshot(_snapshot(groups), path)
    return path


def _snapshot(groups: int) -> ClusterSnapshot:
    """The same every time."""
    rng = random.Random(24)
    names = [f"topic-{number:02}" for number in range(TOPICS)]
    topics = {
        name: Topic(
            name,
            {p: PartitionLog(0, rng.randrange(10_000), leader=1) for p in range(PARTITIONS)},
        )
        for name in names
    }
    return ClusterSnapshot(
        captured_at_ms=1_760_000_000_000,
        groups=tuple(
            _group(rng, f"group-{number:05}", topics[names[number % TOPICS]])
            for number in range(groups)
        ),
        topics=topics,
        cluster_id="bench",
    )


def _group(rng: random.Random, name: str, topic: Topic) -> Group:
    """A group that reads one topic with six members."""
    offsets = {
        partition: CommittedOffset(rng.randrange((log.log_end_offset or 0) + 1))
        for partition, log in topic.partitions.items()
    }
    share = PARTITIONS // MEMBERS
    members = tuple(
        Member(
            f"{name}-{number}",
            f"client-{number}",
            f"/10.0.0.{number}",
            subscription=(topic.topic,),
            assignment={topic.topic: tuple(range(number * share, (number + 1) * share))},
        )
        for number in range(MEMBERS)
    )
    return Group(
        name,
        "classic",
        "Stable",
        protocol_type="consumer",
        assignor="range",
        members=members,
        offsets={topic.topic: offsets},
    )


@dataclass(frozen=True)
class BesideDefaults:
    """Our command, and the same report on Spark as it comes, whole processes."""

    name: str
    groups: int
    min_ratio: float
    rounds: int = 2

    @property
    def target(self) -> str:
        """The target in words."""
        return f"at least {self.min_ratio:g} times faster than on Spark's defaults"

    def run(self, stage: Stage) -> Result:
        """Alternate both and compare what they say each time.

        Raises:
            RunFailed: one failed, or the two do not answer the same.
        """
        path = str(snapshot_of(self.groups))
        kgroups = str(Path(sys.executable).parent / "kgroups")
        ours = [kgroups, "lag", "report", "--from", path, "--top", str(TOP), "-o", "json"]
        defaults = [sys.executable, "-m", "bench.lag_snapshot", path, str(TOP)]
        rounds: list[tuple[Run, Run]] = []
        for _ in range(self.rounds + 1):
            pair = (run_measured(ours), run_measured(defaults))
            if json.loads(pair[0].stdout)["items"] != json.loads(pair[1].stdout):
                raise RunFailed(f"{self.name}: the two do not answer the same")
            rounds.append(pair)
        return summarize(
            self.name, self.target, rounds[1:], min_ratio=self.min_ratio, max_peak_mb=None
        )


def main() -> None:
    """The reference."""
    from pyspark.sql import SparkSession

    from kgroups.core.lag.report import LagQuery, lag_report

    path, top = sys.argv[1:]
    session = SparkSession.builder.getOrCreate()
    report = lag_report([read_snapshot(Path(path))], LagQuery(top=int(top)), session=session)
    print(json.dumps(report.items))


if __name__ == "__main__":
    main()
