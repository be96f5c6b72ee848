"""Predictions of `plan` against what a real broker and members of seven client libraries then do.

Each change of each group is predicted from what the admin side shows, made, and compared. As many
as wanted: `KGROUPS_FIDELITY_CHANGES` (in all groups of a seed together) and `KGROUPS_FIDELITY_SEED`
(one or several, with commas); the counts then go to docs/fidelity.md. `KGROUPS_FIDELITY_RELEASE`
says on brokers of which release.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.fidelity.driving import Result, drive
from tests.support.fidelity.hosts.pool import HostPool, present_libraries
from tests.support.fidelity.scripts import Script
from tests.support.fidelity.selection import (
    FIRST,
    few_scripts,
    many_scripts,
    speaks_java_or_librdkafka,
)
from tests.support.fidelity.table import (
    beside_embedded,
    differences,
    judged,
    share,
    tables,
    told,
    write_page,
    wrong,
)
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.releases import NEWEST

CHANGES: Final = int(os.environ.get("KGROUPS_FIDELITY_CHANGES", "0"))
SEEDS: Final = [int(s) for s in os.environ.get("KGROUPS_FIDELITY_SEED", "1").split(",")]
WANTED: Final = (
    ["as many as asked for"]
    if CHANGES
    else ["a share", pytest.param("every library", marks=pytest.mark.slow("six kinds of programs"))]
)
RELEASE: Final = os.environ.get("KGROUPS_FIDELITY_RELEASE") or NEWEST
AT_ONCE: Final = 8
RACKS: Final = ("a", "b")
PROPERTIES: Final = {
    "group.consumer.session.timeout.ms": "8000",
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.assignment.interval.ms": "1000",
}

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.timeout(900 + 30 * CHANGES * len(SEEDS)),
    pytest.mark.slow("more brokers and clients; a few: tests/fidelity/test_simulation_truth.py"),
]


@dataclass(frozen=True)
class Run:
    """The results of all groups.

    Args:
        scripts: what was to happen to them.
        embedded: those of the groups that were driven on the embedded cluster, too.
    """

    scripts: list[Script]
    results: list[Result]
    embedded: list[Result]


def scripts(wanted: str) -> list[Script]:
    """The groups to drive."""
    if not CHANGES:
        return few_scripts(SEEDS[0], every_library=wanted == "every library")
    return [script for seed in SEEDS for script in many_scripts(seed, CHANGES)]


def driven(pool: HostPool, bootstrap: str, script: Script) -> list[Result]:
    """The results of a group, which is begun anew, once, where a client broke."""
    results = drive(pool, bootstrap, script)
    if results[-1].verdict == "broken":
        results += drive(pool, bootstrap, script.again())
    return results


@pytest.fixture(scope="module", params=WANTED)
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """What came of every change; groups are driven some at a time."""
    count = len(RACKS)
    spec = ClusterSpec(brokers=count, racks=RACKS, properties=PROPERTIES, release=RELEASE)
    wanted = scripts(request.param)
    both = [script for script in wanted if speaks_java_or_librdkafka(script)]
    limit = 300 + 30 * CHANGES * len(SEEDS)
    with (
        KafkaCluster(spec) as kafka,
        Sandbox(brokers=count, racks=RACKS, properties=PROPERTIES, as_version=RELEASE) as sandbox,
        HostPool() as pool,
        ThreadPoolExecutor(AT_ONCE) as threads,
    ):

        def results(bootstrap: str, scripts: list[Script]) -> list[Result]:
            started = [threads.submit(driven, pool, bootstrap, script) for script in scripts]
            return [result for future in started for result in future.result(limit)]

        # One cluster after the other: programs know a member by its group's name and its own.
        real = results(kafka.bootstrap, wanted)
        yield Run(wanted, real, results(sandbox.bootstrap_servers, both))


@pytest.fixture(scope="module", autouse=True)
def counted(run: Run, pytestconfig: pytest.Config) -> None:
    """Print the counts, and put those of a run that was asked for into the page."""
    block = tables(run.results, beside_embedded(run.results, run.embedded), SEEDS, RELEASE)
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        odd = [each for each in (*run.results, *run.embedded) if each.verdict != "right"]
        lines = [f"{each.verdict}: {told(each)}" for each in odd]
        reporter.write("\n" + "\n".join([block, *lines, ""]))
    if CHANGES:
        write_page(block, RELEASE)


def test_what_is_exact_comes_true(run: Run) -> None:
    """Nothing else ever happens, also where the plan is not told the library."""
    assert [told(each) for each in run.results if each.unaided == ("exact", "wrong")] == []
    assert [told(each) for each in wrong(run.results) if each.confidence == "exact"] == []


def test_outcomes_contain_what_happens(run: Run) -> None:
    """A list that is called complete is; and where only sizes are promised, they come."""
    named = ("outcomes", "counts", "refused", "none")
    assert [told(each) for each in wrong(run.results) if each.confidence in named] == []


def test_what_is_likely_names_what_happens(run: Run) -> None:
    """At least 19 times of 20."""
    likely = [each for each in judged(run.results) if each.confidence == "likely"]
    assert len(wrong(likely)) <= max(1, len(likely) // 20), [told(e) for e in wrong(likely)]


def test_most_is_exact(run: Run) -> None:
    """At least half of them: a plan that promises nothing is never wrong."""
    made = judged(run.results)
    pure = [each for each in made if each.label != "mixed"]
    exact = [each for each in made if each.confidence == "exact"]
    assert share([each for each in exact if each.label != "mixed"], pure) >= 0.5
    assert share(exact, made) >= 0.5


def test_all_libraries_and_protocols_are_among_them(run: Run) -> None:
    """Most changes, as most clients did not break: of all libraries, or a share of a few groups."""
    made = judged(run.results)
    steps = sum(len(script.steps) for script in run.scripts)
    is_share = len(run.scripts) == FIRST
    # A group that broke twice takes all that was left of its changes along.
    least = 0.8 if CHANGES else 0.75
    assert len(made) >= steps * least
    alone = {script.label for script in run.scripts} - {"mixed"}
    assert {each.label for each in made} >= alone
    assert {each.protocol for each in made} == {"classic", "consumer"}
    assert is_share or alone == set(present_libraries())


def test_the_embedded_cluster_ends_as_the_real_one(run: Run) -> None:
    """What Java's and librdkafka's members have there is what they have on the real broker."""
    assert run.embedded
    assert [told(e) for e in wrong(run.embedded) if e.confidence == "exact"] == []
    assert differences(run.results, run.embedded) == []
