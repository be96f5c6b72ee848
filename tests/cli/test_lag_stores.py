"""Captures in an object store: a real S3 protocol, two collectors at once, and what fails.

Azure and Google's stores, and HDFS, have no server here; of them only what is handed to delta-rs is
tested (`test_places`).
"""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.hour_table import HOUR_MS
from kgroups.core.lag.report import LagQuery, LagReport
from kgroups.core.lag.report_file import write_parquet
from kgroups.core.lag.stores.places import Place, parse_place
from kgroups.core.lag.window.window_report import lag_report_over
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.process import TIMEOUT_S, environment, start
from tests.support.cli.runner import check_document, run
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows
from tests.support.lag.s3_server import BUCKET, SECRET, s3_server

STORE = f"s3a://{BUCKET}"
# Where machines of a cloud ask for a login: here nobody answers.
NO_LOGIN = {
    "AWS_ACCESS_KEY_ID": None,
    "AWS_SECRET_ACCESS_KEY": None,
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_METADATA_ENDPOINT": "http://127.0.0.1:1",
}


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """An S3 server, as variables of the environment."""
    with s3_server() as variables:
        yield variables


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A cluster with a topic and no group."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        yield cluster.bootstrap_servers


def times_in(place: Place) -> list[int]:
    """When the captures that are there were taken; each is there as a whole."""
    window = open_window(place)
    assert window.is_clean
    return sorted(window.captures["captured_at_ms"].to_pylist())


def test_two_collectors_at_once(bootstrap: str, store: dict[str, str]) -> None:
    """Each capture of both is there once, and merging leaves one file of them."""
    place = f"{STORE}/two-at-once"
    line = ("lag", "collect", place, "--every", "10ms", "--count", "4", "-b", bootstrap)
    with start(*line, "-o", "json", env=environment(**store)) as other:
        documents = [run(*line, "-o", "json", env=store).document]
        documents.append(json.loads(other.communicate(timeout=TIMEOUT_S)[0]))
    for document in documents:
        check_document(document)
        assert document["summary"] == {"done": 4, "failed": 0}
    told = [item["captured_at"] for document in documents for item in document["items"]]
    kept = parse_place(place, store)
    assert open_window(kept).captures.num_rows == len(told) == 8
    merged = run("lag", "compact", place, "--today", "-o", "json", env=store)
    assert merged.exit_code == 0, merged.stderr
    assert merged.document["summary"]["merged"] == 8
    assert open_window(kept).captures.num_rows == 8


@pytest.mark.slow("Spark over a store; over folders: tests/core/lag/captures/test_months.py")
@pytest.mark.spark
def test_roll_ups_in_a_store(spark: SparkSession, store: dict[str, str], tmp_path: Path) -> None:
    """`--keep-raw` there is what it is in a folder: hours, then days, and the same report."""
    rows, kept = captures(8, 8), parse_place(f"{STORE}/rolled-up", store)
    for row in rows:  # two hours of a day
        is_later = row["captured_at_ms"] >= START_MS + 4 * STEP_MS
        row["captured_at_ms"] += HOUR_MS if is_later else 0
    reports: dict[str, list[LagReport]] = {"hours": [], "days": []}
    for place in (tmp_path, kept):
        write_rows(place, rows)
        for length, keep in (("hours", "36500d"), ("days", "90d")):
            line = ("lag", "compact", str(place), "--keep-raw", "14d", "--keep-hours", keep)
            ended = run(*line, "-o", "json", env=store)
            assert ended.exit_code == 0, ended.stderr
            assert ended.document["summary"]["rolled_up"] > 0
            window = open_window(place)
            assert (window.files, window.is_clean) == ((), True)
            since_ms, until_ms = START_MS - HOUR_MS, START_MS + 2 * HOUR_MS
            query = LagQuery(top=1000)
            reports[length].append(
                lag_report_over(place, query, session=spark, since_ms=since_ms, until_ms=until_ms)
            )
    for length, count in (("hours", 2), ("days", 1)):
        local, far = reports[length]
        assert local.summary[length] == count
        assert far.items == local.items
        assert far.summary == local.summary


