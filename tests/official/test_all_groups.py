"""`kafka-groups.sh` by us and by Kafka, line by line, on a broker with groups of every type."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import run_program
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.workload import commit_offsets, create_topics
from tests.support.official.running import run_ours
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = pytest.mark.kafka

ALIKE = (
    "--list",
    "-list",
    "--list --group-type classic",
    "--list --group-type=Consumer",
    "--list --group-type SHARE",
    "--list --group-type streams",
    "--list --group-type streams --protocol streams",
    "--list --group-type classic --protocol consumer",
    "--list --protocol consumer",
    "--list --protocol=",
    "--list --protocol nothing",
    "--list --consumer",
    "--list --share",
    "--list --streams",
)
REFUSED = {
    "--group-type consumer": "Command must include exactly one action: --list.",
    "--list --group-type odd": "--group-type must be a valid group type.",
    "--list --consumer --share": 'Option "[consumer]" can\'t be used with option "[share]"',
    "--list --consumer --group-type classic": (
        'Option "[consumer]" can\'t be used with option "[group-type]"'
    ),
    "--list --streams --protocol streams": (
        'Option "[streams]" can\'t be used with option "[protocol]"'
    ),
    "--list --share --streams": 'Option "[share]" can\'t be used with option "[streams]"',
    "--list --state": "state is not a recognized option",
}


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """A classic group, a consumer group, a streams group, and one with a long name."""
    create_topics(kafka.bootstrap, {"all-types": 2})
    long_name = "all-" + "long-" * 8
    commits = {name: {("all-types", 0): 0} for name in ("all-classic", long_name)}
    commit_offsets(kafka.bootstrap, commits)
    with ExitStack() as stack:
        streams = stack.enter_context(
            hand_member(kafka.address(), "all-streams", [subtopology("0", ["all-types"])])
        )
        streams.beat()
        spec = MemberSpec("all-a", ("all-types",))
        live = stack.enter_context(
            LiveGroup(kafka.bootstrap, "all-consumer", [spec], protocol="consumer")
        )
        live.wait_stable(2)
        yield kafka.bootstrap


@pytest.mark.parametrize("line", ALIKE)
def test_same_table(address: str, official: WarmTools, line: str) -> None:
    """To the column; but for the order of the rows, which is ours by name."""
    words = ["--bootstrap-server", address, *shlex.split(line)]
    theirs = official.run("groups", *words)
    ours = run_ours(["official", "kafka-groups.sh", *words])
    assert (ours.status, ours.stderr) == (theirs.status, "") == (0, "")
    header, *rows = ours.stdout.splitlines()
    assert header == theirs.stdout.splitlines()[0]
    assert rows == sorted(theirs.stdout.splitlines()[1:])


@pytest.mark.parametrize("line", REFUSED)
def test_same_refusal(address: str, official: WarmTools, line: str) -> None:
    """The words of the tool, and its exit code; without its help page or stack trace."""
    words = ["--bootstrap-server", address, *shlex.split(line)]
    theirs = official.run("groups", *words)
    ours = run_ours(["official", "kafka-groups.sh", *words])
    assert (ours.status, ours.stdout) == (theirs.status, "") == (1, "")
    assert REFUSED[line] in theirs.stderr
    assert REFUSED[line] in ours.stderr


def test_nobody_answers() -> None:
    """On stderr, with exit code 1; the address is looked at before anything else."""
    config = ["--bootstrap-server", "127.0.0.1:1", "--list"]
    with patch("kgroups.cli.official.all_groups.TIMEOUT_MS", 500):
        ours = run_ours(["official", "kafka-groups.sh", *config])
    assert (ours.status, ours.stdout) == (1, "")
    assert "Error while executing groups command : " in ours.stderr
    missing = run_ours(["official", "kafka-groups.sh", "--list"])
    assert "Missing required argument" in missing.stderr


def test_a_link_acts_as_the_tool(address: str, tmp_path: Path) -> None:
    """By the name that it was called by."""
    for name, rest in (("kafka-groups.sh", []), ("kafka-consumer-groups.sh", ["--state"])):
        link = tmp_path / name
        link.symlink_to(Path(sys.executable).with_name("kgroups"))
        words = [str(link), "--bootstrap-server", address, "--list", *rest]
        done = run_program(words)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("GROUP ")
        assert "all-classic" in done.stdout
    strange = run_ours(["official", "kafka-topics.sh", "--list"])
    assert strange.status == 1
    assert "kafka-groups.sh" in strange.stderr
