"""The examples of docs/library.md run, each as a reader would run it."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.kafka import child
from tests.support.kafka.live_members import LiveGroup, MemberSpec

GUIDE = Path(__file__).parents[2] / "docs" / "library.md"
EXAMPLES = dict(
    re.findall(
        r"^##+ ([^\n]+)\n(?:(?!^##+ ).)*?```python\n(.*?)```", GUIDE.read_text(), re.M | re.S
    )
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """An embedded cluster with a live group `billing` of two members."""
    members = [MemberSpec("one", ("orders",)), MemberSpec("two", ("orders",))]
    with (
        Sandbox(brokers=1, topics={"orders": 4}) as cluster,
        LiveGroup(cluster.bootstrap_servers, "billing", members) as group,
    ):
        group.wait_stable(4)
        yield cluster.bootstrap_servers


def run(title: str, address: str = "") -> None:
    """Execute an example."""
    source = EXAMPLES[title].replace("localhost:9092", address)
    exec(compile(source, str(GUIDE), "exec"), {})


def test_there_are_eight() -> None:
    """Each section with code has a test below."""
    assert len(EXAMPLES) == 8


def test_list_the_lag(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Group, state and lag; nothing was committed, so the lag is not known."""
    run("List the lag of groups", address)
    assert capsys.readouterr().out == "billing Stable None\n"


def test_plan(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Four partitions more: each of the two members gets four of eight."""
    run("Plan a rebalance", address)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[0] == "exact"
    assert [len(re.findall(r"\d+", line.split("(", 1)[1])) for line in lines[1:]] == [4, 4]


def test_drive_the_coordinator(capsys: pytest.CaptureFixture[str]) -> None:
    """The join waits for the initial rebalance delay of three virtual seconds."""
    run("Drive the coordinator with a clock of your own")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "request 1 JoinGroup NONE"
    assert any(line.startswith("3000 ") for line in lines)


def test_bytes_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A request that Kafka's request log could hold, and the answer in both forms."""
    run("Requests and answers as bytes and as Kafka's JSON")
    answer, frame = capsys.readouterr().out.splitlines()
    assert answer == "{'throttleTimeMs': 0, 'errorCode': 27}"
    assert frame == "0000000c" + "00000000" + "00" + "00000000" + "001b" + "00"


def test_pytest_fixture(tmp_path: Path) -> None:
    """The example passes in a test session of its own."""
    (tmp_path / "test_consumer.py").write_text(
        EXAMPLES["Test your consumer on the embedded cluster"], encoding="utf-8"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = child.run_program(command, cwd=tmp_path, timeout_s=240)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_an_assignor_of_your_own(capsys: pytest.CaptureFixture[str]) -> None:
    """It keeps its promises; the bytes are those that members exchange."""
    run("An assignor of your own")
    findings, plan, encoded = capsys.readouterr().out.splitlines()
    assert findings == "[]"
    assert plan == "{'c1': {'orders': [0, 1]}, 'c2': {'orders': [2]}}"
    assert encoded.split()[1] == "0003" + "00000001" + "0006" + b"orders".hex() + (
        "00000001" + "00000002" + "ffffffff"
    )


def test_with_a_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """Who had the last partition keeps it."""
    run("With a memory")
    assert capsys.readouterr().out == "{'c1': {'orders': [0, 1]}, 'c2': {'orders': [2]}}\n"


def test_what_a_leader_answers(capsys: pytest.CaptureFixture[str]) -> None:
    """Each of the two may get either topic."""
    run("What a client library's leader answers")
    first, *answers = capsys.readouterr().out.splitlines()
    assert first == "True False True"
    assert sorted(answers) == [
        "{'c1': {'a': [0]}, 'c2': {'b': [0]}}",
        "{'c1': {'b': [0]}, 'c2': {'a': [0]}}",
    ]
