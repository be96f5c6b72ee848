"""`lag collect` that goes on until it is stopped: what it tells, and how it ends."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.lag.captures.capture_files import find_captures
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import TIMEOUT_S, finish, start
from tests.support.cli.runner import check_document
from tests.support.endings.world import free_port

DONE = 3


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A cluster with a topic and no group."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        yield cluster.bootstrap_servers


def files_in(folder: Path) -> list[str]:
    """The captures that are there."""
    return [str(file.path) for file in find_captures(folder)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
def test_it_goes_on_until_it_is_stopped(
    bootstrap: str, tmp_path: Path, number: signal.Signals
) -> None:
    """Without `--count` a signal ends it with 0; what is told is there, and the other way round."""
    line = ("lag", "collect", str(tmp_path), "--every", "50ms", "-o", "jsonl", "-b", bootstrap)
    with start(*line) as process:
        told = [process.line() for _ in range(DONE)]
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, stderr
    items = [json.loads(text) for text in [*told, *stdout.splitlines()]]
    assert {item["result"] for item in items} == {"done"}
    assert [item["file"] for item in items] == files_in(tmp_path)
    assert stderr == f"note: stopped: {len(items)} captures written to `{tmp_path}`\n"


def test_a_count_that_is_cut_short(bootstrap: str, tmp_path: Path) -> None:
    """Exit 130, a whole document of what was written."""
    line = ("lag", "collect", str(tmp_path), "--every", "1h", "--count", "2", "-o", "json")
    with start(*line, "-b", bootstrap) as process:
        shown = process.text_until('.parquet"}')
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 130, stderr
    document = json.loads(shown + stdout)
    check_document(document)
    assert [item["file"] for item in document["items"]] == files_in(tmp_path)
    assert document["summary"] == {"done": 1, "failed": 0}
    assert stderr == f"note: stopped: 1 capture written to `{tmp_path}`\n"


def test_failures_are_told_when_they_happen(tmp_path: Path) -> None:
    """No broker at first: each failure stands on stderr at once, and the next capture is tried.

    When the broker is there, captures are written; the end is that of the last one.
    """
    port = free_port()
    address = f"127.0.0.1:{port}"
    with start(
        *("lag", "collect", str(tmp_path), "--every", "100ms", "-b", address, "--timeout", "5s")
    ) as process:
        assert process.line_that("error: `capture 1`: ", stream="stderr").count(address) == 1
        heading = process.line().split()
        assert heading == ["CAPTURED-AT", "RESULT", "PARTITIONS", "FILE"]
        assert process.line().split() == ["-", "failed", "0", "-"]
        with Sandbox(brokers=1, topics={"t": 1}, port=port):
            done = process.line_that(lambda row: " done " in row)
            process.send_signal(signal.SIGTERM)
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, stderr
    written = [row.split() for row in [done, *stdout.splitlines()] if " done " in row]
    assert [row[3] for row in written] == files_in(tmp_path)
    last = stderr.splitlines()[-1]
    assert last.startswith(f"note: stopped: {len(written)} capture")
    assert last.endswith(" failed")


@pytest.mark.parametrize("place", ["s3a://b/c", "s3:/b", "hdfs://n:8020/x", "file:///tmp/x"])
def test_no_local_folder_in_the_name_of_a_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A URI is refused by every command, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    lines = (
        ("lag", "collect", place, "-b", "127.0.0.1:1"),
        ("lag", "compact", place),
        ("lag", "report", "--captures", place),
    )
    for line in lines:
        code, stdout, stderr = finish(*line)
        assert (code, stdout) == (2, ""), line
        assert f"captures cannot be kept at `{place}`" in stderr
        assert "hint: use a local folder" in stderr
    assert list(tmp_path.iterdir()) == []


def test_a_merge_leaves_a_broken_capture_and_says_so(bootstrap: str, tmp_path: Path) -> None:
    """Exit 1, the file named; the others are merged."""
    for _ in range(3):
        assert finish("lag", "collect", str(tmp_path), "-b", bootstrap)[0] == 0
    broken = find_captures(tmp_path)[1].path
    broken.write_bytes(broken.read_bytes()[:50])
    code, stdout, stderr = finish("lag", "compact", str(tmp_path), "--today", "-o", "json")
    assert code == 1
    document = json.loads(stdout)
    check_document(document)
    merged = {Path(item["file"]).parents[2].name: item["files"] for item in document["items"]}
    assert merged == {"rows": 2, "members": 3, "topics": 3}
    (error,) = document["errors"]
    assert (error["target"], error["code"]) == (str(broken), "BROKEN_CAPTURE")
    assert f"error: `{broken}`: truncated, or not a Parquet file" in stderr
    assert broken.read_bytes()[:4] == b"PAR1"


def test_a_number_of_captures_needs_an_interval(tmp_path: Path) -> None:
    """Without one they would come one straight after the other."""
    line = ("lag", "collect", str(tmp_path), "--count", "2", "-b", "127.0.0.1:1")
    code, stdout, stderr = finish(*line)
    assert (code, stdout) == (2, "")
    assert "--count requires --every" in stderr
