"""`kgroups doctor` on the embedded cluster with a live member, and on files."""

from collections.abc import Iterator

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.cli.terminal_run import run_on_terminal
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.workload import commit_offsets, produce

OVER = ("--over", "300ms")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A live member that is stuck in one of its partitions, and two groups without members."""
    with Sandbox(brokers=1, topics={"t": 2}) as sandbox:
        produce(sandbox.bootstrap_servers, {("t", 0): 5, ("t", 1): 5})
        read = {("t", 0): 5, ("t", 1): 5}
        commits = {"app": {**read, ("t", 1): 2}, "late": {**read, ("t", 0): 1}, "done": read}
        commit_offsets(sandbox.bootstrap_servers, commits)
        with LiveGroup(sandbox.bootstrap_servers, "app", [MemberSpec("stuck", ("t",))]) as group:
            group.wait_stable(2)
            yield sandbox.bootstrap_servers


def test_a_stuck_partition(address: str) -> None:
    """By name, with its owner; over so short a time it may be a pause, and exits with 0."""
    outcome = run("doctor", "app", "done", *OVER, "-b", address, "-o", "json")
    assert outcome.exit_code == 0
    app, done = outcome.document["items"]
    (finding,) = app["findings"]
    assert (finding["code"], finding["level"]) == ("STALLED_PARTITION", "info")
    assert {name: finding["where"][name] for name in ("topic", "partition", "client_id")} == {
        "topic": "t",
        "partition": 1,
        "client_id": "stuck",
    }
    assert finding["evidence"]["lag"] == 3
    assert (app["facts"]["lag"], app["facts"]["member_count"]) == (3, 1)
    assert done["findings"] == []
    not_examined = [{"code": "REBALANCE_STUCK", "reason": "requires --over 30s"}]
    assert done["not_examined"] == not_examined


def test_levels(address: str) -> None:
    """A group that waits for its consumer is worth knowing, and no failure."""
    words = ("doctor", "late", "-b", address)
    assert run(*words).exit_code == 0
    outcome = run(*words, "--fail-on-level", "info", "-o", "json")
    assert outcome.exit_code == 6
    (item,) = outcome.document["items"]
    assert [finding["code"] for finding in item["findings"]] == ["NO_CONSUMER"]
    assert {each["code"]: each["reason"] for each in item["not_examined"]} == {
        "STALLED_PARTITION": "requires --over",
        "FALLING_BEHIND": "requires --over",
        "PHANTOM_LAG": "requires --over",
        "REBALANCE_STUCK": "requires --over 30s",
    }


def test_a_group_that_is_not_there(address: str) -> None:
    """The others are examined all the same."""
    outcome = run("doctor", "done", "nope", "-b", address, "-o", "json")
    assert outcome.exit_code == 5
    assert [item["group"] for item in outcome.document["items"]] == ["done"]
    assert outcome.document["errors"][0]["target"] == "nope"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_finding_is_whole_however_narrow_the_terminal_is(width: int) -> None:
    """Object, impact, figures and the command: folded between words, the command not at all."""
    words = ("doctor", "billing", "--from", "shop.json", "--quiet")
    code, written = run_on_terminal(*words, COLUMNS=str(width))
    assert code == 6
    facts, _, finding = written.partition("\x1b[1;31merror[DATA_LOST]\x1b[0m")
    told = "billing: orders-2 (bill-2) these records were never processed (certain)"
    assert " ".join(finding.split()).startswith(told)
    assert "lost 40, committed_offset 10" in finding
    assert "  next: kgroups describe billing --topic orders" in finding.splitlines()
    assert all(len(line) <= max(width, 50) for line in finding.splitlines())
    assert "billing" in facts
    piped = run(*words).stdout.partition("error[DATA_LOST]")[2]
    assert width != 200 or finding == piped


@pytest.mark.usefixtures("files")
def test_a_snapshot_has_no_history() -> None:
    """What cannot be examined in a file is named; nothing can be added to it."""
    outcome = run("doctor", "billing", "--from", "shop.json", "-o", "json")
    reasons = {each["reason"] for each in outcome.document["items"][0]["not_examined"]}
    assert reasons == {
        "requires --over",
        "requires --over 30s",
        "a snapshot file has no history",
        "a snapshot file does not record it",
    }
    assert run("doctor", "billing", "--from", "shop.json", *OVER).exit_code == 2
    assert run("doctor", "billing", "--from", "shop.json", "--log", "x.log").exit_code == 2
