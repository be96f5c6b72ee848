"""`describe --at` and `reset-offsets --to committed@` on the embedded cluster."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, TopicPartition

from kgroups.cli.exits import now_ms
from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.times import timestamp
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, fetch_offsets, produce

COMMITS = 300
"""Of another group, until the log is compacted."""


def moment() -> str:
    """The time now, which everything that follows comes after."""
    at_ms = now_ms()
    wait_until(lambda: now_ms() > at_ms, "a millisecond has passed")
    return timestamp(at_ms)


def at(address: str, group: str, then: str) -> Outcome:
    """What a group had committed, as JSON."""
    return run("describe", group, "--at", then, "-b", address, "-o", "json")


def rows(outcome: Outcome) -> list[tuple[Any, ...]]:
    """Partition, offset, exactness and source of the only group."""
    (item,) = outcome.document["items"]
    fields = ("partition", "committed_offset", "exactness", "source")
    return [tuple(row[name] for name in fields) for row in item["offsets"]]


class Past(NamedTuple):
    """A cluster in which a group committed 5 to `t-0` and 7 to `t-1`, and 9 to `t-0` after `then`.

    Captures were taken before `then`, and after `early`; the log has been compacted since.
    """

    address: str
    early: str
    then: str
    captures: str


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster whose log is whole."""
    with Sandbox(brokers=1, topics={"t": 3}) as cluster:
        produce(cluster.bootstrap_servers, {("t", number): 20 for number in range(3)})
        yield cluster.bootstrap_servers


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """One whose log is compacted."""
    folder = str(tmp_path_factory.mktemp("captures") / "captures")
    partition = offsets_partition("g", 50)
    neighbour = next(name for n in count() if offsets_partition(name := f"x{n}", 50) == partition)
    limits = Limits(offsets_log_bytes=20_000)
    with Sandbox(brokers=1, topics={"t": 2}, limits=limits) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", number): 20 for number in range(2)})
        commit_offsets(address, {"g": {("t", 0): 5, ("t", 1): 7}})
        early = moment()
        assert run("-b", address, "lag", "collect", folder).exit_code == 0
        then = moment()
        commit_offsets(address, {"g": {("t", 0): 9}})
        other = Consumer({"bootstrap.servers": address, "group.id": neighbour, "log_level": 0})
        for number in range(COMMITS):
            other.commit(offsets=[TopicPartition("t", 0, number)], asynchronous=False)
        other.close()
        yield Past(address, early, then, folder)


def test_a_whole_log(address: str, tmp_path: Path) -> None:
    """What was committed, and that nothing was; back to it, and back from there."""
    before = moment()
    commit_offsets(address, {"whole": {("t", 0): 5, ("t", 1): 0}})
    then = moment()
    commit_offsets(address, {"whole": {("t", 0): 9, ("t", 2): 3}})
    told = at(address, "whole", then)
    assert rows(told) == [
        (0, 5, "exact", "records"),
        (1, 0, "exact", "records"),
        (2, None, "exact", "records"),
    ]
    assert told.document["summary"]["at"] == then
    assert {row[1] for row in rows(at(address, "whole", before))} == {None}
    words = ("-b", address, "--undo-dir", str(tmp_path), "--yes", "-o", "json")
    done = run("reset-offsets", "whole", "--to", f"committed@{then}", *words).document
    assert [note["code"] for note in done["notes"]] == ["AS_OF", "NO_COMMIT_THEN", "UNDO_FILE"]
    (row, _) = done["items"]
    assert (row["new_offset"], row["result"], row["exactness"]) == (5, "done", "exact")
    assert fetch_offsets(address, "whole") == {("t", 0): 5, ("t", 1): 0, ("t", 2): 3}
    assert run("reset-offsets", "--undo", "last", *words).exit_code == 0
    assert fetch_offsets(address, "whole")["t", 0] == 9


def test_a_group_that_was_deleted(address: str, tmp_path: Path) -> None:
    """It is made again, with what it had committed; one that never was is not found."""
    commit_offsets(address, {"gone": {("t", 0): 5, ("t", 1): 6}})
    then = moment()
    assert run("delete", "gone", "-b", address, "--yes").exit_code == 0
    assert [row[1] for row in rows(at(address, "gone", "0s"))] == [None, None]
    words = ("--to", f"committed@{then}", "--topic", "t:1", "-b", address, "--yes")
    done = run("reset-offsets", "gone", *words, "--undo-dir", str(tmp_path))
    assert done.exit_code == 0, done.stderr
    assert fetch_offsets(address, "gone") == {("t", 1): 6}
    never = run("reset-offsets", "never", *words, "--no-undo", "-o", "json")
    assert never.exit_code == 5
    assert [error["target"] for error in never.document["errors"]] == ["never"]


