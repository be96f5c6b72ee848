"""`lag collect` that goes on until it is stopped: what it tells, and how it ends."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_table import active_files
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.times import timestamp
from tests.support.cli.process import TIMEOUT_S, start
from tests.support.cli.runner import Outcome, check_document, run
from tests.support.endings.world import free_port
from tests.support.lag.made_fleet import fleet

DONE = 3


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A cluster with a topic and no group."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        yield cluster.bootstrap_servers


def times_in(folder: Path) -> list[str]:
    """When the captures that are there were taken."""
    return [
        timestamp(ms) for ms in sorted(open_window(folder).captures["captured_at_ms"].to_pylist())
    ]


@pytest.mark.share(32)
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
    assert [item["captured_at"] for item in items] == times_in(tmp_path)
    assert stderr == f"note: stopped: {len(items)} captures written to `{tmp_path}`\n"


def test_a_count_that_is_cut_short(bootstrap: str, tmp_path: Path) -> None:
    """Exit 130, a whole document of what was written."""
    line = ("lag", "collect", str(tmp_path), "--every", "1h", "--count", "2", "-o", "json")
    with start(*line, "-b", bootstrap) as process:
        shown = process.text_until('"partitions":0}')
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 130, stderr
    document = json.loads(shown + stdout)
    check_document(document)
    assert [item["captured_at"] for item in document["items"]] == times_in(tmp_path)
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
        assert heading == ["CAPTURED-AT", "RESULT", "PARTITIONS"]
        assert process.line().split() == ["-", "failed", "0"]
        with Sandbox(brokers=1, topics={"t": 1}, port=port):
            done = process.line_that(lambda row: " done " in row)
            process.send_signal(signal.SIGTERM)
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, stderr
    written = [row.split() for row in [done, *stdout.splitlines()] if " done " in row]
    assert [row[0] for row in written] == times_in(tmp_path)
    last = stderr.splitlines()[-1]
    assert last.startswith(f"note: stopped: {len(written)} capture")
    assert last.endswith(" failed")


@pytest.mark.parametrize("place", ["s3:/b", "ftp://host/b", "file://elsewhere/x", "s3://u:p@b"])
def test_no_local_folder_in_the_name_of_a_bucket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """A URI that is of no store is refused by every command, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    lines = (
        ("lag", "collect", place, "-b", "127.0.0.1:1"),
        ("lag", "compact", place),
        ("lag", "report", "--captures", place),
        ("lag", "report", "--parquet", place),
    )
    for line in lines:
        ended = run(*line)
        assert (ended.exit_code, ended.stdout) == (2, ""), line
        assert re.match("error: (`.*` (is no|names no)|the URI of a store has no)", ended.stderr)
        assert "hint: " in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_by_its_uri(bootstrap: str, tmp_path: Path) -> None:
    """`file:` is a local folder."""
    assert run("lag", "collect", tmp_path.as_uri(), "-b", bootstrap).exit_code == 0
    assert len(times_in(tmp_path)) == 1


def test_captures_are_merged(bootstrap: str, tmp_path: Path) -> None:
    """What was done to which table, as a document and as a table; then there is nothing to do."""
    for _ in range(3):
        assert run("lag", "collect", str(tmp_path), "-b", bootstrap).exit_code == 0
    place = f"`{tmp_path}`"
    ended = run("lag", "compact", str(tmp_path), "-o", "json")
    text = f"nothing to merge or remove in {place}; `--today` includes today's files"
    assert (ended.exit_code, ended.stderr) == (0, f"note: {text}\n")
    assert [note["message"] for note in ended.document["notes"]] == [text]
    ended = run("lag", "compact", str(tmp_path), "--today", "-o", "json")
    assert (ended.exit_code, ended.stderr) == (0, f"note: merged 3 files in {place}\n")
    document = ended.document
    (cluster,) = open_window(tmp_path).spans
    done = {item["table"]: item for item in document["items"]}
    assert done.keys() == {"captures"}  # no group, so nothing else
    assert {(item["action"], item["cluster"], item["files"]) for item in done.values()} == {
        ("merged", cluster, 3)
    }
    nothing = dict.fromkeys(("rolled_up", "late", "removed"), 0)
    assert document["summary"] == nothing | {"merged": 3}
    assert len(active_files(tmp_path, "captures")) == 1
    again = run("lag", "compact", str(tmp_path), "--today", "-o", "csv")
    nothing_done = f"note: nothing to merge or remove in {place}\n"
    assert again == Outcome(0, "action,table,cluster,date,files,rows\n", nothing_done)


def test_captures_are_rolled_up(tmp_path: Path) -> None:
    """Days that ended longer ago than captures are kept; less than an hour is refused."""
    for at_ms in (1, 2, 3_600_000):
        write_capture(tmp_path, fleet(1, 2, at_ms=at_ms))
    assert run("lag", "compact", str(tmp_path), "--keep-raw", "59m").exit_code == 2
    ended = run(
        *("lag", "compact", str(tmp_path), "--keep-raw", "14d", "--keep-hours", "36500d"),
        *("-o", "json"),
    )
    assert (ended.exit_code, ended.stderr) == (0, f"note: rolled up 3 files in `{tmp_path}`\n")
    document = ended.document
    done = [(item["table"], item["action"], item["date"]) for item in document["items"]]
    assert done == [("rows", "rolled_up", "1970-01-01")]
    hours = open_window(tmp_path).hours
    assert hours is not None
    assert hours.marks["captured_at_ms"].to_pylist() == [2, 3_600_000]
    page = tmp_path / "report.html"
    ended = run(
        *("lag", "report", "--captures", str(tmp_path), "--since", "1970-01-01T00:00:00Z"),
        *("--engine", "duckdb", "-o", "json", "--html", str(page)),
    )
    assert ended.exit_code == 0, ended.stderr
    document = ended.document
    note = (
        "2 hours until 1970-01-01T01:00:00.000Z are rolled up: columns in HOURLY are accurate"
        " to the hour"
    )
    assert [told["message"] for told in document["notes"] if told["code"] == "ROLLED_UP"] == [note]
    assert note in page.read_text()
    for at_ms in (3, 5 * 86_400_000):
        write_capture(tmp_path, fleet(1, 2, at_ms=at_ms))
    ended = run("lag", "compact", str(tmp_path), "--keep-raw", "14d", "-o", "json")
    document = ended.document
    assert document["summary"]["late"] == 1, "a capture of an hour that is rolled up"
    # Hours are kept for 90 days without `--keep-hours`; a month is put together beside its days.
    dates = [item["date"] for item in document["items"] if item["table"] == "hours"]
    assert dates == ["1970-01-01", "1970-01"]
    hours = open_window(tmp_path).hours
    assert hours is not None
    assert hours.marks["captured_at_ms"].to_pylist() == [3_600_000, 5 * 86_400_000]


def test_hours_are_kept_of_what_is_rolled_up(tmp_path: Path) -> None:
    """`--keep-hours` alone would roll up nothing."""
    ended = run("lag", "compact", str(tmp_path), "--keep-hours", "30d")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "--keep-hours requires --keep-raw" in ended.stderr
