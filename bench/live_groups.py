"""A benchmark that plans a group of live members, on a real broker and on the embedded cluster."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.measure import Run, RunFailed, run_measured
from bench.result import PlanResult, summarize_plan
from bench.stage import Stage
from kgroups.core.kafka.admin import ClusterAdmin
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.libraries import Library, Protocol
from tests.support.fidelity.resting import Rest
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.workload import create_topics

MEMBERS = 4
PARTITIONS = 12  # of each of two topics
LIMIT_S = 0.3
ROUNDS = 9


@dataclass(frozen=True)
class PlanOfLiveGroup:
    """The whole command `kgroups plan GROUP` for a group of four members and 24 partitions.

    Args:
        name: short, for the command line and the table.
        library: whose members these are.
        changes: options of the command.
        joins: how many members they add.
    """

    name: str
    library: Library
    protocol: Protocol
    strategy: str
    changes: tuple[str, ...] = ()
    joins: int = 0

    @property
    def target(self) -> str:
        """The target in words."""
        return f"under {LIMIT_S:g} s of processor time on both"

    def run(self, stage: Stage) -> PlanResult:
        """Plan the group on the real broker, then on the embedded cluster.

        Raises:
            RunFailed: the command failed, or planned another group.
        """
        return summarize_plan(
            self.name,
            self.target,
            self._runs(stage, stage.bootstrap),
            self._runs(stage, stage.embedded),
            limit_s=LIMIT_S,
        )

    def _runs(self, stage: Stage, bootstrap: str) -> Sequence[Run]:
        """The runs that count; one more before them warms the page cache, and is looked at."""
        group = f"plan-{self.library}-{self.strategy}{'-joins' if self.joins else ''}"
        kgroups = str(Path(sys.executable).parent / "kgroups")
        command = [kgroups, "--bootstrap-server", bootstrap, "plan", group, *self.changes]
        with self._live(stage, bootstrap, group):
            (item,) = json.loads(run_measured([*command, "-o", "json"]).stdout)["items"]
            if len(item["members"]) != MEMBERS + self.joins or not item["confidence"]:
                raise RunFailed(f"{self.name}: another group was planned")
            return [run_measured(command) for _ in range(ROUNDS)]

    @contextmanager
    def _live(self, stage: Stage, bootstrap: str, group: str) -> Iterator[None]:
        """The group, at rest, until it is not needed any more."""
        topics = {f"{group}-orders": PARTITIONS, f"{group}-payments": PARTITIONS}
        create_topics(bootstrap, topics)
        members = [MemberSpec(f"app-{n}", self.library, tuple(topics)) for n in range(MEMBERS)]
        driven = DrivenGroup(stage.hosts, bootstrap, group, self.protocol, self.strategy, topics)
        with driven, ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=30_000) as admin:
            driven.join(members)
            Rest(admin, driven).settled()
            yield
