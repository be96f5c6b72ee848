"""Options of lag in records and in time, and the times that are asked of a cluster for it."""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, NamedTuple

from kgroups.cli.output.printer import Printer
from kgroups.cli.usage import Text, option
from kgroups.core.conditions.group_figures import OF_AGES, OF_RATES
from kgroups.core.errors import ClusterError, ItemError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import ends_at, record_ages
from kgroups.core.lag.group_times import Times
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.lag.window.unread import Place, unread_places
from kgroups.core.rounds import settled_rounds
from kgroups.core.snapshot import ClusterSnapshot, TopicPartition
from kgroups.core.times import parse_duration_ms

UncommittedAt = Annotated[
    Uncommitted | None, option("--uncommitted", "Assume this position where nothing is committed.")
]
IsolationLevel = Annotated[
    Isolation, option("--isolation", "read_committed: lag to the last stable offset.")
]
LagTime = Annotated[bool, option("--lag-time", "Lag in seconds, from offsets by timestamp.")]
RecordTimes = Annotated[
    bool, option("--record-times", "Lag in seconds, from the next record's time.")
]
Over = Annotated[Text, option("--over TIME", "Measure rates over this time: 10s.")]
LEAST_OVER_MS: Final = 100
MOST_OVER_MS: Final = 24 * 3_600_000
LOOK_S: Final = 1.0
MOST_LOOKS: Final = 60
"""Looks for rebalances between two looks for rates: one a second, but no more than these."""


