"""What holds whatever happened: rows are old or new, claims are true, nothing else has changed."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from tests.support.chaos.disturbances import Sort
from tests.support.chaos.state import (
    Commit,
    Key,
    State,
    group_key,
    is_commit,
    member_key,
)
from tests.support.chaos.works import SECOND
from tests.support.endings.held import DONE, NOISE, OURS, document_of
from tests.support.endings.program import Ending

SHOWN: Final = 20
ALLOWANCE_S: Final = 2.0
"""Beside `--timeout`: start-up, the undo file on disk, the report. All are waits of the command's
main thread; what others take of the processor does not count."""

KILLED: Final = -9


class BrokenPromise(AssertionError):
    """A promise that was broken."""


def is_same(wanted: object, found: object) -> bool:
    """Whether a value is as wanted: an offset, where no more than that is wanted."""
    if isinstance(wanted, int) and isinstance(found, Commit):
        return wanted == found.offset
    return wanted == found


def _compared(keys: Iterable[Key], *, topic_is_new: bool) -> Iterator[Key]:
    """The keys that say something: copies exist or not, and commits of a lost topic are lost."""
    for key in keys:
        if not is_commit(key) and key[0].startswith("copy-"):
            continue
        if topic_is_new and is_commit(key) and key[1] == SECOND:
            continue
        yield key


def differences(wanted: State, found: State, *, topic_is_new: bool = False) -> list[str]:
    """Where a state is not as wanted."""
    keys = sorted(_compared(wanted.keys() | found.keys(), topic_is_new=topic_is_new))
    return [
        f"{key}: {found.get(key)}, not {wanted.get(key)}"
        for key in keys
        if not is_same(wanted.get(key), found.get(key))
    ]


def neither(old: State, new: State, found: State, *, topic_is_new: bool = False) -> list[str]:
    """What is neither as it was nor as planned; what is not in the plan is in both."""
    keys = sorted(_compared(old.keys() | new.keys() | found.keys(), topic_is_new=topic_is_new))
    return [
        f"{key}: {found.get(key)}, neither {old.get(key)} nor {new.get(key)}"
        for key in keys
        if not is_same(old.get(key), found.get(key)) and not is_same(new.get(key), found.get(key))
    ]


def with_starts(old: State, new: State, found: State) -> State:
    """A state in which logs that the work does not cut begin where they did.

    A broker writes down every minute where its logs begin. One that is killed begins them again
    where it knew last, whatever the command did, and may learn of the later start from another.

    Source: `log.flush.start.offset.checkpoint.interval.ms`.
    """
    kept = {
        key: value
        for key, value in old.items()
        if not key[0] and new.get(key) == value and key in found
    }
    return {**found, **kept}


def revenants(found: State) -> list[str]:
    """Commits of a topic that was made anew, and has no records, which are of the old one."""
    return [
        f"{key}: {value} in an empty topic"
        for key, value in found.items()
        if is_commit(key) and key[1] == SECOND and isinstance(value, Commit) and value.offset > 0
    ]


def false_claims(ending: Ending, old: State, new: State, found: State, sort: Sort) -> list[str]:
    """Rows of the report that are not true. Where others write too, only `done` can be held."""
    document = document_of(ending)
    wrong: list[str] = []
    for item in document["items"] if document is not None else ():
        truth = DONE.get(item["result"], "old")
        if item["result"] == "failed" and item["error"] not in ("NOT_VERIFIED", "OVERWRITTEN"):
            truth = "old"
        if sort in ("second", "members", "topic") and truth != "new":
            continue
        for key in _keys_of(item, old.keys() | new.keys()):
            if sort == "topic" and key[1] == SECOND:
                continue
            allowed = {"new": [new.get(key)], "old": [old.get(key)]}.get(
                truth, [old.get(key), new.get(key)]
            )
            if not any(is_same(each, found.get(key)) for each in allowed):
                wrong.append(f"{item}: {key} is {found.get(key)}")
    return wrong


def _keys_of(item: dict[str, Any], keys: Iterable[Key]) -> list[Key]:
    """What a row of a report is about."""
    if "member_id" in item:
        return [member_key(item["group"], item["member_id"])]
    if item.get("topic") is not None:
        return [(item.get("group", ""), item["topic"], item["partition"])]
    if item["action"] == "delete":
        return [group_key(item["group"])]
    return [key for key in keys if key[0] == item["group"] and is_commit(key)]


def noises(code: int, said: str) -> list[str]:
    """Tracebacks and the like, and exit codes that mean a bug."""
    found = [noise for noise in NOISE if noise in said]
    return found if code in (*OURS, KILLED) else [*found, f"exit code {code}"]


def results_of(ending: Ending) -> dict[str, int]:
    """How many rows had which result."""
    counts: dict[str, int] = {}
    document = document_of(ending)
    for item in document["items"] if document is not None else ():
        counts[item["result"]] = counts.get(item["result"], 0) + 1
    return counts


def late(ending: Ending, timeout_s: float) -> list[str]:
    """Whether it waited longer than it may."""
    waited_s = ending.waited_s or 0.0
    if waited_s <= timeout_s + ALLOWANCE_S:
        return []
    return [f"it waited for {waited_s:.1f} s, and had {timeout_s:g} s"]
