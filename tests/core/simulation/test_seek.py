"""Applications that read on from elsewhere."""

from typing import Any

import pytest

from kgroups.core.simulation.engine.run import simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome
from kgroups.core.simulation.scenario.event_file import parse_event
from tests.support.simulation.sample_scenarios import BASE, in_protocol, scenario

PROTOCOLS = ("eager", "cooperative", "consumer")


def ran(text: str, *events: dict[str, Any], at: str = "2m", **seek: Any) -> GroupOutcome:
    """The group of a run in which it seeks."""
    wanted = [{"at": at, "seek": {"group": "app", **seek}}, *events]
    return simulate(scenario(text, events=wanted)).groups[0]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_from_the_first_record_everything_is_read_again(protocol: str) -> None:
    """60 records a second for 2 minutes; without a rebalance."""
    found = ran(in_protocol(BASE, protocol), to="beginning")
    assert found.read_again == pytest.approx(7_200, abs=10)
    assert found.peak_unread > 5_000
    assert found.unread <= 6
    assert found.rebalances[-1].at_ms < 60_000


def test_only_what_is_named() -> None:
    """One member of three, with two partitions of six; one partition."""
    assert ran(BASE, to="beginning", member="m-1").read_again == pytest.approx(2_400, abs=10)
    assert ran(BASE, to="beginning", partitions=[0]).read_again == pytest.approx(1_200, abs=10)


def test_to_an_offset_and_to_a_time() -> None:
    """Of 1,200 records of each partition 700; the last minute, 10 a second of each."""
    assert ran(BASE, to=500).read_again == pytest.approx(6 * 700, abs=12)
    assert ran(BASE, to="timestamp:60s").read_again == pytest.approx(6 * 600, abs=18)


def test_to_the_end_what_has_not_been_read_is_skipped() -> None:
    """The backlog, but for what was read of it in the first seconds."""
    text = BASE.replace("rate: 60", "rate: 60, backlog: 60000").replace("2ms", "10ms")
    found = ran(text, at="30s", to="end")
    # 300 records a second of 3 members for about 24 s, then what comes.
    assert found.records < 40_000
    assert found.unread <= 6
    assert found.lag < 400


@pytest.mark.parametrize(("reset", "again"), [("latest", 0), ("earliest", 7_200)])
def test_an_offset_beyond_the_end_is_reset(reset: str, again: int) -> None:
    """`auto.offset.reset` decides."""
    text = BASE.replace("    settings:", f"    settings:\n      auto.offset.reset: {reset}")
    assert ran(text, to=1_000_000).read_again == pytest.approx(again, abs=10)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("mode", ["sync", "async", "outside"])
def test_applications_that_commit_by_themselves_seek_too(mode: str, protocol: str) -> None:
    """What they commit goes backwards then."""
    text = in_protocol(BASE, protocol).replace("2ms", f"2ms, commit: {mode}")
    found = ran(text.replace("rate: 60", "rate: 12").replace("4m", "3m"), to="beginning")
    assert found.read_again == pytest.approx(1_440, abs=10)
    assert mode == "outside" or found.lag <= 12


def test_a_position_is_committed_and_so_lasts() -> None:
    """A crash after the next commit begins again where the replay was."""
    crash = {"at": "135s", "crash": {"group": "app", "member": "m-1"}}
    slow = BASE.replace("2ms", "14ms")
    found = ran(slow, crash, to="beginning")
    assert found.unread <= 6
    assert found.read_again >= 7_200


def test_the_command_line_spells_it() -> None:
    """One word a place."""
    one = scenario(BASE)
    for text, shown in (
        ("seek:to=end", "end"),
        ("seek:to=12", "12"),
        ("seek:to=timestamp:9s", "timestamp:9000ms"),
    ):
        event = parse_event(text, one).event
        assert str(getattr(event, "to", "")) == shown
