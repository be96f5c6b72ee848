"""From a group as it is to the group after the changes.

Changes are applied in the order given; each sees what the ones before it left.
"""

from collections import ChainMap
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import RefusedError, UsageError
from kgroups.core.planning.changes.draft import Draft
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Dialect,
    DropHost,
    Pattern,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.changes.members import (
    add_members,
    drop_host,
    remove_member,
    remove_members,
    settle_followers,
)
from kgroups.core.planning.changes.topics import (
    add_topic,
    set_partitions,
    subscribe,
    subscribe_by_pattern,
)
from kgroups.core.planning.leaders.evidence import NOTHING_KNOWN, Evidence, Known
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.roster import Roster, Seat
from kgroups.core.planning.topic_patterns import matching_topics
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic


def meant_in(
    group: Group, changes: Sequence[Change | Deploy], leader: str | None = None
) -> list[Change | Deploy]:
    """The changes with a member where a number is its id, and the group's dialect of patterns.

    Args:
        leader: client library of the group's leader; None: inferred.
    """
    return [_meant_in(group, change, leader) for change in changes]


def _meant_in(group: Group, change: Change | Deploy, leader: str | None) -> Change | Deploy:
    match change:
        case RemoveMembers(name=name) if any(
            name in (member.member_id, member.instance_id) for member in group.members or ()
        ):
            return RemoveMember(name)
        case Pattern(said=False):
            return replace(change, dialect=_dialect(group, leader), said=True)
        case AddMembers(pattern=Pattern(said=False) as pattern):
            said = replace(pattern, dialect=_dialect(group, leader), said=True)
            return replace(change, pattern=said)
    return change


def _dialect(group: Group, leader: str | None) -> Dialect:
    """Whose patterns the members of a group use."""
    if group.type == "consumer":
        return "re2"
    library = infer_leader(Evidence(group), leader).likeliest
    return "librdkafka" if library == "librdkafka" else "java"


MADE_BY: Final[Mapping[type, Callable[[Draft, Any], None]]] = {
    AddMembers: add_members,
    RemoveMember: remove_member,
    RemoveMembers: remove_members,
    DropHost: drop_host,
    SetPartitions: set_partitions,
    AddTopic: add_topic,
    Subscribe: subscribe,
    Pattern: subscribe_by_pattern,
}


def next_roster(
    snapshot: ClusterSnapshot,
    group: Group,
    changes: Sequence[Change],
    known: Known = NOTHING_KNOWN,
    *,
    may_match: bool = True,
) -> Roster:
    """The group after the changes.

    Args:
        snapshot: has the topics that exist.
        group: with its members.
        changes: in the order in which they happen.
        known: what is known of the members besides what they show.
        may_match: whether members can subscribe by a pattern; those of share groups cannot.
    Raises:
        RefusedError: the group is in no state that shows what its members subscribe to.
        NotFoundError: a change names a member, host or topic that is not there.
        UsageError: a change that cannot be made, such as fewer partitions.
    """
    matched: dict[Pattern, tuple[str, ...]] = {}
    seats = [_seat(group, member) for member in _members(group)]
    draft = Draft(
        group,
        [replace(s, read_before=_resolved(s, snapshot.topics, matched).topics) for s in seats],
        # Not a copy: a fleet's groups are many, and so are its topics.
        ChainMap({}, cast(MutableMapping[str, Topic], snapshot.topics)),
    )
    for change in changes:
        MADE_BY[type(change)](draft, change)
    settle_followers(draft)
    if may_match:
        _say_what_is_not_known(draft, changes)
    _say_who_may_wait(draft)
    # Patterns last: they see topics that the changes add. Members mostly share one.
    matched.clear()
    draft.seats = [_resolved(seat, draft.topics, matched) for seat in draft.seats]
    read = {topic for seat in draft.seats for topic in seat.topics}
    return Roster(
        Evidence(group, known),
        tuple(draft.seats),
        tuple(draft.left),
        draft.topics,
        tuple(draft.notes),
        tuple(dict.fromkeys(draft.guesses)),
        {name: snapshot.topics.get(name) for name in sorted(draft.new_topics & read)},
        broker_racks={broker.id: broker.rack for broker in snapshot.brokers},
    )


def _members(group: Group) -> tuple[Member, ...]:
    if group.type not in ("classic", "consumer"):
        raise RefusedError(
            f"`{group.group}` is a {group.type} group, which is planned on its own",
            hint=f"kgroups plan {group.group}",
            code="UNSUPPORTED_GROUP_TYPE",
        )
    if group.protocol_type not in (None, "", "consumer"):
        raise RefusedError(
            f"`{group.group}` is a group of `{group.protocol_type}`, which assigns no partitions",
            code="UNSUPPORTED_GROUP_TYPE",
        )
    if group.members is None:
        raise UsageError(
            f"the members of `{group.group}` are not known", hint="save a snapshot with members"
        )
    return group.members


def _seat(group: Group, member: Member) -> Seat:
    topics = member.subscription
    if topics is None and member.subscription_regex is None:
        raise RefusedError(
            (
                f"`{group.group}` is {group.state or 'in an unknown state'}: subscriptions are "
                "only available while it is Stable"
            ),
            hint="try again when the group is Stable",
            code="REBALANCE_IN_PROGRESS",
        )
    pattern = member.subscription_regex
    return Seat(member, topics or (), pattern=Pattern(pattern, "re2") if pattern else None)


def _resolved(
    seat: Seat, topics: Mapping[str, Topic], matched: dict[Pattern, tuple[str, ...]]
) -> Seat:
    """The seat with the topics that its pattern stands for now; `matched` remembers patterns."""
    pattern = seat.pattern
    if pattern is None:
        return seat
    if pattern not in matched:
        matched[pattern] = matching_topics(topics, pattern.pattern, pattern.dialect)
    wanted = {*seat.topics, *matched[pattern]}
    shown = seat.member.subscription or ()
    # What does not change it names as before; Python's clients do not sort it.
    same = not seat.joins and wanted == set(shown)
    return replace(seat, topics=shown if same else tuple(java_sorted(wanted)))


def _say_who_may_wait(draft: Draft) -> None:
    """A guess where a coordinator seems not to know yet what a pattern stands for.

    It looks patterns up every ten seconds at most; until then who reads by one has nothing, even
    where others have several of its partitions.
    """
    stay = [seat for seat in draft.seats if not seat.joins and not seat.changed]
    idle = [seat for seat in stay if seat.pattern and seat.member.target_assignment == {}]
    if not idle:
        return
    several: dict[str, str] = {}
    for member in draft.group.members or ():
        held = member.target_assignment or {}
        if sum(map(len, held.values())) > 1:
            several.update(dict.fromkeys(held, member.member_id))
    for seat in idle:
        if not several.keys().isdisjoint(seat.read_before):
            draft.guesses.append(
                f"`{seat.member.member_id}` has nothing of what its pattern stands for: the "
                "coordinator may not have looked it up yet"
            )


def _say_what_is_not_known(draft: Draft, changes: Sequence[Change]) -> None:
    """A guess where a topic is added and members may subscribe by a pattern that does not show."""
    added = [change.topic for change in changes if isinstance(change, AddTopic)]
    said = any(isinstance(change, Pattern | Subscribe) for change in changes)
    hidden = any(seat.pattern is None for seat in draft.seats)
    if added and hidden and not said:
        draft.guesses.append(
            "members report topic names, even if they subscribe by a pattern: give the "
            f"pattern with `--pattern`, or no member reads {', '.join(added)}"
        )
