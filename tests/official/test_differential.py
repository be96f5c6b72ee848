"""Every command line through Kafka's own tool and through ours, on one cluster."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot import TopicPartition
from scripts.official_deviations import DEVIATIONS
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.official_tools import Answer, WarmTools
from tests.support.kafka.workload import commit_offsets, fetch_offsets
from tests.support.official.differences import ANY_WORDS, DIFFERENCES, UNDO
from tests.support.official.kinds_world import put, standing
from tests.support.official.lines import LINES, Line
from tests.support.official.normal import normal, words
from tests.support.official.running import run_ours

pytestmark = pytest.mark.kafka

FILES = {
    "client.properties": "client.id=someone\nretries=3\n",
    "three.csv": 'reset-a,0,7\n"reset-a",1,900\nreset-a,0,8\n',
    "four.csv": "res-a,reset-a,0,7\nres-b,reset-b,1,3\nother,reset-b,0,1\n",
    "two.csv": "reset-a,0\n",
    "five.csv": "res-a,reset-a,0,7,9\n",
    "header.csv": "topic,partition,offset\nreset-a,0,1\n",
    "negative.csv": "reset-a,0,-4\n",
    "empty.csv": "",
    "nobody.csv": "other,reset-a,0,7\nres-b,reset-b,1,3\n",
    "windows.csv": "reset-a, 0, 7\r\nreset-a,1,8\r\n",
    "nope.csv": "nope,0,7\n",
    "kind.csv": 'kind-a,0,7\n"kind-a",1,900\n',
    "none.csv": "other,kind-a,0,7\n",
    "list.json": "[]",
    "text-version.json": '{"version": "1", "partitions": []}',
    "version.json": '{"version": 2, "partitions": []}',
    "no-partitions.json": '{"version": 1}',
    "number.json": '{"partitions": 5}',
    "no-offset.json": '{"partitions": [{"topic": "records", "partition": 0}]}',
    "text-offset.json": '{"partitions": [{"topic": "records", "partition": 0, "offset": "1"}]}',
    "internal.json": '{"partitions": [{"topic": "__consumer_offsets", "partition": 0, '
    '"offset": 0}]}',
    "records.json": '{"partitions": [{"topic": "records", "partition": 0, "offset": 2, "x": 1},'
    ' {"topic": "records", "partition": 1, "offset": -1}]}',
    "records-bad.json": '{"partitions": [{"topic": "records", "partition": 0, "offset": 2},'
    ' {"topic": "records", "partition": 1, "offset": 500},'
    ' {"topic": "compacted", "partition": 0, "offset": 0}], "version": 1}',
    "records-none.json": '{"partitions": [], "version": 1}',
    "records-twice.json": '{"partitions": [{"topic": "records", "partition": 0, "offset": 2},'
    ' {"topic": "records", "partition": 0, "offset": 3}]}',
}

Left = dict[str, dict[TopicPartition, int]]
Compared = dict[str, "Comparison"]


# Deviations that one line cannot show, and the tests that do.
ELSEWHERE = {
    "order": "test_conformance::test_rows_are_sorted",
    "order of writing": "test_conformance::test_scenario",
    "vanished partition": "test_alone::test_vanished_topic_hides_nothing",
    "guards": "test_alone::test_a_guard_forbids_writes",
    "lost groups": "test_broken::test_listed_as_far_as_known",
    "empty group": "test_kinds::test_every_difference_of_these_tools_is_met",
    "not ready": "test_kinds::test_every_difference_of_these_tools_is_met",
    "foreign topic": "test_kinds::test_every_difference_of_these_tools_is_met",
}


@dataclass(frozen=True)
class Comparison:
    """What ours had to answer, what it answered, and the rows of differences that applied."""

    expected: Answer
    ours: Answer
    rows: frozenset[str]
    theirs_left: Left
    ours_left: Left


@pytest.fixture(scope="module")
def compared(
    full: KafkaCluster, official: WarmTools, tmp_path_factory: pytest.TempPathFactory
) -> Compared:
    """Both answers to every line; the official tool is asked first."""
    ask_both = both_tools(official, full.bootstrap, tmp_path_factory.mktemp("official"))
    return {line.name: ask_both(line) for line in LINES}


def both_tools(
    official: WarmTools, bootstrap: str, folder: Path, *, address: str | None = None
) -> Callable[[Line], "Comparison"]:
    """Gives both answers to a line, the official tool's first.

    Args:
        folder: gets the files that lines name.
        address: as for `compare`.
    """
    for name, text in FILES.items():
        (folder / name).write_text(text)

    def ask(line: Line) -> Answer:
        prepare(line, bootstrap)
        return official.run(line.tool, *line.arguments(address or bootstrap, str(folder)))

    return lambda line: compare(line, ask, bootstrap, folder, address=address)


def prepare(line: Line, bootstrap: str) -> None:
    """Groups that the line changes, as they were."""
    if line.kind is not None:
        put(bootstrap, line.kind, line.offsets)
    elif line.offsets:
        with ClusterAdmin(ClientSettings(bootstrap)) as admin:
            admin.delete_groups(list(line.offsets))
        commit_offsets(bootstrap, line.offsets)


def compare(
    line: Line,
    ask: Callable[[Line], Answer],
    bootstrap: str,
    folder: Path,
    *,
    address: str | None = None,
) -> Comparison:
    """One line through both.

    Args:
        line: whose `{b}` is the address.
        ask: the official tool.
        bootstrap: where groups are put in order and looked at.
        folder: of the files.
        address: another one for the tools, as they are to enter.
    """
    expected = ask(line)
    theirs_left = left_behind(line, bootstrap)
    applied: list[str] = []
    for difference in DIFFERENCES:
        changed = difference.expected(line, expected, ask)
        if changed is not None:
            expected = changed
            applied.append(difference.name)
    prepare(line, bootstrap)
    ours = run_ours([*line.start, *line.arguments(address or bootstrap, str(folder))])
    return Comparison(expected, ours, frozenset(applied), theirs_left, left_behind(line, bootstrap))


def left_behind(line: Line, bootstrap: str) -> Left:
    """What the groups of a line that writes offsets have committed now."""
    if "--execute" not in line.text and "--delete-offsets" not in line.text:
        return {}
    if "--delete " in line.text:
        return {}
    if line.kind is not None:
        return standing(bootstrap, line.offsets)
    return {group: fetch_offsets(bootstrap, group) for group in line.offsets}


@pytest.mark.slow("the same lines on the embedded cluster: test_on_sandbox.py")
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)
def test_line(compared: Compared, line: Line) -> None:
    """stdout to the byte but for order, exit code, and every word of stderr."""
    check(compared[line.name])


def check(told: Comparison) -> None:
    """Fail unless ours answered as it had to."""
    assert normal(told.ours.stdout) == normal(told.expected.stdout)
    assert told.ours.status == told.expected.status
    assert told.ours_left == told.theirs_left
    if told.expected.stderr == ANY_WORDS:
        assert told.ours.stderr
    else:
        assert said(told.ours.stderr) == said(told.expected.stderr)


def said(stderr: str) -> list[list[str]]:
    """Words of each line, in the order of lines; ours may add hints and begin with `error:`."""
    named = re.sub(r"^undo file: /\S+/undo-\d{8}T\d+Z-\d+\.json$", UNDO.strip(), stderr, flags=re.M)
    lines = (line.removeprefix("error: ") for line in named.splitlines())
    return sorted(words(line) for line in lines if line and not line.startswith("hint: "))


@pytest.mark.slow("the same lines on the embedded cluster: test_on_sandbox.py")
@pytest.mark.parametrize("name", [each.name for each in DIFFERENCES if each.name not in ELSEWHERE])
def test_every_difference_is_met(compared: Compared, name: str) -> None:
    """A row that no line needs is no difference."""
    assert any(name in told.rows for told in compared.values())


def test_every_difference_is_documented() -> None:
    """The published table has each row of the tests'; the others are tested elsewhere."""
    documented = {row.name for row in DEVIATIONS}
    assert documented - set(ELSEWHERE) == {difference.name for difference in DIFFERENCES} - set(
        ELSEWHERE
    )
    assert set(ELSEWHERE) <= documented
    for reference in ELSEWHERE.values():
        module, _, name = reference.partition("::")
        assert hasattr(import_module(f"tests.official.{module}"), name)


@pytest.mark.slow("the same lines on the embedded cluster: test_on_sandbox.py")
def test_writes_are_seen(compared: Compared) -> None:
    """Offsets were compared after some line, and were not all as before it."""
    lines = {line.name: line for line in LINES}
    assert any(
        told.ours_left and told.ours_left != lines[name].offsets for name, told in compared.items()
    )


def test_there_are_enough_lines() -> None:
    """At least 80, each once; all actions are among them."""
    assert len({line.name for line in LINES}) == len(LINES) >= 80
    text = " ".join(line.text for line in LINES)
    assert set(re.findall(r"--(?:list|describe|delete|reset-offsets|delete-offsets)\b", text))
