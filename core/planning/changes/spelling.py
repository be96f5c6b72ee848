"""The texts that spell what-if changes, on the command line and in scenario files."""

import re
from typing import NoReturn

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    DIALECTS,
    MAX_MEMBERS,
    MAX_PARTITIONS,
    AddMembers,
    AddTopic,
    Change,
    Dialect,
    Pattern,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)

_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


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