def test_what_compaction_has_removed(past: Past) -> None:
    """Is unknown, and refused; the rest is exact, and done where one goes on."""
    address, _, then, _ = past
    told = at(address, "g", then)
    assert rows(told) == [(0, None, "unknown", None), (1, 7, "exact", "records")]
    counts = {name: told.document["summary"][name] for name in ("exact", "unknown")}
    assert counts == {"exact": 1, "unknown": 1}
    commit_offsets(address, {"g": {("t", 1): 8}})
    words = ("reset-offsets", "g", "--to", f"committed@{then}", "-b", address, "--no-undo", "--yes")
    refused = run(*words, "-o", "json")
    assert refused.exit_code == 4
    assert "COMMIT_UNKNOWN" in {item["error"] for item in refused.document["items"]}
    assert fetch_offsets(address, "g") == {("t", 0): 9, ("t", 1): 8}


def test_what_captures_tell(past: Past) -> None:
    """What they saw before that time; without the cluster, too, and of a reset."""
    address, _, then, captures = past
    words = ("describe", "g", "--at", then, "--captures", captures, "-o", "json")
    told = run(*words, "-b", address)
    assert rows(told)[0] == (0, 5, "at_the_latest", "captures")
    (item,) = told.document["items"]
    row = item["offsets"][0]
    assert (row["log_end_offset"], row["lag"]) == (20, 15)
    assert row["known_at"] <= then
    alone = run(*words)
    assert {row[2:] for row in rows(alone)} == {("at_the_latest", "captures")}
    assert [note["code"] for note in alone.document["notes"]] == ["AS_OF", "LOG_UNREAD"]
    reset = ("reset-offsets", "g", "--to", f"committed@{then}", "--captures", captures)
    planned = run(*reset, "--topic", "t:0", "-b", address, "--dry-run", "-o", "json")
    (change,) = planned.document["items"]
    assert (change["new_offset"], change["result"], change["source"]) == (5, "planned", "captures")
    assert change["note"].endswith("(captures), later commits may be missing")


def test_captures_that_do_not_reach_back(past: Past) -> None:
    """Records tell all the same, of a reset and a history, too; 5 where they cannot, either."""
    address, early, then, captures = past
    words = ("--captures", captures, "-b", address, "-o", "json")
    told = run("describe", "g", "--at", early, *words)
    assert (told.exit_code, rows(told)[1]) == (0, (1, 7, "exact", "records"))
    assert [note["code"] for note in told.document["notes"]] == ["AS_OF", "NO_CAPTURES"]
    assert "; there are captures from " in told.document["notes"][1]["message"]
    back = ("--to", f"committed@{early}", "--topic", "t:1", "--dry-run")
    (change,) = run("reset-offsets", "g", *back, *words).document["items"]
    assert (change["new_offset"], change["source"]) == (7, "records")
    history = run("history", "g", "--since", "1ms", *words)
    assert history.exit_code == 0
    assert "NO_CAPTURES" in {note["code"] for note in history.document["notes"]}
    never = run("describe", "never", "--at", early, *words)
    assert never.exit_code == 5
    assert [error["target"] for error in never.document["errors"]] == ["never"]
    without = run("describe", "g", "--at", early, "--captures", captures)
    assert without.exit_code == 5
    assert "no captures in the window" in without.stderr
    wrong = run("describe", "g", "--at", then, "--captures", "nowhere", "-b", address)
    assert wrong.exit_code == 5
    assert "the folder `nowhere` does not exist" in wrong.stderr


MISTAKES = {
    "describe g --at 2026-11-21T03:00": "`2026-11-21T03:00` has no zone",
    "describe g --at 2099-01-01T00:00Z": "is in the future",
    "describe g --at 2h --members": "--members and --at cannot be used together",
    "describe g --at 2h --from x": "--from and --at cannot be used together",
    "describe --at 2h": "no group given",
    "describe g --captures x": "--captures requires --at",
    "reset-offsets g --to committed@2099-01-01T00:00Z": "is in the future",
    "reset-offsets g --to 2h --all-topics --captures x": "--captures requires --to committed@",
    "reset-offsets --undo last --captures x": "take no groups, topics or target",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_mistakes(words: str) -> None:
    """Each says what is wrong, before a cluster is asked."""
    outcome = run(*words.split())
    assert outcome.exit_code == 2
    assert MISTAKES[words] in outcome.stderr
