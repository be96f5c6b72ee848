"""Kafka's coordinator and ours get the same random scripts; a difference is told in full."""

from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.support.coordinator.answer_comparison import differences, side_by_side
from tests.support.coordinator.both_coordinators import Both
from tests.support.coordinator.log_replica import LogReplica
from tests.support.coordinator.meant_differences import MeantDifference
from tests.support.coordinator.oracle_json import Json
from tests.support.coordinator.oracle_process import FIRST_RELEASE
from tests.support.coordinator.random_scripts import World

HISTORY = 2000
SHOWN = 25
FOLLOWED = 50  # every so many operations a coordinator rebuilt from the log is compared
# (state of the group before, operation, error code or "parked")
Seen = tuple[str, str, int | str]
# (state before, operation, state after); "none" is a group that does not exist
Move = tuple[str, str, str]


@dataclass
class Tally:
    """What a series of scripts has met."""

    operations: int = 0
    seen: Counter[Seen] = field(default_factory=Counter)
    moves: Counter[Move] = field(default_factory=Counter)
    meant: Counter[str] = field(default_factory=Counter)


def group_of(op: Json) -> str | None:
    """The (first) group that an operation is about."""
    request = op.get("request") or {}
    for name in ("groupId", "groupIds", "groups", "groupsNames"):
        value = request.get(name)
        if isinstance(value, str):
            return value
        if value:
            first = value[0]
            return str(first if isinstance(first, str) else first.get("groupId"))
    return None


def codes(answer: Json) -> list[int | str]:
    """Every error code in an answer, `parked` for one that is still to come."""
    found: list[int | str] = []

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for name, one in value.items():
                if name == "errorCode":
                    found.append(one)
                else:
                    walk(one)
        elif isinstance(value, list):
            for one in value:
                walk(one)

    if answer.get("response") == "parked":
        return ["parked"]
    walk(answer.get("response"))
    return found


def note(tally: Tally, states: dict[str, str], op: Json, answer: Json) -> None:
    """Count the pairs of this operation; `states` is brought up to date."""
    tally.operations += 1
    if op["op"] == "config":
        states.clear()
    for group, state in answer.get("states", {}).items():
        tally.moves[states.get(group, "none"), op["op"], state or "none"] += 1
        states[group] = state or "none"
    before = str(answer.get("pre", "-"))
    for code in codes(answer):
        tally.seen[before, op["op"], code] += 1


def tell(history: list[tuple[int, Json, Json]], op: Json, found: list[str]) -> str:
    """The last operations of the group, and what differs."""
    group = group_of(op)
    global_ops = ("config", "advance", "topics", "reload", "cleanup")
    related = [
        (n, o, a)
        for n, o, a in history
        if group is None or group_of(o) == group or o["op"] in global_ops
    ]
    lines = [
        f"{n} t={a.get('t')} {a.get('pre', '')} {o['op']} v{o.get('version', '')}"
        f" {o.get('request') or {k: v for k, v in o.items() if k != 'op'}}"
        f"\n      -> {a.get('response')} {a.get('completed', '')}"
        for n, o, a in related[-SHOWN:]
    ]
    return "\n".join([*(line[:900] for line in lines), "differences:", *found[:12]])


class Difference(AssertionError):
    """Ours is not equal to Kafka's."""


class ScriptOver(Exception):
    """A difference that is meant was met: from here on the two stand differently."""


def compare_with_oracle(
    ask: Callable[[Json], Json],
    shape: str,
    seed: int,
    operations: int,
    tally: Tally,
    meant: tuple[MeantDifference, ...] = (),
    release: str = FIRST_RELEASE,
) -> None:
    """Carry out one script on both, as far as nothing differs or what differs is meant.

    Args:
        release: of the Kafka that is asked, and whose rules ours follows.
    Raises:
        Difference: an answer differs in a way that no row of `meant` covers.
    """
    coordinators = Both(ask, release)
    replica = LogReplica(coordinators.ours)
    history: deque[tuple[int, Json, Json]] = deque(maxlen=HISTORY)
    states: dict[str, str] = {}

    def both(op: Json) -> Json:
        sent, theirs, mine = coordinators.answers(op)
        history.append((len(history), sent, theirs))
        note(tally, states, op, theirs)
        want, got = side_by_side(theirs, mine)
        if want != got or theirs["t"] != mine["t"]:
            asked = {**sent, "pre": theirs.get("pre", "")}
            row = next((one for one in meant if one.covers(asked, want, got)), None)
            if row is None:
                told = tell(list(history), sent, list(differences(want, got)))
                raise Difference(f"{shape} {seed}, operation {tally.operations}:\n{told}")
            tally.meant[row.name] += 1
            raise ScriptOver
        if tally.operations % FOLLOWED == 0:
            replica.check()
        return theirs

    with suppress(ScriptOver):
        World(both, shape, seed).run(operations)
