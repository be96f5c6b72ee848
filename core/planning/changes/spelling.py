"""The texts that spell what-if changes, on the command line and in scenario files.

Each `parse_` function raises UsageError for a text of another form.
"""

import re
import sys
from typing import Final, NoReturn, get_args

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    DIALECTS,
    MAX_MEMBERS,
    MAX_PARTITIONS,
    AddMembers,
    AddTopic,
    Change,
    Dialect,
    MoveToProtocol,
    Pattern,
    RemoveMember,
    RemoveMembers,
    RollingRestart,
    SetPartitions,
    Subscribe,
    SwitchClient,
)
from kgroups.core.planning.leaders.libraries import LIBRARIES
from kgroups.core.snapshot import MemberProtocol

_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


def parse_remove_member(text: str) -> Change:
    """The change that `--remove-member ID|N` spells; a number is an id if a member has it.

    Raises:
        UsageError: empty, or a number below 1.
    """
    if not text:
        refuse("--remove-member", text, "a member id, or how many members leave")
    if not text.isdecimal():
        return RemoveMember(text)
    # No bound: it may be the id of a member.
    return RemoveMembers(whole(text, text, "--remove-member", "ID or N", sys.maxsize), text)


def parse_set_partitions(text: str) -> SetPartitions:
    """The change that `--set-partitions TOPIC=N` spells."""
    return SetPartitions(*_topic_count(text, "--set-partitions"))


def parse_add_topic(text: str) -> AddTopic:
    """The change that `--add-topic TOPIC=N` spells."""
    return AddTopic(*_topic_count(text, "--add-topic"))


def parse_subscribe(text: str) -> Subscribe:
    """The change that `--subscribe [MEMBER=][+]TOPIC[,TOPIC...]` spells."""
    form = "[MEMBER=][+]TOPIC[,TOPIC...]"
    member, equals, rest = text.rpartition("=")
    if equals and not member:
        refuse("--subscribe", text, form)
    added = rest.startswith("+")
    names = topic_names(rest.removeprefix("+"), ",", "--subscribe", text, form)
    return Subscribe(names, added, member or None)


def parse_pattern(text: str, default: Dialect | None = None) -> Pattern:
    """The change that `--pattern [DIALECT:]REGEX` spells.

    Args:
        default: dialect where the text names none; None: that of the group's clients.
    Raises:
        UsageError: no pattern.
    """
    for dialect in DIALECTS:
        if text.startswith(f"{dialect}:"):
            text, default = text.removeprefix(f"{dialect}:"), dialect
            break
    if not text:
        refuse("--pattern", text, "[java:|librdkafka:|re2:]REGEX")
    return Pattern(text, default or "java", said=default is not None)


def _topic_count(text: str, option: str) -> tuple[str, int]:
    topic, equals, number = text.rpartition("=")
    if not equals or not _TOPIC_NAME.fullmatch(topic):
        refuse(option, text, "TOPIC=N")
    return topic, whole(number, text, option, "TOPIC=N", MAX_PARTITIONS)


def topic_names(joined: str, sign: str, option: str, text: str, form: str) -> tuple[str, ...]:
    """Names of topics with a sign between them.

    Raises:
        UsageError: one is no name of a topic.
    """
    names = tuple(name.strip() for name in joined.split(sign))
    for name in names:
        if not _TOPIC_NAME.fullmatch(name):
            refuse(option, text, form)
    return names


def whole(number: str, text: str, option: str, form: str, largest: int) -> int:
    """A number from 1 to the largest one.

    Raises:
        UsageError: it is another one, or none.
    """
    if not (number.isascii() and number.isdecimal()):
        refuse(option, text, form)
    count = int(number)
    if not 1 <= count <= largest:
        raise UsageError(
            f"`{option} {text}`: {count} is not between 1 and {largest}", hint=f"expected {form}"
        )
    return count


def refuse(option: str, text: str, form: str) -> NoReturn:
    """Say that a text is not of the form that its option has.

    Raises:
        UsageError: always.
    """
    raise UsageError(f"`{option} {text}` is not valid", hint=f"expected {form}")


def parse_rolling_restart(text: str) -> RollingRestart:
    """The deploy that `--rolling-restart all|CLIENT-ID` spells.

    Raises:
        UsageError: empty.
    """
    return RollingRestart(None if text == "all" else named(text, "--rolling-restart"))


