"""Members that subscribe to something else."""

from dataclasses import replace
from typing import TypeVar

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.planning.changes.draft import Draft, goes_by
from kgroups.core.planning.changes.kinds import Pattern, Subscribe
from kgroups.core.planning.roster import Seat
from kgroups.core.planning.topic_patterns import topic_matcher

_Change = TypeVar("_Change", Subscribe, Pattern)


def subscribe(draft: Draft, change: Subscribe) -> None:
    """Members read other topics, or more; new ones too, unless they have topics of their own.

    Raises:
        NotFoundError: nobody goes by the name.
    """
    for topic in change.topics:
        if topic not in draft.topics:
            draft.notes.append(
                f"there is no topic `{topic}`, so none of its partitions are assigned"
            )
    if change.member is None and not change.added:
        draft.said_topics, draft.said_pattern = tuple(java_sorted(set(change.topics))), None
    change = _reaching(draft, change)
    draft.seats = [
        _with_topics(draft, seat, change) if _is_meant(draft, seat, change.member) else seat
        for seat in draft.seats
    ]


def subscribe_by_pattern(draft: Draft, change: Pattern) -> None:
    """Members read what a pattern stands for; new ones too, but for those with topics of their own.

    Raises:
        UsageError: the pattern is broken.
        NotFoundError: nobody goes by the name.
    """
    topic_matcher(change.pattern, change.dialect)  # whoever it is for
    if change.member is None:
        draft.said_pattern, draft.said_topics = change, None
    change = _reaching(draft, change)
    for place, seat in enumerate(draft.seats):
        if _is_meant(draft, seat, change.member):
            draft.followers.pop(seat.member.member_id, None)
            draft.seats[place] = replace(
                seat, topics=(), pattern=change, changed=_is_new(seat, change)
            )


def _reaching(draft: Draft, change: _Change) -> _Change:
    """The change with a name that somebody goes by."""
    name = change.member
    if name is None or any(goes_by(seat, name) for seat in draft.seats):
        return change
    whole = draft.whole_id(name)
    if whole is None:
        raise draft.lacks(name)
    return replace(change, member=whole)


def _is_meant(draft: Draft, seat: Seat, name: str | None) -> bool:
    """Whether a change is about this member: by name, or as one of all that have nothing own."""
    if name is not None:
        return goes_by(seat, name)
    return not seat.joins or seat.member.member_id in draft.followers


def _with_topics(draft: Draft, seat: Seat, change: Subscribe) -> Seat:
    name = seat.member.member_id
    if change.added and name in draft.followers:
        draft.followers[name] |= set(change.topics)
        return seat
    draft.followers.pop(name, None)
    pattern = seat.pattern if change.added else None
    # Clients send their topics sorted, each once.
    wanted = (*seat.topics, *change.topics) if change.added else change.topics
    topics = tuple(java_sorted(set(wanted)))
    changed = seat.changed or set(topics) != set(seat.topics) or pattern != seat.pattern
    return replace(seat, topics=topics, pattern=pattern, changed=changed and not seat.joins)


def _is_new(seat: Seat, change: Pattern) -> bool:
    """Whether a pattern is another one than the member shows; classic members show none."""
    shows = seat.member.member_protocol == "consumer"
    return not seat.joins and (seat.changed or (shows and seat.pattern != change))
