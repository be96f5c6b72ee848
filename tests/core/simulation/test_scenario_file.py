"""A scenario's file: what it means, and what is said of a wrong one."""

import json
import re
from operator import attrgetter
from pathlib import Path
from random import Random

import pytest
import yaml
from jsonschema import Draft202012Validator

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.kubernetes.deploy_event import Deploy
from kgroups.core.simulation.scenario.event_file import parse_event
from kgroups.core.simulation.scenario.scenario_events import Crash, Scheduled
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.simulation.scenario.spread import Spread
from kgroups.core.simulation.scenario.units import parse_ms
from kgroups.core.simulation.scenario.variation import combinations, parse_vary, varied
from kgroups.core.times import show_ms
from tests.core.simulation.test_random import RANDOM
from tests.support.simulation.sample_scenarios import BASE, EVENTS, in_protocol, scenario

SCHEMA = Path(__file__).parents[3] / "cli" / "schemas" / "simulation.json"


def test_members_are_numbered_and_settings_are_laid_over_each_other() -> None:
    """Library, then group, then member."""
    text = BASE.replace(
        "m: {count: 3,", "m: {count: 2, static: true, every: 5s, client: librdkafka,"
    )
    (group,) = scenario(text).groups
    one, two = group.members
    assert (one.name, one.instance_id, one.start_ms) == ("m-1", "m-1", 0)
    assert (two.name, two.instance_id, two.start_ms) == ("m-2", "m-2", 5_000)
    assert one.settings.max_poll_records == 1
    assert one.settings.session_timeout_ms == 10_000
    assert one.settings.auto_commit_interval_ms == 5_000


def test_the_command_lines_events_are_those_of_a_file() -> None:
    """`at` is a minute and the group the first one unless said."""
    found = parse_event("crash:member=m-1,restart_after=5s", scenario())
    assert found == Scheduled(Crash("app", "m-1", 5_000), at_ms=60_000)
    assert parse_event("crash:every=5m", scenario()).every_ms == 300_000


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("scale_in:members=m-1+m-3", "members", ("m-1", "m-3")),
        ("rolling_restart:down=5s,members=m-2,pause=1s", "members", ("m-2",)),
        ("pause:topics=orders+2026,for=10s", "topics", ("orders", "2026")),
        ("subscribe:topics=orders+bills,at=9s", "topics", ("orders", "bills")),
        ("seek:to=end,partitions=0+2+4", "partitions", (0, 2, 4)),
        ("zone_outage:rack=a,brokers=0+2,for=10s", "brokers", (0, 2)),
        ("add_partitions:topic=orders,partitions=9", "partitions", 9),
        ("deploy:change.topics=orders+bills", "change.topics", ("orders", "bills")),
    ],
)
def test_the_command_line_spells_lists(text: str, key: str, value: object) -> None:
    """With `+` between the values, as `plan --add-members` has it."""
    event = parse_event(text, scenario()).event
    assert attrgetter(key)(event) == value


@pytest.mark.parametrize("kind", EVENTS)
def test_the_schema_takes_what_the_reader_takes(kind: str) -> None:
    """Every scenario of these tests keeps to it; a key too many does not."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    value = {
        **yaml.safe_load(EVENTS[kind][0]),
        "events": [{"at": "2m", kind: dict(EVENTS[kind][1])}],
    }
    assert validator.is_valid(value)
    assert validator.is_valid(yaml.safe_load(RANDOM))
    value["events"][0][kind]["colour"] = 1
    assert not validator.is_valid(value)


@pytest.mark.parametrize(
    ("vary", "code"),
    [
        ("session.timeout.ms=5999", "INVALID_SESSION_TIMEOUT"),
        ("session.timeout.ms=1800001", "INVALID_SESSION_TIMEOUT"),
        ("heartbeat.interval.ms=10s", "INVALID_CONFIG"),
        ("group.consumer.session.timeout.ms=44s", "INVALID_CONFIG"),
        ("group.consumer.heartbeat.interval.ms=20s", "INVALID_CONFIG"),
    ],
)
def test_impossible_parameters_are_refused_by_the_brokers_name(vary: str, code: str) -> None:
    """Just beyond each bound."""
    (variation,) = combinations(parse_vary([vary]))
    protocol = "consumer" if vary.startswith("group.consumer.") else "eager"
    with pytest.raises(UsageError) as raised:
        check_scenario(varied(scenario(in_protocol(BASE, protocol)), variation))
    assert raised.value.code == code


@pytest.mark.parametrize("vary", ["session.timeout.ms=6000", "session.timeout.ms=30m"])
def test_the_bounds_themselves_are_fine(vary: str) -> None:
    """As a broker takes them."""
    (variation,) = combinations(parse_vary([vary]))
    check_scenario(varied(scenario(), variation))


@pytest.mark.parametrize(("before", "after"), [("eager", "eager"), ("consumer", "eager")])
def test_classic_is_what_the_clients_speak(before: str, after: str) -> None:
    """In variations and in a deploy's change, as in a group."""
    text = in_protocol(BASE, before)
    (variation,) = combinations(parse_vary(["protocol=classic"]))
    assert {group.protocol for group in varied(scenario(text), variation).groups} == {after}
    deploy = {"deploy": {"group": "app", "change": {"protocol": "classic"}}, "at": "60s"}
    (event,) = scenario(text, events=[deploy]).events
    assert isinstance(event.event, Deploy)
    assert event.event.change.protocol == after


def test_spreads_have_the_mean_that_was_asked_for() -> None:
    """Fixed exactly, normal and heavy nearly, over many draws; sums as well."""
    random = Random(1)
    for spread in (Spread(2.0), Spread(2.0, "normal", 0.5), Spread(2.0, "heavy", tail=2.5)):
        mean = sum(spread.draw(random) for _ in range(20_000)) / 20_000
        assert mean == pytest.approx(2.0, rel=0.1)
        assert spread.draw_sum(random, 10_000) / 10_000 == pytest.approx(2.0, rel=0.1)
    heavy = Spread(2.0, "heavy")
    assert max(heavy.draw(random) for _ in range(20_000)) > 100


def test_durations_are_read_and_shown() -> None:
    """Every unit."""
    read = [parse_ms(text) for text in ("250", "5ms", "1.5s", "2m", "1h", "250us")]
    assert read == [250, 5, 1_500, 120_000, 3_600_000, 0.25]
    shown = [show_ms(ms) for ms in (12, 1_500, 61_000, 3_720_000)]
    assert shown == ["12ms", "1.5s", "1m01s", "1h02m"]


@pytest.mark.parametrize("text", [BASE, RANDOM], ids=["base", "random"])
def test_numbers_in_quotes_are_numbers(text: str) -> None:
    """Each number and flag of a YAML file may stand in quotes; in JSON a text is a text."""
    more = "network: {loss: 0.01, latency: {heavy: 5, tail: 2}}\n"
    text = text if "network:" in text else more + text
    quoted = re.sub(r"(?<=: )(\d+(?:\.\d+)?|true|false)(?=[,}\n])", r'"\1"', text)
    assert quoted.count('"') > text.count('"') + 5
    assert scenario(quoted) == scenario(text)
    document = parse_document('{"topics": {"t": "3"}, "groups": {}}', "s.json", "json")
    with pytest.raises(UsageError, match="expected a whole number, found the string `3`"):
        parse_simulation(document)
