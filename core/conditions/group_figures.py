"""The figures of a group that conditions may name, each with how it is read off a snapshot.

`check`, `wait`, `list --where` and `describe --where` take their fields from this table, and the
documents of `check` and `wait` hold them under the same names.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import SECONDS, AtLeast, Field, Fields, Kind, Value
from kgroups.core.lag.group_lag import (
    LagSummary,
    OffsetRow,
    lag_summary,
    offset_rows,
    owners_known,
)
from kgroups.core.lag.group_times import GroupTimes, Times, group_times
from kgroups.core.lag.held_back import held_partition_count
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.snapshot import ClusterSnapshot, Group

Source = Literal["listing", "description", "offsets", "times"]
"""What has to be asked for a figure: the list of groups, their description, their commits, and the
ages of records or a second look."""


class GroupFacts(NamedTuple):
    """Facts that were learned of a group.

    Args:
        partitions: that it reads or has committed; None if its commits are not known.
        lag: None likewise.
        times: None if nothing was asked about time.
        held_partitions: None if last stable offsets are not known.
    """

    group: Group
    partitions: int | None
    lag: LagSummary | None
    times: GroupTimes | None = None
    held_partitions: int | None = None


def facts_of(
    group: Group,
    rows: Collection[OffsetRow] | None,
    times: GroupTimes | None = None,
    held_partitions: int | None = None,
) -> GroupFacts:
    """A group with the figures of its partitions.

    Args:
        rows: one for each partition; None if they were not asked for or are not known.
    """
    if rows is None:
        return GroupFacts(group, None, None)
    lag = lag_summary(rows, owned=owners_known(group))
    return GroupFacts(group, len(rows), lag, times, held_partitions)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A field, where it comes from, and how it is read."""

    field: Field
    source: Source
    read: Callable[[GroupFacts], Value]


def _of_group(source: Source, name: str, meaning: str, kind: Kind = "text") -> _Figure:
    """A figure that is an attribute of the group under the same name."""
    field = Field(name, kind, None, meaning)
    return _Figure(field, source, lambda facts: getattr(facts.group, name))


def _of_partitions(name: str, meaning: str, read: Callable[[LagSummary], int | None]) -> _Figure:
    """How many of the group's partitions are so."""
    return _Figure(
        Field(name, "number", "partitions", meaning, whole="partitions"),
        "offsets",
        lambda facts: None if facts.lag is None else read(facts.lag),
    )


def _of_lag(name: str, meaning: str, read: Callable[[LagSummary], int | None]) -> _Figure:
    """A figure over the group's partitions: at least so much, where some are not known."""

    def value(facts: GroupFacts) -> Value:
        figure = None if facts.lag is None else read(facts.lag)
        if figure is None or facts.lag is None or not facts.lag.unknown_partitions:
            return figure
        return AtLeast(figure)

    return _Figure(Field(name, "number", "records", meaning), "offsets", value)


def _age(facts: GroupFacts) -> Value:
    """The lag in seconds: at least the largest known, where some are not; that is never below 0."""
    if facts.times is None:
        return None
    if not facts.times.unknown:
        return facts.times.oldest_s
    return AtLeast(facts.times.oldest_s) if facts.times.oldest_s else None


def _of_rates(name: str, unit: str, meaning: str) -> _Figure:
    """A figure between two looks."""

    def value(facts: GroupFacts) -> Value:
        rate: float | None = None if facts.times is None else getattr(facts.times.total, name)
        return rate

    return _Figure(Field(name, "number", unit, meaning), "times", value)


OF_AGES: Final = frozenset({"lag_seconds"})
"""Fields for which the ages of records are looked for."""
OF_RATES: Final = frozenset(
    {"rate_in", "rate_out", "catch_up_seconds", "stalled_partitions", "rebalances"}
)
"""Fields for which two looks are taken."""

