"""With a data directory nothing that was acknowledged is lost, not even by kill -9."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.sandbox.librdkafka_members import Member, members, produce, wait_for_shares
from tests.support.sandbox.sandbox_process import SandboxProcess


def test_restart(tmp_path: Path) -> None:
    """Records, offsets, ids, settings and the log's start are there after a restart."""
    with Sandbox(brokers=2, topics={"t": 4}, data_dir=tmp_path) as cluster:
        cluster_id = cluster.cluster_id
        produce(cluster.bootstrap_servers, "t", 40, enable_idempotence=True)
        with Member(cluster.bootstrap_servers, "g", ["t"], "m") as member:
            wait_until(lambda: len(member.values) == 40, what="40 records")
    with Sandbox(brokers=2, topics={"t": 4, "new": 1}, data_dir=tmp_path) as cluster:
        servers = cluster.bootstrap_servers
        assert cluster.cluster_id == cluster_id
        assert cluster.log_end_offsets("t") == {0: 10, 1: 10, 2: 10, 3: 10}
        assert cluster.log_end_offsets("new") == {0: 0}
        assert fetch_offsets(servers, "g") == {("t", number): 10 for number in range(4)}
        produce(servers, "t", 8, enable_idempotence=True)
        with Member(servers, "g", ["t"], "m") as member:
            wait_until(lambda: len(member.values) == 8, what="8 more records")


def test_kill_loses_no_commit(tmp_path: Path) -> None:
    """kill -9 right after a commit: the commit is there when it comes back."""
    with SandboxProcess("--topic", "t=4", "--data-dir", str(tmp_path)) as server:
        for offset in range(1, 6):
            commit_offsets(server.bootstrap_servers, {"g": {("t", 1): offset}})
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    with SandboxProcess("--data-dir", str(tmp_path)) as server:
        assert fetch_offsets(server.bootstrap_servers, "g") == {("t", 1): 5}


def test_torn_tail(tmp_path: Path) -> None:
    """Half a batch at the end of a file is dropped; what was whole is kept and added to."""
    with Sandbox(brokers=1, topics={"t": 1}, data_dir=tmp_path) as cluster:
        produce(cluster.bootstrap_servers, "t", 5, partitions=1)
    log = tmp_path / "logs" / "t-0.log"
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:40])
    for expected in (5, 8):
        with Sandbox(brokers=1, data_dir=tmp_path) as cluster:
            assert cluster.log_end_offsets("t") == {0: expected}
            produce(cluster.bootstrap_servers, "t", 3, partitions=1)


def test_members_find_their_group_again(tmp_path: Path) -> None:
    """Live members go on after a restart on the same port: their group comes from its records."""
    first = Sandbox(brokers=1, topics={"t": 4}, data_dir=tmp_path)
    first.start()
    port = int(first.bootstrap_servers.rsplit(":", 1)[1])
    retry = {"reconnect_backoff_max_ms": 200, "reconnect_backoff_ms": 50}
    with members(first.bootstrap_servers, "back", ["t"], ["a", "b"], **retry) as (one, two):
        wait_for_shares([2, 2], one, two)
        first.stop()
        with Sandbox(brokers=1, port=port, data_dir=tmp_path) as again:
            produce(again.bootstrap_servers, "t", 8)
            wait_until(
                lambda: len(one.values) + len(two.values) == 8, what="records after the restart"
            )
            wait_for_shares([2, 2], one, two)
            for member in (one, two):
                member.leave()  # while there is somebody to tell


def test_fewer_brokers(tmp_path: Path) -> None:
    """Topics of three brokers are served by one that comes after them."""
    with Sandbox(brokers=3, topics={"t": 4}, data_dir=tmp_path) as cluster:
        produce(cluster.bootstrap_servers, "t", 8)
    with Sandbox(brokers=1, data_dir=tmp_path) as cluster:
        produce(cluster.bootstrap_servers, "t", 8)
        assert cluster.log_end_offsets("t") == {0: 4, 1: 4, 2: 4, 3: 4}


