"""A simulation's scenario in YAML or JSON, checked: complaints name file, line, what is accepted.

The format is described in `cli/schemas/simulation.json`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from kgroups.core.coordinator.config import PROPERTIES, CoordinatorConfig
from kgroups.core.document import Cursor, Document, Fields
from kgroups.core.simulation.incidents import INCIDENTS, Incident, Scheduled
from kgroups.core.simulation.scenario import (
    PROTOCOLS,
    GroupPlan,
    MemberPlan,
    Network,
    Protocol,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.settings import LIBRARY_DEFAULTS, Library, read_settings
from kgroups.core.simulation.spread import DEFAULT_TAIL, Spread
from kgroups.core.simulation.units import read_duration, read_ms, read_rate

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
WHEN_KEYS: Final = ("at", "every", "from", "until")
MAX_MEMBERS: Final = 20_000
MAX_PARTITIONS: Final = 1_000_000
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
        root["groups"].fail("there is no group")
    names = _Names(groups, topics, brokers)
    events = root.optional("events", lambda c: _events(c, names)) or ()
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
        until_ms=root.optional("until", read_ms),
    )


# ---------------------------------------------------------------------- cluster and topics


def _cluster(cursor: Cursor) -> CoordinatorConfig:
    fields = cursor.fields((), tuple(PROPERTIES))
    texts: dict[str, str] = {}
    for name, value in fields.values.items():
        if name.endswith(".ms"):
            texts[name] = str(read_ms(fields[name]))
        elif isinstance(value, int) and not isinstance(value, bool):
            texts[name] = str(value)
        else:
            texts[name] = fields[name].text()
    try:
        return CoordinatorConfig.from_properties(texts)
    except ValueError as error:
        cursor.fail(f"a property is wrong: {error}")


def _network(cursor: Cursor) -> Network:
    fields = cursor.fields((), ("latency", "loss"))
    latency = fields.optional("latency", read_spread) or Spread(1.0)
    loss = fields.optional("loss", _share) or 0.0
    return Network(latency, loss)


def _share(cursor: Cursor) -> float:
    value = cursor.value
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if not 0 <= number < 1:
        cursor.fail(f"`{value}` is not a share: expected a number from 0 up to but not 1")
    return float(number)


def read_spread(cursor: Cursor) -> Spread:
    """A duration that varies: `2ms`, {normal: 2ms, deviation: 1ms} or {heavy: 2ms, tail: 1.5}."""
    if not isinstance(cursor.value, dict):
        return Spread(read_duration(cursor))
    fields = cursor.fields((), ("fixed", "normal", "deviation", "heavy", "tail"))
    shapes = [shape for shape in ("fixed", "normal", "heavy") if shape in fields.values]
    if len(shapes) != 1:
        cursor.fail("expected one of `fixed`, `normal` and `heavy`")
    mean_ms = read_duration(fields[shapes[0]])
    if shapes[0] == "normal":
        return Spread(mean_ms, "normal", fields.optional("deviation", read_duration) or 0.0)
    if shapes[0] == "heavy":
        return Spread(mean_ms, "heavy", tail=fields.optional("tail", _tail) or DEFAULT_TAIL)
    return Spread(mean_ms)


def _tail(cursor: Cursor) -> float:
    value = cursor.value
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 1:
        cursor.fail(f"expected a number above 1, found `{value}`")
    return float(value)


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
    for label, entry in fields["members"].entries():
        members += _members(label, entry, fields, topics)
        if len(members) > MAX_MEMBERS:
            entry.fail(f"more than {MAX_MEMBERS} members")
    _check_unique(fields["members"], members)
    committed = fields.optional("committed", lambda c: c.text(("start", "end", "none")))
    config = fields.optional("config", lambda c: {k: str(v.value) for k, v in c.entries()})
    return GroupPlan(
        name, protocol, tuple(members), _commits(committed or "start", topics), config or {}
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
                cursor.fail(f"`{other}` and `{member.name}` have one `instance_id`")


def _members(
    label: str, cursor: Cursor, group: Fields, topics: Mapping[str, TopicPlan]
) -> list[MemberPlan]:
    """The members that one entry stands for: `label`, or `label-1`, `label-2`, ..."""
    fields = cursor.fields((), MEMBER_KEYS)
    if "topics" not in fields.values and "pattern" not in fields.values:
        hint = "accepted keys: " + ", ".join(f"`{key}`" for key in MEMBER_KEYS)
        cursor.fail("it reads nothing: `topics` or `pattern` is missing", hint=hint)
    count = fields.optional("count", lambda c: c.integer(0, MAX_MEMBERS))

    def read_library(value: Cursor) -> Library:
        return cast(Library, value.text(tuple(LIBRARY_DEFAULTS)))

    library = fields.optional("client", read_library) or "java"
    settings = LIBRARY_DEFAULTS[library]
    for place in (group, fields):
        settings = place.optional("settings", _settings_on(settings)) or settings
    record, poll = fields.optional("processing", _processing) or (Spread(1.0), Spread())
    instance = fields.optional("instance_id", Cursor.text)
    if instance is not None and count is not None and count > 1:
        fields["instance_id"].fail("several members cannot have one; write `static: true`")
    one = MemberPlan(
        name=label,
        library=library,
        topics=fields.optional("topics", lambda c: _topics_of(c, topics)) or (),
        pattern=fields.optional("pattern", Cursor.text),
        instance_id=instance,
        client_id=fields.optional("client_id", Cursor.text) or label,
        rack=fields.optional("rack", Cursor.text),
        start_ms=fields.optional("start", read_ms) or 0,
        record=record,
        poll=poll,
        settings=settings,
    )
    static = bool(fields.optional("static", Cursor.flag))
    gap_ms = fields.optional("every", read_ms) or 0
    return [
        _numbered(one, number, static=static, alone=count is None, gap_ms=gap_ms)
        for number in range(1, (1 if count is None else count) + 1)
    ]


def _numbered(
    plan: MemberPlan, number: int, *, static: bool, alone: bool, gap_ms: int
) -> MemberPlan:
    name = plan.name if alone else f"{plan.name}-{number}"
    instance = name if static and plan.instance_id is None else plan.instance_id
    start_ms = plan.start_ms + (number - 1) * gap_ms
    return replace(plan, name=name, instance_id=instance, start_ms=start_ms)


def _settings_on(base: Any) -> Callable[[Cursor], Any]:
    return lambda cursor: read_settings(cursor, base)


def _processing(cursor: Cursor) -> tuple[Spread, Spread]:
    """Time a record, or a mapping with time a record and time a poll."""
    if isinstance(cursor.value, dict) and not {"record", "poll"}.isdisjoint(cursor.value):
        fields = cursor.fields((), ("record", "poll"))
        record = fields.optional("record", read_spread) or Spread(1.0)
        return record, fields.optional("poll", read_spread) or Spread()
    return read_spread(cursor), Spread()


def _topics_of(cursor: Cursor, topics: Mapping[str, TopicPlan]) -> tuple[str, ...]:
    """Topics that members name; one that is created later need not exist yet."""
    return tuple(each.text() for each in cursor.items())


# ---------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class _Names:
    """What events may refer to."""

    groups: Mapping[str, GroupPlan]
    topics: Mapping[str, TopicPlan]
    brokers: int

    def known(self, cursor: Cursor, names: Collection[str], what: str) -> str:
        """A text that is one of these names."""
        name = cursor.text()
        if name not in names:
            shown = ", ".join(f"`{each}`" for each in sorted(names)[:20])
            cursor.fail(f"there is no {what} `{name}`", hint=f"{what}s: {shown}")
        return name


def _events(cursor: Cursor, names: _Names) -> tuple[Scheduled, ...]:
    return tuple(_event(entry, names) for entry in cursor.items())


def _event(cursor: Cursor, names: _Names) -> Scheduled:
    fields = cursor.fields((), (*WHEN_KEYS, *INCIDENTS))
    kinds = [key for key in INCIDENTS if key in fields.values]
    if len(kinds) != 1:
        accepted = ", ".join(f"`{name}`" for name in INCIDENTS)
        cursor.fail(f"expected one event, found {len(kinds)}", hint=f"events: {accepted}")
    at_ms = fields.optional("at", read_ms)
    every_ms = fields.optional("every", read_ms)
    if (at_ms is None) == (every_ms is None):
        cursor.fail("expected `at` (once) or `every` (at random, on average), one of them")
    if at_ms is not None and not {"from", "until"}.isdisjoint(fields.values):
        cursor.fail("`from` and `until` belong to `every`")
    if every_ms == 0:
        fields["every"].fail("expected more than 0")
    return Scheduled(
        _incident(kinds[0], fields[kinds[0]], names),
        at_ms=at_ms,
        every_ms=every_ms,
        from_ms=fields.optional("from", read_ms) or 0,
        until_ms=fields.optional("until", read_ms),
    )


def _incident(kind: str, cursor: Cursor, names: _Names) -> Incident:
    readers = FIELDS[kind]
    required = tuple(key for key, (_, needed, _) in readers.items() if needed)
    fields = cursor.fields(required, tuple(readers))
    group = names.known(fields["group"], names.groups, "group") if "group" in required else ""
    values: dict[str, Any] = {}
    for key in fields.values:
        field, _, read = readers[key]
        values[field] = read(fields[key], names, group)
    return INCIDENTS[kind](**values)


Reader = Callable[[Cursor, _Names, str], object]


def _read_group(cursor: Cursor, names: _Names, group: str) -> str:
    return names.known(cursor, names.groups, "group")


def _read_member(cursor: Cursor, names: _Names, group: str) -> str:
    """A member of the group; those that events add later are `NAME-4`, so any number passes."""
    known = [member.name for member in names.groups[group].members]
    text = cursor.text()
    label, _, number = text.rpartition("-")
    if number.isdigit() and any(
        name.rpartition("-")[0] == label or name == label for name in known
    ):
        return text
    return names.known(cursor, known, "member")


def _read_members(cursor: Cursor, names: _Names, group: str) -> tuple[str, ...]:
    return tuple(_read_member(each, names, group) for each in cursor.items())


def _read_topic(cursor: Cursor, names: _Names, group: str) -> str:
    return names.known(cursor, names.topics, "topic")


def _read_new_topic(cursor: Cursor, names: _Names, group: str) -> str:
    if cursor.text() in names.topics:
        cursor.fail(f"there is a topic `{cursor.text()}` already")
    return cursor.text()


def _read_broker(cursor: Cursor, names: _Names, group: str) -> int:
    return cursor.integer(0, names.brokers - 1)


def _plain(read: Callable[[Cursor], object]) -> Reader:
    return lambda cursor, names, group: read(cursor)


_COUNT = _plain(lambda cursor: cursor.integer(1, MAX_MEMBERS))
_PARTITIONS = _plain(lambda cursor: cursor.integer(1, MAX_PARTITIONS))
_MS = _plain(read_ms)
_GROUP = ("group", True, _read_group)
_MEMBER = ("member", False, _read_member)
_FOR = ("for_ms", True, _MS)

# Event -> key -> (field, whether it must be there, how it is read).
FIELDS: Final[Mapping[str, Mapping[str, tuple[str, bool, Reader]]]] = {
    "rolling_restart": {
        "group": _GROUP,
        "members": ("members", False, _read_members),
        "down": ("down_ms", False, _MS),
        "pause": ("pause_ms", False, _MS),
        "graceful": ("graceful", False, _plain(Cursor.flag)),
    },
    "scale_out": {
        "group": _GROUP,
        "count": ("count", False, _COUNT),
        "like": ("like", False, _read_member),
    },
    "scale_in": {
        "group": _GROUP,
        "count": ("count", False, _COUNT),
        "members": ("members", False, _read_members),
    },
    "crash": {
        "group": _GROUP,
        "member": _MEMBER,
        "restart_after": ("restart_after_ms", False, _MS),
    },
    "gc_pause": {"group": _GROUP, "member": _MEMBER, "for": _FOR},
    "poison_record": {"group": _GROUP, "member": _MEMBER, "for": _FOR},
    "network_partition": {"group": _GROUP, "member": _MEMBER, "for": _FOR},
    "move_coordinator": {"group": _GROUP, "to": ("to", False, _read_broker)},
    "broker_down": {
        "broker": ("broker", True, _read_broker),
        "for": ("for_ms", False, _MS),
        "failover": ("failover_ms", False, _MS),
    },
    "broker_up": {"broker": ("broker", True, _read_broker)},
    "add_partitions": {
        "topic": ("topic", True, _read_topic),
        "partitions": ("partitions", True, _PARTITIONS),
    },
    "create_topic": {
        "topic": ("topic", True, _read_new_topic),
        "partitions": ("partitions", True, _PARTITIONS),
        "rate": ("rate", False, _plain(read_rate)),
    },
}
