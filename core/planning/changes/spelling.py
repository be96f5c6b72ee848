"""The texts that spell what-if changes, on the command line and in scenario files."""

import re
from typing import NoReturn, get_args

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.kinds import (
    DIALECTS,
    MAX_MEMBERS,
    MAX_PARTITIONS,
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


def parse_remove_member(text: str, present: frozenset[str] = frozenset()) -> Change:
    """The change that `--remove-member ID|N` spells; a number is an id if a member has it.

    Raises:
        UsageError: empty, or a number below 1.
    """
    if text in present or not text.isdecimal():
        if not text:
            refuse("--remove-member", text, "a member id, or how many members leave")
        return RemoveMember(text)
    return RemoveMembers(whole(text, text, "--remove-member", "ID or N", MAX_MEMBERS))


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
        refuse("--subscribe", text, form)
    added = rest.startswith("+")
    names = topic_names(rest.removeprefix("+"), ",", "--subscribe", text, form)
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
        refuse("--pattern", text, "[java:|librdkafka:|re2:]REGEX")
    return Pattern(text, default)


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