def parse_switch_client(text: str) -> SwitchClient:
    """The deploy that `--switch-client LIBRARY` spells.

    Raises:
        UsageError: no such library.
    """
    return SwitchClient(client_library(text, "--switch-client", text))


def parse_to_protocol(text: str) -> MoveToProtocol:
    """The deploy that `--to-protocol classic|consumer` spells.

    Raises:
        UsageError: no such protocol.
    """
    for protocol in get_args(MemberProtocol):
        if text == protocol:
            return MoveToProtocol(protocol)
    refuse("--to-protocol", text, "consumer (KIP-848) or classic")


def client_library(name: str, option: str, text: str) -> str:
    """A client library by its name.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in LIBRARIES:
        raise UsageError(
            f"`{option} {text}`: unknown client library `{name}`",
            hint="known: " + ", ".join(LIBRARIES),
        )
    return name


def named(text: str, option: str) -> str:
    """A name that is not empty.

    Raises:
        UsageError: it is.
    """
    if not text:
        refuse(option, text, "a name")
    return text


_ADD: Final = "--add-members"
ADD_FORM: Final = "N[:CLIENT-ID[@RACK]][,KEY=VALUE]..."
ADD_KEYS: Final = ("client", "rack", "topics", "pattern", "static")

# How new members are spelled: `2:app@rack-a`, or `2:app,client=librdkafka,topics=orders+payments`.
# No character in it is one that a shell expands. What stands behind a comma and is no key belongs
# to the client id, which may hold any character.
_KEY: Final = re.compile(rf",(?=(?:{'|'.join(ADD_KEYS)})=)")
# A pattern may hold commas, so it is the last key.
_PATTERN: Final = ",pattern="


def parse_add_members(text: str) -> AddMembers:
    """The change that `--add-members N[:CLIENT-ID[@RACK]][,KEY=VALUE]...` spells."""
    start, marked, pattern = text.partition(_PATTERN)
    head, *pairs = _KEY.split(start)
    given: dict[str, str] = {"pattern": pattern} if marked else {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key in given:
            raise UsageError(
                f"`{_ADD} {text}`: `{key}` is given twice",
                hint=f"expected {ADD_FORM}",
            )
        given[key] = value
    for key, value in given.items():
        if not value:
            raise UsageError(f"`{_ADD} {text}`: `{key}` is empty", hint=f"expected {ADD_FORM}")
    count, client_id, rack = _head(head, text)
    if rack is not None and "rack" in given:
        raise UsageError(f"`{_ADD} {text}`: the rack is given twice", hint="`@RACK` or `rack=RACK`")
    library = client_library(given["client"], _ADD, text) if "client" in given else None
    topics = topic_names(given["topics"], "+", _ADD, text, ADD_FORM) if "topics" in given else None
    return AddMembers(
        count,
        client_id,
        rack or given.get("rack"),
        given.get("static"),
        topics,
        library=library,
        pattern=_pattern(given["pattern"], library) if marked else None,
    )


def _head(head: str, text: str) -> tuple[int, str | None, str | None]:
    """Count, client id and rack before the first key."""
    number, colon, rest = head.partition(":")
    unnumbered = next((key for key in ADD_KEYS if number.startswith(f"{key}=")), None)
    if unnumbered is not None:
        raise UsageError(
            f"`{_ADD} {text}`: the number of members is missing",
            hint=f"expected {ADD_FORM}",
        )
    wrong = re.search(r",(\w+)=", number)
    if wrong is not None:
        raise UsageError(
            f"`{_ADD} {text}`: unknown key `{wrong[1]}`",
            hint=f"keys: {', '.join(ADD_KEYS)}",
        )
    count = whole(number, text, _ADD, ADD_FORM, MAX_MEMBERS)
    # A client id may hold any character; a rack cannot hold `@`, so the last one divides.
    client_id, at, rack = rest.rpartition("@") if "@" in rest else (rest, "", "")
    if (colon and not client_id and not rack) or (at and not rack):
        refuse(_ADD, text, ADD_FORM)
    return count, client_id or None, rack or None


def _pattern(text: str, library: str | None) -> Pattern:
    if library is None:
        return parse_pattern(text)
    return parse_pattern(text, "librdkafka" if library == "librdkafka" else "java")
