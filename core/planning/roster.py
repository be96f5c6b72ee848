"""Who is in a group after the changes, and what the cluster then looks like.

Changes are applied in the order given; each sees what the ones before it left.
"""

from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar, cast

from kgroups.assignors.order.java_order import java_sorted
from kgroups.core.errors import NotFoundError, RefusedError, UsageError
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    DropHost,
    Pattern,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.topic_patterns import matching_topics, topic_matcher
from kgroups.core.snapshot import (
    ClusterSnapshot,
    Group,
    Member,
    MemberProtocol,
    PartitionLog,
    Topic,
)

_T = TypeVar("_T")

UNKNOWN_HOST: Final = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """One member of the group after the changes.

    Args:
        member: its facts; for a member that joins, those that are known before it does.
        topics: what it subscribes to, in the order of the wire.
        joins: whether it is not there yet.
        id_prefix: what a joining member's id will begin with; None if that is not known.
        id_known: whether `member.member_id` is the real id.
        library: client library of a member that joins, where it was said.
        changed: whether a change gives it another subscription.
        read_before: what it reads before the changes, patterns resolved.
        pattern: by which it subscribes, besides `topics` as they were before it was resolved.
    """

    member: Member
    topics: tuple[str, ...]
    joins: bool = False
    id_prefix: str | None = None
    id_known: bool = True
    pattern: Pattern | None = None
    library: str | None = None
    changed: bool = False
    read_before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Roster:
    """A group and its cluster after the changes.

    Args:
        group: the group as it is now.
        seats: members that stay, in the broker's order, then those that join.
        leavers: members that leave.
        topics: the cluster's topics by name.
        notes: what is to be known of it, one sentence each.
        guesses: what had to be guessed, one sentence each: what comes of it is not certain.
        topics_changed: whether a topic that somebody subscribes to is new or has grown.
    """

    group: Group
    seats: tuple[Seat, ...]
    leavers: tuple[Member, ...]
    topics: Mapping[str, Topic]
    notes: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    topics_changed: bool = False

    def subscribed(self) -> list[str]:
        """Topics that exist and that somebody subscribes to, in the cluster's order."""
        names = {topic for seat in self.seats for topic in seat.topics}
        return [name for name in self.topics if name in names]


@dataclass(slots=True)
class _Draft:
    """A roster while the changes are applied."""

    group: Group
    seats: list[Seat]
    topics: MutableMapping[str, Topic]
    leavers: list[Member] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)
    new_topics: set[str] = field(default_factory=set)  # and those that have grown
    said_topics: tuple[str, ...] | None = None  # by a change for the whole group
    said_pattern: Pattern | None = None  # likewise


def next_roster(snapshot: ClusterSnapshot, group: Group, changes: Sequence[Change]) -> Roster:
    """The group after the changes.

    Args:
        snapshot: has the topics that exist.
        group: with its members.
        changes: in the order in which they happen.
    Raises:
        RefusedError: the group is in no state that shows what its members subscribe to.
        NotFoundError: a change names a member, host or topic that is not there.
        UsageError: a change that cannot be made, such as fewer partitions.
    """
    found: dict[Pattern, tuple[str, ...]] = {}
    seats = [_seat(group, member) for member in _members(group)]
    draft = _Draft(
        group,
        [replace(s, read_before=_resolved(s, snapshot.topics, found).topics) for s in seats],
        # Not a copy: a fleet's groups are many, and so are its topics.
        ChainMap({}, cast(MutableMapping[str, Topic], snapshot.topics)),
    )
    for change in changes:
        _apply(draft, change)
    _say_what_is_not_known(draft, changes)
    # Patterns last: they see topics that the changes add. Members mostly share one.
    found.clear()
    draft.seats = [_resolved(seat, draft.topics, found) for seat in draft.seats]
    read = {topic for seat in draft.seats for topic in seat.topics}
    return Roster(
        group,
        tuple(draft.seats),
        tuple(draft.leavers),
        draft.topics,
        tuple(draft.notes),
        tuple(draft.guesses),
        not read.isdisjoint(draft.new_topics),
    )


def _members(group: Group) -> tuple[Member, ...]:
    if group.type not in ("classic", "consumer"):
        raise RefusedError(
            f"`{group.group}` is a {group.type} group; a dry run knows consumer groups only",
            code="UNSUPPORTED_GROUP_TYPE",
        )
    if group.protocol_type not in (None, "", "consumer"):
        raise RefusedError(
            f"`{group.group}` is a group of `{group.protocol_type}`, which assigns no partitions",
            code="UNSUPPORTED_GROUP_TYPE",
        )
    if group.members is None:
        raise UsageError(
            f"the members of `{group.group}` are not known", hint="take the snapshot with members"
        )
    return group.members


def _seat(group: Group, member: Member) -> Seat:
    topics = member.subscription
    if topics is None and member.subscription_regex is None:
        raise RefusedError(
            f"`{group.group}` is {group.state or 'in an unknown state'}: what its members"
            " subscribe to is shown only while it is Stable",
            hint="try again when the group is Stable",
            code="REBALANCE_IN_PROGRESS",
        )
    pattern = member.subscription_regex
    return Seat(member, topics or (), pattern=Pattern(pattern, "re2") if pattern else None)


