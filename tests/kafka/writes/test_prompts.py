"""What is asked before a write, on a terminal: the same for every command that writes.

A program that is asked on a terminal of its own: `test_reset_offsets.py`.
"""

from collections.abc import Sequence

import pytest

from tests.support.cli.process import finish
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

LINES = {
    "delete": ("delete", "{topic}-g", "{topic}-gone"),
    "reset-offsets": (
        *("reset-offsets", "{topic}-g", "{topic}-gone", "--to", "earliest"),
        *("--topic", "{topic}:0"),
    ),
    "delete-offsets": ("delete-offsets", "{topic}-g", "{topic}-gone", "--topic", "{topic}:0"),
}
QUESTIONS = {
    "delete": "Delete 1 group and its committed offsets?",
    "reset-offsets": "Reset offsets of 1 partition in 1 group?",
    "delete-offsets": "Delete offsets of 1 partition in 1 group?",
}


@pytest.fixture
def topic(cluster_address: str, request: pytest.FixtureRequest) -> str:
    """A topic with a group that stands at 5."""
    name = f"prompts-{abs(hash(request.node.nodeid)):x}"
    create_topics(cluster_address, {name: 1})
    produce(cluster_address, {(name, 0): 10})
    commit_offsets(cluster_address, {f"{name}-g": {(name, 0): 5}})
    return name


def words_of(command: str, topic: str) -> Sequence[str]:
    """The line of a command, about one group that can be changed and one that is not there."""
    return [word.format(topic=topic) for word in LINES[command]]


@pytest.mark.parametrize("command", LINES)
def test_no_is_no(cluster_address: str, topic: str, command: str) -> None:
    """The plan is shown with what cannot be done; who declines is not advised to go on."""
    words = words_of(command, topic)
    found = run("-b", cluster_address, *words, "--keep-going", "-o", "csv", answer="n\n")
    assert found.exit_code == 5
    assert QUESTIONS[command] in found.stderr
    assert f"{topic}-gone" in found.stderr
    assert "--keep-going" not in found.stderr
    assert found.stdout.count(",skipped,") == found.stdout.count(",failed,") == 1
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 5}


@pytest.mark.parametrize("command", LINES)
def test_nothing_is_asked_where_something_cannot_be_done(
    cluster_address: str, topic: str, command: str
) -> None:
    """It is said how the rest is done."""
    found = run("-b", cluster_address, *words_of(command, topic), "-o", "csv", answer="n\n")
    assert found.exit_code == 5
    assert QUESTIONS[command] not in found.stderr
    assert "; use --keep-going to " in found.stderr
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 5}


@pytest.mark.parametrize("command", LINES)
@pytest.mark.parametrize("more", [(), ("--no-input",)])
def test_nobody_to_ask(cluster_address: str, topic: str, command: str, more: Sequence[str]) -> None:
    """What cannot be done is said first; then that nobody can be asked about the rest."""
    words = words_of(command, topic)
    found = run("-b", cluster_address, *words, *more)
    assert (found.exit_code, "cannot ask for confirmation" in found.stderr) == (5, False)
    found = run("-b", cluster_address, *words, "--keep-going", *more)
    assert found.exit_code == 2
    without = "with --no-input" if more else "without a terminal"
    assert f"cannot ask for confirmation {without}" in found.stderr
    assert fetch_offsets(cluster_address, f"{topic}-g") == {(topic, 0): 5}


def test_a_program_without_a_terminal(cluster_address: str, topic: str) -> None:
    """Its input is none that could be asked."""
    code, _, stderr = finish("-b", cluster_address, *words_of("delete", topic), "--keep-going")
    assert code == 2
    assert "cannot ask for confirmation without a terminal" in stderr
