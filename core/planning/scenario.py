"""A scenario: topics, groups and changes on paper, in one YAML (or JSON) file.

What a snapshot has from a cluster, a scenario has from its author, so only what planning needs is
asked for; everything that is written is checked, and a complaint names file, line and what is
accepted. The format is described in `cli/schemas/scenario.json`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from kgroups.assignors.registry import CLASSES
from kgroups.core.errors import UsageError, shorten
from kgroups.core.input_files.document import Cursor, Document, choice_of
from kgroups.core.input_files.scenario_kinds import check_command
from kgroups.core.planning.changes.change_table import BY_KEY
from kgroups.core.planning.changes.kinds import (
    MAX_MEMBERS,
    MAX_PARTITIONS,
    Change,
    Deploy,
    Dialect,
    Pattern,
)
from kgroups.core.planning.changes.spelling import parse_pattern
from kgroups.core.planning.leaders.libraries import LIBRARIES
from kgroups.core.planning.leaders.strategies import COOPERATIVE
from kgroups.core.planning.topic_patterns import matching_topics
from kgroups.core.snapshot import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    MemberProtocol,
    PartitionLog,
    Topic,
    TopicPartition,
)
from kgroups.core.uuids import parse_uuid

_T = TypeVar("_T")

SCHEMA: Final = "kgroups.scenario/1"

TOPIC_KEYS: Final = ("partitions", "racks", "lag", "topic_id")
GROUP_KEYS: Final = ("assignor", "protocol", "client", "members", "changes")
MEMBER_KEYS: Final = (
    "count",
    "client_id",
    "instance_id",
    "host",
    "rack",
    "topics",
    "pattern",
    "owned",
)
CHANGE_KEYS: Final = tuple(BY_KEY)
# Protocol as `simulate` names it, too -> the type of the group, its assignor.
PROTOCOLS: Final[Mapping[str, tuple[MemberProtocol, str]]] = {
    "classic": ("classic", "range"),
    "eager": ("classic", "range"),
    "cooperative": ("classic", "cooperative-sticky"),
    "consumer": ("consumer", "uniform"),
}


@dataclass(frozen=True, slots=True)
class Scenario:
    """The content of a scenario file.

    Args:
        changes: group to what happens to it, in order; `meant_in` says what that means in it.
        leaders: group to the client library of its leader.
    """

    snapshot: ClusterSnapshot
    changes: Mapping[str, tuple[Change | Deploy, ...]] = field(default_factory=dict)
    leaders: Mapping[str, str] = field(default_factory=dict)


def is_scenario(document: Document) -> bool:
    """Whether a file means to be a scenario: it says so, or is not a document with items."""
    value = document.value
    if not isinstance(value, dict):
        return False
    schema = value.get("schema")
    if isinstance(schema, str):
        return schema.startswith(("kgroups.scenario", "kgroups.simulation"))
    return "items" not in value and ("topics" in value or "groups" in value)


def parse_scenario(document: Document) -> Scenario:
    """The scenario in a parsed file.

    Raises:
        UsageError: something in it is wrong; names file, line and what is accepted.
    """
    check_command(document, "plan")
    root = document.root.fields(("topics", "groups"), ("schema",))
    root.optional("schema", lambda cursor: cursor.text((SCHEMA,)))
    topics: dict[str, Topic] = {}
    partitions = 0
    for name, cursor in root["topics"].entries():
        topics[name] = _topic(name, cursor)
        partitions += len(topics[name].partitions)
        if partitions > MAX_PARTITIONS:
            cursor.fail(f"more than {MAX_PARTITIONS} partitions in all")
    groups: list[Group] = []
    changes: dict[str, tuple[Change | Deploy, ...]] = {}
    leaders: dict[str, str] = {}
    for name, cursor in root["groups"].entries():
        fields = cursor.fields(("members",), GROUP_KEYS)
        group = _group(name, cursor, topics)
        groups.append(group)
        changes[name] = fields.optional("changes", _changes) or ()
        client = fields.optional("client", lambda c: c.text(LIBRARIES))
        if group.type == "classic":
            leaders[name] = client or LIBRARIES[0]
    ordered = tuple(sorted(groups, key=lambda group: group.group))
    return Scenario(ClusterSnapshot(0, ordered, topics), changes, leaders)


def _topic(name: str, cursor: Cursor) -> Topic:
    """A topic: its number of partitions, or a mapping that has more."""
    if not isinstance(cursor.value, dict):
        count = cursor.integer(0, MAX_PARTITIONS)
        return Topic(name, {number: PartitionLog() for number in range(count)})
    fields = cursor.fields(("partitions",), TOPIC_KEYS)
    count = fields["partitions"].integer(0, MAX_PARTITIONS)
    racks = fields.optional("racks", lambda c: [_racks(rack) for rack in c.items()]) or []
    lags = fields.optional("lag", lambda c: _lags(c, count)) or [None] * count
    if racks and len(racks) != count:
        fields["racks"].fail(f"{len(racks)} entries for {count} partitions")
    return Topic(
        name,
        {
            number: PartitionLog(
                log_start_offset=None if lags[number] is None else 0,
                log_end_offset=lags[number],
                racks=racks[number] if racks else (),
            )
            for number in range(count)
        },
        topic_id=fields.optional("topic_id", _topic_id),
    )


def _topic_id(cursor: Cursor) -> str:
    text = cursor.text()
    try:
        return parse_uuid(text)
    except ValueError:
        cursor.fail(
            f"expected a topic id, found `{shorten(text, 40)}`",
            hint="22 characters of base64, as `kafka-topics.sh --describe` shows them",
        )


def _racks(cursor: Cursor) -> tuple[str | None, ...]:
    return tuple(None if rack.value is None else rack.text() for rack in cursor.items())


def _lags(cursor: Cursor, count: int) -> list[int | None]:
    """Records to be read in each partition: one number for all, or a list."""
    if not isinstance(cursor.value, list):
        return [cursor.integer(0)] * count
    lags = [None if lag.value is None else lag.integer(0) for lag in cursor.items()]
    if len(lags) != count:
        cursor.fail(f"{len(lags)} numbers for {count} partitions")
    return lags


def _group(name: str, cursor: Cursor, topics: Mapping[str, Topic]) -> Group:
    fields = cursor.fields(("members",), GROUP_KEYS)

    word = fields.optional("protocol", choice_of(PROTOCOLS)) or "classic"
    protocol, usual = PROTOCOLS[word]
    assignor = fields.optional("assignor", _assignor) or usual
    if word in ("eager", "cooperative") and (assignor in COOPERATIVE) != (word == "cooperative"):
        fields["assignor"].fail(f"`{assignor}` is not {word}")
    members: list[Member] = []
    owners: dict[TopicPartition, str] = {}
    instances: dict[str, str] = {}
    for member, entry in _members(fields["members"], topics, protocol):
        _claim(member, entry, owners)
        if member.instance_id is not None:
            taken = instances.setdefault(member.instance_id, member.member_id)
            if taken != member.member_id:
                entry.fail(f"the instance id `{member.instance_id}` is also that of `{taken}`")
        members.append(member)
    read = {topic for member in members for topic in member.subscription or ()}
    offsets = {
        topic: {
            number: CommittedOffset(0)
            for number, log in topics[topic].partitions.items()
            if log.log_end_offset is not None
        }
        for topic in read
    }
    return Group(
        group=name,
        type=protocol,
        state="Stable" if members else "Empty",
        protocol_type="consumer",
        assignor=assignor,
        group_epoch=1 if protocol == "consumer" else None,
        target_epoch=1 if protocol == "consumer" else None,
        members=tuple(members),
        offsets={topic: commits for topic, commits in offsets.items() if commits},
    )


def _assignor(cursor: Cursor) -> str:
    """Its name; Kafka's classes may be named, too."""
    name = cursor.text()
    return CLASSES.get(name, name)


