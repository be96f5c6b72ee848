"""How many members, which load, how many partitions, and when events happen, as what varies."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor
from kgroups.core.simulation.scenario.event_file import (
    FIELDS,
    MAX_MEMBERS,
    MAX_PARTITIONS,
    Names,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, Scenario, TopicPlan
from kgroups.core.simulation.scenario.units import read_ms, read_rate

# Keys of an event's time that can vary.
TIMES: Final[Mapping[str, str]] = {"at": "at_ms", "every": "every_ms"}


def change_members(scenario: Scenario, cursor: Cursor, group: str | None) -> Scenario:
    """So many members of each entry, of one group or of all."""
    count = cursor.integer(1, MAX_MEMBERS)

    def change(plan: GroupPlan) -> GroupPlan:
        templates = plan.templates or plan.members[:1]
        members = tuple(one.numbered(number) for one in templates for number in range(1, count + 1))
        return replace(plan, members=members)

    known = [one.name for one in scenario.groups]
    _check_known(group, known, "group")
    groups = (change(one) if group in (None, one.name) else one for one in scenario.groups)
    return replace(scenario, groups=tuple(groups))


def change_rate(scenario: Scenario, cursor: Cursor, topic: str | None) -> Scenario:
    """So many records a second to one topic, or to each."""
    rate = read_rate(cursor)
    return _change_topics(scenario, topic, lambda one: replace(one, rate=rate))


def change_partitions(scenario: Scenario, cursor: Cursor, topic: str | None) -> Scenario:
    """So many partitions of one topic, or of each; commits at the start as they were."""
    count = cursor.integer(1, MAX_PARTITIONS)

    def change(one: TopicPlan) -> TopicPlan:
        racks = tuple(one.racks[n % len(one.racks)] for n in range(count)) if one.racks else ()
        return replace(one, partitions=count, racks=racks)

    changed = _change_topics(scenario, topic, change)
    topics = {one.name: one for one in changed.topics}

    def commits(plan: GroupPlan) -> GroupPlan:
        committed = {}
        for name, found in plan.committed.items():
            at_start = not any(found.values())
            new = topics[name]
            committed[name] = {
                n: 0 if at_start else new.backlog_of(n) for n in range(new.partitions)
            }
        return replace(plan, committed=committed)

    return replace(changed, groups=tuple(commits(one) for one in changed.groups))


def _change_topics(
    scenario: Scenario, topic: str | None, change: Callable[[TopicPlan], TopicPlan]
) -> Scenario:
    _check_known(topic, [one.name for one in scenario.topics], "topic")
    topics = (change(one) if topic in (None, one.name) else one for one in scenario.topics)
    return replace(scenario, topics=tuple(topics))


def _check_known(name: str | None, known: list[str], what: str) -> None:
    if name is not None and name not in known:
        shown = ", ".join(f"`{one}`" for one in known[:20])
        raise UsageError(f"there is no {what} `{name}`", hint=f"{what}s: {shown}")


def change_event(scenario: Scenario, kind: str, key: str, cursor: Cursor) -> Scenario:
    """Another time, or another value, of every event of a kind."""
    if all(one.name != kind for one in scenario.events):
        raise UsageError(f"the scenario has no event `{kind}`")
    names = Names({group.name: group for group in scenario.groups}, scenario.brokers)
    events = []
    for one in scenario.events:
        if one.name != kind:
            events.append(one)
        elif key in TIMES:
            times: dict[str, Any] = dict.fromkeys(TIMES.values())
            times[TIMES[key]] = read_ms(cursor)
            events.append(replace(one, **times))
        else:
            field, _, read = FIELDS[kind][key]
            found: Any = {field: read(cursor, names, getattr(one.event, "group", ""))}
            events.append(replace(one, event=replace(one.event, **found)))
    return replace(scenario, events=tuple(events))


# What can follow the dot, or stand alone: `orders.rate=100/s`, `rate=100/s`.
PARTS: Final[Mapping[str, Callable[[Scenario, Cursor, str | None], Scenario]]] = {
    "members": change_members,
    "rate": change_rate,
    "partitions": change_partitions,
}


def part_of(name: str) -> Callable[[Scenario, Cursor], Scenario] | None:
    """How a scenario changes by this name; None if it names no part."""
    what, dot, part = name.rpartition(".")
    if part in PARTS and (what or not dot):
        return lambda scenario, cursor: PARTS[part](scenario, cursor, what or None)
    kind, _, key = name.partition(".")
    if key in FIELDS.get(kind, {}) or (kind in FIELDS and key in TIMES):
        return lambda scenario, cursor: change_event(scenario, kind, key, cursor)
    return None