@pytest.mark.slow("Spark over a store; over folders: tests/core/lag/captures/test_months.py")
@pytest.mark.spark
def test_the_same_report(spark: SparkSession, store: dict[str, str], tmp_path: Path) -> None:
    """Whether captures are in a folder or in a store; and the report in the store."""
    rows, kept = captures(8, 8), parse_place(f"{STORE}/report", store)

    def report(place: Place) -> LagReport:
        query = LagQuery(top=1000, by="partition")
        since_ms, until_ms = START_MS + STEP_MS, START_MS + 6 * STEP_MS
        return lag_report_over(place, query, session=spark, since_ms=since_ms, until_ms=until_ms)

    for place in (tmp_path, kept):
        write_rows(place, rows)
    local, far = report(tmp_path), report(kept)
    assert local.items
    assert far.items == local.items
    assert far.summary == local.summary
    file = parse_place(f"{STORE}/out/lag.parquet", store)
    write_parquet(file, local)
    written = pq.read_table("lag.parquet", filesystem=parse_place(f"{STORE}/out", store).files())  # type: ignore[union-attr]
    assert written.to_pylist() == local.items


def test_a_file_that_is_gone_is_named(store: dict[str, str]) -> None:
    """What the table knows and the store has not is left out, as in a local folder."""
    place = parse_place(f"{STORE}/gone", store)
    write_rows(place, captures(8, 3))
    files = (place / "rows").files()  # type: ignore[union-attr]
    lost = open_window(place).files[0].path.removeprefix(f"{place / 'rows'}/")
    files.delete_file(lost)
    window = open_window(place)
    assert [error.message for error in window.broken] == ["a file of the table is not there"]
    assert window.captures.num_rows == 2


@pytest.mark.parametrize(
    ("place", "variables", "code", "text"),
    [
        ("s3://nobodys/x", {}, 5, "the bucket of `s3://nobodys/x` does not exist"),
        (f"s3://{BUCKET}/none", {}, 5, f"there are no captures at `s3://{BUCKET}/none`"),
        (f"s3://{BUCKET}/x", NO_LOGIN, 3, f"no login for `s3://{BUCKET}/x`"),
        (
            f"s3://{BUCKET}/x",
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1"},
            3,
            f"`s3://{BUCKET}/x` cannot be reached: Connection refused",
        ),
        (
            f"s3://{BUCKET}/x",
            {"AWS_ALLOW_HTTP": "false"},
            2,
            f"`s3://{BUCKET}/x` is reached without TLS, which has to be allowed",
        ),
    ],
)
def test_what_fails(
    store: dict[str, str], place: str, variables: dict[str, str | None], code: int, text: str
) -> None:
    """One sentence and a hint from each command, before anything else is done; no secret."""
    env = {**store, **variables}
    lines = [("lag", "compact", place), ("lag", "report", "--captures", place)]
    if code != 5 or "nobodys" in place:  # `collect` makes what is not there
        lines.append(("lag", "collect", place, "-b", "127.0.0.1:1", "--timeout", "1s"))
        lines.append(("lag", "report", "--parquet", f"{place}/f.parquet", "-b", "127.0.0.1:1"))
    for line in lines:
        ended = run(*line, env=env)
        assert (ended.exit_code, ended.stdout) == (code, ""), (line, ended.stderr)
        first, _, rest = ended.stderr.partition("\n")
        assert first.removesuffix("/f.parquet").startswith("error: ")
        assert first.replace("/f.parquet", "") == f"error: {text}"
        assert "hint: " in rest
        assert SECRET not in ended.stderr


def test_a_store_that_does_not_answer(store: dict[str, str]) -> None:
    """It is waited for as long as `--timeout` says, not the minutes of delta-rs."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        env = {**store, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        ended = run("lag", "compact", f"{STORE}/x", "--timeout", "200ms", env=env)
    assert ended.exit_code == 3
    assert ended.stderr.startswith(f"error: `s3://{BUCKET}/x` did not answer in 0.2 s\n")
