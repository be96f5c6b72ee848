"""`kgroups wait` on the embedded cluster: outages, rights, and how much it asks."""

import json
from collections.abc import Mapping
from pathlib import Path

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.endings.bad_clusters import without_rights
from tests.support.endings.world import CLIENT, free_port
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.workload import commit_offsets
from tests.support.sandbox.librdkafka_members import Member, wait_for_shares


def test_an_outage_is_survived_and_told() -> None:
    """The cluster comes later: one line when it does not answer, one when it does."""
    port = free_port()
    line = ("wait", "g", "--until", "lag = 0", "--deadline", "6h", "-o", "json")
    with start(*line, "-b", f"127.0.0.1:{port}") as process:
        process.line_that(lambda line: "retrying" in line, stream="stderr")
        with Sandbox(brokers=1, topics={"t": 1}, port=port) as cluster:
            process.line_that(
                lambda line: "the cluster is reachable again" in line, stream="stderr"
            )
            commit_offsets(cluster.bootstrap_servers, {"g": {("t", 0): 0}})
            stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["items"][0]["holds"] is True
    assert "retrying" not in stderr


def test_an_outage_at_the_end() -> None:
    """3, and no group on stdout."""
    at = ("-b", f"127.0.0.1:{free_port()}")
    outcome = run(*at, "wait", "g", "--until", "empty", "--deadline", "1ms", "-o", "json")
    assert (outcome.exit_code, outcome.document["items"]) == (3, [])
    assert outcome.stderr.count("error:") == 1


def test_what_waiting_does_not_mend(tmp_path: Path) -> None:
    """Without rights it ends at once, however long the deadline is."""
    config = tmp_path / "client.properties"
    config.write_text(f"client.id={CLIENT}\n")
    line = ("wait", "g", "--until", "empty", "--deadline", "6h", "--command-config", str(config))
    with (
        Sandbox(brokers=1, topics={"t": 1}) as cluster,
        without_rights(cluster) as address,
        start(*line, "-b", address) as process,
    ):
        _, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 3, stderr
    assert "not authorized" in stderr


def asked(before: Mapping[str, Mapping[int, int]], cluster: Sandbox, api: str) -> int:
    """How many requests of an API came since."""
    now = cluster.request_counts()
    return sum(now.get(api, {}).values()) - sum(before.get(api, {}).values())


def test_one_round_of_requests_a_look() -> None:
    """Each look asks each thing once; a condition on states asks for no offsets."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        address = cluster.bootstrap_servers
        commit_offsets(address, {"g": {("t", 0): 0, ("t", 1): 0}, "h": {("t", 0): 0}})
        for until, offsets in (("lag = 1", 1), ("member_count = 1", 0)):
            before = cluster.request_counts()
            line = ("wait", "g", "h", "--until", until, "--deadline", "1s", "-o", "json")
            outcome = run("-b", address, *line, "--timeout", "60s")
            looks = outcome.document["summary"]["looks"]
            assert (outcome.exit_code, looks >= 2) == (7, True), outcome
            assert asked(before, cluster, "DescribeGroups") == looks
            assert asked(before, cluster, "OffsetFetch") == looks * offsets
            assert asked(before, cluster, "ListOffsets") <= 2 * looks * offsets
            assert asked(before, cluster, "FindCoordinator") <= looks


def test_a_rebalance_starts_the_time_over() -> None:
    """The group is Stable again at the next poll; that it was not in between is seen."""
    line = ("wait", "g", "--until", "stable", "--stable", "6h", "--deadline", "6h")
    with Sandbox(brokers=1, topics={"t": 4}) as cluster:
        address = cluster.bootstrap_servers
        with Member(address, "g", ["t"], "first") as first:
            wait_for_shares([4], first)
            with start(*line, "-b", address) as process:
                process.line_that(lambda line: "holds" in line, stream="stderr")
                with Member(address, "g", ["t"], "second"):
                    process.line_that(lambda line: "it rebalanced" in line, stream="stderr")
                process.end()