def _resolved(
    seat: Seat, topics: Mapping[str, Topic], found: dict[Pattern, tuple[str, ...]]
) -> Seat:
    """The seat with the topics that its pattern stands for now; `found` remembers patterns."""
    pattern = seat.pattern
    if pattern is None:
        return seat
    if pattern not in found:
        found[pattern] = matching_topics(topics, pattern.pattern, pattern.dialect)
    return replace(seat, topics=tuple(java_sorted({*seat.topics, *found[pattern]})))


def _say_what_is_not_known(draft: _Draft, changes: Sequence[Change]) -> None:
    """A guess where a topic is added and members may subscribe by a pattern that does not show."""
    added = [change.topic for change in changes if isinstance(change, AddTopic)]
    said = any(isinstance(change, Pattern | Subscribe) for change in changes)
    hidden = any(seat.pattern is None for seat in draft.seats)
    if added and hidden and not said:
        draft.guesses.append(
            "members show the names that a client's pattern stood for, not the pattern: if they"
            f" subscribe by one, say it with `--pattern`, or nobody reads {', '.join(added)}"
        )


def _apply(draft: _Draft, change: Change) -> None:
    match change:
        case AddMembers():
            _add_members(draft, change)
        case RemoveMember(member=name):
            _leave(draft, {_one_member(draft, name)})
        case RemoveMembers(count=count):
            _remove_last(draft, count)
        case DropHost(host=host):
            _drop_host(draft, host)
        case SetPartitions(topic=topic, partitions=count):
            _set_partitions(draft, topic, count)
        case AddTopic(topic=topic, partitions=count):
            _add_topic(draft, topic, count)
        case Subscribe():
            _subscribe(draft, change)
        case Pattern():
            _subscribe_by_pattern(draft, change)


def _add_members(draft: _Draft, change: AddMembers) -> None:
    if change.count > 1 and (change.instance_id is not None or change.member_id is not None):
        raise UsageError("only one member can join with an instance id or member id")
    if change.instance_id is not None:
        taken = next((s for s in draft.seats if s.member.instance_id == change.instance_id), None)
        if taken is not None:
            raise UsageError(
                f"the instance id `{change.instance_id}` is taken by `{taken.member.member_id}`",
                hint="remove that member first",
            )
    client_id = change.client_id
    if client_id is None:
        client_id = _most_common(seat.member.client_id for seat in draft.seats) or "consumer"
    protocol = _joiner_protocol(draft)
    pattern = None
    if change.topics is None and draft.said_topics is None:
        pattern = draft.said_pattern or _most_common(seat.pattern for seat in draft.seats)
    if change.topics is not None or draft.said_topics is not None:
        topics = change.topics or draft.said_topics or ()
    else:
        topics = () if draft.said_pattern else _usual_topics(draft, client_id)
    prefix = change.instance_id or client_id
    for _ in range(change.count):
        name = f"{prefix}-new-{len([seat for seat in draft.seats if seat.joins]) + 1}"
        facts = Member(
            member_id=change.member_id or name,
            client_id=client_id,
            host=UNKNOWN_HOST,
            instance_id=change.instance_id,
            member_protocol=protocol,
            subscription=topics,
            assignment={},
            rack=change.rack,
        )
        id_prefix = prefix if protocol == "classic" else None
        known = change.member_id is not None
        draft.seats.append(Seat(facts, topics, True, id_prefix, known, pattern))


def _joiner_protocol(draft: _Draft) -> MemberProtocol:
    common = _most_common(seat.member.member_protocol for seat in draft.seats)
    if common is None:
        common = "consumer" if draft.group.type == "consumer" else "classic"
    return "consumer" if common == "consumer" else "classic"


def _usual_topics(draft: _Draft, client_id: str) -> tuple[str, ...]:
    alike = [seat for seat in draft.seats if seat.member.client_id == client_id] or draft.seats
    topics = _most_common(seat.topics for seat in alike)
    if topics is None:
        raise UsageError(
            f"`{draft.group.group}` has no members, so what a new one subscribes to is not known",
            hint="say it with `--subscribe TOPIC[,TOPIC...]` before `--add-members`",
        )
    if len({tuple(sorted(set(seat.topics))) for seat in alike}) > 1:
        draft.guesses.append(
            f"members of `{client_id}` subscribe to different topics; new ones are taken to"
            f" subscribe to {', '.join(topics) or 'nothing'}, as most do"
        )
    return topics


