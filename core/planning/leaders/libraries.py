"""Traces of client libraries: as members when they join, as leaders when they assign.

Both are bytes of the consumer protocol that DescribeGroups shows. A member's subscription differs
by library in its version, in the form of the assignor's own bytes, and in the rack where none is
configured; the assignment was written by the leader, and differs likewise. No strategy is told
from these bytes alone, so the table is by strategy.

Source: members of Java 4.3.0, librdkafka 2.16.0, franz-go 1.22.2, sarama 1.61.1, kafkajs 2.2.4,
kafka-python 3.0.12 and aiokafka 0.14.0 as a 4.3.0 broker shows them; KIP-429, KIP-792, KIP-881 for
the versions of older Java clients.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.core.planning.outcomes.ids import table_capacity_of
from kgroups.core.snapshot import Member

RANGE: Final = "range"
ROUND_ROBIN: Final = "roundrobin"
KAFKAJS_ROUND_ROBIN: Final = "RoundRobinAssigner"

# In the order in which they are taken where nothing else decides.
LIBRARIES: Final = (
    "java",
    "librdkafka",
    "franz-go",
    "sarama",
    "kafka-python",
    "aiokafka",
    "kafkajs",
)

# Client ids that libraries use where the application sets none.
DEFAULT_CLIENT_IDS: Final[Mapping[str, re.Pattern[str]]] = {
    "java": re.compile(r"consumer-.+-\d+"),
    "librdkafka": re.compile(r"rdkafka"),
    "franz-go": re.compile(r"kgo"),
    "sarama": re.compile(r"sarama"),
    "kafka-python": re.compile(r"kafka-python-\d[\w.]*"),
    "aiokafka": re.compile(r"aiokafka-\d[\w.]*"),
    "kafkajs": re.compile(r"kafkajs"),
}

# Those that are not the library's own name: an application may be called so, whatever it uses.
VAGUE_CLIENT_IDS: Final = frozenset({"java"})

NEWEST_VERSION: Final = 3
GENERATION_VERSION: Final = 2  # of subscriptions, from which on they have a generation (KIP-792)
RACK_VERSION: Final = 3  # of subscriptions, from which on they have a rack (KIP-881)


# Libraries whose members name their topics in order.
SORT_TOPICS: Final = frozenset({"java", "librdkafka", "franz-go"})


# Libraries whose static leader does not know that it leads when it comes back without a rebalance:
# they do not speak JoinGroup 9 (KIP-814). In all of them only leaders look at topics that grow.
FORGET_THEY_LEAD: Final = frozenset({"sarama", "kafka-python", "aiokafka"})
# Java's did so before 3.2; what has subscriptions of this version or less may be that old.
MAY_FORGET_VERSION: Final = 1


class Form(Enum):
    """Forms of the assignor's own bytes."""

    NULL = "none"
    EMPTY = "no bytes"
    ZERO = "four zero bytes: no partitions, and no generation"
    GENERATION = "four other bytes: a generation"
    NOTHING = "Java's layout without partitions, with a generation"
    PARTITIONS = "Java's layout with partitions and a generation"
    UNDATED = "Java's layout with partitions or without, and the generation -1"
    PREFIXED = "the version 1 in two bytes before Java's layout"
    OTHER = "no layout of any library"


# What members say that have had nothing yet.
FRESH: Final = frozenset({Form.NULL, Form.EMPTY, Form.ZERO})


def form_of(data: bytes | None) -> Form:
    """The form of these bytes."""
    if data is None:
        return Form.NULL
    if not data:
        return Form.EMPTY
    if len(data) == 4:
        return Form.GENERATION if any(data) else Form.ZERO
    if data[:2] != b"\0\0":
        return Form.PREFIXED if data[:2] == b"\0\1" else Form.OTHER
    if data.endswith(b"\xff\xff\xff\xff"):
        return Form.UNDATED
    return Form.PARTITIONS if any(data[:4]) else Form.NOTHING


@dataclass(frozen=True, slots=True)
class Trace:
    """The bytes by which some versions of a library show with some strategies.

    Args:
        sends: forms of the user data in them.
        writes: version of the assignments that it writes as a leader.
        adds: forms of the user data in those.
        bare_rack: what it sends where no rack is configured.
        older: whether it is of a time before the strategy got its present form.
    """

    library: str
    strategies: frozenset[str]
    version: int
    sends: frozenset[Form]
    writes: int
    adds: frozenset[Form]
    bare_rack: str | None = None
    older: bool = False


def _trace(
    library: str,
    strategies: str,
    version: int,
    sends: tuple[Form, ...],
    writes: int,
    adds: tuple[Form, ...],
    *,
    bare_rack: str | None = None,
    older: bool = False,
) -> Trace:
    return Trace(
        library,
        frozenset(strategies.split()),
        version,
        frozenset(sends),
        writes,
        frozenset(adds),
        bare_rack,
        older,
    )


