"""The tools of share groups and streams groups by Kafka and by us, on the broker of the session."""

import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.official.test_differential import both_tools, check
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.official_tools import Tool, WarmTools
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics
from tests.support.official import stuck
from tests.support.official.kind_lines import PARSING
from tests.support.official.lines import Line
from tests.support.official.running import run_ours
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = pytest.mark.kafka

TOOLS: tuple[Tool, ...] = ("share-groups", "streams-groups")
USAGE = [Line(text, tool) for tool in TOOLS for text in PARSING[: PARSING.index("--version") + 1]]
DESCRIBED = [
    Line(f"--bootstrap-server {{b}} --describe --group quick-{tool} {view}", tool)
    for tool in TOOLS
    for view in ("", "--verbose", "--members --verbose", "--state --verbose")
]

LATE = [
    Line("--bootstrap-server {b} --describe --group quick-late-streams-groups " + view, TOOLS[1])
    for view in ("", "--verbose", "--members")
]


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """A share group and a streams group, each with a member."""
    create_topics(kafka.bootstrap, {"quick-kinds": 2})
    with ExitStack() as stack:
        wire = stack.enter_context(WireConnection(kafka.bootstrap, client_id="wire"))
        stuck.share(wire, "quick-share-groups", "quick-kinds")
        parts = [subtopology("0", ["quick-kinds"])]
        member = stack.enter_context(hand_member(kafka.address(), "quick-streams-groups", parts))
        late = [subtopology("0", ["no-such-topic"])]
        stack.enter_context(hand_member(kafka.address(), "quick-late-streams-groups", late)).beat()
        wait_until(lambda: member.beat() and member.active, "it has its tasks", pause_s=0.2)
        yield kafka.bootstrap


@pytest.mark.parametrize("line", [*USAGE, *DESCRIBED, *LATE], ids=lambda line: line.name)
def test_line(address: str, official: WarmTools, tmp_path: Path, line: Line) -> None:
    """The same table to the byte, the same words, the same exit code."""
    check(both_tools(official, address, tmp_path)(line))


def test_a_deletion_is_never_dry(address: str) -> None:
    """`--dry-run` beside `--delete` is refused, as with consumer groups."""
    words = shlex.split(
        f"--bootstrap-server {address} --delete --group quick-share-groups --dry-run"
    )
    told = run_ours(["official", "kafka-share-groups.sh", *words])
    assert (told.status, told.stdout) == (1, "")
    assert "nothing was deleted" in told.stderr