def _one_member(draft: _Draft, name: str) -> str:
    """Member id of the one member that goes by this name."""
    ids = [seat.member.member_id for seat in draft.seats]
    if name in ids:
        return name
    found = [
        seat.member.member_id
        for seat in draft.seats
        if name in (seat.member.instance_id, seat.member.client_id)
    ]
    if len(found) > 1:
        raise UsageError(
            f"`{name}` is the client id of {len(found)} members of `{draft.group.group}`",
            hint="name one by its member id: " + ", ".join(found[:3]),
        )
    if not found:
        raise NotFoundError(
            f"`{draft.group.group}` has no member `{name}`",
            hint="`kgroups describe GROUP --members` lists them",
            code="UNKNOWN_MEMBER_ID",
        )
    return found[0]


def _remove_last(draft: _Draft, count: int) -> None:
    ids = java_sorted(seat.member.member_id for seat in draft.seats)
    if count > len(ids):
        raise UsageError(
            f"{count} members cannot leave: `{draft.group.group}` has {len(ids)}",
        )
    gone = ids[-count:]
    if count < len(ids):
        draft.guesses.append(
            f"which {count} of {len(ids)} members leave was not said; taken are the last by member"
            " id"
        )
    _leave(draft, set(gone))


def _drop_host(draft: _Draft, host: str) -> None:
    wanted = host.removeprefix("/")
    gone = {s.member.member_id for s in draft.seats if s.member.host.removeprefix("/") == wanted}
    if not gone:
        hosts = sorted({seat.member.host for seat in draft.seats})
        raise NotFoundError(
            f"no member of `{draft.group.group}` is on host `{host}`",
            hint="hosts: " + ", ".join(hosts[:5]) if hosts else None,
            code="UNKNOWN_HOST",
        )
    _leave(draft, gone)


def _leave(draft: _Draft, gone: set[str]) -> None:
    for seat in draft.seats:
        if seat.member.member_id in gone and not seat.joins:
            draft.leavers.append(seat.member)
    draft.seats = [seat for seat in draft.seats if seat.member.member_id not in gone]


def _set_partitions(draft: _Draft, name: str, count: int) -> None:
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
            f"`{name}` has {present} partitions, and Kafka never takes partitions away",
            hint=f"a number of at least {present}",
        )
    added = {number: PartitionLog(0, 0) for number in range(present, count)}
    draft.topics[name] = replace(topic, partitions={**topic.partitions, **added})
    if added:
        draft.new_topics.add(name)


def _add_topic(draft: _Draft, name: str, count: int) -> None:
    if name in draft.topics:
        raise UsageError(
            f"there is a topic `{name}` already", hint=f"`--set-partitions {name}={count}`"
        )
    draft.topics[name] = Topic(name, {number: PartitionLog(0, 0) for number in range(count)})
    draft.new_topics.add(name)


def _subscribe(draft: _Draft, change: Subscribe) -> None:
    for topic in change.topics:
        if topic not in draft.topics:
            draft.notes.append(f"there is no topic `{topic}`; nothing of it can be assigned")
    if change.member is None and not change.added:
        draft.said_topics = tuple(java_sorted(set(change.topics)))
    elif change.member is not None and not any(_goes_by(s, change.member) for s in draft.seats):
        raise NotFoundError(
            f"`{draft.group.group}` has no member `{change.member}`", code="UNKNOWN_MEMBER_ID"
        )
    draft.seats = [
        _with_topics(seat, change) if _goes_by(seat, change.member) else seat
        for seat in draft.seats
    ]


def _with_topics(seat: Seat, change: Subscribe) -> Seat:
    pattern = seat.pattern if change.added else None
    topics = _subscribed(seat, change)
    changed = seat.changed or set(topics) != set(seat.topics) or pattern != seat.pattern
    return replace(seat, topics=topics, pattern=pattern, changed=changed and not seat.joins)


def _subscribe_by_pattern(draft: _Draft, change: Pattern) -> None:
    topic_matcher(change.pattern, change.dialect)  # a broken one is the user's, whoever it is for
    if change.member is None:
        draft.said_pattern = change
    elif not any(_goes_by(seat, change.member) for seat in draft.seats):
        raise NotFoundError(
            f"`{draft.group.group}` has no member `{change.member}`", code="UNKNOWN_MEMBER_ID"
        )
    draft.seats = [
        replace(seat, topics=(), pattern=change, changed=_is_new(seat, change))
        if _goes_by(seat, change.member)
        else seat
        for seat in draft.seats
    ]


def _is_new(seat: Seat, change: Pattern) -> bool:
    """Whether a pattern is another one than the member shows; classic members show none."""
    shows = seat.member.member_protocol == "consumer"
    return not seat.joins and (seat.changed or (shows and seat.pattern != change))


def _subscribed(seat: Seat, change: Subscribe) -> tuple[str, ...]:
    topics = (*seat.topics, *change.topics) if change.added else change.topics
    # Clients send their topics sorted, each once.
    return tuple(java_sorted(set(topics)))


def _goes_by(seat: Seat, name: str | None) -> bool:
    facts = seat.member
    return name is None or name in (facts.member_id, facts.instance_id, facts.client_id)


def _most_common(values: Iterable[_T]) -> _T | None:
    """The commonest value, the first of equally common ones; None for none."""
    common = Counter(values).most_common(1)
    return common[0][0] if common else None
