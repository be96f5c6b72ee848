"""Scenarios that the simulation's tests share: a base group, and one event each."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
import yaml

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.run import Run, simulate
from kgroups.core.simulation.figures.outcome import GroupOutcome, Outcome
from kgroups.core.simulation.figures.recorder import Line
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.simulation.scenario.scenario_model import Scenario

BASE: Final = """\
until: 4m
brokers: 3
cluster: {offsets.topic.num.partitions: 3}
topics:
  orders: {partitions: 6, rate: 60}
groups:
  app:
    protocol: eager
    members:
      m: {count: 3, topics: [orders], processing: 2ms}
    settings:
      session.timeout.ms: 10s
      max.poll.interval.ms: 60s
      metadata.max.age.ms: 25s
"""
PATTERN: Final = BASE.replace("topics: [orders]", "pattern: 'ord.*'")
TWO_TOPICS: Final = BASE.replace("  orders:", "  bills: {partitions: 3, rate: 30}\n  orders:")
ZONES: Final = BASE.replace(
    "    settings:",
    "      z: {count: 2, rack: z, topics: [orders], processing: 2ms}\n    settings:",
)

# Event -> (the scenario without it, the event at two minutes).
EVENTS: Final[Mapping[str, tuple[str, dict[str, Any]]]] = {
    "rolling_restart": (BASE, {"group": "app", "down": "5s", "pause": "20s"}),
    "scale_out": (BASE, {"group": "app", "count": 2}),
    "scale_in": (BASE, {"group": "app", "members": ["m-2"]}),
    "crash": (BASE, {"group": "app", "member": "m-1", "restart_after": "30s"}),
    "gc_pause": (BASE, {"group": "app", "member": "m-1", "for": "70s"}),
    "poison_record": (BASE, {"group": "app", "member": "m-1", "for": "90s"}),
    "pause": (BASE, {"group": "app", "topics": ["orders"], "for": "60s"}),
    "subscribe": (TWO_TOPICS, {"group": "app", "member": "m-1", "topics": ["bills"]}),
    "unsubscribe": (BASE, {"group": "app", "member": "m-2"}),
    "seek": (BASE, {"group": "app", "member": "m-1", "to": "beginning"}),
    "network_partition": (BASE, {"group": "app", "member": "m-1", "for": "80s"}),
    "move_coordinator": (BASE, {"group": "app"}),
    # The group's partition of the log is led by broker 0.
    "broker_down": (BASE, {"broker": 0, "for": "60s"}),
    "broker_up": (BASE, {"broker": 0}),
    "add_partitions": (BASE, {"topic": "orders", "partitions": 9}),
    "create_topic": (PATTERN, {"topic": "orders-eu", "partitions": 3, "rate": 30}),
    "load": (BASE, {"topic": "orders", "rate": "200/s", "for": "60s"}),
    "zone_outage": (ZONES, {"rack": "z", "brokers": [1], "for": "60s"}),
    "spot_eviction": (ZONES, {"group": "app", "rack": "z", "restart_after": "30s"}),
    # The group is coordinated by broker 0.
    "slow_broker": (BASE, {"broker": 0, "by": "40s", "for": "50s"}),
    "request_error": (
        BASE,
        {
            "group": "app",
            "api": "Heartbeat",
            "error": "COORDINATOR_LOAD_IN_PROGRESS",
            "times": 3,
        },
    ),
    "roll_brokers": (BASE, {"down": "20s", "pause": "10s"}),
    "deploy": (BASE, {"group": "app", "maxSurge": 1, "readiness": "8s"}),
}


Keys = Mapping[str, Any]
"""The top level of a scenario's file."""


def small(
    member: Keys | None = None,
    *,
    topic: Keys | None = None,
    group: Keys | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A file in which group `g` reads topic `t`: more keys of its only entry, of both, and beside.

    Args:
        member: with a `pattern` in the place of the topic, or without.
        changes: top-level keys.
    """
    reads = {} if "pattern" in (member or {}) else {"topics": ["t"]}
    return {
        "topics": {"t": {"partitions": 1, **(topic or {})}},
        "groups": {"g": {"members": {"m": {**reads, **(member or {})}}, **(group or {})}},
        **changes,
    }


def scenario(text: str | Keys = BASE, /, **changes: Any) -> Scenario:
    """The scenario of a file, with top-level keys replaced."""
    value = {**(yaml.safe_load(text) if isinstance(text, str) else text), **changes}
    return parse_simulation(parse_document(yaml.safe_dump(value, sort_keys=False), "test", "yaml"))


def ran(
    text: str | Keys, /, *events: dict[str, Any], seed: int | None = None, **changes: Any
) -> GroupOutcome:
    """The only group of a run, with these events and top-level keys replaced."""
    if events:
        changes["events"] = list(events)
    (group,) = simulate(scenario(text, **changes), seed=seed).groups
    return group


def told(
    what: Scenario, seed: int | None = None, *, every_request: bool = False
) -> tuple[Outcome, list[Line]]:
    """The outcome of a run, and its timeline."""
    ended: list[Outcome] = []

    def lines() -> Iterator[Line]:
        run = Run(what, what.seed if seed is None else seed)
        ended.append((yield from run.lines(every_request)))

    found = list(lines())
    return ended[0], found


def checked(text: str | Keys) -> Scenario:
    """The scenario of a file, as the command line reads it."""
    text = text if isinstance(text, str) else yaml.safe_dump(text)
    document = parse_document(text, "s.yaml", "yaml")
    found = parse_simulation(document)
    check_scenario(found, document)
    return found


def refused(text: str, line: int | None = None) -> UsageError:
    """Why a file is refused, and that its message begins with this line."""
    with pytest.raises(UsageError) as raised:
        checked(text)
    if line is not None:
        assert raised.value.message.startswith(f"`s.yaml`, line {line}, "), raised.value.message
    return raised.value


def refused_event(event: str, text: str = BASE) -> str:
    """Why an event at two minutes is refused, in its line."""
    text = f"{text}events:\n  - {{at: 2m, {event}}}\n"
    return refused(text, len(text.splitlines())).message


def in_protocol(text: str, protocol: str) -> str:
    """The base in another protocol: a consumer group's broker decides about sessions."""
    if protocol == "consumer":
        text = re.sub(r"session\.timeout\.ms: \d+s(, |\n +)", "", text)
    return text.replace("protocol: eager", f"protocol: {protocol}")


def with_event(kind: str, protocol: str) -> tuple[Scenario, Scenario]:
    """The base of an event in a protocol: without the event, and with it."""
    text, fields = EVENTS[kind]
    text = in_protocol(text, protocol)
    if protocol == "consumer" and "api" in fields:
        fields = {**fields, "api": "ConsumerGroupHeartbeat"}
    before: list[dict[str, Any]] = []
    if kind == "broker_up":
        before = [{"at": "60s", "broker_down": {"broker": 0, "failover": "40s"}}]
        return scenario(text, events=before), scenario(
            text, events=[*before, {"at": "70s", kind: fields}]
        )
    return scenario(text), scenario(text, events=[{"at": "120s", kind: fields}])