_EAGER: Final = f"{RANGE} {ROUND_ROBIN}"
_NULL: Final = (Form.NULL,)
_EMPTY: Final = (Form.EMPTY,)
_SHARES: Final = (Form.NOTHING, Form.PARTITIONS)

TRACES: Final[tuple[Trace, ...]] = (
    # Java: 3.5 on, 3.4, 2.4 to 3.3, and before.
    _trace("java", _EAGER, 3, _NULL, 3, _NULL),
    _trace("java", STICKY, 3, (*_NULL, *_SHARES), 3, _NULL),
    _trace("java", COOPERATIVE, 3, (Form.GENERATION,), 3, _NULL),
    _trace("java", _EAGER, 2, _NULL, 2, _NULL),
    _trace("java", STICKY, 2, (*_NULL, *_SHARES), 2, _NULL, older=True),
    _trace("java", COOPERATIVE, 2, (Form.GENERATION,), 2, _NULL, older=True),
    _trace("java", _EAGER, 1, _NULL, 1, _NULL),
    _trace("java", STICKY, 1, (*_NULL, *_SHARES), 1, _NULL, older=True),
    _trace("java", COOPERATIVE, 1, (*_NULL, Form.GENERATION), 1, _NULL, older=True),
    _trace("java", _EAGER, 0, _EMPTY, 0, _EMPTY),
    _trace("java", STICKY, 0, (*_EMPTY, *_SHARES), 0, _EMPTY, older=True),
    # librdkafka: 2.3 on, 1.6 to 2.2, and before.
    _trace("librdkafka", _EAGER, 3, _EMPTY, 0, _EMPTY, bare_rack=""),
    _trace("librdkafka", COOPERATIVE, 3, (*_EMPTY, *_SHARES), 0, (*_EMPTY, *_SHARES), bare_rack=""),
    _trace("librdkafka", _EAGER, 1, _EMPTY, 0, _EMPTY),
    _trace("librdkafka", COOPERATIVE, 1, (*_EMPTY, *_SHARES), 0, (*_EMPTY, *_SHARES), older=True),
    _trace("librdkafka", _EAGER, 0, _EMPTY, 0, _EMPTY),
    _trace("franz-go", _EAGER, 3, _NULL, 0, _NULL),
    _trace("franz-go", STICKY, 3, (Form.ZERO, Form.NOTHING), 0, _NULL),
    _trace("franz-go", COOPERATIVE, 3, (Form.ZERO, *_SHARES), 0, _NULL),
    # sarama: told that brokers are of 3.2 on, of 2.4 on, and of before.
    _trace("sarama", _EAGER, 2, _NULL, 0, _NULL),
    _trace("sarama", STICKY, 2, (*_NULL, *_SHARES), 0, _SHARES),
    _trace("sarama", COOPERATIVE, 2, (Form.GENERATION,), 0, _NULL),
    _trace("sarama", _EAGER, 1, _NULL, 0, _NULL),
    _trace("sarama", STICKY, 1, (*_NULL, *_SHARES), 0, _SHARES),
    _trace("sarama", COOPERATIVE, 1, (Form.GENERATION,), 0, _NULL),
    _trace("sarama", _EAGER, 0, _NULL, 0, _NULL),
    _trace("sarama", STICKY, 0, (*_NULL, *_SHARES), 0, _SHARES),
    _trace("sarama", COOPERATIVE, 0, (Form.GENERATION,), 0, _NULL),
    _trace("kafka-python", _EAGER, 0, _EMPTY, 0, _EMPTY),
    _trace("kafka-python", STICKY, 0, (*_EMPTY, Form.PREFIXED), 0, _EMPTY),
    _trace("kafka-python", COOPERATIVE, 1, _EMPTY, 1, _EMPTY),
    _trace("aiokafka", _EAGER, 0, _EMPTY, 0, _EMPTY),
    _trace("aiokafka", STICKY, 0, (*_EMPTY, Form.UNDATED), 0, _EMPTY),
    _trace("kafkajs", KAFKAJS_ROUND_ROBIN, 0, _EMPTY, 0, _EMPTY),
)

PYTHON: Final = frozenset({"kafka-python", "aiokafka"})

# Strategies that some library brings along -> the libraries that do.
SPEAKERS: Final[Mapping[str, tuple[str, ...]]] = {
    strategy: tuple(
        library
        for library in LIBRARIES
        if any(trace.library == library and strategy in trace.strategies for trace in TRACES)
    )
    for strategy in (RANGE, ROUND_ROBIN, STICKY, COOPERATIVE, KAFKAJS_ROUND_ROBIN)
}


