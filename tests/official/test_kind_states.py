"""What the tools of share groups and streams groups say that no broker is needed for."""

import pytest

from kgroups.cli.official.actions.reading import show_described
from kgroups.cli.official.tools import SHARE_TOOL
from kgroups.core.snapshot import ClusterSnapshot, Group
from tests.support.official.kind_lines import KIND_LINES


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


def test_there_are_enough_lines() -> None:
    """At least 150, each once, of all actions of both tools."""
    assert len({line.name for line in KIND_LINES}) == len(KIND_LINES) >= 150
