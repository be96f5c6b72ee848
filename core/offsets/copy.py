"""The plan of copying committed offsets to another group, in the same or another cluster: pure.

Groups are paired by name, by pattern, as `OLD=NEW`, or from a file.
"""

import datetime
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError, NotFoundError, UsageError
from kgroups.core.lag.rules import commit_lag, lag_at
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.plan_file import csv_lines
from kgroups.core.offsets.reset import Known, committed, committed_partitions, plan_reset
from kgroups.core.offsets.scope import Scope, log_of
from kgroups.core.offsets.targets import Target
from kgroups.core.offsets.undo import is_same
from kgroups.core.protocol.errors import broker_error, meaning_of
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic, TopicPartition


class Moment(NamedTuple):
    """Where a group stands, told by time, as offsets mean nothing in another cluster.

    Args:
        time_ms: of the next record to read; where all is read, just after the last one that was.
            None if the log holds no record to tell it by.
        at_end: whether all is read.
        error: Kafka's error name where the record could not be read.
    """

    time_ms: int | None = None
    at_end: bool = False
    error: str | None = None


def copied_partitions(source: Group, scope: Scope) -> list[TopicPartition]:
    """Partitions that a group has committed, within the scope; an empty scope holds everything."""
    held = committed_partitions(source)
    return [at for at in held if not scope.names or scope.holds(at)]


def plan_copy(
    group: Group, source: Group, partitions: list[TopicPartition], topics: Mapping[str, Topic]
) -> list[Change]:
    """The same offsets with their epochs and metadata, moved into the log where they are not.

    Args:
        group: that gets them; without members.
        topics: with the bounds of their logs.
    """
    commits = {at: committed(source, at) for at in partitions}
    given = {at: commit.offset for at, commit in commits.items() if commit is not None}
    changes = plan_reset(group, partitions, Target("group"), Known(topics, given=given))
    return [
        change._replace(new=commits[change.topic or "", change.partition or 0])
        if change.result == "planned" and not change.clamped
        else change
        for change in changes
    ]


def plan_copy_by_time(
    group: Group,
    moments: Mapping[TopicPartition, Moment],
    found: Mapping[TopicPartition, int | str | None],
    topics: Mapping[str, Topic],
) -> list[Change]:
    """A change for each partition: to the first record there that is not older.

    Args:
        group: in the other cluster, without members.
        moments: where the group stands that is copied.
        found: in the other cluster: the first offset at that time, an error name, or None where
            every record is older.
        topics: of the other cluster, with the bounds of their logs.
    """
    return [_by_time(group, at, moment, found.get(at), topics) for at, moment in moments.items()]


def verified_copy(
    change: Change,
    sources: Mapping[str, tuple[Group, Group | None]],
    targets: Mapping[str, Group | None],
    prefix: str = "",
) -> Change:
    """A copy after a look at both sides: failed, where one of them has committed since.

    Args:
        sources: by the name of the target group: as it was copied, and as it is now.
        prefix: that topics have on the side of the targets only.
    """
    if change.result not in ("done", "skipped") or change.topic is None or change.new is None:
        return change
    at = (change.topic, change.partition or 0)
    here = (change.topic.removeprefix(prefix), at[1])
    then, now = (
        None if group is None else committed(group, here) for group in sources[change.group]
    )
    target = targets.get(change.group)
    held = None if target is None else committed(target, at)
    if held is None or held.offset != change.new.offset:
        text = f"copied, but now reads back as {'no commit' if held is None else held.offset}"
        return change.failed(ItemError(change.target, "OVERWRITTEN", text))
    if not is_same(now, then):
        name = sources[change.group][0].group
        text = (
            f"copied, but `{name}` has committed {'nothing' if now is None else now.offset} since"
        )
        hint = "copy again when the source group has stopped"
        return change.failed(ItemError(change.target, "SOURCE_MOVED", text, hint))
    return change


def _by_time(
    group: Group,
    at: TopicPartition,
    moment: Moment,
    found: int | str | None,
    topics: Mapping[str, Topic],
) -> Change:
    log = log_of(topics, at)
    problem = _problem(Change(group.group, *at).target, moment, found, log)
    to = None if found is None or isinstance(found, str) else found
    return put_at(group, at, log, problem or to, _note(moment, found))


