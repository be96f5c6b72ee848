"""A simulation's scenario in YAML or JSON, checked: complaints name file, line, what is accepted.

The format is described in `cli/schemas/simulation.json`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig
from kgroups.core.input_files.document import Cursor, Document, Fields
from kgroups.core.simulation.scenario.event_file import (
    MAX_MEMBERS,
    MAX_PARTITIONS,
    Names,
    read_events,
)
from kgroups.core.simulation.scenario.member_readers import (
    check_protocol,
    read_processing,
    read_spread,
    read_topics,
)
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    PROTOCOLS,
    Library,
    Protocol,
    read_settings,
)
from kgroups.core.simulation.scenario.scenario_model import (
    GroupPlan,
    MemberPlan,
    Network,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.scenario.spread import Spread
from kgroups.core.simulation.scenario.units import read_ms, read_positive_ms, read_rate

SCHEMA: Final = "kgroups.simulation/1"

ROOT_KEYS: Final = (
    "schema",
    "name",
    "seed",
    "until",
    "brokers",
    "cluster",
    "network",
    "topics",
    "groups",
    "events",
)
TOPIC_KEYS: Final = ("partitions", "rate", "backlog", "racks")
GROUP_KEYS: Final = ("protocol", "members", "settings", "config", "committed")
MEMBER_KEYS: Final = (
    "count",
    "client",
    "client_id",
    "topics",
    "pattern",
    "static",
    "instance_id",
    "rack",
    "start",
    "every",
    "processing",
    "settings",
)
GROUP_CONFIG: Final = (
    "consumer.session.timeout.ms",
    "consumer.heartbeat.interval.ms",
    "consumer.assignment.interval.ms",
)
MAX_BROKERS: Final = 1_000


def is_simulation(document: Document) -> bool:
    """Whether a file means to be a simulation's scenario."""
    value = document.value
    return isinstance(value, dict) and str(value.get("schema", "")).startswith("kgroups.simulation")


def parse_simulation(document: Document) -> Scenario:
    """The scenario in a parsed file.

    Raises:
        UsageError: something in it is wrong; names file, line and what is accepted.
    """
    root = document.root.fields(("topics", "groups"), ROOT_KEYS)
    root.optional("schema", lambda c: c.text((SCHEMA,)))
    brokers = root.optional("brokers", lambda c: c.integer(1, MAX_BROKERS)) or 1
    topics = {name: _topic(name, cursor) for name, cursor in root["topics"].entries()}
    groups = {name: _group(name, cursor, topics) for name, cursor in root["groups"].entries()}
    if not groups:
        root["groups"].fail("there are no groups")
    names = Names(groups, brokers)
    events = root.optional("events", lambda c: read_events(c, names)) or ()
    seed = root.optional("seed", lambda c: c.integer(0))
    return Scenario(
        name=root.optional("name", Cursor.text) or "",
        topics=tuple(topics.values()),
        groups=tuple(groups.values()),
        events=events,
        brokers=brokers,
        cluster=root.optional("cluster", _cluster) or CoordinatorConfig(),
        network=root.optional("network", _network) or Network(),
        seed=1 if seed is None else seed,
        until_ms=root.optional("until", read_positive_ms),
    )


# ---------------------------------------------------------------------- cluster and topics


def _cluster(cursor: Cursor) -> CoordinatorConfig:
    fields = cursor.fields((), tuple(PROPERTIES))
    texts: dict[str, str] = {}
    for name, value in fields.values.items():
        if name.endswith(".ms"):
            texts[name] = str(read_ms(fields[name]))
        elif isinstance(value, int) and not isinstance(value, bool):
            least = 1 if name == "offsets.topic.num.partitions" else None
            texts[name] = str(fields[name].integer(least))
        else:
            texts[name] = fields[name].text()
    try:
        return CoordinatorConfig.from_properties(texts)
    except ValueError as error:
        cursor.fail(f"invalid property: {error}")


def _network(cursor: Cursor) -> Network:
    fields = cursor.fields((), ("latency", "loss"))
    latency = fields.optional("latency", read_spread) or Spread(1.0)
    loss = fields.optional("loss", _share) or 0.0
    return Network(latency, loss)


def _share(cursor: Cursor) -> float:
    value = cursor.value
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not 0 <= number < 1:
        cursor.fail(f"`{value}` is not a share: expected a number from 0 to less than 1")
    return float(number)


def _topic(name: str, cursor: Cursor) -> TopicPlan:
    """A topic: its number of partitions, or a mapping that has more."""
    if not isinstance(cursor.value, dict):
        return TopicPlan(name, cursor.integer(0, MAX_PARTITIONS))
    fields = cursor.fields(("partitions",), TOPIC_KEYS)
    partitions = fields["partitions"].integer(0, MAX_PARTITIONS)
    racks = fields.optional("racks", lambda c: tuple(_racks(each) for each in c.items())) or ()
    if racks and len(racks) != partitions:
        fields["racks"].fail(f"{len(racks)} entries for {partitions} partitions")
    return TopicPlan(
        name,
        partitions,
        fields.optional("rate", read_rate) or 0.0,
        fields.optional("backlog", lambda c: c.integer(0)) or 0,
        racks,
    )


