"""How often brokers are asked, what records are deleted: scenarios that look at requests."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.kafka.transport.connection import Connection
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.workload import commit_offsets, create_topics, produce
from tests.support.official.official_world import AUDIT, ORDERS
from tests.support.official.running import run_ours

pytestmark = pytest.mark.kafka


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each API is asked for from now on; the broker answers as ever."""
    found: Counter[str] = Counter()
    ask = Connection.ask

    async def counted(self: Connection, api: Api, *args: Any) -> tuple[int, Any]:
        found[api.name.lower()] += 1
        return await ask(self, api, *args)

    monkeypatch.setattr(Connection, "ask", counted)
    return found


def test_describe_asks_once(full: KafkaCluster, asked: Counter[str]) -> None:
    """All commits by one request, and all ends of logs by one, however many partitions."""
    told = run_ours(["--bootstrap-server", full.bootstrap, "--describe", "--group", "empty-odd"])
    assert told.stdout.count("empty-odd") == 7
    assert (asked["find_coordinator"], asked["offset_fetch"]) == (0, 1)
    assert asked["list_offsets"] == 2  # the starts, and the ends
    describing = {api: count for api, count in asked.items() if api.endswith("describe")}
    assert set(describing.values()) == {1}
    assert asked["describe_groups"] == 1


def test_reset_of_an_unknown_group_asks_once(full: KafkaCluster, asked: Counter[str]) -> None:
    """Topics named whole and by partition are looked up together, and so are their logs."""
    scope = ("--topic", f"{ORDERS}:0,1", "--topic", AUDIT)
    line = ("--reset-offsets", "--group", "dead-group", *scope, "--to-latest", "--dry-run")
    told = run_ours(["--bootstrap-server", full.bootstrap, *line])
    assert (told.status, told.stdout.count("dead-group")) == (0, 5)
    # the look at the cluster itself goes with the first request, and is not counted here
    assert (asked["metadata"], asked["list_offsets"], asked["offset_fetch"]) == (1, 2, 1)
    assert asked["offset_commit"] == 0


def test_delete_records(full: KafkaCluster, tmp_path: Path) -> None:
    """One partition is shortened, one that is not there is an error, one named twice stops all."""
    create_topics(full.bootstrap, {"shortened": 1})
    produce(full.bootstrap, {("shortened", 0): 3})
    file = tmp_path / "records.json"

    def delete(*rows: tuple[int, int]) -> tuple[int, str, str]:
        parts = [{"topic": "shortened", "partition": at, "offset": to} for at, to in rows]
        file.write_text(json.dumps({"partitions": parts, "version": 1}))
        told = run_ours(
            [
                *("delete-records", "--bootstrap-server", full.bootstrap),
                *("--offset-json-file", str(file)),
            ]
        )
        return told.status, told.stdout, told.stderr

    status, stdout, stderr = delete((0, 1), (42, 1), (0, 2))
    assert (status, stdout) == (1, "")
    assert "Offset json file contains duplicate topic partitions: shortened-0" in stderr
    status, stdout, stderr = delete((0, 1), (42, 1))
    assert stdout == (
        "Executing records delete operation\n"
        "Records delete operation completed:\n"
        "partition: shortened-0\tlow_watermark: 1\n"
    )
    assert (status, "partition: shortened-42 error: " in stderr) == (1, True)


def test_null_commits(full: KafkaCluster) -> None:
    """A partition whose commit was deleted is not shown, one that is owned shows a dash."""
    commit_offsets(full.bootstrap, {"nulls": {(AUDIT, 0): 1, (AUDIT, 1): 0, (AUDIT, 2): 0}})
    at = ("--bootstrap-server", full.bootstrap)
    run_ours([*at, "--delete-offsets", "--group", "nulls", "--topic", f"{AUDIT}:1"])
    told = run_ours([*at, "--describe", "--group", "nulls", "--verbose"])
    rows = [line.split()[1:5] for line in told.stdout.splitlines() if line.startswith("nulls")]
    assert rows == [[AUDIT, "0", "-", "1"], [AUDIT, "2", "-", "0"]]
    told = run_ours([*at, "--describe", "--group", "live-static", "--verbose"])
    owned = [line.split()[3:5] for line in told.stdout.splitlines() if "live-static" in line]
    assert owned == [["-", "-"]] * 3
