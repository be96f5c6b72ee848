"""The main job, shown on a live cluster: list, describe, dry run, Spark lag report.

`make demo` runs it. Three parts that know nothing of each other: where the cluster comes from
(`cluster`), who lives in it (`scene`), and the commands that are shown (`STEPS`). Each command is
printed before it runs, as one would type it with KGROUPS_BOOTSTRAP_SERVER set.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.sandbox import Sandbox
from tests.kafka.live import LiveGroup, MemberSpec
from tests.kafka.workload import Partition, commit_offsets, create_topics, expire_records, produce

TOPICS = {"orders": 6, "payments": 4, "audit": 2}
RECORDS = {"orders": 500, "payments": 120, "audit": 50}


@dataclass(frozen=True)
class Step:
    """One command of the tour and why it is run."""

    why: str
    arguments: tuple[str, ...]


STEPS = (
    Step("Who is there?", ("list",)),
    Step("How far behind is one group, and who owns what?", ("describe", "orders-app")),
    Step(
        "The members of a classic and of a KIP-848 group, side by side",
        ("describe", "orders-app", "payments-app", "--members"),
    ),
    Step(
        "The three partitions with most lag in the whole cluster",
        ("describe", "--all-groups", "--sort", "lag", "--top", "3"),
    ),
    Step(
        "What would the next rebalance do if one more member joined?",
        ("plan", "orders-app", "--add-members", "1:orders-3"),
    ),
    Step("Lag of every group, topic and member, computed by Spark", ("lag", "report")),
)


def say(text: str) -> None:
    """What the demo does between the commands."""
    print(f"\n# {text}", flush=True)


@contextmanager
def cluster() -> Iterator[str]:
    """Address of a cluster for the demo: the embedded one, which real clients join."""
    print("demo: starting the embedded cluster, 3 brokers", file=sys.stderr, flush=True)
    with Sandbox(brokers=3) as started:
        yield started.bootstrap_servers


@contextmanager
def scene(bootstrap: str) -> Iterator[None]:
    """Topics with records, two groups with live members that lag, and one that nobody runs."""
    print("demo: creating topics, and groups with live members", file=sys.stderr, flush=True)
    create_topics(bootstrap, TOPICS)
    produce(
        bootstrap,
        {
            (topic, number): RECORDS[topic] * (number + 1)
            for topic, count in TOPICS.items()
            for number in range(count)
        },
    )
    with ExitStack() as alive:
        orders = [MemberSpec(f"orders-{number}", ("orders",)) for number in (1, 2)]
        payments = [MemberSpec(f"payments-{number}", ("payments",)) for number in (1, 2, 3)]
        groups = (
            (alive.enter_context(LiveGroup(bootstrap, "orders-app", orders)), "orders"),
            (
                alive.enter_context(
                    LiveGroup(bootstrap, "payments-app", payments, protocol="consumer")
                ),
                "payments",
            ),
        )
        for group, topic in groups:
            group.wait_stable(TOPICS[topic])
            for member in group.members:
                member.commit({at: _half_read(at) for at in member.assignment})
        commit_offsets(bootstrap, {"audit-nightly": {("audit", 0): 10, ("audit", 1): 100}})
        expire_records(bootstrap, {("audit", 0): 30})  # 20 records are gone before it read them
        yield


def _half_read(at: Partition) -> int:
    """Where a member of the demo stands: later partitions lag more."""
    topic, number = at
    return RECORDS[topic] * (number + 1) * 10 // (11 + number)


def tour(bootstrap: str) -> int:
    """Run every step; 0, or the status of the first that failed."""
    kgroups = str(Path(sys.executable).parent / "kgroups")
    environment = {**os.environ, "KGROUPS_BOOTSTRAP_SERVER": bootstrap}
    say(f"export KGROUPS_BOOTSTRAP_SERVER={bootstrap}")
    for step in STEPS:
        say(step.why)
        print(f"$ kgroups {shlex.join(step.arguments)}", flush=True)
        done = subprocess.run([kgroups, *step.arguments], env=environment, check=False)
        if done.returncode != 0:
            return done.returncode
    return 0


def main() -> int:
    """The whole demo. 0, 2 when a broker cannot run here, else the failing command's status."""
    try:
        with cluster() as bootstrap, scene(bootstrap):
            status = tour(bootstrap)
    except KgroupsError as failure:
        hint = f"\n\nhint: {failure.hint}" if failure.hint else ""
        print(f"error: {failure.message}{hint}", file=sys.stderr)
        return failure.exit_code
    if status == 0:
        say("Real clients were in there; the cluster is gone now. `kgroups --help` shows the rest.")
    return status


if __name__ == "__main__":
    sys.exit(main())
