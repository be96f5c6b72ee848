"""Why a group changed, as far as its records tell: a table of patterns, the first that fits holds.

Records do not say why a member left. But how long it had stayed, how long its partitions had not
been committed, and whether the same client came back under another id, tell apart a member that
was too slow to poll, one that was silent, and a deploy.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from kgroups.core.history.changes import Certainty, Change
from kgroups.core.history.roster import Departure, Seat, is_same_client

SLACK_MS: Final = 10_000
"""The slack of a timeout: automatic commits every 5 s, and a rebalance."""
RETURN_MS: Final = 600_000
"""Until when a client that left may be said to come back."""
NEAR: Final = 40
"""How many changes are looked at for that."""
DEPLOY_MS: Final = 600_000
"""The longest time between two changes of one deploy."""

POLL, SESSION = "poll_timeout", "session_timeout"


class Scene(NamedTuple):
    """A change among the others.

    Args:
        polls, sessions: whether one that is gone had been silent for as long as its
            `max.poll.interval.ms` or its session timeout allows.
        commits: whether partitions of those that are gone had been committed.
        returns: whether a client that is gone came back, now or later.
        is_return: whether all that joined had left shortly before.
        is_deploy: whether it is one of the changes that replaced every member.
        is_captured: whether only captures tell of it, whose times say little of timeouts.
    """

    change: Change
    polls: bool = False
    sessions: bool = False
    commits: bool = False
    returns: bool = False
    is_return: bool = False
    is_deploy: bool = False
    is_captured: bool = False


class Rule(NamedTuple):
    """A cause, how certain it is, and when it holds."""

    cause: str
    certainty: Certainty
    holds: Callable[[Scene], bool]


RULES: Final = (
    Rule("between_captures", "certain", lambda s: s.is_captured and s.change.kind == "gap"),
    Rule("compaction", "likely", lambda s: s.change.kind == "gap" and s.change.is_torn),
    Rule("unfinished", "certain", lambda s: s.change.kind == "gap"),
    Rule("protocol_changed", "certain", lambda s: "converted" in s.change.facts),
    Rule("static_return", "certain", lambda s: s.change.kind == "members"),
    Rule("created", "certain", lambda s: "first" in s.change.facts),
    Rule(POLL, "likely", lambda s: s.polls and s.returns and not s.sessions),
    Rule(POLL, "possible", lambda s: s.polls and s.returns),
    Rule("deploy", "likely", lambda s: s.is_deploy),
    Rule(SESSION, "likely", lambda s: s.sessions and s.commits and not s.polls),
    Rule(SESSION, "possible", lambda s: s.sessions),
    Rule("restart", "possible", lambda s: bool(s.change.members.replaced)),
    Rule("restart", "possible", lambda s: bool(s.change.members.left) and s.returns),
    Rule("member_left", "certain", lambda s: bool(s.change.members.left)),
    Rule("member_returned", "certain", lambda s: s.is_return),
    Rule("member_joined", "certain", lambda s: bool(s.change.members.joined)),
    Rule("subscription_changed", "certain", lambda s: "subscription" in s.change.facts),
    Rule("topics_changed", "certain", lambda s: "metadata" in s.change.facts),
    Rule("second_round", "likely", lambda s: "second_round" in s.change.facts),
    Rule("topics_changed", "likely", lambda s: "partitions" in s.change.facts),
    Rule("member_rejoined", "possible", lambda s: s.change.kind == "rebalance"),
)


def with_causes(changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes, each with its cause where a pattern fits."""
    deploys = _deploys(changes)
    return tuple(
        _with_cause(_scene(changes, at, is_deploy=at in deploys)) for at in range(len(changes))
    )


def _with_cause(scene: Scene) -> Change:
    if scene.change.kind in ("commits", "deleted") or "older" in scene.change.facts:
        return scene.change
    rule = next((rule for rule in RULES if rule.holds(scene)), None)
    if rule is None:
        return scene.change
    certainty = rule.certainty
    if scene.is_captured and certainty == "certain" and scene.change.kind != "gap":
        certainty = "likely"  # more may have happened between two captures
    return replace(scene.change, cause=rule.cause, certainty=certainty)


def _scene(changes: Sequence[Change], at: int, *, is_deploy: bool) -> Scene:
    change = changes[at]
    members, is_captured = change.members, change.within_ms is not None
    later, earlier = _near(changes, at, 1), _near(changes, at, -1)
    return Scene(
        change,
        polls=not is_captured
        and any(_exceeds(gone, gone.seat.rebalance_timeout_ms) for gone in members.gone),
        sessions=not is_captured
        and any(_exceeds(gone, gone.seat.session_timeout_ms) for gone in members.gone),
        commits=any(gone.silent_ms is not None for gone in members.gone),
        returns=bool(members.replaced)
        or any(
            is_same_client(gone.seat, seat)
            for other in (later if members.left else ())
            for seat in other.members.joined
            for gone in members.left
        ),
        is_return=bool(members.joined) and _all_were_there(members.joined, earlier),
        is_deploy=is_deploy,
        is_captured=is_captured,
    )


def _all_were_there(joined: Iterable[Seat], earlier: Iterable[Change]) -> bool:
    left = [gone.seat for change in earlier for gone in change.members.left]
    return all(any(is_same_client(seat, old) for old in left) for seat in joined)


def _near(changes: Sequence[Change], at: int, step: int) -> Iterable[Change]:
    """The changes after this one, or before, as long as a client may be said to come back."""
    here = at + step
    while 0 <= here < len(changes) and abs(here - at) <= NEAR:
        if abs(changes[here].at_ms - changes[at].at_ms) > RETURN_MS:
            return
        yield changes[here]
        here += step


def _exceeds(gone: Departure, limit_ms: int | None) -> bool:
    """Whether it had been silent, since it joined or committed, for this time and little longer."""
    spans = [ms for ms in (gone.stayed_ms, gone.silent_ms) if ms is not None]
    return (
        limit_ms is not None and bool(spans) and limit_ms <= min(spans) <= limit_ms * 1.1 + SLACK_MS
    )


def _deploys(changes: Sequence[Change]) -> set[int]:
    """Places of the changes in which every member of a group was replaced, in turn or at once."""
    starts: set[int] = set()
    for start, first in enumerate(changes):
        if start not in starts and first.members.gone:
            starts.update(_deploy(changes, start))
    return starts


def _deploy(changes: Sequence[Change], start: int) -> Iterable[int]:
    """The places of a deploy that begins here; none if none does."""
    first = changes[start]
    size = (first.member_count or 0) - len(first.members.joined) + len(first.members.left)
    new: set[str] = set()
    gone, places, last_ms = 0, [], first.at_ms
    for at in range(start, len(changes) if size > 1 else start):
        change = changes[at]
        if change.at_ms - last_ms > DEPLOY_MS:
            break
        if not (change.members.came or change.members.gone):
            continue
        last_ms = change.at_ms
        places.append(at)
        gone += sum(1 for left in change.members.gone if left.seat.member_id not in new)
        new.update(seat.member_id for seat in change.members.came)
        if gone >= size and len(new) >= size and (change.member_count or 0) >= size:
            return places
        if gone > size or len(places) > 3 * size:
            break
    return ()