def put_at(
    group: Group,
    at: TopicPartition,
    log: PartitionLog | None,
    to: int | ItemError | None,
    note: str,
) -> Change:
    """A group of another cluster at an offset there, but not outside the log.

    Args:
        log: with its bounds, unless there is an error.
        to: the offset, why there is none, or None for the end of the log.
    """
    old = committed(group, at)
    change = Change(group.group, *at, old, lag_before=commit_lag(old, log))
    if isinstance(to, ItemError):
        return change.failed(to)
    assert log is not None, "there is no offset without"
    end = log.log_end_offset or 0
    offset = end if to is None else min(max(int(to), log.log_start_offset or 0), end)
    stays = old is not None and old.offset == offset
    return change._replace(
        new=old if stays else CommittedOffset(offset),
        lag_after=lag_at(offset, log),
        note=note,
        result="skipped" if stays else "planned",
    )


def _problem(
    target: str, moment: Moment, found: int | str | None, log: PartitionLog | None
) -> ItemError | None:
    if moment.error is not None:
        why = meaning_of(moment.error).message
        text = f"the record at the committed offset could not be read: {why}"
        return broker_error(target, moment.error, text)
    if log is None:
        text = "no such topic or partition in the other cluster"
        return broker_error(target, "UNKNOWN_TOPIC_OR_PARTITION", text)
    if moment.time_ms is None:
        return ItemError(
            target,
            "NO_RECORD",
            "the log has no record to take the time from",
            "use `reset-offsets` in the other cluster",
            NotFoundError.exit_code,
        )
    code = found if isinstance(found, str) else log.error
    if code is not None or log.log_end_offset is None:
        code = code or "LEADER_NOT_AVAILABLE"
        text = (
            "the offset for that time cannot be read in the other cluster: "
            f"{meaning_of(code).message}"
        )
        return broker_error(target, code, text)
    return None


def _note(moment: Moment, found: int | str | None) -> str:
    at = datetime.datetime.fromtimestamp((moment.time_ms or 0) / 1000, datetime.UTC)
    when = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    what = "read up to" if moment.at_end else "next record is from"
    if found is None:
        return f"{what} {when}; no record there is that recent, set to the log end"
    return f"{what} {when}"


ANY: Final = "*"
MAX_PAIRS: Final = 100_000


class Pair(NamedTuple):
    """A group and the one that gets its commits."""

    source: str
    target: str


def parse_pair(text: str) -> Pair:
    """Old and new name that `OLD=NEW` spells; a name that holds `=` needs a file.

    Raises:
        UsageError: not of that form.
    """
    source, _, target = text.partition("=")
    if not source or not target or "=" in target:
        raise UsageError(f"`--map {text}` is not valid", hint="expected OLD=NEW, or use --map-file")
    return Pair(source, target)


def parse_pairs(text: str, where: str) -> list[Pair]:
    """The lines `old,new` of a CSV file without a heading; empty ones do not count.

    Raises:
        UsageError: a line of another form, or none.
    """
    pairs = []
    for place, cells in csv_lines(text, where, MAX_PAIRS):
        if len(cells) != 2 or not all(cells):
            raise UsageError(f"{place}: not a pair of groups", hint="expected lines `old,new`")
        pairs.append(Pair(*cells))
    return pairs


def pairs_of_pattern(pattern: str, target: str | None, names: Iterable[str]) -> list[Pair]:
    """The groups that fit a glob, ascending, each with its target.

    Args:
        target: with one `*`, for what that of the pattern stands for; None for the same name.
    Raises:
        UsageError: the two do not have one `*` each.
    """
    fitting = sorted(name for name in names if fnmatch.fnmatchcase(name, pattern))
    if target is None:
        return [Pair(name, name) for name in fitting]
    plain = pattern.count(ANY) == 1 and not {"?", "["} & set(pattern)
    if not plain or target.count(ANY) != 1:
        raise UsageError(
            f"`{pattern}` and `{target}` must have one `*` each",
            hint="for example --from 'billing-*' --to 'billing-v2-*', or use --map OLD=NEW",
        )
    before, after = pattern.split(ANY)
    return [
        Pair(name, target.replace(ANY, name[len(before) : len(name) - len(after)]))
        for name in fitting
    ]


def check_pairs(pairs: Sequence[Pair], *, elsewhere: bool) -> None:
    """See that each group gets the commits of one other.

    Args:
        elsewhere: the targets are of another cluster.
    Raises:
        UsageError: one does not.
    """
    targets: dict[str, str] = {}
    for source, target in pairs:
        if source == target and not elsewhere:
            raise UsageError(
                f"`{source}` cannot be copied to itself", hint="use --from GROUP --to OTHER"
            )
        if targets.setdefault(target, source) != source:
            raise UsageError(f"`{targets[target]}` and `{source}` would both go to `{target}`")
