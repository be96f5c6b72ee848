"""Changes of groups in words, for tables."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from kgroups.core.errors import counted
from kgroups.core.history.changes import Change, Commits
from kgroups.core.history.repeats import Repeat
from kgroups.core.history.rivals import Rivalry
from kgroups.core.times import show_ms

NAMED: Final = 3
NUMBERS: Final = {"classic": "generation", "consumer": "epoch"}


def time_text(at_ms: int) -> str:
    """`11-21 01:02:03`, UTC."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%m-%d %H:%M:%S}"


def cause_text(change: Change) -> str:
    """`deploy (likely)`; only the cause where that is certain."""
    if change.cause is None:
        return ""
    cause = change.cause.replace("_", " ")
    return cause if change.certainty == "certain" else f"{cause} ({change.certainty})"


def change_text(change: Change) -> str:
    """`app-3 left; app-4 joined`: what happened, in a line."""
    return TEXTS[change.kind](change)


def repeat_text(repeat: Repeat) -> str:
    """`app-3 left 27 times in 6m02s`."""
    first, last = repeat.rebalances[0], repeat.rebalances[-1]
    did = f"left {repeat.left:,}" if repeat.left else f"joined {repeat.joined:,}"
    return f"{repeat.client_id} {did} times in {show_ms(last.at_ms - first.at_ms)}"


def numbers_text(repeat: Repeat) -> str:
    """`411-438`: its generations or epochs."""
    return f"{repeat.rebalances[0].number}-{repeat.rebalances[-1].number}"


def _numbers(change: Change, first: int | None, last: int | None) -> str:
    word = NUMBERS[change.type or "classic"]
    return f"{word} {last}" if first == last else f"{word}s {first} to {last}"


def _members(change: Change) -> str:
    did: tuple[tuple[str, Sequence[str]], ...] = (
        ("left", [gone.seat.client_id for gone in change.members.left]),
        ("joined", [seat.client_id for seat in change.members.joined]),
        ("replaced", [pair.new.client_id for pair in change.members.replaced]),
    )
    parts = [f"{_names(names)} {word}" for word, names in did if names]
    same = (
        counted(change.member_count or 0, "member") if "older" in change.facts else "same members"
    )
    return "; ".join(parts) or same


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(name or "?" for name in names[:NAMED]) + more


def _commits(change: Change) -> str:
    commits = change.commits or Commits()
    parts = (
        (commits.count, counted(commits.count, "commit")),
        (commits.backwards, f"{commits.backwards:,} backwards"),
        (commits.unowned, f"{commits.unowned:,} without owner"),
        (commits.deleted, f"{counted(commits.deleted, 'commit')} deleted"),
        *((1, _rivalry(each)) for each in commits.rivals[:NAMED]),
    )
    return ", ".join(text for count, text in parts if count)


def _rivalry(found: Rivalry) -> str:
    """`orders-3 by two in turn (certain: producers 7 and 12; owner app-1)`."""
    ids = " and ".join(map(str, found.producer_ids))
    who = [f"producers {ids}"] if ids else []
    who += [f"owner {_names(found.client_ids)}"] if found.client_ids else []
    more = f": {'; '.join(who)}" if who else ""
    return f"{found.topic}-{found.partition} by two in turn ({found.certainty}{more})"


def _gap(change: Change) -> str:
    verb = "has" if change.first_number == change.number else "have"
    return f"{_numbers(change, change.first_number, change.number)} {verb} no record"


TEXTS: Final[Mapping[str, Callable[[Change], str]]] = {
    "rebalance": _members,
    "members": _members,
    "commits": _commits,
    "deleted": lambda _: "group deleted",
    "gap": _gap,
}
