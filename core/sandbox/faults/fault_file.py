"""Fault rules and timed faults from a YAML file, read strictly.

faults:
  - {api: OffsetCommit, group: payments, error: NOT_COORDINATOR, times: 3}
  - {api: Fetch, client: slow-1, delay: 500ms, times: always}
  - {api: JoinGroup, drop: true}
  - {api: Produce, topic: orders, error: NOT_LEADER_OR_FOLLOWER}
  - {at: 5s, broker_down: 2}
  - {at: 9s, broker_up: 2}
  - {at: 3s, move_coordinator: payments, to: 1}
  - {at: 4s, expire_member: consumer-1, group: payments}
  - {at: 6s, advance_clock: 7d}
  - {at: 1s, freeze_clock: true}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import Cursor, Document, Fields, Readers, read_document
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS
from kgroups.core.sandbox.faults.fault_rules import Action, Drop, Fault, LoseRequest, error_code
from kgroups.core.times import duration_hint, duration_ms

_ACTIONS: Final = ("error", "drop", "lose")
_APIS: Final = {api.kafka_name: api for api in API_VERSIONS}


@dataclass(frozen=True, slots=True)
class TimedFault:
    """A fault at a time after the cluster started.

    Args:
        kind: one of `TIMED_FAULTS`.
        broker: that goes down or comes up, or that the group moves to (None: the next one).
        group: that moves, or whose member expires.
        member: member id, instance id or client id of who expires.
        ms: how far the clock is set forward.
        frozen: whether the clock stands still from now on.
    """

    at_ms: int
    kind: str
    broker: int | None = None
    group: str | None = None
    member: str | None = None
    ms: int = 0
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """The content of a file: rules in order, timed faults in order of time."""

    rules: tuple[Fault, ...]
    timed_faults: tuple[TimedFault, ...]


def read_fault_file(path: Path) -> FaultPlan:
    """Rules and timed faults of a file.

    Raises:
        UsageError: it cannot be read, is no YAML, or an entry is not understood; the message has
            its line.
    """
    return parse_faults(read_document(path, "yaml"))


def parse_faults(document: Document) -> FaultPlan:
    """Rules and timed faults of a parsed file.

    Raises:
        UsageError: an entry is not understood.
    """
    rules: list[Fault] = []
    timed: list[TimedFault] = []
    for entry in document.root.fields(("faults",))["faults"].items():
        fields = entry.fields((), (*RULE_KEYS, *_ACTIONS, "at", "to", *TIMED_FAULTS))
        if "at" in fields.values or not TIMED_FAULTS.keys().isdisjoint(fields.values):
            timed.append(_timed(entry, fields))
        else:
            rules.append(_rule(entry))
    timed.sort(key=lambda fault: fault.at_ms)
    return FaultPlan(tuple(rules), tuple(timed))


def _rule(entry: Cursor) -> Fault:
    fields = entry.fields((), (*RULE_KEYS, *_ACTIONS))
    actions = [name for name in _ACTIONS if fields.values.get(name, False) is not False]
    if len(actions) > 1:
        entry.fail(f"`{actions[0]}` and `{actions[1]}` cannot be used together")
    if not actions and "delay" not in fields.values:
        entry.fail("the entry does nothing", hint="use `error`, `drop`, `lose` or `delay`")
    action = _action(fields[actions[0]], actions[0]) if actions else None
    return Fault(action=action, times=_times(fields), **fields.given(RULES))


def _action(cursor: Cursor, name: str) -> Action:
    if name == "error":
        try:
            return error_code(cursor.text())
        except UsageError as error:
            cursor.fail(error.message, hint=error.hint)
    cursor.flag()
    return Drop() if name == "drop" else LoseRequest()


def _times(fields: Fields) -> int | None:
    if "times" not in fields.values:
        return 1
    return None if fields.values["times"] == "always" else _count(fields["times"])


def _timed(entry: Cursor, fields: Fields) -> TimedFault:
    kinds = [kind for kind in TIMED_FAULTS if kind in fields.values]
    if len(kinds) != 1:
        entry.fail(
            f"expected one timed fault, found {len(kinds)}",
            hint=f"one of {', '.join(TIMED_FAULTS)}",
        )
    readers = TIMED_FAULTS[kinds[0]]
    optional = ("at", "to") if "to" in readers else ("at",)
    fields = entry.fields([key for key in readers if key not in optional], optional)
    at_ms = fields.optional("at", _duration) or 0
    given: dict[str, Any] = {
        field: read(fields[key]) for key, (field, read) in readers.items() if key in fields.values
    }
    return TimedFault(at_ms, kinds[0], **given)


def _count(cursor: Cursor) -> int:
    return cursor.integer(1)


def _duration(cursor: Cursor) -> int:
    duration = duration_ms(cursor.value) if isinstance(cursor.value, str) else None
    if duration is None:
        cursor.fail(f"`{cursor.value}` is not a duration", hint=duration_hint())
    return round(duration)


def _api(cursor: Cursor) -> Api:
    name = cursor.text()
    if name not in _APIS:
        cursor.fail(f"unknown api `{name}`", hint=", ".join(sorted(_APIS)))
    return _APIS[name]


RULES: Final[Readers] = {
    "api": ("api", _api),
    "group": ("group", Cursor.text),
    "topic": ("topic", Cursor.text),
    "client": ("client", Cursor.text),
    "broker": ("broker", _count),
    "delay": ("delay_ms", _duration),
    "skip": ("skip", lambda cursor: cursor.integer(0)),
}
RULE_KEYS: Final = (*RULES, "times")
TIMED_FAULTS: Final[Mapping[str, Readers]] = {
    "broker_down": {"broker_down": ("broker", _count)},
    "broker_up": {"broker_up": ("broker", _count)},
    "move_coordinator": {"move_coordinator": ("group", Cursor.text), "to": ("broker", _count)},
    "expire_member": {"expire_member": ("member", Cursor.text), "group": ("group", Cursor.text)},
    "advance_clock": {"advance_clock": ("ms", _duration)},
    "freeze_clock": {"freeze_clock": ("frozen", Cursor.flag)},
}
"""Timed faults by name: their keys, with the field that each sets and how it is read."""
