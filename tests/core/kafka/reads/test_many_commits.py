"""Committed offsets of more groups than one answer may hold."""

from collections.abc import Iterator

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings, RequestTrace
from kgroups.core.protocol.rows import Offsets
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, PartitionLog, Topic
from kgroups.core.snapshot_file import write_snapshot

GROUPS, PARTITIONS, METADATA = 64, 20, 1_000
TEXT = "m" * METADATA
ANSWER_BYTES = GROUPS * PARTITIONS * METADATA
COMMITS: dict[str, Offsets] = {
    f"group-{number:02}": {
        "orders": {
            n: CommittedOffset(number + n, metadata="m" * METADATA) for n in range(PARTITIONS)
        }
    }
    for number in range(GROUPS)
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster with these groups."""
    file = tmp_path_factory.mktemp("fleet") / "fleet.jsonl.zst"
    groups = tuple(
        Group(name, "classic", "Empty", protocol_type="consumer", offsets=offsets)
        for name, offsets in COMMITS.items()
    )
    topic = Topic("orders", {n: PartitionLog(0, 1_000) for n in range(PARTITIONS)})
    write_snapshot(ClusterSnapshot(0, groups, topics={"orders": topic}), file)
    with Sandbox(brokers=1, snapshot=file) as cluster:
        yield cluster.bootstrap_servers


def read_commits(settings: ClientSettings) -> dict[str, object]:
    """Group to its commits."""
    with ClusterAdmin(settings, timeout_ms=60_000) as admin:
        found = admin.snapshot()
    assert not found.errors
    return {group.group: group.offsets for group in found.groups}


@pytest.mark.parametrize("most", [ANSWER_BYTES // 2, ANSWER_BYTES // 8])
def test_an_answer_that_is_too_long_is_asked_for_in_parts(address: str, most: int) -> None:
    """Half as many groups, again and again; the connection that it was sent to is given up."""
    assert read_commits(ClientSettings(address, max_answer_bytes=most)) == COMMITS


def test_thousands_of_groups_a_request(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many requests as it takes, none for nobody."""
    monkeypatch.setattr("kgroups.core.kafka.reads.committed_offsets.GROUPS_AT_ONCE", GROUPS // 3)
    asked: list[RequestTrace] = []
    assert read_commits(ClientSettings(address, trace=asked.append)) == COMMITS
    assert [trace.api for trace in asked].count("OffsetFetch") == 4
