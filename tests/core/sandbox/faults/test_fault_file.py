"""Fault files: what they can say, and every mistake named by its line."""

import time
from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_file import FaultPlan, TimedFault, read_fault_file
from kgroups.core.sandbox.faults.fault_rules import Drop, Fault, LoseRequest
from kgroups.core.sandbox.sandbox import Sandbox
from tests.core.sandbox.test_server import HEARTBEAT
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.frame_client import connected
from tests.support.sandbox.sandbox_process import write_lines

EXAMPLE = """
faults:
  - {api: OffsetCommit, group: payments, error: NOT_COORDINATOR, times: 3}
  - {api: Fetch, client: slow-1, delay: 500ms, times: always}
  - {api: JoinGroup, drop: true, broker: 2, skip: 1}
  - {lose: true, delay: 1s}
  - {at: 9s, broker_up: 2}
  - {at: 5s, broker_down: 2}
  - {at: 1m, move_coordinator: payments, to: 1}
  - {move_coordinator: billing}
  - {at: 4s, expire_member: consumer-1, group: payments}
  - {at: 6s, advance_clock: 7d}
  - {at: 10s, freeze_clock: true}
  - {api: Produce, topic: orders, drop: true}
"""


def read(tmp_path: Path, text: str) -> FaultPlan:
    """The plan in a file of this text."""
    path = tmp_path / "faults.yaml"
    path.write_text(text, encoding="utf-8")
    return read_fault_file(path)


def test_example(tmp_path: Path) -> None:
    """Every kind of entry, rules in order of the file, timed faults in order of time."""
    plan = read(tmp_path, EXAMPLE)
    assert plan.rules == (
        Fault(api=Api.OFFSET_COMMIT, group="payments", action=16, times=3),
        Fault(api=Api.FETCH, client="slow-1", delay_ms=500, times=None),
        Fault(api=Api.JOIN_GROUP, action=Drop(), broker=2, skip=1),
        Fault(action=LoseRequest(), delay_ms=1000),
        Fault(api=Api.PRODUCE, topic="orders", action=Drop()),
    )
    assert plan.timed_faults == (
        TimedFault(0, "move_coordinator", group="billing"),
        TimedFault(4_000, "expire_member", group="payments", member="consumer-1"),
        TimedFault(5_000, "broker_down", broker=2),
        TimedFault(6_000, "advance_clock", ms=7 * 86_400_000),
        TimedFault(9_000, "broker_up", broker=2),
        TimedFault(10_000, "freeze_clock", frozen=True),
        TimedFault(60_000, "move_coordinator", group="payments", broker=1),
    )


MISTAKES = [
    ("no YAML", "faults: [", "line 2: not YAML"),
    ("no faults", "rules: []", "line 1, `rules`: unknown key `rules`"),
    ("no list", "faults: {api: Fetch}", "expected a list, found a mapping"),
    ("nothing at all", "", "is empty"),
    ("no map", "faults: [3]", "`faults[0]`: expected a mapping, found the number 3"),
    ("an unknown key", "faults: [{api: Fetch, eror: X}]", "unknown key `eror`"),
    ("an unknown api", "faults: [{api: Fetsch, drop: true}]", "unknown api `Fetsch`"),
    ("an unknown error", "faults: [{error: OOPS}]", "unknown error `OOPS`"),
    ("an error by number", "faults: [{error: 16}]", "expected text, found the number 16"),
    (
        "two actions",
        "faults: [{drop: true, lose: true}]",
        "`drop` and `lose` cannot be used together",
    ),
    ("no action", "faults: [{api: Fetch}]", "the entry does nothing"),
    ("a duration without unit", "faults: [{delay: 5}]", "`5` is not a duration"),
    ("a negative count", "faults: [{drop: true, times: -1}]", "at least 1, found -1"),
    ("a count of nothing", "faults: [{drop: true, times: 0}]", "at least 1, found 0"),
    ("a truth as number", "faults: [{drop: true, skip: true}]", "a whole number, found `true`"),
    ("a second entry", "faults:\n- {drop: true}\n- {drop: maybe}", "line 3, `faults[1].drop`"),
    ("two timed faults", "faults: [{broker_up: 1, broker_down: 2}]", "expected one timed fault"),
    ("only a time", "faults: [{at: 1s}]", "expected one timed fault, found 0"),
    ("a rule at a time", "faults: [{at: 1s, drop: true}]", "expected one timed fault, found 0"),
    ("a member without group", "faults: [{expire_member: m}]", "missing key `group`"),
    ("a broker that is text", "faults: [{broker_down: one}]", "a whole number, found the string"),
    ("a clock by number", "faults: [{advance_clock: 5}]", "`5` is not a duration"),
    ("a clock that is text", "faults: [{freeze_clock: 1}]", "expected true or false"),
    ("a move of a broker", "faults: [{broker_down: 1, to: 2}]", "unknown key `to`"),
]


@pytest.mark.parametrize(
    ("text", "message"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    """One sentence that names the file, the line and what is wrong there."""
    with pytest.raises(UsageError) as raised:
        read(tmp_path, text)
    assert message in raised.value.message
    assert "faults.yaml" in raised.value.message
    assert raised.value.exit_code == 2


def test_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and one that is no text are named."""
    for path in (tmp_path / "missing.yaml", tmp_path):
        with pytest.raises(UsageError, match="cannot be read"):
            read_fault_file(path)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8 text"):
        Sandbox(faults=binary).start()


def test_rules_of_a_file_are_in_force(tmp_path: Path) -> None:
    """A cluster begins with the rules of its file."""
    path = write_lines(
        tmp_path / "f.yaml", "faults:", "  - {api: Heartbeat, error: NOT_COORDINATOR}"
    )
    with connected(faults=path) as (_, wire):
        codes = [wire.ask(Api.HEARTBEAT, 4, HEARTBEAT)["error_code"] for _ in range(2)]
    assert codes == [16, 25]


def test_timed_faults_happen_at_their_time(tmp_path: Path) -> None:
    """A broker goes down and comes up by the file; one that is not there is only noted."""
    path = write_lines(
        tmp_path / "f.yaml",
        "faults:",
        "  - {at: 100ms, broker_down: 2}",
        "  - {at: 200ms, broker_down: 9}",
        "  - {at: 400ms, broker_up: 2}",
    )
    started = time.monotonic()
    with Sandbox(brokers=2, faults=path) as cluster:
        told = ["broker 2: down", "incident: broker_down failed", "broker 2: up"]
        wait_until(
            lambda: told[2] in "\n".join(str(line) for line in cluster.events), what="broker 2 up"
        )
        assert time.monotonic() - started >= 0.4
        text = "\n".join(str(line) for line in cluster.events)
        assert [text.index(part) for part in told] == sorted(text.index(part) for part in told)
