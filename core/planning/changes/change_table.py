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
    DropHost,
    Expire,
    Restart,
)


@dataclass(frozen=True, slots=True)
class ChangeOption:
    """One kind of change.

    Args:
        form: what the option takes, in one word or two.
        usage: what it takes in full.
        about: for the section on changes; a few lines.
        parse: from its text to the change; raises UsageError.
        deploys: whether it is a sequence of rebalances.
    """

    flag: str
    form: str
    usage: str
    help: str
    about: str
    parse: Callable[[str], Change | Deploy]
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
        spelling.parse_remove_member,
    ),
    ChangeOption(
        "--drop-host",
        "HOST",
        "HOST",
        "Remove all members on hosts.",
        "every member on a host leaves",
        DropHost,
    ),
    ChangeOption(
        "--set-partitions",
        "TOPIC=N",
        "TOPIC=N",
        "Add partitions to topics.",
        "a topic grows to N partitions",
        spelling.parse_set_partitions,
    ),
    ChangeOption(
        "--add-topic",
        "TOPIC=N",
        "TOPIC=N",
        "Create topics.",
        "a topic is created",
        spelling.parse_add_topic,
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
        spelling.parse_add_members,
    ),
    ChangeOption(
        "--subscribe",
        "TOPICS",
        "[MEMBER=][+]TOPIC[,TOPIC]...",
        "Change the subscribed topics.",
        "members, including new ones, subscribe to other topics, or (+) to more",
        spelling.parse_subscribe,
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
        spelling.parse_pattern,
    ),
    ChangeOption(
        "--restart",
        "MEMBER",
        "MEMBER",
        "Restart members.",
        "a member leaves and rejoins; a static one within its session timeout",
        lambda text: Restart(spelling.named(text, "--restart")),
        deploys=True,
    ),
    ChangeOption(
        "--expire",
        "MEMBER",
        "MEMBER",
        "Let the sessions of members expire.",
        "a member is gone for longer than its session timeout, then rejoins",
        lambda text: Expire(spelling.named(text, "--expire")),
        deploys=True,
    ),
    ChangeOption(
        "--rolling-restart",
        "WHO",
        "all|CLIENT-ID",
        "Restart members one by one.",
        "members restart one after another",
        spelling.parse_rolling_restart,
        deploys=True,
    ),
    ChangeOption(
        "--switch-client",
        "LIBRARY",
        "LIBRARY",
        "Move to another client library.",
        "members move to another client library, one by one",
        spelling.parse_switch_client,
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
        spelling.parse_to_protocol,
        deploys=True,
    ),
)
BY_KEY: Final = {option.key: option for option in CHANGES}
