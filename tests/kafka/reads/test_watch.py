"""`--watch`: look after look, what changed, and a quiet end."""

import json
import os
import pty
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cli.process import start
from tests.support.cli.runner import check_document, run
from tests.support.kafka.child import WAIT_S, Child, read_until
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import Deadline
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

TOPIC, GROUP = "watch-t", "watch-g"


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic with records."""
    create_topics(cluster_address, {TOPIC: 2})
    produce(cluster_address, {(TOPIC, 0): 50})
    return cluster_address


def documents(process: Child) -> Iterator[dict[str, Any]]:
    """The documents of a watch, each one line; all of them within one deadline."""
    deadline = Deadline(WAIT_S)
    while line := process.line(deadline):
        document = json.loads(line)
        check_document(document)
        yield document


def end(process: Child) -> tuple[int, str]:
    """Exit code and stderr after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=WAIT_S)
    return process.returncode, stderr


def until(looks: Iterator[dict[str, Any]], **wanted: Any) -> dict[str, Any]:
    """The first change that is wanted."""
    for _, document in zip(range(200), looks, strict=False):
        for change in document["changes"] or ():
            if all(change[field] == value for field, value in wanted.items()):
                return dict(change)
    raise AssertionError(f"no change {wanted}")


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_changes_of_offsets(address: str, form: str) -> None:
    """A document a line; the second one on says what changed; Ctrl-C ends with 0 and quietly."""
    group = f"{GROUP}-{form}"
    commit_offsets(address, {group: {(TOPIC, 0): 10}})
    with start("-b", address, "describe", group, "--watch", "200ms", "-o", form) as process:
        looks = documents(process)
        assert next(looks)["changes"] is None
        commit_offsets(address, {group: {(TOPIC, 0): 30}})
        change = until(looks, what="committed_offset")
        assert change == {
            "group": group,
            "topic": TOPIC,
            "partition": 0,
            "member_id": None,
            "what": "committed_offset",
            "before": 10,
            "now": 30,
        }
        assert end(process) == (0, "")


def test_members_and_groups_come_and_go(address: str) -> None:
    """Members with their hosts, the group's state, and a group that was not there."""
    name = f"{GROUP}-live"
    commit_offsets(address, {name: {(TOPIC, 0): 1}})
    line = ("describe", f"{name}*", "--members", "--state", "--watch", "0.2", "-o", "json")
    with start("-b", address, *line) as process:
        looks = documents(process)
        next(looks)
        with LiveGroup(address, name, [MemberSpec("watch-app", (TOPIC,))]) as live:
            assert until(looks, what="member", before=None)["now"] == "/127.0.0.1"
            live.wait_stable(2)
        assert until(looks, what="member", now=None)["before"] == "/127.0.0.1"
        commit_offsets(address, {f"{name}-more": {(TOPIC, 0): 1}})
        change = until(looks, what="group", before=None)
        assert (change["group"], change["now"]) == (f"{name}-more", "Empty")
        assert end(process) == (0, "")


def test_tables_in_a_pipe(address: str) -> None:
    """Each look with its time; what changed below the table."""
    name = f"{GROUP}-table"
    commit_offsets(address, {name: {(TOPIC, 0): 10}})
    with start("-b", address, "list", name, "--watch", "0.2") as process:
        assert process.line().startswith("20")
        assert process.line().startswith("GROUP")
        assert process.line().startswith(name)
        assert run("-b", address, "delete", name, "--yes").exit_code == 0
        process.line_that(lambda line: "changed since the last refresh" in line)
        assert process.line().split() == ["GROUP", "CHANGED", "BEFORE", "NOW"]
        assert process.line().split() == [name, "group", "Empty", "-"]
        assert end(process)[0] == 0


def test_a_terminal_is_drawn_anew(address: str) -> None:
    """Every look clears the screen first."""
    name = f"{GROUP}-tty"
    commit_offsets(address, {name: {(TOPIC, 0): 10}})
    leader, follower = pty.openpty()
    try:
        line = ("describe", name, "--watch", "0.2")
        with start("-b", address, *line, stdout=follower) as process:
            seen = read_until(
                leader, lambda read: read.count(b"\x1b[H\x1b[2J") >= 3, "the third look"
            )
            assert end(process)[0] == 0
    finally:
        os.close(leader)
        os.close(follower)
    assert name.encode() in seen


def test_an_exit_code_of_the_last_look(address: str) -> None:
    """A group that is not there is looked for again; the end says that it was not found."""
    line = ("describe", f"{GROUP}-nobody", "--watch", "0.2", "-o", "json")
    with start("-b", address, *line) as process:
        looks = documents(process)
        assert next(looks)["errors"][0]["code"] == "GROUP_ID_NOT_FOUND"
        next(looks)
        assert end(process)[0] == 5


def test_nobody_reads_any_more(address: str) -> None:
    """`| head` ends a watch."""
    with start("-b", address, "list", "--watch", "0.1", "-o", "json") as process:
        assert process.stdout is not None
        assert process.line()
        process.stdout.close()
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(
    "args",
    [
        ["list", "--watch", "often"],
        ["list", "--watch", "0"],
        ["list", "--watch", "1", "-o", "csv"],
        ["describe", "g", "--watch", "1", "-o", "plain"],
        ["list", "--watch", "1", "--from", "shop.json"],
    ],
)
def test_usage(args: list[str]) -> None:
    """What cannot be meant is refused before any cluster is asked."""
    assert run("-b", "127.0.0.1:1", *args).exit_code == 2