def test_deleted_topic_stays_deleted(tmp_path: Path) -> None:
    """The files of a deleted topic go with it."""
    from confluent_kafka.admin import AdminClient

    with Sandbox(brokers=1, topics={"gone": 1}, data_dir=tmp_path) as cluster:
        produce(cluster.bootstrap_servers, "gone", 5, partitions=1)
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        admin.delete_topics(["gone"])["gone"].result(60)
    with Sandbox(brokers=1, topics={"gone": 1}, data_dir=tmp_path) as cluster:
        assert cluster.log_end_offsets("gone") == {0: 0}


def test_directory_in_use(tmp_path: Path) -> None:
    """Two clusters on one directory: the second is refused, the first goes on."""
    with Sandbox(brokers=1, topics={"t": 1}, data_dir=tmp_path) as cluster:
        with pytest.raises(RefusedError, match="in use by another sandbox"):
            Sandbox(brokers=1, data_dir=tmp_path).start()
        produce(cluster.bootstrap_servers, "t", 1, partitions=1)


BAD_META = [
    ("no JSON", "{"),
    ("another format", json.dumps({"format": 99})),
    ("a list", "[]"),
    ("no topics", json.dumps({"format": 1, "cluster_id": "x", "next_producer_id": 1})),
]


@pytest.mark.parametrize("text", [case[1] for case in BAD_META], ids=[c[0] for c in BAD_META])
def test_foreign_directory(tmp_path: Path, text: str) -> None:
    """A file that this program did not write is named, and nothing is overwritten."""
    (tmp_path / "meta.json").write_text(text)
    with pytest.raises(UsageError, match=r"meta\.json"):
        Sandbox(brokers=1, data_dir=tmp_path).start()
    assert (tmp_path / "meta.json").read_text() == text
    with pytest.raises(UsageError, match="data directory"):
        Sandbox(brokers=1, data_dir=tmp_path / "meta.json").start()


def a_pipe(path: Path) -> None:
    """Whoever opens it waits for ever."""
    os.mkfifo(path)


def fifty_gigabytes(path: Path) -> None:
    """More than the sandbox could hold."""
    with path.open("wb") as file:
        file.truncate(50 << 30)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (a_pipe, "is not a regular file"),
        (lambda path: path.mkdir(), "is not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is not a regular file"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
        (fifty_gigabytes, "is longer than 1024 MiB"),
    ],
    ids=["a pipe", "a folder", "an endless device", "a link to itself", "fifty gigabytes"],
)
def test_a_log_that_is_no_file(make: Callable[[Path], None], reason: str, tmp_path: Path) -> None:
    """It is refused before it is read: one sentence with its name."""
    with Sandbox(brokers=1, topics={"t": 1}, data_dir=tmp_path):
        pass
    log = tmp_path / "logs" / "t-0.log"
    log.unlink(missing_ok=True)
    make(log)
    with pytest.raises(UsageError) as caught, Sandbox(brokers=1, data_dir=tmp_path):
        pass
    assert str(log) in caught.value.message
    assert reason in caught.value.message


@pytest.mark.parametrize("content", [b"", bytes(1_000), b"\xff" * 1_000, b"[" * 200_000])
def test_a_log_of_anything(content: bytes, tmp_path: Path) -> None:
    """What is no batch is cut off, and the topic goes on."""
    with Sandbox(brokers=1, topics={"t": 1}, data_dir=tmp_path):
        pass
    (tmp_path / "logs" / "t-0.log").write_bytes(content)
    with Sandbox(brokers=1, data_dir=tmp_path) as cluster:
        assert cluster.log_end_offsets("t") == {0: 0}
        produce(cluster.bootstrap_servers, "t", 3, partitions=1)
        assert cluster.log_end_offsets("t") == {0: 3}