def traces_of(member: Member, strategy: str | None) -> frozenset[Trace]:
    """The rows that a member's subscription fits; none if its library is not known.

    Where several libraries fit, a client id that is the name of one of them decides.

    Args:
        strategy: the one whose subscription it is.
    """
    version = member.subscription_version
    if version is None:
        return frozenset()
    traces = _fitting(
        Shown(
            min(version, NEWEST_VERSION),
            form_of(member.user_data),
            member.rack,
            member.subscription or (),
            member.generation,
            bool(member.owned),
        ),
        strategy,
    )
    named = named_by_client_id(member)
    if named is None or named in VAGUE_CLIENT_IDS:
        return traces
    return frozenset(trace for trace in traces if trace.library == named) or traces


class Shown(NamedTuple):
    """The parts of a subscription that tell its library, besides the client id."""

    version: int
    form: Form
    rack: str | None
    topics: tuple[str, ...]
    generation: int | None
    owns: bool


@lru_cache(maxsize=1024)  # a plan of many outcomes asks of each member thousands of times
def _fitting(shown: Shown, strategy: str | None) -> frozenset[Trace]:
    return frozenset(
        trace
        for trace in TRACES
        if trace.version == shown.version
        and strategy in trace.strategies
        and shown.form in trace.sends
        and (shown.rack is not None if trace.bare_rack == "" else shown.rack != "")
        and _fits_order(trace, shown.topics)
        and _fits_past(trace, shown)
    )


def _fits_order(trace: Trace, topics: tuple[str, ...]) -> bool:
    """Whether members of this library name topics in such an order.

    Java's do as its sets of them are walked: sorted ones now, hash sets in old releases.
    librdkafka's and franz-go's sort them, the others' name them in any order.
    """
    if trace.library not in SORT_TOPICS or list(topics) == sorted(topics):
        return True
    return trace.library == "java" and table_capacity_of(topics) is not None


def _fits_past(trace: Trace, shown: Shown) -> bool:
    """Whether a member of this library that was there before says so in every place.

    Java's subscriptions from version 2 on have the generation that its user data have, where
    sarama's have none; librdkafka's cooperative members that have something have user data.
    """
    if trace.library == "java" and shown.form in (Form.NOTHING, Form.PARTITIONS):
        return trace.version < GENERATION_VERSION or (shown.generation or 0) >= 0
    silent = trace.library == "librdkafka" and shown.form is Form.EMPTY
    return not (silent and COOPERATIVE in trace.strategies and shown.owns)


def is_foreign(member: Member, strategy: str | None) -> bool:
    """Whether it shows user data that no library has under this name: the class is another one."""
    traces = [trace for trace in TRACES if strategy in trace.strategies]
    version = member.subscription_version
    sent, got = form_of(member.user_data), form_of(member.assignment_user_data)
    return bool(traces) and (
        (
            version is not None
            and not any(
                t.version == min(version, NEWEST_VERSION) and sent in t.sends for t in traces
            )
        )
        or (member.assignment_version is not None and not any(got in t.adds for t in traces))
    )


def is_older(member: Member, library: str, strategy: str | None) -> bool:
    """Whether a member of this library is of a time before the strategy got its present form."""
    version = member.subscription_version
    return version is not None and any(
        trace.older
        and trace.library == library
        and strategy in trace.strategies
        and trace.version == min(version, NEWEST_VERSION)
        for trace in TRACES
    )


def is_undated(member: Member) -> bool:
    """Whether a member's subscriptions are of a version that has no generation (KIP-792)."""
    version = member.subscription_version
    return version is not None and version < GENERATION_VERSION


def shows_rack(library: str | None, strategy: str | None) -> bool:
    """Whether members of this library tell a leader their rack; so do those of an unknown one."""
    newest = _newest(library, strategy)
    return newest is None or newest.version >= RACK_VERSION


def rack_told(library: str, strategy: str, rack: str | None) -> str | None:
    """The rack in the subscription of a member that joins; librdkafka's send an empty one."""
    newest = _newest(library, strategy)
    return rack or (newest.bare_rack if newest else None)


def _newest(library: str | None, strategy: str | None) -> Trace | None:
    """The behaviour of the library's current releases; None if that is not known."""
    rows = [
        trace
        for trace in TRACES
        if trace.library == library and strategy in trace.strategies and not trace.older
    ]
    return max(rows, key=lambda trace: trace.version, default=None)


def writers_of(member: Member, strategy: str | None) -> frozenset[Trace]:
    """The rows whose leader writes such an assignment; none if that is not known."""
    version = member.assignment_version
    if version is None:
        return frozenset()
    form = form_of(member.assignment_user_data)
    return frozenset(
        trace
        for trace in TRACES
        if trace.writes == min(version, NEWEST_VERSION)
        and strategy in trace.strategies
        and form in trace.adds
    )


def named_by_client_id(member: Member) -> str | None:
    """The library whose default client id this is, or None."""
    return next(
        (name for name, form in DEFAULT_CLIENT_IDS.items() if form.fullmatch(member.client_id)),
        None,
    )
