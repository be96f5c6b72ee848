"""Events of a scenario: as a file has them, the command line spells them, a timeline tells them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document, choice_of, integer_of
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
from kgroups.core.simulation.scenario.member_readers import read_topics
from kgroups.core.simulation.scenario.scenario_events import (
    FAILING_APIS,
    LOST,
    SCENARIO_EVENT_NAMES,
    SCENARIO_EVENTS,
    ScenarioEvent,
    Scheduled,
    SeekTarget,
    Unsubscribe,
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
    return cursor.text([code.name for code in ErrorCode if code is not ErrorCode.NONE])


def read_numbers(cursor: Cursor) -> tuple[int, ...]:
    """Numbers of partitions."""
    numbers = tuple(item.integer(0) for item in cursor.items())
    if not numbers:
        cursor.fail("expected at least one partition")
    return numbers


def _known(cursor: Cursor, names: Collection[str], what: str) -> str:
    """A text that is one of these names."""
    name = cursor.text()
    if name not in names:
        shown = ", ".join(f"`{name}`" for name in sorted(names)[:20])
        cursor.fail(f"there is no {what} `{name}`", hint=f"{what}s: {shown}")
    return name


def read_events(cursor: Cursor, scenario: Scenario) -> tuple[Scheduled, ...]:
    """The events of a list, each with its time; groups and brokers are those of the scenario."""
    return tuple(_event(entry, scenario) for entry in cursor.items())


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
    value: dict[str, object] = {**when, kind: given}
    return _event(Document(f"--event {text}", text, "yaml", value).root, scenario)


def _value(kind: str, key: str, text: str) -> object:
    """A text of the command line as a file has it: a list where the key takes one."""
    read = FIELDS[kind][key][2] if key in FIELDS.get(kind, {}) else None
    if read in LISTS:
        return [_plain_value(part) for part in text.split("+")]
    return [part for part in text.split("+") if part] if read in NAME_LISTS else _plain_value(text)


def _plain_value(value: str) -> object:
    if value in ("true", "false"):
        return value == "true"
    return int(value) if value.isascii() and value.isdigit() and len(value) < 19 else value


def _event(cursor: Cursor, scenario: Scenario) -> Scheduled:
    if isinstance(cursor.value, dict) and WAKEUP in cursor.value:
        cursor.child(WAKEUP, None).fail(f"unknown event `{WAKEUP}`", hint=HINTS[WAKEUP], key=True)
    given = cursor.fields((), (*WHEN_KEYS, *SCENARIO_EVENTS))
    kinds = [key for key in SCENARIO_EVENTS if key in given.values]
    if len(kinds) != 1:
        accepted = ", ".join(f"`{name}`" for name in SCENARIO_EVENTS)
        cursor.fail(f"expected one event, found {len(kinds)}", hint=f"events: {accepted}")
    at_ms = given.optional("at", read_ms)
    every_ms = given.optional("every", read_ms)
    if (at_ms is None) == (every_ms is None):
        cursor.fail("expected either `at` (once) or `every` (at random, on average)")
    if at_ms is not None and not {"from", "until"}.isdisjoint(given.values):
        cursor.fail("`from` and `until` require `every`")
    if every_ms == 0:
        given["every"].fail("expected more than 0")
    return Scheduled(
        _event_of_kind(kinds[0], given[kinds[0]], scenario),
        at_ms=at_ms,
        every_ms=every_ms,
        **given.given({"from": ("from_ms", read_ms), "until": ("until_ms", read_ms)}),
    )


def _event_of_kind(kind: str, cursor: Cursor, scenario: Scenario) -> ScenarioEvent:
    readers = FIELDS[kind]
    required = tuple(key for key, (_, needed, _) in readers.items() if needed)
    given = cursor.fields(required, tuple(key for key in readers if key not in required))
    group = _read_group(given["group"], scenario, "") if "group" in required else ""
    values: dict[str, Any] = {}
    for key in given.values:
        field, _, read = readers[key]
        values[field] = read(given[key], scenario, group)
    if kind == "subscribe" and values.get("topics") == () and values.get("pattern") is None:
        del values["topics"]
        return Unsubscribe(**values)  # as in every client
    return SCENARIO_EVENTS[kind](**values)


Reader = Callable[[Cursor, Scenario, str], object]


def _read_group(cursor: Cursor, scenario: Scenario, group: str) -> str:
    return _known(cursor, [group.name for group in scenario.groups], "group")


def _read_member(cursor: Cursor, scenario: Scenario, group: str) -> str:
    """A member of the group, or `NAME-4`, which other events may add; an entry of its own."""
    plan = scenario.needed(group)
    members = [member.name for member in (*plan.members, *plan.templates)]
    text = cursor.text()
    label, _, number = text.rpartition("-")
    if number.isdigit() and any(
        name.rpartition("-")[0] == label or name == label for name in members
    ):
        return text
    return _known(cursor, members, "member")


def _read_members(cursor: Cursor, scenario: Scenario, group: str) -> tuple[str, ...]:
    return tuple(_read_member(item, scenario, group) for item in cursor.items())


def _of_group(read: Callable[[Cursor, GroupPlan], object]) -> Reader:
    return lambda cursor, scenario, group: read(cursor, scenario.needed(group))


def _read_broker(cursor: Cursor, scenario: Scenario, group: str) -> int:
    return cursor.integer(0, scenario.brokers - 1)


def _read_brokers(cursor: Cursor, scenario: Scenario, group: str) -> tuple[int, ...]:
    return tuple(_read_broker(item, scenario, group) for item in cursor.items())


def _plain(read: Callable[[Cursor], object]) -> Reader:
    return lambda cursor, scenario, group: read(cursor)


def _read_topics(cursor: Cursor) -> tuple[str, ...]:
    return tuple(item.text() for item in cursor.items())


_TOPICS = _plain(read_topics)
_ANY_TOPICS = _plain(_read_topics)
_NUMBERS = _plain(read_numbers)
# Whose values are lists: of names, of numbers.
NAME_LISTS: Final = (_read_members, _TOPICS, _ANY_TOPICS)
LISTS: Final = (_read_brokers, _NUMBERS)
_COUNT = _plain(integer_of(1, MAX_MEMBERS))
_FLAG = _plain(Cursor.flag)
_TEXT = _plain(Cursor.text)
_MS = _plain(read_ms)
_SECONDS = _plain(read_seconds)
_AMOUNT = _plain(read_amount)

# Field -> how it is read, where it is no time in ms; some are read otherwise in one event.
_READERS: Final[Mapping[str, Reader]] = {
    "group": _read_group,
    "member": _read_member,
    "members": _read_members,
    "like": _read_member,
    "count": _COUNT,
    "times": _COUNT,
    "topic": _TEXT,
    "topics": _ANY_TOPICS,
    "seek.topics": _TOPICS,
    "pattern": _TEXT,
    "partitions": _plain(integer_of(1, MAX_PARTITIONS)),
    "seek.partitions": _NUMBERS,
    "seek.to": _plain(read_target),
    "rate": _plain(read_rate),
    "rack": _TEXT,
    "broker": _read_broker,
    "brokers": _read_brokers,
    "move_coordinator.to": _read_broker,
    "graceful": _FLAG,
    "stall": _FLAG,
    "lost": _plain(choice_of(LOST)),
    "api": _plain(choice_of(FAILING_APIS)),
    "error": _plain(read_error),
    "entry": _of_group(read_entry),
    "kind": _plain(choice_of(KINDS)),
    "surge": _AMOUNT,
    "unavailable": _plain(read_unavailable),
    "min_ready_ms": _SECONDS,
    "grace_ms": _SECONDS,
    "deadline_ms": _SECONDS,
    "change": _of_group(read_change),
}
# Keys of Kubernetes' manifests; the others are called as their fields are, without the unit.
_KEYS: Final[Mapping[str, str]] = {
    "surge": "maxSurge",
    "unavailable": "maxUnavailable",
    "min_ready_ms": "minReadySeconds",
    "grace_ms": "terminationGracePeriodSeconds",
    "deadline_ms": "progressDeadlineSeconds",
}


def _keys_of(kind: str, event: type[ScenarioEvent]) -> dict[str, tuple[str, bool, Reader]]:
    """Key -> (field, whether it must be there, how it is read), in the order of the fields."""
    keys = {}
    for field in fields(event):
        read = _READERS.get(f"{kind}.{field.name}") or _READERS.get(field.name, _MS)
        key = _KEYS.get(field.name, field.name.removesuffix("_ms"))
        keys[key] = (field.name, field.default is MISSING, read)
    return keys


# Event -> its keys.
FIELDS: Final = {kind: _keys_of(kind, event) for kind, event in SCENARIO_EVENTS.items()}


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
