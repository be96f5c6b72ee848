"""Events of a scenario: as a file has them, the command line spells them, a timeline tells them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document, choice_of
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.simulation.clients.properties import HINTS, WAKEUP
from kgroups.core.simulation.kubernetes.deploy_event import KINDS, NO_CHANGE
from kgroups.core.simulation.kubernetes.kubernetes_file import (
    nest_change,
    read_amount,
    read_change,
    read_entry,
    read_unavailable,
)
from kgroups.core.simulation.scenario.application_events import SeekTarget, Unsubscribe
from kgroups.core.simulation.scenario.member_readers import read_topics
from kgroups.core.simulation.scenario.scenario_events import (
    FAILING_APIS,
    LOST,
    SCENARIO_EVENT_NAMES,
    SCENARIO_EVENTS,
    ScenarioEvent,
    Scheduled,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, Scenario
from kgroups.core.simulation.scenario.units import (
    parse_ms,
    read_ms,
    read_rate,
    read_seconds,
    value_text,
)
from kgroups.core.times import show_ms

DEFAULT_EVENT_TIME: Final = "60s"
WHEN_KEYS: Final = ("at", "every", "from", "until")
MAX_MEMBERS: Final = 20_000
MAX_PARTITIONS: Final = 1_000_000

_TIMESTAMP: Final = "timestamp:"
_SEEK_HINT: Final = "write `beginning`, `end`, an offset, or a time of the run: `timestamp:90s`"


def read_target(cursor: Cursor) -> SeekTarget:
    """`beginning`, `end`, an offset, or `timestamp:90s`."""
    value = cursor.plain
    if isinstance(value, int) and not isinstance(value, bool):
        return SeekTarget("offset", cursor.integer(0))
    text = cursor.text()
    if text == "beginning":
        return SeekTarget("beginning")
    if text == "end":
        return SeekTarget("end")
    if text.isascii() and text.isdigit() and len(text) < 19:
        return SeekTarget("offset", int(text))
    if not text.startswith(_TIMESTAMP):
        cursor.fail(f"`{text[:60]}` is not a place in a log", hint=_SEEK_HINT)
    try:
        return SeekTarget("timestamp", round(parse_ms(text.removeprefix(_TIMESTAMP).strip())))
    except UsageError as wrong:
        cursor.fail(wrong.message, hint=wrong.hint)


def read_error(cursor: Cursor) -> str:
    """Kafka's name of an error."""
    return cursor.text([each.name for each in ErrorCode if each is not ErrorCode.NONE])


def read_numbers(cursor: Cursor) -> tuple[int, ...]:
    """Numbers of partitions."""
    found = tuple(each.integer(0) for each in cursor.items())
    if not found:
        cursor.fail("expected at least one partition")
    return found


@dataclass(frozen=True, slots=True)
class Names:
    """What events may refer to."""

    groups: Mapping[str, GroupPlan]
    brokers: int

    def known(self, cursor: Cursor, names: Collection[str], what: str) -> str:
        """A text that is one of these names."""
        name = cursor.text()
        if name not in names:
            shown = ", ".join(f"`{each}`" for each in sorted(names)[:20])
            cursor.fail(f"there is no {what} `{name}`", hint=f"{what}s: {shown}")
        return name


def read_events(cursor: Cursor, names: Names) -> tuple[Scheduled, ...]:
    """The events of a list, each with its time."""
    return tuple(_event(entry, names) for entry in cursor.items())


def parse_event(text: str, scenario: Scenario) -> Scheduled:
    """The event that `KIND[:KEY=VALUE,...]` spells; `at` is 60s and `group` the first unless said.

    A list has `+` between its values: `pause:topics=orders+bills,for=10s`.

    Raises:
        UsageError: it cannot be understood.
    """
    kind, _, rest = text.partition(":")
    pairs = [pair.partition("=") for pair in rest.split(",") if pair]
    given: dict[str, object] = {key: _value(kind, key, value) for key, _, value in pairs}
    when: dict[str, object] = {key: given.pop(key) for key in WHEN_KEYS if key in given}
    if not {"at", "every"} & when.keys():
        when["at"] = DEFAULT_EVENT_TIME
    if "change" in FIELDS.get(kind, {}):
        given = nest_change(given)
    if "group" in FIELDS.get(kind, {}):
        given.setdefault("group", scenario.groups[0].name)
    names = Names(
        {group.name: group for group in scenario.groups},
        scenario.brokers,
    )
    value: dict[str, object] = {**when, kind: given}
    return _event(Document(f"--event {text}", text, "yaml", value).root, names)


def _value(kind: str, key: str, text: str) -> object:
    """A text of the command line as a file has it: a list where the key takes one."""
    read = FIELDS[kind][key][2] if key in FIELDS.get(kind, {}) else None
    if read in LISTS:
        return [_plain_value(one) for one in text.split("+")]
    return [one for one in text.split("+") if one] if read in NAME_LISTS else _plain_value(text)


