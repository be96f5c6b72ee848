"""`plan --to-protocol` of live groups on the embedded cluster, and of files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.live_members import LiveGroup, MemberSpec

SCENARIO = """
topics: {t: 4}
groups:
  g:
    members:
      a: {topics: [t], owned: {t: [0, 1]}}
      b: {topics: [t], owned: {t: [2, 3]}}
    changes: [{to_protocol: consumer}]
"""


@contextmanager
def live(
    properties: Mapping[str, str] | None = None, as_version: str | None = None
) -> Iterator[str]:
    """A cluster with the classic group `g` of one member."""
    with Sandbox(
        brokers=1, topics={"t": 4}, properties=properties, as_version=as_version
    ) as cluster:
        address = cluster.bootstrap_servers
        with LiveGroup(address, "g", [MemberSpec("a", ("t",))]) as group:
            group.wait_stable(4)
            yield address


def moved(address: str, *more: str) -> Outcome:
    """The plan of a move of `g`."""
    return run("-b", address, "plan", "g", "--to-protocol", "consumer", *more)


def item_of(outcome: Outcome) -> Any:
    """The only plan of a document."""
    (item,) = outcome.document["items"]
    return item


def test_a_group_that_can_move() -> None:
    """The steps, and a check that passes; blockers have a table of their own."""
    with live() as address:
        item = item_of(moved(address, "-o", "json", "--fail-on", "blockers > 0"))
        assert item["blockers"] == []
        assert (item["rebalance_protocol"], item["assignor"]) == ("consumer", "uniform")
        assert [stage["confidence"] for stage in item["stages"]] == ["exact", "exact"]
        assert item["metrics"]["kept"] == 4
        told = moved(address, "--steps")
        assert told.exit_code == 0
        assert "with the consumer protocol" in told.stdout
        assert "`g`: no blockers" in moved(address, "--blockers").stderr
        both = moved(address, "--assignor", "uniform,range", "-o", "json")
        assert [each["assignor"] for each in both.document["items"]] == ["uniform", "range"]


def test_blockers_of_nothing() -> None:
    """The view is of a move; it is not taken in silence where none is asked for."""
    refused = run("plan", "g", "--blockers", "-b", "127.0.0.1:1")
    assert refused.exit_code == 2
    assert "`--blockers` requires `--to-protocol`" in refused.stderr


@pytest.mark.parametrize(
    ("properties", "as_version", "code"),
    [
        ({"group.consumer.migration.policy": "disabled"}, None, "MIGRATION_POLICY"),
        (None, "3.5", "UNSUPPORTED_VERSION"),
    ],
)
def test_brokers_that_refuse(
    properties: Mapping[str, str] | None, as_version: str | None, code: str
) -> None:
    """Blockers come first, nothing moves, and the check fails."""
    with live(properties, as_version) as address:
        told = moved(address, "--fail-on", "blockers > 0")
        assert told.exit_code == 6
        assert code in told.stdout.split("KEPT")[0]
        item = item_of(moved(address, "-o", "json"))
        assert code in {blocker["code"] for blocker in item["blockers"]}
        assert item["stages"] == []
        assert item["confidence"] is None


def test_a_scenario_file(tmp_path: Path) -> None:
    """A change like any other, of a group on paper: the brokers' settings are assumed."""
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    item = item_of(run("plan", "--from", str(path), "-o", "json"))
    assert len(item["stages"]) == 4
    assert item["confidence"] == "likely"
    assert "group.consumer.migration.policy" in item["confidence_reason"]


@pytest.mark.usefixtures("files")
def test_it_can_move_only_once() -> None:
    """Two directions in one plan are refused; the last one was taken, silently."""
    line = ("plan", "billing", "--from", "shop.json", "--to-protocol", "consumer")
    refused = run(*line, "--to-protocol", "classic")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "`--to-protocol` can be used only once" in refused.stderr
