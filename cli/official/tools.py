"""Kafka's tools: what each is called, takes and speaks of."""

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from kgroups.cli.official.options import (
    ALL_GROUPS_OPTIONS,
    GROUP_OPTIONS,
    RECORD_OPTIONS,
    SCENARIOS,
    SHARE_OPTIONS,
    STREAMS_OPTIONS,
    Option,
    page,
)
from kgroups.core.release import VERSION

if TYPE_CHECKING:
    from kgroups.core.snapshot import Group

VERSION_LINE: Final = f"kgroups {VERSION} (options of Kafka 4.4.0)\n"
"""Our version, and whose options these are."""
CONSUMER_STATES: Final = (
    "PreparingRebalance",
    "CompletingRebalance",
    "Stable",
    "Dead",
    "Empty",
    "Assigning",
    "Reconciling",
)


class Tool(NamedTuple):
    """A tool.

    Args:
        intro: of its help page.
        kind: of the groups that it is about.
        states: that a filter may name, in the order of Kafka's enum.
        scenarios: where it resets offsets to, in the order of checking.
        topic, all_topics: the options that say which topics are meant.
    """

    name: str
    options: tuple[Option, ...]
    intro: str
    kind: Literal["consumer", "share", "streams"] = "consumer"
    states: tuple[str, ...] = CONSUMER_STATES
    scenarios: tuple[str, ...] = SCENARIOS
    topic: str = "topic"
    all_topics: str = "all-topics"

    @property
    def failed(self) -> str:
        """How a sentence about a failure begins."""
        return f"Executing {self.kind} group command failed due to "

    @property
    def page(self) -> str:
        """The help page."""
        return page(self.intro, self.options)

    def call(self, verb: str) -> str:
        """Name in Java's client of a request about such groups: `describeShareGroups`."""
        return f"{verb}{self.kind.capitalize()}Groups"

    def counts(self, group: "Group") -> bool:
        """Whether the tool takes a group for one of its own; commits of nobody are consumers'."""
        if group.type == "classic":
            return self.kind == "consumer" and (group.protocol_type or "") in ("", "consumer")
        return group.type == self.kind


CONSUMER_TOOL: Final = Tool(
    "kafka-consumer-groups.sh",
    GROUP_OPTIONS,
    """Usage: kgroups official OPTIONS

The options and layouts of Kafka's own kafka-consumer-groups.sh: list,
describe, delete consumer groups, reset or delete their offsets. The word
`official` may be left out when one of --list, --describe, --delete,
--reset-offsets, --delete-offsets, --validate-regex is given.

A long option takes one dash or two; its value follows it or an `=`.
Exit code: 0 done, 1 anything else.
""",
)
SHARE_TOOL: Final = Tool(
    "kafka-share-groups.sh",
    SHARE_OPTIONS,
    """Usage: kgroups official kafka-share-groups.sh OPTIONS

The options and layouts of Kafka's own kafka-share-groups.sh: list, describe,
delete share groups, reset or delete their start offsets. A reset delivers
again what was acknowledged beyond the new start.
Exit code: 0 done, 1 anything else.
""",
    "share",
    ("Empty", "Stable", "Dead"),
    ("to-offset", "to-datetime", "to-earliest", "to-latest", "to-current", "from-file"),
)
STREAMS_TOOL: Final = Tool(
    "kafka-streams-groups.sh",
    STREAMS_OPTIONS,
    """Usage: kgroups official kafka-streams-groups.sh OPTIONS

The options and layouts of Kafka's own kafka-streams-groups.sh: list, describe,
delete streams groups, reset or delete their offsets. Internal topics are
deleted only where --delete-internal-topic or --delete-all-internal-topics is
given. Exit code: 0 done, 1 anything else.
""",
    "streams",
    ("Empty", "NotReady", "Stable", "Assigning", "Reconciling", "Dead"),
    topic="input-topic",
    all_topics="all-input-topics",
)
ALL_GROUPS_TOOL: Final = Tool(
    "kafka-groups.sh",
    ALL_GROUPS_OPTIONS,
    """Usage: kgroups official kafka-groups.sh OPTIONS

The options and the layout of Kafka's own kafka-groups.sh: list groups of
every type. Exit code: 0 done, 1 anything else.
""",
)
RECORDS_TOOL: Final = Tool(
    "kafka-delete-records.sh",
    RECORD_OPTIONS,
    """Usage: kgroups delete-records --bootstrap-server HOST:PORT
           --offset-json-file FILE

The options and the output of Kafka's own kafka-delete-records.sh: delete the
records of partitions below an offset. FILE holds
{"partitions": [{"topic": "t", "partition": 0, "offset": 5}], "version": 1};
offset -1 is the end of the log.
""",
)
