"""`kgroups demo`: the tour as text and as data, what it leaves behind, how it ends."""

import json
import os
import shlex
import signal
import socket
import sys
from pathlib import Path

import pytest

from kgroups.cli.commands.demo import LEFT_BEHIND, MEMBERS, READS, STEPS, TOPICS
from tests.support.cli.process import environment, finish, start
from tests.support.cli.runner import check_document, run
from tests.support.kafka.child import WAIT_S

BIN = str(Path(sys.executable).parent)


def test_the_tour_as_data_needs_no_java() -> None:
    """Each command's document is of its schema, and they tell of one and the same cluster."""
    nothing = environment(PATH=BIN, JAVA_HOME="/nowhere", KGROUPS_BOOTSTRAP_SERVER="nobody:1")
    code, stdout, stderr = finish("demo", "--output", "json", env=nothing)
    assert code == 0, stderr
    tour = json.loads(stdout)
    check_document(tour)
    assert [tuple(item["command"][1:]) for item in tour["items"]] == [s.arguments for s in STEPS]
    for item in tour["items"]:
        check_document(item["document"])
        assert item["exit_code"] == 0
        assert item["document"]["cluster"] == tour["cluster"]
    listed, described, members, worst, plan = (item["document"]["items"] for item in tour["items"])
    assert {group["group"] for group in listed} == {LEFT_BEHIND, *MEMBERS}
    topic = READS["orders-app"]
    assert [row["partition"] for row in described[0]["offsets"]] == [*range(TOPICS[topic])]
    assert all(row["lag"] > 0 and row["client_id"] for row in described[0]["offsets"])
    assert {group["group"]: len(group["members"]) for group in members} == MEMBERS
    assert sum(len(group["offsets"]) for group in worst) == 3
    assert len(plan[0]["members"]) == MEMBERS["orders-app"] + 1


@pytest.mark.slow("a drive until Ctrl-C; one in the middle is quicker")
def test_kept_until_ctrl_c() -> None:
    """With --keep the cluster can be asked from elsewhere; Ctrl-C ends it and its members."""
    with start("demo", "--keep", "--output", "json") as process:
        note = process.line_that("note: the cluster keeps running at ", stream="stderr")
        bootstrap = note.split()[6]
        code, stdout, _ = finish("list", "-b", bootstrap)
        assert (code, stdout.count("Stable")) == (0, len(MEMBERS))
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=WAIT_S)
        assert (process.returncode, "Traceback" in stderr) == (0, False)
    host, port = bootstrap.split(",")[0].rsplit(":", 1)
    with socket.socket() as caller:
        assert caller.connect_ex((host, int(port))) != 0


def test_ctrl_c_in_the_middle() -> None:
    """Ctrl-C while a command of the tour runs: 130, and no traceback."""
    with start("demo", start_new_session=True) as process:
        process.line_that(f"$ kgroups {shlex.join(STEPS[0].arguments)}\n")
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate(timeout=WAIT_S)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_no_layout_of_kafkas_tool() -> None:
    """`-o plain` is refused before a cluster is made."""
    outcome = run("demo", "-o", "plain")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith(
        "error: `plain` is not available here: Kafka's tool has no layout for it\n"
    )
