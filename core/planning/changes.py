"""What-if changes to a group, as data, and the texts of the command line that spell them."""

import re
from dataclasses import dataclass
from typing import Final, Literal, NoReturn

from kgroups.core.errors import UsageError

Dialect = Literal["java", "librdkafka", "re2"]
DIALECTS: Final[tuple[Dialect, ...]] = ("java", "librdkafka", "re2")

# More members or partitions than any cluster has would only fill the memory.
MAX_MEMBERS: Final = 100_000
MAX_PARTITIONS: Final = 10_000_000

_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


@dataclass(frozen=True, slots=True)
class AddMembers:
    """Members that join.

    Args:
        count: how many.
        client_id: their `client.id`; None: that of most present members.
        rack: their `client.rack`; None: none.
        instance_id: `group.instance.id` of the one member that joins; None for dynamic members.
        topics: what they subscribe to; None: what most present members of the same client id,
            or else of the group, subscribe to.
        member_id: their exact id, where it is known before they join; None otherwise.
    """

    count: int = 1
    client_id: str | None = None
    rack: str | None = None
    instance_id: str | None = None
    topics: tuple[str, ...] | None = None
    member_id: str | None = None


@dataclass(frozen=True, slots=True)
class RemoveMember:
    """One member leaves; named by member id, instance id, or a client id that only it has."""

    member: str


@dataclass(frozen=True, slots=True)
class RemoveMembers:
    """So many members leave: the last ones in the order of their ids."""

    count: int


@dataclass(frozen=True, slots=True)
class DropHost:
    """Every member on this host leaves; with or without the leading slash of the broker."""

    host: str


@dataclass(frozen=True, slots=True)
class SetPartitions:
    """A topic of the cluster gets this number of partitions."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class AddTopic:
    """A topic is created."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Members subscribe to other topics.

    Args:
        topics: the whole new subscription, or what is added to the present one.
        added: whether `topics` is added.
        member: member id, instance id or client id of those that change; None: all.
    """

    topics: tuple[str, ...]
    added: bool = False
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """Members subscribe by a pattern over topic names.

    Args:
        pattern: the regular expression, without the `^` that librdkafka asks for.
        dialect: whose rules it is read by.
        member: member id, instance id or client id of those that change; None: all.
    """

    pattern: str
    dialect: Dialect
    member: str | None = None


Change = (
    AddMembers
    | RemoveMember
    | RemoveMembers
    | DropHost
    | SetPartitions
    | AddTopic
    | Subscribe
    | Pattern
)


def parse_add_members(text: str) -> AddMembers:
    """The change that `--add-members N[:client-id[@rack]]` spells.

    Raises:
        UsageError: not of that form.
    """
    number, colon, rest = text.partition(":")
    count = _whole(number, text, "--add-members", "N[:client-id[@rack]]", MAX_MEMBERS)
    # A client id may hold any character; a rack cannot hold `@`, so the last one divides.
    client_id, at, rack = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if (colon and not client_id and not rack) or (at and not rack):
        _refuse("--add-members", text, "N[:client-id[@rack]]")
    return AddMembers(count, client_id or None, rack or None)


def parse_remove_member(text: str, present: frozenset[str] = frozenset()) -> Change:
    """The change that `--remove-member ID|N` spells; a number is an id if a member has it.

    Raises:
        UsageError: empty, or a number below 1.
    """
    if text in present or not text.isdecimal():
        if not text:
            _refuse("--remove-member", text, "a member id, or how many members leave")
        return RemoveMember(text)
    return RemoveMembers(_whole(text, text, "--remove-member", "ID or N", MAX_MEMBERS))


def parse_set_partitions(text: str) -> SetPartitions:
    """The change that `--set-partitions TOPIC=N` spells.

    Raises:
        UsageError: not of that form.
    """
    return SetPartitions(*_topic_count(text, "--set-partitions"))


def parse_add_topic(text: str) -> AddTopic:
    """The change that `--add-topic TOPIC=N` spells.

    Raises:
        UsageError: not of that form.
    """
    return AddTopic(*_topic_count(text, "--add-topic"))


def parse_subscribe(text: str) -> Subscribe:
    """The change that `--subscribe [MEMBER=][+]TOPIC[,TOPIC...]` spells.

    Raises:
        UsageError: not of that form.
    """
    form = "[MEMBER=][+]TOPIC[,TOPIC...]"
    member, equals, rest = text.rpartition("=")
    if equals and not member:
        _refuse("--subscribe", text, form)
    added = rest.startswith("+")
    names = tuple(name.strip() for name in rest.removeprefix("+").split(","))
    for name in names:
        if not _TOPIC_NAME.fullmatch(name):
            _refuse("--subscribe", text, form)
    return Subscribe(names, added, member or None)


def parse_pattern(text: str, default: Dialect) -> Pattern:
    """The change that `--pattern [DIALECT:]REGEX` spells.

    Args:
        default: dialect where the text names none: that of the group's clients.
    Raises:
        UsageError: no pattern.
    """
    for dialect in DIALECTS:
        if text.startswith(f"{dialect}:"):
            text, default = text.removeprefix(f"{dialect}:"), dialect
            break
    if not text:
        _refuse("--pattern", text, "[java:|librdkafka:|re2:]REGEX")
    return Pattern(text, default)


def _topic_count(text: str, option: str) -> tuple[str, int]:
    topic, equals, number = text.rpartition("=")
    if not equals or not _TOPIC_NAME.fullmatch(topic):
        _refuse(option, text, "TOPIC=N")
    return topic, _whole(number, text, option, "TOPIC=N", MAX_PARTITIONS)


def _whole(number: str, text: str, option: str, form: str, largest: int) -> int:
    if not (number.isascii() and number.isdecimal()):
        _refuse(option, text, form)
    count = int(number)
    if not 1 <= count <= largest:
        raise UsageError(
            f"`{option} {text}`: {count} is not between 1 and {largest}", hint=f"expected {form}"
        )
    return count


def _refuse(option: str, text: str, form: str) -> NoReturn:
    raise UsageError(f"`{option} {text}` cannot be understood", hint=f"expected {form}")