def _plain_value(value: str) -> object:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else value


def _event(cursor: Cursor, names: Names) -> Scheduled:
    if isinstance(cursor.value, dict) and WAKEUP in cursor.value:
        cursor.child(WAKEUP, None).fail(f"unknown event `{WAKEUP}`", hint=HINTS[WAKEUP], key=True)
    fields = cursor.fields((), (*WHEN_KEYS, *SCENARIO_EVENTS))
    kinds = [key for key in SCENARIO_EVENTS if key in fields.values]
    if len(kinds) != 1:
        accepted = ", ".join(f"`{name}`" for name in SCENARIO_EVENTS)
        cursor.fail(f"expected one event, found {len(kinds)}", hint=f"events: {accepted}")
    at_ms = fields.optional("at", read_ms)
    every_ms = fields.optional("every", read_ms)
    if (at_ms is None) == (every_ms is None):
        cursor.fail("expected either `at` (once) or `every` (at random, on average)")
    if at_ms is not None and not {"from", "until"}.isdisjoint(fields.values):
        cursor.fail("`from` and `until` require `every`")
    if every_ms == 0:
        fields["every"].fail("expected more than 0")
    return Scheduled(
        _event_of_kind(kinds[0], fields[kinds[0]], names),
        at_ms=at_ms,
        every_ms=every_ms,
        **fields.given({"from": ("from_ms", read_ms), "until": ("until_ms", read_ms)}),
    )


def _event_of_kind(kind: str, cursor: Cursor, names: Names) -> ScenarioEvent:
    readers = FIELDS[kind]
    required = tuple(key for key, (_, needed, _) in readers.items() if needed)
    fields = cursor.fields(required, tuple(key for key in readers if key not in required))
    group = names.known(fields["group"], names.groups, "group") if "group" in required else ""
    values: dict[str, Any] = {}
    for key in fields.values:
        field, _, read = readers[key]
        values[field] = read(fields[key], names, group)
    if kind == "subscribe" and values.get("topics") == () and values.get("pattern") is None:
        del values["topics"]
        return Unsubscribe(**values)  # as in every client
    return SCENARIO_EVENTS[kind](**values)


Reader = Callable[[Cursor, Names, str], object]


def _read_group(cursor: Cursor, names: Names, group: str) -> str:
    return names.known(cursor, names.groups, "group")


def _read_member(cursor: Cursor, names: Names, group: str) -> str:
    """A member of the group, or `NAME-4`, which other events may add; an entry of its own."""
    plan = names.groups[group]
    known = [member.name for member in (*plan.members, *plan.templates)]
    text = cursor.text()
    label, _, number = text.rpartition("-")
    if number.isdigit() and any(
        name.rpartition("-")[0] == label or name == label for name in known
    ):
        return text
    return names.known(cursor, known, "member")


def _read_members(cursor: Cursor, names: Names, group: str) -> tuple[str, ...]:
    return tuple(_read_member(each, names, group) for each in cursor.items())


def _of_group(read: Callable[[Cursor, GroupPlan], object]) -> Reader:
    return lambda cursor, names, group: read(cursor, names.groups[group])


def _read_broker(cursor: Cursor, names: Names, group: str) -> int:
    return cursor.integer(0, names.brokers - 1)


def _read_brokers(cursor: Cursor, names: Names, group: str) -> tuple[int, ...]:
    return tuple(_read_broker(each, names, group) for each in cursor.items())


def _plain(read: Callable[[Cursor], object]) -> Reader:
    return lambda cursor, names, group: read(cursor)


def _read_topics(cursor: Cursor) -> tuple[str, ...]:
    return tuple(each.text() for each in cursor.items())


_MEMBERS = ("members", False, _read_members)
_TOPICS = _plain(read_topics)
_ANY_TOPICS = _plain(_read_topics)
_NUMBERS = _plain(read_numbers)
# Whose values are lists: of names, of numbers.
NAME_LISTS: Final = (_read_members, _TOPICS, _ANY_TOPICS)
LISTS: Final = (_read_brokers, _NUMBERS)
_COUNT = _plain(lambda cursor: cursor.integer(1, MAX_MEMBERS))
_PARTITIONS = _plain(lambda cursor: cursor.integer(1, MAX_PARTITIONS))
_MS = _plain(read_ms)
_SECONDS = _plain(read_seconds)
_GROUP = ("group", True, _read_group)
_MEMBER = ("member", False, _read_member)
_FOR = ("for_ms", True, _MS)

