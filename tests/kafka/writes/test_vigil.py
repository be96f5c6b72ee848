"""`reset-offsets --wait-empty` and `--watch-after`: before and after the write."""

import json
from pathlib import Path

import pytest

from tests.support.cli.process import start
from tests.support.cli.runner import run
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

TOPIC = "vigil-t"
OLD = {(TOPIC, 0): 20, (TOPIC, 1): 5}
NEW = {(TOPIC, 0): 0, (TOPIC, 1): 0}
LONG = ("--timeout", "60s")


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic with records."""
    create_topics(cluster_address, {TOPIC: 2})
    produce(cluster_address, {(TOPIC, 0): 50, (TOPIC, 1): 30})
    return cluster_address


def line(address: str, folder: Path, *words: str) -> tuple[str, ...]:
    """A reset of a group to the start, as JSON."""
    rest = ("--to", "earliest", "--all-topics", "--yes", "--undo-dir", str(folder), "-o", "json")
    return ("reset-offsets", *words, *rest, "-b", address, *LONG)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_it_waits_until_members_have_left(address: str, tmp_path: Path, protocol: str) -> None:
    """Who is in the way is named; when the last one has left, the offsets are reset."""
    group = f"vigil-wait-{protocol}"
    commit_offsets(address, {group: OLD})
    members = [MemberSpec("one", (TOPIC,)), MemberSpec("two", (TOPIC,))]
    with LiveGroup(address, group, members, protocol=protocol) as live:  # type: ignore[arg-type]
        live.wait_stable(2)
        with start(*line(address, tmp_path, group, "--wait-empty", "6h")) as process:
            told = process.line_that("note: ", stream="stderr")
            assert f"`{group}`: waiting for 2 members: " in told
            assert "one on /127.0.0.1" in told
            live.close()
            stdout, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, stderr
    assert {item["result"] for item in json.loads(stdout)["items"]} == {"done"}
    assert fetch_offsets(address, group) == NEW
    assert "no longer has members" in stderr


def test_who_is_left_at_the_deadline_is_refused(address: str, tmp_path: Path) -> None:
    """As ever: nothing is written, and the members are named."""
    commit_offsets(address, {"vigil-late": OLD})
    with LiveGroup(address, "vigil-late", [MemberSpec("one", (TOPIC,))]) as live:
        live.wait_stable(2)
        outcome = run(*line(address, tmp_path, "vigil-late", "--wait-empty", "1ms"))
    assert outcome.exit_code == 4
    assert "1 member: one on" in outcome.stderr
    assert fetch_offsets(address, "vigil-late") == OLD


def test_somebody_commits_over_it(address: str, tmp_path: Path) -> None:
    """It is told at once, and has failed in the report; the rest stays done."""
    commit_offsets(address, {"vigil-over": OLD})
    words = line(address, tmp_path, "vigil-over", "--watch-after", "6h")
    with start(*words) as process:
        wait_until(lambda: fetch_offsets(address, "vigil-over") == NEW, "the reset is done")
        process.line_that(lambda text: "undo file" in text, stream="stderr")
        commit_offsets(address, {"vigil-over": {(TOPIC, 0): 7, (TOPIC, 1): 8}})
        stdout, stderr = process.communicate(timeout=WAIT_S)
    document = json.loads(stdout)
    assert process.returncode == 1, stderr
    assert {item["error"] for item in document["items"]} == {"OVERWRITTEN"}
    assert f"`vigil-over {TOPIC}-0`" in stderr
    assert "reads back as 7" in stderr


def test_nobody_commits(address: str, tmp_path: Path) -> None:
    """After the time all is done."""
    commit_offsets(address, {"vigil-calm": OLD})
    outcome = run(*line(address, tmp_path, "vigil-calm", "--watch-after", "600ms"))
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.results) == {"done"}


@pytest.mark.parametrize("option", ["--wait-empty", "--watch-after"])
def test_bad_times(address: str, tmp_path: Path, option: str) -> None:
    """Refused before anything is asked."""
    outcome = run(*line(address, tmp_path, "vigil-bad", option, "soon"))
    assert (outcome.exit_code, outcome.document["items"]) == (2, [])
    assert "`soon` is not a duration" in outcome.stderr
