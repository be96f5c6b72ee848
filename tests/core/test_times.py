"""The one grammar of durations and instants, and that every option and file follows it."""

from collections.abc import Callable

import pytest

from kgroups.cli.commands.lag.lag_options import window_of
from kgroups.cli.params import parse_timeout_ms
from kgroups.cli.watching import interval_ms
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.offsets.targets import parse_target
from kgroups.core.sandbox.faults.fault_file import parse_faults
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.times import duration_ms, parse_duration_ms, parse_instant_ms
from tests.support.simulation.sample_scenarios import BASE

NOW_MS = 1_795_208_400_000
MINUTE_MS = 60_000

DURATIONS = {
    "250us": 0.25,
    "500ms": 500,
    "1.5s": 1_500,
    "10 s": 10_000,
    "5m": 5 * MINUTE_MS,
    "1h30m": 90 * MINUTE_MS,
    "1h 30m": 90 * MINUTE_MS,
    "1d": 1_440 * MINUTE_MS,
    "2w": 20_160 * MINUTE_MS,
    "PT1H30M": 90 * MINUTE_MS,
    "p1dt0.5s": 1_440 * MINUTE_MS + 500,
}
NO_DURATIONS = [
    "",
    "10",
    "ten",
    "-1s",
    "1e3s",
    "1x",
    "1h ago",
    "٣s",
    "P",
    "PT",
    "99999999w",
    "9" * 99,
]


@pytest.mark.parametrize("text", DURATIONS)
def test_duration(text: str) -> None:
    """Each form is read as what it says."""
    assert duration_ms(text) == DURATIONS[text]


@pytest.mark.parametrize("text", NO_DURATIONS)
def test_no_duration(text: str) -> None:
    """Any other text is refused; a bare number is one only where its unit is known."""
    assert duration_ms(text) is None
    if duration_ms(text, bare="s") is not None:
        assert parse_duration_ms(text) == int(text) * 1_000
        return
    with pytest.raises(UsageError, match="is not a duration"):
        parse_duration_ms(text)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("100000s", "allowed: 1ms to 86,400s"),
        ("100000", "allowed: 1ms to 86,400s"),
        ("1h30000m", "allowed: 1ms to 1,440m"),
        ("2d", "allowed: 1ms to 1d"),
    ],
)
def test_a_duration_out_of_range(text: str, hint: str) -> None:
    """The range is in the unit that was written."""
    with pytest.raises(UsageError, match=f"`{text}` is out of range") as refusal:
        parse_duration_ms(text, least_ms=1, most_ms=86_400_000)
    assert refusal.value.hint == hint


def test_a_bare_number_where_its_unit_is_documented() -> None:
    """In that unit."""
    assert duration_ms("2.5", bare="s") == 2_500
    assert duration_ms("250", bare="ms") == 250


def test_instants() -> None:
    """A time with its zone, or a duration ago."""
    assert parse_instant_ms("1970-01-01T02:00:00.25+02:00", NOW_MS) == 250
    assert parse_instant_ms("90m", NOW_MS) == NOW_MS - 90 * MINUTE_MS


def test_times_of_the_clock() -> None:
    """The last time that it was that late in the zone (UTC), this millisecond included."""
    noon_ms = parse_instant_ms("2026-11-21T12:00Z", NOW_MS)
    for text, instant in {
        "12:00Z": "2026-11-21T12:00Z",
        "12:00": "2026-11-21T12:00Z",
        "12:01": "2026-11-20T12:01Z",
        "12:00:01": "2026-11-20T12:00:01Z",
        "12:00:01Z": "2026-11-20T12:00:01Z",
        "03:00+00:00": "2026-11-21T03:00Z",
        "01:00+14:00": "2026-11-22T01:00+14:00",
        "03:00+14:00": "2026-11-21T03:00+14:00",
        "23:00-12:00": "2026-11-20T23:00-12:00",
    }.items():
        assert parse_instant_ms(text, noon_ms) == parse_instant_ms(instant, noon_ms), text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2026-11-21T06:00:00", "has no zone"),
        ("2026-11-21", "has no zone"),
        ("25:00Z", "is not a time"),
        ("2026-13-21T06:00:00Z", "is not a time"),
        ("yesterday", "is not a time"),
        ("1500", "is not a time"),
        ("1969-12-31T23:59:59Z", "is before 1970"),
        ("90y", "is not a time"),
    ],
)
def test_no_instant(text: str, why: str) -> None:
    """Anything else is refused with the reason."""
    with pytest.raises(UsageError, match=why):
        parse_instant_ms(text, NOW_MS)


def of_fault(text: str) -> float:
    """Read as the delay of a fault."""
    text = f"faults: [{{api: Fetch, delay: {text}}}]"
    return parse_faults(parse_document(text, "f.yaml", "yaml")).rules[0].delay_ms


def of_scenario(text: str) -> float:
    """Read as the length of a simulation."""
    found = parse_simulation(
        parse_document(BASE.replace("until: 4m", f"until: {text}"), "s.yaml", "yaml")
    ).until_ms
    assert found is not None
    return found


READERS: dict[str, Callable[[str], float]] = {
    "--timeout": parse_timeout_ms,
    "--watch": lambda text: interval_ms(text, "table", None),
    "--over": lambda text: NOW_MS - window_of(text, None, None, NOW_MS)[0],
    "--since": lambda text: NOW_MS - window_of(None, text, None, NOW_MS)[0],
    "--to": lambda text: NOW_MS - parse_target(text, NOW_MS).number,
    "a fault's delay": of_fault,
    "a scenario's length": of_scenario,
}


@pytest.mark.parametrize("text", ["90s", "1h30m", "PT2M"])
@pytest.mark.parametrize("reader", READERS)
def test_one_grammar_everywhere(reader: str, text: str) -> None:
    """Every option and file reads the same duration alike."""
    assert READERS[reader](text) == duration_ms(text)


@pytest.mark.parametrize("reader", ["--since", "--to"])
def test_zones_are_wanted_everywhere(reader: str) -> None:
    """A date without a zone is refused by all options that take times."""
    with pytest.raises(UsageError, match="has no zone"):
        READERS[reader]("2026-11-21T06:00:00")