# Event -> key -> (field, whether it must be there, how it is read).
FIELDS: Final[Mapping[str, Mapping[str, tuple[str, bool, Reader]]]] = {
    "rolling_restart": {
        "group": _GROUP,
        "members": _MEMBERS,
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
        "members": _MEMBERS,
    },
    "crash": {
        "group": _GROUP,
        "member": _MEMBER,
        "restart_after": ("restart_after_ms", False, _MS),
    },
    "gc_pause": {"group": _GROUP, "member": _MEMBER, "for": _FOR},
    "poison_record": {"group": _GROUP, "member": _MEMBER, "for": _FOR},
    "pause": {
        "group": _GROUP,
        "member": _MEMBER,
        "topics": ("topics", False, _ANY_TOPICS),
        "for": _FOR,
    },
    "subscribe": {
        "group": _GROUP,
        "member": _MEMBER,
        "topics": ("topics", False, _ANY_TOPICS),  # none: it unsubscribes
        "pattern": ("pattern", False, _plain(Cursor.text)),
    },
    "unsubscribe": {"group": _GROUP, "member": _MEMBER},
    "seek": {
        "group": _GROUP,
        "member": _MEMBER,
        "to": ("to", True, _plain(read_target)),
        "topics": ("topics", False, _TOPICS),
        "partitions": ("partitions", False, _NUMBERS),
    },
    "network_partition": {
        "group": _GROUP,
        "member": _MEMBER,
        "for": _FOR,
        "stall": ("stall", False, _plain(Cursor.flag)),
        "lost": ("lost", False, _plain(choice_of(LOST))),
    },
    "move_coordinator": {"group": _GROUP, "to": ("to", False, _read_broker)},
    "broker_down": {
        "broker": ("broker", True, _read_broker),
        "for": ("for_ms", False, _MS),
        "failover": ("failover_ms", False, _MS),
    },
    "broker_up": {"broker": ("broker", True, _read_broker)},
    "add_partitions": {
        "topic": ("topic", True, _plain(Cursor.text)),
        "partitions": ("partitions", True, _PARTITIONS),
    },
    "create_topic": {
        "topic": ("topic", True, _plain(Cursor.text)),
        "partitions": ("partitions", True, _PARTITIONS),
        "rate": ("rate", False, _plain(read_rate)),
    },
    "load": {
        "topic": ("topic", True, _plain(Cursor.text)),
        "rate": ("rate", True, _plain(read_rate)),
        "for": ("for_ms", False, _MS),
    },
    "zone_outage": {
        "rack": ("rack", True, _plain(Cursor.text)),
        "brokers": ("brokers", False, _read_brokers),
        "for": _FOR,
    },
    "spot_eviction": {
        "group": _GROUP,
        "count": ("count", False, _COUNT),
        "rack": ("rack", False, _plain(Cursor.text)),
        "notice": ("notice_ms", False, _MS),
        "restart_after": ("restart_after_ms", False, _MS),
    },
    "slow_broker": {
        "broker": ("broker", True, _read_broker),
        "by": ("by_ms", True, _MS),
        "for": _FOR,
    },
    "request_error": {
        "group": _GROUP,
        "member": _MEMBER,
        "api": ("api", False, _plain(choice_of(FAILING_APIS))),
        "error": ("error", True, _plain(read_error)),
        "times": ("times", False, _COUNT),
    },
    "roll_brokers": {"down": ("down_ms", False, _MS), "pause": ("pause_ms", False, _MS)},
    "deploy": {
        "group": _GROUP,
        "entry": ("entry", False, _of_group(read_entry)),
        "kind": ("kind", False, _plain(choice_of(KINDS))),
        "maxSurge": ("surge", False, _plain(read_amount)),
        "maxUnavailable": ("unavailable", False, _plain(read_unavailable)),
        "startup": ("startup_ms", False, _MS),
        "readiness": ("readiness_ms", False, _MS),
        "minReadySeconds": ("min_ready_ms", False, _SECONDS),
        "terminationGracePeriodSeconds": ("grace_ms", False, _SECONDS),
        "progressDeadlineSeconds": ("deadline_ms", False, _SECONDS),
        "graceful": ("graceful", False, _plain(Cursor.flag)),
        "change": ("change", False, _of_group(read_change)),
    },
}


def event_text(event: ScenarioEvent) -> str:
    """`members app-1+app-2, down 10.0s`: by the keys of a file, without the group."""
    parts = []
    for key, (field, _, _) in FIELDS[SCENARIO_EVENT_NAMES[type(event)]].items():
        value = getattr(event, field)
        if key == "group" or value in (None, (), NO_CHANGE) or (key, value) == ("stall", False):
            continue
        if key.endswith("Seconds"):
            shown = value_text(value / 1_000)
        elif field.endswith("_ms"):
            shown = show_ms(value)
        elif field == "rate":
            shown = f"{value_text(value)}/s"
        else:
            shown = value_text(value)
        parts.append(f"{key} {shown}")
    return ", ".join(parts)
