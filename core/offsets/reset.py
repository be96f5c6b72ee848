"""The plan of a reset: for each partition the offset now, the offset to be, and the lag of both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from kgroups.core.errors import ItemError, NotFoundError
from kgroups.core.lag.rules import lag_at, records_between
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.scope import not_there, unmeasured
from kgroups.core.offsets.targets import Target
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic, TopicPartition


@dataclass(frozen=True, slots=True)
class Known:
    """What a plan is made from.

    Args:
        topics: with the bounds of their logs.
        at_time: for a time, the first offset that is not older; None where there is none.
        given: for a file or another group, the offsets asked for.
    """

    topics: Mapping[str, Topic]
    at_time: Mapping[TopicPartition, int | None] = field(default_factory=dict)
    given: Mapping[TopicPartition, int] = field(default_factory=dict)


_NOTHING: Mapping[int, CommittedOffset] = {}


def plan_reset(
    group: Group,
    partitions: Iterable[TopicPartition],
    target: Target,
    known: Known,
    *,
    only_lagging: bool = False,
    clamp: bool = True,
) -> list[Change]:
    """A change for each partition: planned, skipped as it stands there already, or failed.

    Args:
        group: without members, its commits known.
        partitions: to put there.
        target: where.
        known: the logs, and what the target needs.
        only_lagging: leave out partitions whose lag is 0 or not known.
        clamp: move an offset outside the log to its edge.
    """
    changes = []
    offsets = group.offsets or {}
    for at in partitions:
        topic, number = at
        old = offsets.get(topic, _NOTHING).get(number)
        log = known.topics[topic].partitions.get(number) if topic in known.topics else None
        change = _change(group.group, at, old, log, target, known, clamp)
        if not only_lagging or change.lag_before:
            changes.append(change)
    return changes


def _change(
    group: str,
    at: TopicPartition,
    old: CommittedOffset | None,
    log: PartitionLog | None,
    target: Target,
    known: Known,
    clamp: bool,
) -> Change:
    if log is None:
        change = Change(group, *at, old)
        return change.failed(replace(not_there(""), target=change.target))
    start, end, _, _, _, error = log
    if error is not None or start is None or end is None:
        code = error or "LEADER_NOT_AVAILABLE"
        before = lag_at(None if old is None else old.offset, log)
        change = Change(group, *at, old, None, before)
        return change.failed(unmeasured(change.target, code))
    before = None if old is None else records_between(old.offset, start, end, max)
    asked: int | None
    asked, note = start, None
    if target.kind != "earliest":
        asked, note = _asked(at, target, old, log, known)
    if asked is None:
        change = Change(group, *at, old, None, before)
        return change.failed(
            ItemError(
                change.target,
                "NO_COMMITTED_OFFSET",
                "there is no committed offset to start from",
                "use an offset, `earliest` or `latest`, or leave it out",
                NotFoundError.exit_code,
            )
        )
    offset = asked
    clamped = clamp and not start <= asked <= end
    if clamped:
        offset = min(max(asked, start), end)
        note = f"{asked} requested, the log {'ends' if asked > offset else 'starts'} at {offset}"
    stays = old is not None and old.offset == offset
    new = old if stays else CommittedOffset(offset)
    after = records_between(offset, start, end, max)
    result = "skipped" if stays else "planned"
    topic, number = at
    row = (group, topic, number, old, new, before, after, asked, clamped, note, result, None)
    return tuple.__new__(Change, row)  # twice as fast as the class call, for 100,000s of rows


def _asked(
    at: TopicPartition, target: Target, old: CommittedOffset | None, log: PartitionLog, known: Known
) -> tuple[int | None, str | None]:
    """The offset that the target names, None if it needs a commit; and what to know of it."""
    match target.kind:
        case "earliest":
            return log.log_start_offset, None
        case "latest":
            return log.log_end_offset, None
        case "offset":
            return target.number, None
        case "current":
            return (None if old is None else old.offset), None
        case "shift":
            return (None if old is None else old.offset + target.number), None
        case "time":
            found = known.at_time.get(at)
            if found is None:
                return log.log_end_offset, "no record is that recent; set to the log end"
            return found, None
        case "file" | "group":
            return known.given.get(at), None


def committed(group: Group, at: TopicPartition) -> CommittedOffset | None:
    """What a group committed for a partition."""
    return (group.offsets or {}).get(at[0], {}).get(at[1])


def committed_partitions(group: Group) -> list[TopicPartition]:
    """Every partition that a group committed, in order."""
    return sorted(
        (topic, number) for topic, numbers in (group.offsets or {}).items() for number in numbers
    )
