"""What the tools of share groups and streams groups say that no broker is needed for."""

from fnmatch import fnmatchcase
from importlib import import_module

import pytest

from kgroups.cli.official.actions.reading import show_described
from kgroups.cli.official.tools import SHARE_TOOL, STREAMS_TOOL, Tool
from kgroups.cli.official.validation import Misuse, states_of
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.official.kind_catalogue import KIND_CATALOGUE
from tests.support.official.kind_lines import KIND_LINES

ROWS = [
    (suite, name, reference)
    for suite, tests in KIND_CATALOGUE.items()
    for name, references in tests.items()
    for reference in references
]


@pytest.mark.parametrize(
    ("tool", "text", "states"),
    [
        (SHARE_TOOL, "stable", ("Stable",)),
        (SHARE_TOOL, " EMPTY , dead,", ("Empty", "Dead")),
        (STREAMS_TOOL, "notREADY,assigning", ("NotReady", "Assigning")),
        (STREAMS_TOOL, "Reconciling", ("Reconciling",)),
    ],
)
def test_states(tool: Tool, text: str, states: tuple[str, ...]) -> None:
    """Any case; the states of the tool's groups and no others."""
    assert states_of(text, tool.states) == states
    for wrong in ("PreparingRebalance", "bad, wrong", "  bad, Stable", "   ,   ,"):
        with pytest.raises(Misuse, match="Invalid state list"):
            states_of(wrong, tool.states)
    if tool == SHARE_TOOL:
        with pytest.raises(Misuse, match="Valid states are: Empty, Stable, Dead"):
            states_of("NotReady", tool.states)


def test_no_offset_information(capsys: pytest.CaptureFixture[str]) -> None:
    """A share group that has begun nowhere; one that old brokers call dead."""
    groups = (Group("dead", "share", "Dead"), Group("g", "share", "Stable", members=()))
    snapshot = ClusterSnapshot(captured_at_ms=0, groups=groups, topics={})
    names = ["dead", "g"]
    assert show_described(snapshot, ["offsets"], names=names, verbose=False, tool=SHARE_TOOL) == 1
    told = capsys.readouterr()
    assert told.out == "\nShare group 'g' has no offset information.\n"
    assert told.err == "\nError: Share group 'dead' does not exist.\n"


def test_dead_group(capsys: pytest.CaptureFixture[str]) -> None:
    """What brokers before 4.0 say of a consumer group that is not there."""
    snapshot = ClusterSnapshot(captured_at_ms=0, groups=(Group("g", "classic", "Dead"),), topics={})
    assert show_described(snapshot, ["offsets"], names=["g"], verbose=False) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "\nError: Consumer group 'g' does not exist.\n")


def test_every_test_has_a_row() -> None:
    """All of Kafka's own; none is without a reference."""
    assert sum(map(len, KIND_CATALOGUE.values())) == 132
    assert all(references for tests in KIND_CATALOGUE.values() for references in tests.values())


@pytest.mark.parametrize(
    ("suite", "name", "reference"), ROWS, ids=[f"{s} {n}: {r}" for s, n, r in ROWS]
)
def test_every_row_is_met(suite: str, name: str, reference: str) -> None:
    """A reference to nothing is a test that nobody runs."""
    module, found, test = reference.partition("::")
    if found:
        path = module if module.startswith("tests.") else f"tests.official.{module}"
        assert hasattr(import_module(path), test), f"{suite} {name}"
    else:
        assert any(fnmatchcase(line.name, reference) for line in KIND_LINES), f"{suite} {name}"


def test_there_are_enough_lines() -> None:
    """At least 150, each once, of all actions of both tools."""
    assert len({line.name for line in KIND_LINES}) == len(KIND_LINES) >= 150
