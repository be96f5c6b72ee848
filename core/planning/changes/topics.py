"""Topics that are created or grow, and members that subscribe to something else."""

from dataclasses import replace
from typing import TypeVar

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import NotFoundError, UsageError
from kgroups.core.lag.uncommitted import CONDITION, ranges_text
from kgroups.core.planning.changes.draft import Draft, goes_by, unknown_member
from kgroups.core.planning.changes.kinds import AddTopic, Pattern, SetPartitions, Subscribe
from kgroups.core.planning.roster import Seat
from kgroups.core.planning.topic_patterns import topic_matcher
from kgroups.core.snapshot import PartitionLog, Topic


def set_partitions(draft: Draft, change: SetPartitions) -> None:
    """A topic gets more partitions, which are empty."""
    name, count = change.topic, change.partitions
    topic = draft.topics.get(name)
    if topic is None:
        raise NotFoundError(
            f"there is no topic `{name}`",
            hint=f"to plan with a new topic: `--add-topic {name}={count}`",
            code="UNKNOWN_TOPIC_OR_PARTITION",
        )
    present = len(topic.partitions)
    if count < present:
        raise UsageError(
            f"`{name}` has {present} partitions, and Kafka cannot remove partitions",
            hint=f"expected at least {present}",
        )
    added = {number: PartitionLog(0, 0) for number in range(present, count)}
    draft.topics[name] = replace(topic, partitions={**topic.partitions, **added})
    if added:
        draft.new_topics.add(name)
        places = [(name, number) for number in added]
        if any(name in seat.topics for seat in draft.seats):
            draft.notes.append(f"{ranges_text(places)} will have no commit: {CONDITION}")


def add_topic(draft: Draft, change: AddTopic) -> None:
    """A topic is created, and is empty."""
    name, count = change.topic, change.partitions
    if name in draft.topics:
        raise UsageError(
            f"topic `{name}` already exists", hint=f"`--set-partitions {name}={count}`"
        )
    draft.topics[name] = Topic(name, {number: PartitionLog(0, 0) for number in range(count)})
    draft.new_topics.add(name)


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
        raise unknown_member(name, draft.group.group)
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