_FIGURES: Final = (
    _of_group("listing", "group", "name of the group"),
    _of_group("listing", "type", "classic, consumer, share or streams"),
    _of_group("listing", "state", "state as Kafka spells it, such as Stable or Empty"),
    _of_group("listing", "protocol_type", "consumer, connect, ...; empty if it only commits"),
    _Figure(
        Field("coordinator_id", "number", None, "broker that coordinates the group"),
        "listing",
        lambda facts: facts.group.coordinator,
    ),
    _of_group("description", "assignor", "assignor in use"),
    _of_group("description", "offsets_partition", "partition of __consumer_offsets", "number"),
    _of_group("description", "group_epoch", "epoch of a consumer group (KIP-848)", "number"),
    _of_group("description", "target_epoch", "epoch of its target assignment", "number"),
    _Figure(
        Field("member_count", "number", "members", "members of the group"),
        "description",
        lambda facts: None if facts.group.members is None else len(facts.group.members),
    ),
    _Figure(
        Field(
            "partitions",
            "number",
            "partitions",
            "partitions of topics that it reads or has committed",
        ),
        "offsets",
        lambda facts: facts.partitions,
    ),
    _of_lag("lag", "records still to be read, over all partitions", lambda lag: lag.lag),
    _of_lag("lag_max", "largest lag of a partition", lambda lag: lag.lag_max),
    _of_lag("lost", "records that expired before they were read", lambda lag: lag.lost),
    _of_partitions(
        "unknown_partitions",
        "partitions whose lag is not known",
        lambda lag: lag.unknown_partitions,
    ),
    _of_partitions(
        "unowned_partitions",
        "partitions not assigned to any member",
        lambda lag: lag.unowned_partitions,
    ),
    _of_partitions(
        "beyond_end_partitions",
        "partitions whose committed offset is beyond the log end",
        lambda lag: lag.beyond_end_partitions,
    ),
    _Figure(
        Field(
            "held_partitions",
            "number",
            "partitions",
            "partitions that an open transaction holds, not the consumer",
            whole="partitions",
        ),
        "offsets",
        lambda facts: facts.held_partitions,
    ),
    _Figure(
        Field("lag_seconds", "number", SECONDS, "age of the oldest unread record"), "times", _age
    ),
    _of_rates("rate_in", "records/s", "records written per second; needs --over"),
    _of_rates("rate_out", "records/s", "records read per second; needs --over"),
    _of_rates(
        "catch_up_seconds",
        SECONDS,
        "time to catch up at these rates, unknown if never; needs --over",
    ),
    _Figure(
        Field(
            "stalled_partitions",
            "number",
            "partitions",
            "owned partitions with lag whose commit stands still; needs --over",
            whole="partitions",
        ),
        "times",
        lambda facts: None if facts.times is None else facts.times.stalled_partitions,
    ),
    _Figure(
        Field("rebalances", "number", None, "rebalances seen; needs --over"),
        "times",
        lambda facts: None if facts.times is None else facts.times.rebalances,
    ),
)
GROUP_FIELDS: Final = Fields("a group", (figure.field for figure in _FIGURES))
_ORDER: Final[tuple[Source, ...]] = ("listing", "description", "offsets", "times")
OFFSETS: Final = frozenset({"offsets", "times"})
"""Sources for which commits and the bounds of logs are read."""
_SOURCES: Final[Mapping[str, Source]] = {figure.field.name: figure.source for figure in _FIGURES}


def source_of(conditions: Iterable[Condition]) -> Source:
    """The most that has to be asked for these conditions."""
    return source_of_fields(name for condition in conditions for name in condition.fields)


def source_of_fields(names: Iterable[str]) -> Source:
    """The most that has to be asked for these fields."""
    return max((_SOURCES[name] for name in names), key=_ORDER.index, default="listing")


def isolation_for(names: Collection[str], isolation: Isolation) -> Isolation:
    """Isolation to ask logs with: last stable offsets, too, where a field counts by them."""
    return "read_committed" if "held_partitions" in names else isolation


def figures_of(facts: GroupFacts, source: Source = "offsets") -> dict[str, Value]:
    """The figures that this much asking tells, in the order of the table."""
    asked = _ORDER[: _ORDER.index(source) + 1]
    return {figure.field.name: figure.read(facts) for figure in _FIGURES if figure.source in asked}


def figures_in(
    snapshot: ClusterSnapshot,
    group: Group,
    source: Source,
    *,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
    times: Times | None = None,
) -> dict[str, Value]:
    """The figures of a group of a snapshot.

    Args:
        uncommitted, isolation: how lag is counted.
        times: None if nothing was asked about time.
    """
    rows = timed = None
    if source in OFFSETS and group.offsets is not None:
        rows = offset_rows(snapshot, group, uncommitted=uncommitted, isolation=isolation)
        timed = None if times is None else group_times(snapshot, group, rows, times)
    held = None if rows is None else held_partition_count(snapshot, group)
    return figures_of(facts_of(group, rows, timed, held), source)


def document_of(figures: Mapping[str, Value]) -> dict[str, Any]:
    """Figures as a document holds them, to a thousandth; of what is known in part that part."""
    return {name: _rounded(value) for name, value in figures.items()}


def _rounded(value: Value) -> str | float | None:
    number = value.number if isinstance(value, AtLeast) else value
    return round(number, 3) if isinstance(number, float) else number
