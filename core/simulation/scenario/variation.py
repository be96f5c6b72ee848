"""One scenario in variations: `session.timeout.ms=6000,45000` beside `static=false,true`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig
from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document
from kgroups.core.simulation.clients.properties import hint_of
from kgroups.core.simulation.kubernetes.deploy_event import Change
from kgroups.core.simulation.kubernetes.new_version import changed_group, changed_member
from kgroups.core.simulation.scenario.contradictions import COOPERATIVE, STRATEGY, deployed
from kgroups.core.simulation.scenario.event_file import (
    FIELDS,
    MAX_MEMBERS,
    MAX_PARTITIONS,
)
from kgroups.core.simulation.scenario.member_readers import read_commit, read_spread
from kgroups.core.simulation.scenario.member_settings import (
    INSTEAD,
    LIBRARY_DEFAULTS,
    PROTOCOL_WORDS,
    SETTINGS,
    Protocol,
    read_setting,
)
from kgroups.core.simulation.scenario.scenario_model import (
    CommitPlan,
    GroupPlan,
    MemberPlan,
    Network,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.scenario.units import read_ms, read_rate, value_text

Vary = Callable[[Scenario, Cursor], Scenario]
Variation = Mapping[str, str]
MAX_COMBINATIONS: Final = 10_000

# Protocols -> the beginnings of names that mean nothing to members and coordinators of them.
WITHOUT_EFFECT: Final[Mapping[frozenset[Protocol], tuple[str, ...]]] = {
    frozenset({"consumer"}): (STRATEGY,),
    frozenset({"consumer", "zookeeper"}): (
        *("session.timeout.ms", "heartbeat.interval.ms", "group.initial.", "group.max."),
        "group.min.",
    ),
    frozenset({"eager", "cooperative", "zookeeper"}): ("group.consumer.", "group.remote.assignor"),
    frozenset({"eager", "cooperative", "consumer"}): (
        *("zookeeper.", "rebalance.max.retries", "rebalance.backoff.ms"),
    ),
}

# Keys of an event's time that can vary.
TIMES: Final[Mapping[str, str]] = {"at": "at_ms", "every": "every_ms"}


def change_members(scenario: Scenario, cursor: Cursor, group: str | None) -> Scenario:
    """So many members of each entry, of one group or of all."""
    count = cursor.integer(1, MAX_MEMBERS)

    def change(plan: GroupPlan) -> GroupPlan:
        templates = plan.templates or plan.members[:1]
        members = tuple(t.numbered(number) for t in templates for number in range(1, count + 1))
        return replace(plan, members=members)

    names = [plan.name for plan in scenario.groups]
    _check_known(group, names, "group")
    groups = (change(plan) if group in (None, plan.name) else plan for plan in scenario.groups)
    return replace(scenario, groups=tuple(groups))


def change_rate(scenario: Scenario, cursor: Cursor, topic: str | None) -> Scenario:
    """So many records a second to one topic, or to each."""
    rate = read_rate(cursor)
    return _change_topics(scenario, topic, lambda plan: replace(plan, rate=rate))


def change_partitions(scenario: Scenario, cursor: Cursor, topic: str | None) -> Scenario:
    """So many partitions of one topic, or of each; commits at the start as they were."""
    count = cursor.integer(1, MAX_PARTITIONS)

    def change(plan: TopicPlan) -> TopicPlan:
        racks = tuple(plan.racks[n % len(plan.racks)] for n in range(count)) if plan.racks else ()
        return replace(plan, partitions=count, racks=racks)

    changed = _change_topics(scenario, topic, change)
    topics = {topic.name: topic for topic in changed.topics}

    def commits(plan: GroupPlan) -> GroupPlan:
        committed = {}
        for name, offsets in plan.committed.items():
            at_start = not any(offsets.values())
            new = topics[name]
            committed[name] = {
                n: 0 if at_start else new.backlog_of(n) for n in range(new.partitions)
            }
        return replace(plan, committed=committed)

    return replace(changed, groups=tuple(commits(plan) for plan in changed.groups))


def _change_topics(
    scenario: Scenario, topic: str | None, change: Callable[[TopicPlan], TopicPlan]
) -> Scenario:
    _check_known(topic, [plan.name for plan in scenario.topics], "topic")
    topics = (change(plan) if topic in (None, plan.name) else plan for plan in scenario.topics)
    return replace(scenario, topics=tuple(topics))


def _check_known(name: str | None, names: list[str], what: str) -> None:
    if name is not None and name not in names:
        shown = ", ".join(f"`{choice}`" for choice in names[:20])
        raise UsageError(f"there is no {what} `{name}`", hint=f"{what}s: {shown}")


def change_event(scenario: Scenario, kind: str, key: str, cursor: Cursor) -> Scenario:
    """Another time, or another value, of every event of a kind."""
    if all(scheduled.name != kind for scheduled in scenario.events):
        raise UsageError(f"the scenario has no event `{kind}`")
    events = []
    for scheduled in scenario.events:
        if scheduled.name != kind:
            events.append(scheduled)
        elif key in TIMES:
            times: dict[str, Any] = dict.fromkeys(TIMES.values())
            times[TIMES[key]] = read_ms(cursor)
            events.append(replace(scheduled, **times))
        else:
            field, _, read = FIELDS[kind][key]
            changes: Any = {field: read(cursor, scenario, getattr(scheduled.event, "group", ""))}
            events.append(replace(scheduled, event=replace(scheduled.event, **changes)))
    return replace(scenario, events=tuple(events))


# What can follow the dot, or stand alone: `orders.rate=100/s`, `rate=100/s`.
PARTS: Final[Mapping[str, Callable[[Scenario, Cursor, str | None], Scenario]]] = {
    "members": change_members,
    "rate": change_rate,
    "partitions": change_partitions,
}


def part_of(name: str) -> Vary | None:
    """How a scenario changes by this name; None if it names no part."""
    what, dot, part = name.rpartition(".")
    if part in PARTS and (what or not dot):
        return lambda scenario, cursor: PARTS[part](scenario, cursor, what or None)
    kind, _, key = name.partition(".")
    if key in FIELDS.get(kind, {}) or (kind in FIELDS and key in TIMES):
        return lambda scenario, cursor: change_event(scenario, kind, key, cursor)
    return None


def parse_vary(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name to values, of texts as `name=a,b`.

    Raises:
        UsageError: not of that form, a name that is not known, or one given twice.
    """
    variations: dict[str, tuple[str, ...]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        listed = tuple(value.strip() for value in values.split(",") if value.strip())
        if not equals or not listed:
            raise UsageError(f"`--vary {text}` is not NAME=VALUE[,VALUE]...")
        check_name(name)
        if name in variations:
            raise UsageError(f"`--vary {name}` is given twice")
        variations[name] = listed
    return variations


def check_name(name: str) -> None:
    """Nothing, if something of this name can vary.

    Raises:
        UsageError: nothing can.
    """
    if name not in CHANGES and part_of(name) is None:
        names = ", ".join([*sorted([*CHANGES, *PARTS]), "EVENT.KEY"])
        hint = hint_of(name) or f"known: {names}"
        raise UsageError(f"`{name}` cannot be varied", hint=hint)


def combinations(vary: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every combination, the last name changing fastest; one empty one if nothing varies.

    Raises:
        UsageError: there are too many.
    """
    total = 1
    for values in vary.values():
        total *= len(values)
    if total > MAX_COMBINATIONS:
        raise UsageError(f"{total} combinations are too many", hint=f"at most {MAX_COMBINATIONS}")
    return [dict(zip(vary, values, strict=True)) for values in product(*vary.values())]


def varied(scenario: Scenario, variation: Variation) -> Scenario:
    """The scenario with these values.

    Raises:
        UsageError: a value is not of its kind, or changes nothing in the protocols of the groups.
    """
    for name, value in variation.items():
        change = CHANGES.get(name) or part_of(name)
        assert change is not None, "parse_vary has seen to that"
        scenario = change(scenario, _cursor(name, value))
    protocols = {group.protocol for group in scenario.groups}
    protocols |= {group.protocol for _, group, _ in deployed(scenario)}
    for name in variation.keys() & CHANGES.keys():
        for idle, names in WITHOUT_EFFECT.items():
            if protocols <= idle and name.startswith(names):
                shown = " and ".join(sorted(protocols))
                what = f"`{name}` has no effect with protocol {shown}"
                raise UsageError(what, hint=INSTEAD.get(name))
    return scenario


def _cursor(name: str, value: str) -> Cursor:
    """A value of the command line as one of a file, for the same readers and complaints."""
    plain: object = {"true": True, "false": False}.get(value, value)
    if isinstance(plain, str) and plain.isdigit():
        plain = int(plain)
    return Document("--vary", f"{name}: {value}", "yaml", {name: plain}).root.child(name, plain)


def _version(read: Callable[[Cursor, GroupPlan], Change]) -> Vary:
    """Members of every group as a deploy with this change makes them."""

    def change(scenario: Scenario, cursor: Cursor) -> Scenario:
        new = {group.name: read(cursor, group) for group in scenario.groups}
        scenario = scenario.with_members(
            lambda group, plan: changed_member(group, plan, new[group.name])
        )
        groups = (changed_group(group, new[group.name]) for group in scenario.groups)
        return replace(scenario, groups=tuple(groups))

    return change


def _setting(name: str) -> Vary:
    return _version(lambda cursor, _: Change(settings=tuple(read_setting(name, cursor).items())))


def _property(name: str) -> Vary:
    field, _ = PROPERTIES[name]

    def change(scenario: Scenario, cursor: Cursor) -> Scenario:
        text = value_text(read_ms(cursor) if name.endswith(".ms") else cursor.value)
        try:
            parsed = CoordinatorConfig.from_properties({name: text})
        except UsageError as error:
            raise UsageError(
                f"`--vary {name}={value_text(cursor.value)}`: {error.message}"
            ) from error
        settings: Any = {field: getattr(parsed, field)}
        return replace(scenario, cluster=replace(scenario.cluster, **settings))

    return change


def _strategy(scenario: Scenario, cursor: Cursor) -> Scenario:
    """Other assignors: a classic group is cooperative where all of them are."""
    scenario = _setting(STRATEGY)(scenario, cursor)

    def change(group: GroupPlan) -> GroupPlan:
        if group.protocol not in ("eager", "cooperative"):
            return group
        named = {name for plan in group.members for name in plan.settings.assignors}
        return replace(group, protocol="cooperative" if named == {COOPERATIVE} else "eager")

    return replace(scenario, groups=tuple(change(group) for group in scenario.groups))


def _latency(scenario: Scenario, cursor: Cursor) -> Scenario:
    latency = read_spread(cursor)
    return replace(scenario, network=Network(latency, scenario.network.loss))


def _commit(scenario: Scenario, cursor: Cursor) -> Scenario:
    mode = read_commit(cursor).mode

    def change(_: GroupPlan, plan: MemberPlan) -> MemberPlan:
        before = plan.commit or CommitPlan(mode)
        return replace(
            plan, commit=CommitPlan(mode) if mode == "none" else replace(before, mode=mode)
        )

    return scenario.with_members(change)


CHANGES: Final[Mapping[str, Vary]] = {
    **{name: _setting(name) for name in SETTINGS},
    **{name: _property(name) for name in PROPERTIES},
    STRATEGY: _strategy,
    "protocol": _version(
        lambda cursor, group: Change(protocol=group.spoken(cursor.text(PROTOCOL_WORDS)))
    ),
    "client": _version(lambda cursor, _: Change(library=cursor.choice(LIBRARY_DEFAULTS))),
    "static": _version(lambda cursor, _: Change(static=cursor.flag())),
    "latency": _latency,
    "processing": _version(lambda cursor, _: Change(record=read_spread(cursor))),
    "commit": _commit,
}