class TimeQuestion(NamedTuple):
    """Question about time.

    Args:
        ages: of the oldest unread records, by bisection.
        records: the same by reading them.
        over_ms: how far apart two looks are, for rates; 0: no rates.
        of_file: whether a snapshot file is asked, which cannot tell.
        rates_only: whether two looks tell rates only, not who is stalled.
    """

    ages: bool = False
    records: bool = False
    over_ms: int = 0
    of_file: bool = False
    rates_only: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether anything is to be learned."""
        return self.ages or self.records or self.over_ms > 0

    def needed_by(self, fields: set[str]) -> "TimeQuestion":
        """The question with what these fields need: ages are looked for where they are named.

        Raises:
            UsageError: rates are named, and nobody said over which time; a file cannot tell them.
        """
        if not fields:
            return self
        if self.of_file and not fields.isdisjoint(OF_AGES | OF_RATES):
            (name, *_) = sorted(fields & (OF_AGES | OF_RATES))
            raise UsageError(
                f"`{name}` requires a cluster: a snapshot file does not record it",
                hint="leave out --from",
            )
        if not self.over_ms and not fields.isdisjoint(OF_RATES):
            (name, *_) = sorted(fields & OF_RATES)
            raise UsageError(f"`{name}` requires --over", hint="use --over 10s")
        if self.records or fields.isdisjoint(OF_AGES):
            return self
        return self._replace(ages=True)


MAY_BE_GAPS: Final = "a partition that is stalled may have no record to read"


def time_question(
    *, lag_time: bool, record_times: bool, over: str | None, file: Path | None
) -> TimeQuestion:
    """The question that the options ask.

    Raises:
        UsageError: a file cannot answer it, or the options exclude each other.
    """
    over_ms = 0
    if over is not None:
        over_ms = round(parse_duration_ms(over, least_ms=LEAST_OVER_MS, most_ms=MOST_OVER_MS))
    if lag_time and record_times:
        raise UsageError("--lag-time and --record-times cannot be used together")
    question = TimeQuestion(lag_time, record_times, over_ms, file is not None)
    if question.is_asked and file is not None:
        raise UsageError(
            "--lag-time, --record-times and --over require a cluster", hint="leave out --from"
        )
    return question


def timed_look(
    printer: Printer,
    admin: ClusterAdmin | None,
    question: TimeQuestion,
    once: Callable[[], ClusterSnapshot],
) -> tuple[ClusterSnapshot, Times | None]:
    """The groups as they are, and what is known of time; None where nothing is asked."""
    snapshot = once()
    if admin is None or not question.is_asked:
        return snapshot, None
    before: ClusterSnapshot | None = None
    between: list[Mapping[str, Hashable]] = []
    if question.over_ms:
        printer.progress(f"looking again in {question.over_ms / 1_000:g} s")
        names = [] if question.rates_only else [group.group for group in snapshot.groups]
        between = _looks_between(admin, names, question.over_ms / 1_000)
        before, snapshot = snapshot, once()
        errors = tuple(_of_vanished(error, before) for error in snapshot.errors)
        snapshot = replace(snapshot, errors=errors)
    times, errors = times_of(admin, snapshot, question, printer)
    snapshot = replace(snapshot, errors=(*snapshot.errors, *errors))
    times = replace(times, before=before, between=between)
    if before is not None and not question.rates_only:
        times = replace(times, gaps=gaps_of(admin, before, snapshot, printer))
    return snapshot, times


def _of_vanished(error: ItemError, before: ClusterSnapshot) -> ItemError:
    """The error of a group that was there at the look before says so."""
    if error.code != "GROUP_ID_NOT_FOUND" or before.group(error.target) is None:
        return error
    return replace(error, message="the group was deleted while it was watched", hint=None)


def captured_times(
    printer: Printer,
    admin: ClusterAdmin | None,
    snapshot: ClusterSnapshot,
    captures: Sequence[ClusterSnapshot],
) -> Times:
    """Times from the oldest of some captures, as a look before; no waiting.

    Args:
        admin: None: no gap is known.
    """
    before, *later = captures
    gaps = frozenset() if admin is None else gaps_of(admin, before, snapshot, printer)
    between = [settled_rounds(capture.groups) for capture in later]
    return Times(before=before, between=between, gaps=gaps)


def _looks_between(
    admin: ClusterAdmin, names: Sequence[str], over_s: float
) -> list[Mapping[str, Hashable]]:
    """The rounds of groups while the time passes; a look that fails is left out."""
    rounds: list[Mapping[str, Hashable]] = []
    step_s = max(LOOK_S, over_s / MOST_LOOKS)
    ends = time.monotonic() + over_s
    while names and ends - time.monotonic() > 1.5 * step_s:
        time.sleep(step_s)
        with suppress(ClusterError):
            looked = admin.snapshot(names, offsets=False, log_offsets=False)
            rounds.append(settled_rounds(looked.groups))
    time.sleep(max(0.0, ends - time.monotonic()))
    return rounds


def gaps_of(
    admin: ClusterAdmin, before: ClusterSnapshot, snapshot: ClusterSnapshot, printer: Printer
) -> frozenset[Place]:
    """Commits of members that stand still because no record comes after them.

    A record is fetched after each that stands still; what may not be read counts as none of them.
    """
    held = replace(snapshot, groups=tuple(group for group in snapshot.groups if group.members))
    places = {*unread_places(held)} & {*unread_places(before)}
    if not places:
        return frozenset()
    from kgroups.core.kafka.lookups.record_times import next_record_times  # batches

    printer.progress(f"fetching {len(places):,} records where commits stand still")
    timeout_ms = printer.options.timeout_ms
    try:
        read, errors = next_record_times(
            admin, snapshot.topics, places, timeout_ms=timeout_ms, isolation="read_committed"
        )
    except ClusterError as error:
        printer.note("RECORDS_UNREAD", f"{MAY_BE_GAPS}: {error.message}")
        return frozenset()
    for failure in errors:
        printer.note("RECORDS_UNREAD", f"{MAY_BE_GAPS}: {failure.text}", failure.target)
    unread = {error.target for error in errors}
    return frozenset(place for place in places - read.keys() if place[0] not in unread)


def times_of(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, question: TimeQuestion, printer: Printer
) -> tuple[Times, tuple[ItemError, ...]]:
    """The ages of the oldest unread records, if they are asked for; topics that cannot be read."""
    if not (question.ages or question.records):
        return Times(), ()
    now_ms = snapshot.captured_at_ms
    if question.ages:
        places = unread_places(snapshot)
        printer.progress(f"asking for the ages of {len(places):,} records")
        return Times(record_ages(admin, places, now_ms), "bisected"), ()
    times, errors = next_times(admin, snapshot, printer, printer.progress)
    ages = {place: max(0.0, (now_ms - at_ms) / 1_000) for place, at_ms in times.items()}
    return Times(ages, "record"), errors


def next_times(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, printer: Printer, say: Callable[[str], None]
) -> tuple[dict[Place, int], tuple[ItemError, ...]]:
    """When the next record of each commit that lags was written; topics that cannot be read.

    Args:
        say: how the printer tells what is being waited for.
    """
    from kgroups.core.kafka.lookups.record_times import next_record_times  # batches

    places, timeout_ms = unread_places(snapshot), printer.options.timeout_ms
    say(f"fetching {len(places):,} records for their times")
    return next_record_times(admin, snapshot.topics, places, timeout_ms=timeout_ms)


def bisected_times(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, printer: Printer, *, unread: bool
) -> tuple[dict[Place, int], dict[TopicPartition, int]]:
    """When the next record of each commit that lags was written, and the first one of each log.

    Args:
        unread: whether the former are wanted.
    """
    starts = {
        (name, number): log.log_start_offset
        for name, topic in snapshot.topics.items()
        for number, log in topic.partitions.items()
        if log.log_start_offset is not None and log.log_start_offset < (log.log_end_offset or 0)
    }
    places = {(*at, offset) for at, offset in starts.items()}
    if unread:
        places |= {*unread_places(snapshot)}
    printer.progress(f"bisecting the ages of {len(places):,} records")
    now_ms = snapshot.captured_at_ms
    ages = record_ages(admin, places, now_ms)
    times = {place: now_ms - round(age_s * 1_000) for place, age_s in ages.items()}
    first = {at: times[*at, offset] for at, offset in starts.items() if (*at, offset) in times}
    return times, first


def ends_then(
    admin: ClusterAdmin,
    snapshot: ClusterSnapshot,
    times_ms: Sequence[int],
    printer: Printer,
    first_ms: Mapping[TopicPartition, int],
) -> dict[int, dict[TopicPartition, int]]:
    """Where the logs of the snapshot's topics ended at these times.

    Args:
        first_ms: when the first record of each log was written: before, its end is not known.
    """
    ends: dict[int, dict[TopicPartition, int]] = {}
    for number, at_ms in enumerate(times_ms, start=1):
        printer.progress(f"reading past log ends, {number} of {len(times_ms)} times")
        answers = ends_at(admin, snapshot.topics, at_ms)
        ends[at_ms] = {at: end for at, end in answers.items() if first_ms.get(at, at_ms) <= at_ms}
    return ends