def _racks(cursor: Cursor) -> frozenset[str]:
    return frozenset(each.text() for each in cursor.items())


# ---------------------------------------------------------------------- groups


def _group(name: str, cursor: Cursor, topics: Mapping[str, TopicPlan]) -> GroupPlan:
    fields = cursor.fields(("members",), GROUP_KEYS)

    def read_protocol(value: Cursor) -> Protocol:
        return cast(Protocol, value.text(PROTOCOLS))

    protocol = fields.optional("protocol", read_protocol) or "eager"
    members: list[MemberPlan] = []
    templates: list[MemberPlan] = []
    for label, entry in fields["members"].entries():
        template, some = _members(label, entry, fields, protocol)
        members += some
        templates.append(template)
        if len(members) > MAX_MEMBERS:
            entry.fail(f"more than {MAX_MEMBERS} members")
    if not templates:
        fields["members"].fail("there are no members")
    _check_unique(fields["members"], members)
    committed = fields.optional("committed", lambda c: c.text(("start", "end", "none")))
    config = fields.optional("config", _config)
    return GroupPlan(
        name,
        protocol,
        tuple(members),
        _commits(committed or "start", topics),
        config or {},
        tuple(templates),
    )


def _commits(where: str, topics: Mapping[str, TopicPlan]) -> dict[str, dict[int, int]]:
    """Commits of a group at the start: where the backlog begins, where it ends, or none."""
    if where == "none":
        return {}
    return {
        name: {n: 0 if where == "start" else topic.backlog_of(n) for n in range(topic.partitions)}
        for name, topic in topics.items()
    }


def _check_unique(cursor: Cursor, members: Iterable[MemberPlan]) -> None:
    instances: dict[str, str] = {}
    names: set[str] = set()
    for member in members:
        if member.name in names:
            cursor.fail(f"two members are called `{member.name}`")
        names.add(member.name)
        if member.instance_id is not None:
            other = instances.setdefault(member.instance_id, member.name)
            if other != member.name:
                cursor.fail(f"`{other}` and `{member.name}` have the same `instance_id`")


def _members(
    label: str, cursor: Cursor, group: Fields, protocol: Protocol
) -> tuple[MemberPlan, list[MemberPlan]]:
    """What one entry stands for: what its members are like; `label`, or `label-1`, ..."""
    fields = cursor.fields((), MEMBER_KEYS)
    if "topics" not in fields.values and "pattern" not in fields.values:
        hint = "accepted keys: " + ", ".join(f"`{key}`" for key in MEMBER_KEYS)
        cursor.fail("no subscription: `topics` or `pattern` is missing", hint=hint)
    count = fields.optional("count", lambda c: c.integer(0, MAX_MEMBERS))

    def read_library(value: Cursor) -> Library:
        return cast(Library, value.text(tuple(LIBRARY_DEFAULTS)))

    library = fields.optional("client", read_library) or "java"
    settings = LIBRARY_DEFAULTS[library]
    for place in (group, fields):
        place.optional("settings", partial(check_protocol, protocol))
        settings = place.optional("settings", _settings_on(settings)) or settings
    record, poll = fields.optional("processing", read_processing) or (Spread(1.0), Spread())
    instance = fields.optional("instance_id", Cursor.text)
    if instance is not None and count is not None and count > 1:
        fields["instance_id"].fail("several members cannot share one; write `static: true`")
    one = MemberPlan(
        name=label,
        library=library,
        topics=fields.optional("topics", read_topics) or (),
        pattern=fields.optional("pattern", Cursor.text),
        instance_id=instance,
        client_id=fields.optional("client_id", Cursor.text) or label,
        rack=fields.optional("rack", Cursor.text),
        start_ms=fields.optional("start", read_ms) or 0,
        record=record,
        poll=poll,
        settings=settings,
        entry=label,
        gap_ms=fields.optional("every", read_ms) or 0,
    )
    static = bool(fields.optional("static", Cursor.flag))
    template = one if instance is not None or not static else replace(one, instance_id=label)
    if count is None:
        return template, [template]
    members = [template.numbered(number) for number in range(1, count + 1)]
    if instance is not None:
        members = [replace(each, instance_id=instance) for each in members]
    return template, members


def _settings_on(base: Any) -> Callable[[Cursor], Any]:
    return lambda cursor: read_settings(cursor, base)


def _config(cursor: Cursor) -> dict[str, str]:
    """A group's dynamic settings, which its coordinator obeys."""
    fields = cursor.fields((), GROUP_CONFIG)
    return {name: str(read_positive_ms(fields[name])) for name in fields.values}
