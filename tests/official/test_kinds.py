"""The tools of share groups and streams groups by Kafka and by us, line by line, on one broker."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.official.test_differential import Compared, both_tools, check
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import run_program
from tests.support.kafka.official_tools import WarmTools
from tests.support.official.differences import DIFFERENCES
from tests.support.official.kind_lines import KIND_LINES
from tests.support.official.kinds_world import kinds_world, standing
from tests.support.official.lines import Line
from tests.support.official.running import run_ours, without_undo

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "a broker and a Kafka Streams application; quick twin: tests/official/test_kinds_quick.py"
    ),
]


@pytest.fixture(scope="module")
def kinds() -> Iterator[KafkaCluster]:
    """A broker with groups of both kinds in every state."""
    with kinds_world() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def compared(
    kinds: KafkaCluster, official: WarmTools, tmp_path_factory: pytest.TempPathFactory
) -> Compared:
    """Both answers to every line; the official tool is asked first."""
    ask_both = both_tools(official, kinds.bootstrap, tmp_path_factory.mktemp("kinds"))
    return {line.name: ask_both(line) for line in KIND_LINES}


@pytest.mark.parametrize("line", KIND_LINES, ids=lambda line: line.name)
def test_line(compared: Compared, line: Line) -> None:
    """stdout to the byte but for order, exit code, and every word of stderr."""
    told = compared[line.name]
    if "foreign topic" in told.rows:  # nothing is written, by us
        told = replace(told, theirs_left={name: {**at} for name, at in line.offsets.items()})
    check(told)


def test_every_difference_of_these_tools_is_met(compared: Compared) -> None:
    """Those that lines for consumer groups cannot show."""
    met = {name for told in compared.values() for name in told.rows}
    own = {
        "empty group",
        "foreign topic",
        "foreign group",
        "not ready",
        "help",
        "version",
        "usage",
        "failure",
    }
    assert own <= met <= {difference.name for difference in DIFFERENCES}


def test_writes_are_seen(compared: Compared) -> None:
    """Where groups of both kinds stand was compared after some line, and was not as before it."""
    lines = {line.name: line for line in KIND_LINES}
    moved = {
        lines[name].kind
        for name, told in compared.items()
        if told.ours_left and told.ours_left != lines[name].offsets
    }
    assert moved == {"share", "streams"}


def test_a_link_acts_as_the_tool(kinds: KafkaCluster, tmp_path: Path) -> None:
    """By the name that it was called by."""
    for name, group in (
        ("kafka-share-groups.sh", "share-live"),
        ("kafka-streams-groups.sh", "app-live"),
    ):
        link = tmp_path / name
        link.symlink_to(Path(sys.executable).with_name("kgroups"))
        done = run_program([str(link), "--bootstrap-server", kinds.bootstrap, "--list"])
        assert (done.returncode, done.stderr) == (0, "")
        assert group in done.stdout.splitlines()
    help_page = run_ours(["official", "kafka-share-groups.sh"])
    assert (help_page.status, help_page.stdout) == (1, "")


def test_a_group_that_is_not_yet(kinds: KafkaCluster) -> None:
    """A share group may be given its offsets before its first member comes."""
    line = Line(
        "--bootstrap-server {b} --reset-offsets --group share-new --topic kind-a:1 --to-offset 5 "
        "--execute",
        "share-groups",
    )
    told = run_ours([*line.start, *line.arguments(kinds.bootstrap, "")])
    assert (told.status, without_undo(told.stderr)) == (0, "")
    assert "share-new       kind-a          1          5" in told.stdout
    assert standing(kinds.bootstrap, ["share-new"]) == {"share-new": {("kind-a", 1): 5}}