def _members(
    cursor: Cursor, topics: Mapping[str, Topic], protocol: MemberProtocol
) -> Iterator[tuple[Member, Cursor]]:
    """Each member with its entry, which may stand for several: `app-1`, `app-2`, ..."""
    ids: set[str] = set()
    for label, entry in cursor.entries():
        member = _member(label, entry, topics, protocol)
        count = entry.fields((), MEMBER_KEYS).optional("count", lambda c: c.integer(0, MAX_MEMBERS))
        if member.instance_id is not None and count is not None and count > 1:
            entry.fail("several members cannot share one `instance_id`")
        names = [label] if count is None else [f"{label}-{n}" for n in range(1, count + 1)]
        for name in names:
            if name in ids:
                entry.fail(f"two members are called `{name}`")
            ids.add(name)
            yield replace(member, member_id=name), entry


def _member(
    member_id: str, cursor: Cursor, topics: Mapping[str, Topic], protocol: MemberProtocol
) -> Member:
    fields = cursor.fields((), MEMBER_KEYS)
    if "topics" not in fields.values and "pattern" not in fields.values:
        cursor.fail("no subscription: `topics` or `pattern` is missing", hint=_one_of(MEMBER_KEYS))
    named = fields.optional("topics", lambda c: _subscription(c, topics)) or ()
    pattern = fields.optional("pattern", lambda c: _pattern(c, protocol, topics))
    matched = matching_topics(topics, pattern.pattern, pattern.dialect) if pattern else ()
    owned = fields.optional("owned", lambda c: _owned(c, topics)) or {}
    return Member(
        member_id=member_id,
        client_id=fields.optional("client_id", Cursor.text) or member_id,
        host=fields.optional("host", Cursor.text) or "",
        instance_id=fields.optional("instance_id", Cursor.text),
        member_protocol=protocol,
        subscription=tuple(dict.fromkeys((*named, *matched))),
        subscription_regex=pattern.pattern if pattern and pattern.dialect == "re2" else None,
        assignment=owned,
        target_assignment=owned if protocol == "consumer" else None,
        rack=fields.optional("rack", Cursor.text),
    )


