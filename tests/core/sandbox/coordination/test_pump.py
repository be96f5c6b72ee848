"""The driver of a coordinator: when the log refuses, the change is taken back and told."""

from pathlib import Path

import pytest

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.sandbox.storage.data_directory import DataDirectory
from tests.support.protocol.plain import Body
from tests.support.sandbox.frame_client import WireClient, connected, join_body

LONG_NAME = "x" * 40_000
NOT_COORDINATOR, UNKNOWN_SERVER_ERROR = 16, -1


def commit_body(group: str, offset: int) -> Body:
    """An OffsetCommit of one partition by nobody in particular."""
    partition = {
        "partition_index": 0,
        "committed_offset": offset,
        "committed_leader_epoch": -1,
        "committed_metadata": None,
    }
    return {
        "group_id": group,
        "generation_id_or_member_epoch": -1,
        "member_id": "",
        "group_instance_id": None,
        "topics": [{"name": "t", "partitions": [partition]}],
    }


def committed(client: WireClient, group: str) -> int:
    """The group's offset; -1 for none."""
    asked = [{"name": "t", "partition_indexes": [0]}]
    answer = client.ask(Api.OFFSET_FETCH, 6, {"group_id": group, "topics": asked})
    return int(answer["topics"][0]["partitions"][0]["committed_offset"])


def test_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit that cannot be stored is refused and not seen; the next one counts."""
    real = DataDirectory.append
    full = True

    def append(self: DataDirectory, topic: str, partition: int, batch: bytes) -> None:
        if full:
            raise OSError("no space left")
        real(self, topic, partition, batch)

    monkeypatch.setattr(DataDirectory, "append", append)
    with connected(topics={"t": 1}, data_dir=tmp_path) as (_, client):
        answer = client.ask(Api.OFFSET_COMMIT, 7, commit_body("g", 5))
        assert answer["topics"][0]["partitions"][0]["error_code"] == NOT_COORDINATOR
        assert committed(client, "g") == -1
        full = False
        answer = client.ask(Api.OFFSET_COMMIT, 7, commit_body("g", 6))
        assert answer["topics"][0]["partitions"][0]["error_code"] == 0
        assert committed(client, "g") == 6


def test_name_that_no_record_holds(one: Sandbox) -> None:
    """A group whose name is too long for a record is refused, and others are not disturbed."""
    with WireClient(one.bootstrap_servers) as client:
        answer = client.ask(Api.OFFSET_COMMIT, 8, commit_body(LONG_NAME, 5))
        assert answer["topics"][0]["partitions"][0]["error_code"] == UNKNOWN_SERVER_ERROR
        joined = client.ask(Api.JOIN_GROUP, 9, join_body(LONG_NAME))
        assert joined["error_code"] in (79, UNKNOWN_SERVER_ERROR)
        assert client.ask(Api.JOIN_GROUP, 3, join_body("short"))["error_code"] == 0
        assert client.ask(Api.LIST_GROUPS, 0)["error_code"] == 0
    assert not any(" failed: " in str(line) for line in one.events)
