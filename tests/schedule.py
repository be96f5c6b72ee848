"""In which order files of tests go to the processes of a run, and which of them stay together.

pytest-xdist hands out a file at a time. Here a group of files that share something heavy is one
such unit, so that one process alone starts it; and what takes longest goes first, so that no
process is left alone with it at the end.
"""

from collections.abc import Iterable, Mapping

import pytest
from xdist.remote import Producer
from xdist.scheduler.loadfile import LoadFileScheduling

TOGETHER: Mapping[str, tuple[str, ...]] = {
    "the session of Spark": (
        "tests/cli/commands/test_lag.py",
        "tests/cli/test_lag_stores.py",
        "tests/core/lag/window/test_commit_log.py",
        "tests/core/spark/test_remote_spark.py",
        "tests/core/lag/fleet/test_fleet_plan.py",
        "tests/core/lag/window/test_trends.py",
        "tests/core/lag/window/test_planned_trends.py",
        "tests/core/lag/window/test_rows_here.py",
        "tests/core/lag/test_isolation.py",
        "tests/core/lag/test_pictures.py",
        "tests/core/lag/test_report.py",
        "tests/core/lag/test_rosters.py",
        "tests/core/lag/window/test_plain_truth.py",
        "tests/core/lag/window/test_comparison.py",
        "tests/core/lag/window/test_hourly_truth.py",
        "tests/core/lag/window/test_known_figures.py",
        "tests/core/lag/window/test_monthly_truth.py",
        "tests/core/lag/test_query_cost.py",
        "tests/core/lag/test_transforms.py",
        "tests/core/lag/window/test_windows.py",
        "tests/core/sources/test_sources.py",
        "tests/core/sources/test_spark_guide.py",
        "tests/core/spark/plans/test_frames.py",
        "tests/core/spark/test_jobs.py",
        "tests/core/spark/test_late_session.py",
        "tests/core/simulation/test_spark.py",
        "tests/kafka/reads/test_acls.py",
        "tests/pages/test_hostile_names.py",
        "tests/pages/test_lag_page.py",
    ),
    "the world of the official tool": (
        "tests/official/test_conformance.py",
        "tests/official/test_differential.py",
        "tests/official/test_live.py",
        "tests/official/test_messages.py",
        "tests/official/test_plain.py",
        "tests/official/test_requests.py",
        "tests/official/test_undo.py",
    ),
    "the brokers that let not everybody in": (
        "tests/kafka/security/test_certificates.py",
        "tests/kafka/security/test_history_rights.py",
        "tests/kafka/security/test_java_stores.py",
        "tests/kafka/security/test_leader_rights.py",
        "tests/kafka/security/test_mutual_tls.py",
        "tests/kafka/security/test_ping.py",
        "tests/kafka/security/test_process_list.py",
        "tests/kafka/security/test_secure.py",
        "tests/kafka/security/test_secure_writes.py",
        "tests/kafka/writes/test_endings.py",
        "tests/official/test_guarded.py",
    ),
    "the three brokers": (
        "tests/kafka/chaos/test_rounds.py",
        "tests/kafka/writes/test_failover.py",
    ),
}
"""Files that share a fixture which takes long to make."""

FIRST: tuple[str, ...] = (
    "the session of Spark",
    "tests/cli/test_bad_files.py",
    "tests/kafka/reads/test_lag_over_time.py",
    "tests/assignors/java/test_oracle.py",
    "tests/core/coordinator/test_against_kafka.py",
    "tests/fidelity/test_fidelity.py",
    "tests/fidelity/test_simulation_truth.py",
    "tests/kafka/brokers/test_broker.py",
    "tests/kafka/brokers/test_releases.py",
    "the brokers that let not everybody in",
    "the three brokers",
    "tests/kafka/security/test_acl_denials.py",
    "tests/kafka/reads/test_partial.py",
    "tests/cli/test_escapes.py",
    "tests/cli/test_documents.py",
    "tests/core/spark/test_session.py",
    "tests/kafka/writes/test_unknown_outcomes.py",
    "tests/core/sandbox/suites/test_own_unknown_outcomes.py",
    "tests/cli/endings/test_names.py",
    "tests/core/spark/test_reach.py",
    "tests/assignors/other_clients/test_program_clients.py",
    "the world of the official tool",
    "tests/kafka/writes/test_broker_gone.py",
    "tests/core/sandbox/suites/test_contract.py",
    "tests/core/coordinator/test_recorded.py",
    "tests/cli/endings/test_streams.py",
    "tests/kafka/reads/test_moments.py",
    "tests/cli/endings/test_interrupted_writes.py",
    "tests/cli/endings/test_signals.py",
    "tests/official/test_on_sandbox.py",
    "tests/house/test_demo.py",
    "tests/kafka/brokers/test_workload.py",
    "tests/core/kafka/test_hostile_brokers.py",
    "tests/cli/endings/test_clusters.py",
    "tests/kafka/security/test_security.py",
    "tests/house/test_left_behind.py",
    "tests/core/simulation/test_truth.py",
    "tests/official/test_alone.py",
    "tests/core/sandbox/wire/test_malformed_frames.py",
    "tests/core/sandbox/clients/test_foreign_clients.py",
)
"""Units of some twenty seconds and more, the longest first."""


def unit_of(nodeid: str) -> str:
    """What a test is handed out with: its file, or the name of files that stay together."""
    file = nodeid.split("::", 1)[0]
    for name, places in TOGETHER.items():
        if file in places:
            return name
    return file


def in_order(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The tests of the longest units first; the others in the order that they came in."""
    place = {unit: number for number, unit in enumerate(FIRST)}
    return sorted(items, key=lambda item: place.get(unit_of(item.nodeid), len(FIRST)))


class Schedule(LoadFileScheduling):  # type: ignore[misc]
    """xdist's schedule by files, with units instead."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # by the number of tests

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid)