def _subscription(cursor: Cursor, topics: Mapping[str, Topic]) -> tuple[str, ...]:
    return tuple(_known_topic(item, item.text(), topics) for item in cursor.items())


def _known_topic(cursor: Cursor, name: str, topics: Mapping[str, Topic]) -> str:
    if name not in topics:
        cursor.fail(f"there is no topic `{name}`", hint=_one_of(topics, "topics"))
    return name


def _pattern(cursor: Cursor, protocol: MemberProtocol, topics: Mapping[str, Topic]) -> Pattern:
    default: Dialect = "re2" if protocol == "consumer" else "java"
    pattern = _spelled(cursor, lambda text: parse_pattern(text, default))
    _spelled(cursor, lambda _: matching_topics(topics, pattern.pattern, pattern.dialect))
    return pattern


def _owned(cursor: Cursor, topics: Mapping[str, Topic]) -> dict[str, tuple[int, ...]]:
    owned: dict[str, tuple[int, ...]] = {}
    for topic, numbers in cursor.entries():
        count = len(topics[_known_topic(numbers, topic, topics)].partitions)
        held: list[int] = []
        for entry in numbers.items():
            number = entry.integer(0)
            if number >= count:
                entry.fail(
                    f"there is no partition {topic}-{number}",
                    hint=f"`{topic}` has {count} partitions, numbered from 0",
                )
            held.append(number)
        owned[topic] = tuple(held)
    return owned


def _claim(member: Member, cursor: Cursor, owners: dict[TopicPartition, str]) -> None:
    for topic, numbers in (member.assignment or {}).items():
        for number in numbers:
            if (topic, number) in owners:
                cursor.fail(f"{topic}-{number} is already owned by `{owners[topic, number]}`")
            owners[topic, number] = member.member_id


def _changes(cursor: Cursor) -> tuple[Change | Deploy, ...]:
    changes: list[Change | Deploy] = []
    for entry in cursor.items():
        fields = entry.fields((), CHANGE_KEYS)
        if len(fields.values) != 1:
            entry.fail(
                f"expected one change, found {len(fields.values)}", hint=_one_of(CHANGE_KEYS)
            )
        changes += [_spelled(fields[key], BY_KEY[key].parse) for key in fields.values]
    return tuple(changes)


def _spelled(cursor: Cursor, parse: Callable[[str], _T]) -> _T:
    """A text of the command line's own spelling, its complaint placed in the file."""
    text = str(cursor.value) if isinstance(cursor.value, int) else cursor.text()
    try:
        return parse(text)
    except UsageError as error:
        cursor.fail(error.message, hint=error.hint)


def _one_of(names: Iterable[str], what: str = "accepted keys") -> str:
    return f"{what}: " + ", ".join(f"`{name}`" for name in names)
