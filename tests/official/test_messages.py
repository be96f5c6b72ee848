"""The words of every official error and notice are in ours, on stderr and nowhere else."""

from importlib import import_module
from pathlib import Path

import pytest

from kgroups.cli.official.actions.reading import show_described
from kgroups.core.snapshot import ClusterSnapshot, Group
from scripts.official_deviations import DEVIATIONS
from tests.official.test_differential import prepare, write_files
from tests.support.kafka.broker import KafkaCluster
from tests.support.official.lines import Line
from tests.support.official.messages import ELSEWHERE, FILES, MESSAGES, UNSAID, Message
from tests.support.official.running import run_ours


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that the lines name."""
    files = tmp_path_factory.mktemp("messages")
    write_files(files)
    for name, text in FILES.items():
        (files / name).write_text(text)
    return files


@pytest.mark.slow("every message on a broker; scenarios: tests/official/test_on_sandbox.py")
@pytest.mark.kafka
@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.words)
def test_message(full: KafkaCluster, folder: Path, message: Message) -> None:
    """Said once, on stderr; stdout holds none of it; the exit code of an error is 1."""
    line = Line(message.line, message.tool, offsets=message.offsets)
    prepare(line, full.bootstrap)
    start = ["official"] if line.tool == "consumer-groups" else ["official", "delete-records"]
    told = run_ours([*start, *line.arguments(full.bootstrap, str(folder))])
    said = " ".join(told.stderr.split())
    assert said.count(" ".join(message.words.split())) == 1, told
    assert message.words.strip() not in told.stdout
    notice = message.words.startswith(("WARN", "Warn", "Consumer group"))
    assert told.status == (0 if notice else 1)


def test_dead_group(capsys: pytest.CaptureFixture[str]) -> None:
    """What brokers before 4.0 say of a group that is not there."""
    snapshot = ClusterSnapshot(captured_at_ms=0, groups=(Group("g", "classic", "Dead"),), topics={})
    assert show_described(snapshot, ["offsets"], names=["g"], verbose=False) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "\nError: Consumer group 'g' does not exist.\n")


def test_every_message_is_accounted_for() -> None:
    """Each has a line, a test elsewhere, or a reason; no message stands twice."""
    assert len({(message.words, message.line) for message in MESSAGES}) == len(MESSAGES) > 70
    for reference in ELSEWHERE.values():
        module, _, name = reference.partition("::")
        assert hasattr(import_module(f"tests.official.{module}"), name)
    deviations = {row.name for row in DEVIATIONS}
    named = {
        reason.removeprefix("deviation: ")
        for reason in UNSAID.values()
        if reason.startswith("deviation: ")
    }
    assert named <= deviations
    assert all(UNSAID.values())
