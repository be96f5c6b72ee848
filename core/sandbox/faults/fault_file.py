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

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from kgroups.core.errors import UsageError
from kgroups.core.sandbox.apis import API_VERSIONS, Api
from kgroups.core.sandbox.faults.fault_rules import Action, Drop, Fault, LoseRequest, error_code

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d{1,9})(ms|s|m|h|d)")
_ACTIONS = ("error", "drop", "lose")
_INCIDENTS = (
    "broker_down",
    "broker_up",
    "move_coordinator",
    "expire_member",
    "advance_clock",
    "freeze_clock",
)


@dataclass(frozen=True, slots=True)
class TimedFault:
    """Something that happens to the cluster at a time after its start.

    Args:
        kind: one of `_INCIDENTS`.
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
        UsageError: it cannot be read, is no YAML, or an entry is not understood.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"fault file `{path}` cannot be read: {error}") from error
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "cannot be parsed"
        raise UsageError(f"fault file `{path}`{place} is not YAML: {problem}") from error
    return parse_faults(raw, str(path))


def parse_faults(raw: object, source: str) -> FaultPlan:
    """Rules and timed faults of a parsed file.

    Args:
        source: the file, for messages.
    Raises:
        UsageError: an entry is not understood; the message names it.
    """
    if not isinstance(raw, dict) or list(raw) != ["faults"] or not isinstance(raw["faults"], list):
        raise UsageError(
            f"fault file `{source}` is not a list under `faults:`",
            hint="for example: faults: [{api: JoinGroup, error: NOT_COORDINATOR}]",
        )
    rules, timed_faults = [], []
    for number, entry in enumerate(raw["faults"], start=1):
        where = f"fault file `{source}` entry {number}"
        if not isinstance(entry, dict) or not all(isinstance(key, str) for key in entry):
            raise UsageError(f"{where} is not a map")
        if "at" in entry or any(kind in entry for kind in _INCIDENTS):
            timed_faults.append(_timed_fault(entry, where))
        else:
            rules.append(_rule(entry, where))
    timed_faults.sort(key=lambda fault: fault.at_ms)
    return FaultPlan(tuple(rules), tuple(timed_faults))


def _rule(entry: Mapping[str, Any], where: str) -> Fault:
    _only(
        entry,
        {"api", "group", "topic", "client", "broker", "delay", "times", "skip", *_ACTIONS},
        where,
    )
    actions = [name for name in _ACTIONS if name in entry and entry[name] is not False]
    if len(actions) > 1:
        raise UsageError(f"{where}: `{actions[0]}` and `{actions[1]}` exclude each other")
    if not actions and "delay" not in entry:
        raise UsageError(f"{where} does nothing", hint="error, drop, lose or delay")
    times = entry.get("times", 1)
    return Fault(
        api=_api(entry["api"], where) if "api" in entry else None,
        group=_optional(entry, "group", _text, where),
        topic=_optional(entry, "topic", _text, where),
        client=_optional(entry, "client", _text, where),
        broker=_optional(entry, "broker", _count, where),
        action=_action(entry, actions, where),
        delay_ms=_duration(entry["delay"], f"{where}: delay") if "delay" in entry else 0,
        times=None if times == "always" else _count(times, f"{where}: times"),
        skip=_number(entry.get("skip", 0), f"{where}: skip"),
    )


def _action(entry: Mapping[str, Any], actions: list[str], where: str) -> Action:
    if not actions:
        return None
    if actions == ["error"]:
        try:
            return error_code(_text(entry["error"], f"{where}: error"))
        except UsageError as error:
            raise UsageError(f"{where}: {error.message}", hint=error.hint) from error
    if entry[actions[0]] is not True:
        raise UsageError(f"{where}: `{actions[0]}` is true or absent")
    return Drop() if actions == ["drop"] else LoseRequest()


def _timed_fault(entry: Mapping[str, Any], where: str) -> TimedFault:
    _only(entry, {"at", "to", "group", *_INCIDENTS}, where)
    kinds = [kind for kind in _INCIDENTS if kind in entry]
    if len(kinds) != 1:
        raise UsageError(f"{where} needs one of {', '.join(_INCIDENTS)}")
    kind = kinds[0]
    value = entry[kind]
    at_ms = _duration(entry.get("at", "0s"), f"{where}: at")
    named = f"{where}: {kind}"
    allowed = {"move_coordinator": {"to"}, "expire_member": {"group"}}.get(kind, set())
    _only(entry, {"at", kind, *allowed}, where)
    if kind == "move_coordinator":
        broker = _optional(entry, "to", _count, where)
        return TimedFault(at_ms, kind, broker=broker, group=_text(value, named))
    if kind == "expire_member":
        if "group" not in entry:
            raise UsageError(f"{where}: expire_member needs a `group`")
        group = _text(entry["group"], f"{where}: group")
        return TimedFault(at_ms, kind, group=group, member=_text(value, named))
    if kind == "advance_clock":
        return TimedFault(at_ms, kind, ms=_duration(value, named))
    if kind == "freeze_clock":
        if not isinstance(value, bool):
            raise UsageError(f"{named} is `{value}`, not true or false")
        return TimedFault(at_ms, kind, frozen=value)
    return TimedFault(at_ms, kind, broker=_count(value, named))


def _only(entry: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(entry) - known)
    if unknown:
        raise UsageError(f"{where}: unknown key `{unknown[0]}`", hint=", ".join(sorted(known)))


def _optional(
    entry: Mapping[str, Any], key: str, read: Callable[[Any, str], Any], where: str
) -> Any:
    return read(entry[key], f"{where}: {key}") if key in entry else None


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{where} is `{value}`, not a text", hint="put it in quotes")
    return value


def _number(value: object, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise UsageError(f"{where} is `{value}`, not a number from 0 on")
    return value


def _count(value: object, where: str) -> int:
    if _number(value, where) < 1:
        raise UsageError(f"{where} is 0, not a number from 1 on")
    return _number(value, where)


def _duration(value: object, where: str) -> int:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise UsageError(
            f"{where} is `{value}`, not a time", hint="for example 500ms, 2s, 1m, 1h or 7d"
        )
    return int(match[1]) * _UNITS_MS[match[2]]


_APIS = {api.kafka_name: api for api in API_VERSIONS}


def _api(value: object, where: str) -> Api:
    api = _APIS.get(value) if isinstance(value, str) else None
    if api is None:
        raise UsageError(f"{where}: unknown api `{value}`", hint=", ".join(sorted(_APIS)))
    return api
