"""The what-if changes of `kgroups plan`: flag, parser, key in scenario files, help text.

The options of the command, the keys of scenario files and their schema follow from this table. On
the command line changes happen in its order, in a scenario file in the order of the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from kgroups.core.planning.changes import spelling
from kgroups.core.planning.changes.kinds import (
    Change,
    Deploy,
    Dialect,
    DropHost,
    Expire,
    Restart,
)


@dataclass(frozen=True, slots=True)
class Context:
    """What the meaning of a text may depend on.

    Args:
        present: ids and instance ids of the group's members.
        dialect: whose patterns its members use.
    """

    present: frozenset[str] = frozenset()
    dialect: Dialect = "java"


@dataclass(frozen=True, slots=True)
class ChangeOption:
    """One kind of change.

    Args:
        flag: its option.
        form: what the option takes, in one word or two.
        usage: what it takes in full.
        help: for the list of options.
        about: for the section on changes; a few lines.
        parse: from its text to the change; raises UsageError.
        deploys: whether it is a sequence of rebalances.
    """

    flag: str
    form: str
    usage: str
    help: str
    about: str
    parse: Callable[[str, Context], Change | Deploy]
    deploys: bool = False

    @property
    def key(self) -> str:
        """Its key in a scenario file."""
        return self.flag.removeprefix("--").replace("-", "_")


CHANGES: Final[tuple[ChangeOption, ...]] = (
    ChangeOption(
        "--remove-member",
        "ID|N",
        "ID|N",
        "Remove members.",
        "a member leaves (member id, instance id or client id), or N members do",
        lambda text, context: spelling.parse_remove_member(text, context.present),
    ),
    ChangeOption(
        "--drop-host",
        "HOST",
        "HOST",
        "Remove all members on hosts.",
        "every member on a host leaves",
        lambda text, _: DropHost(text),
    ),
    ChangeOption(
        "--set-partitions",
        "TOPIC=N",
        "TOPIC=N",
        "Add partitions to topics.",
        "a topic grows to N partitions",
        lambda text, _: spelling.parse_set_partitions(text),
    ),
    ChangeOption(
        "--add-topic",
        "TOPIC=N",
        "TOPIC=N",
        "Create topics.",
        "a topic is created",
        lambda text, _: spelling.parse_add_topic(text),
    ),
    ChangeOption(
        "--add-members",
        "N",
        spelling.ADD_FORM,
        "Add members.",
        (
            "N members join; they are like the others, except for client=LIBRARY, rack=RACK, "
            "topics=T1+T2, pattern=[DIALECT:]REGEX, static=INSTANCE-ID"
        ),
        lambda text, context: spelling.parse_add_members(text, context.dialect),
    ),
    ChangeOption(
        "--subscribe",
        "TOPICS",
        "[MEMBER=][+]TOPIC[,TOPIC]...",
        "Change the subscribed topics.",
        "members, including new ones, subscribe to other topics, or (+) to more",
        lambda text, _: spelling.parse_subscribe(text),
    ),
    ChangeOption(
        "--pattern",
        "REGEX",
        "[DIALECT:]REGEX",
        "Subscribe by a pattern.",
        (
            "members subscribe by a pattern: java, librdkafka or re2. Needed for classic groups, "
            "which do not report their patterns"
        ),
        lambda text, context: spelling.parse_pattern(text, context.dialect),
    ),
    ChangeOption(
        "--restart",
        "MEMBER",
        "MEMBER",
        "Restart members.",
        "a member leaves and rejoins; a static one within its session timeout",
        lambda text, _: Restart(spelling.named(text, "--restart")),
        deploys=True,
    ),
    ChangeOption(
        "--expire",
        "MEMBER",
        "MEMBER",
        "Let the sessions of members expire.",
        "a member is gone for longer than its session timeout, then rejoins",
        lambda text, _: Expire(spelling.named(text, "--expire")),
        deploys=True,
    ),
    ChangeOption(
        "--rolling-restart",
        "WHO",
        "all|CLIENT-ID",
        "Restart members one by one.",
        "members restart one after another",
        lambda text, _: spelling.parse_rolling_restart(text),
        deploys=True,
    ),
    ChangeOption(
        "--switch-client",
        "LIBRARY",
        "LIBRARY",
        "Move to another client library.",
        "members move to another client library, one by one",
        lambda text, _: spelling.parse_switch_client(text),
        deploys=True,
    ),
    ChangeOption(
        "--to-protocol",
        "PROTOCOL",
        "consumer|classic",
        "Move to another protocol.",
        (
            "members move to KIP-848 (consumer) or back (classic), one by one; shows what blocks "
            "each member. --assignor is their group.remote.assignor or, back, their "
            "partition.assignment.strategy"
        ),
        lambda text, _: spelling.parse_to_protocol(text),
        deploys=True,
    ),
)
BY_KEY: Final = {option.key: option for option in CHANGES}
