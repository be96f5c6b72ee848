"""`copy-offsets --match records`: where the same record is in the other cluster."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final, Literal

from kgroups.cli.commands.writes.copy_sources import Source
from kgroups.cli.commands.writes.record_skips import MOST_BYTES, limits_of
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.progress import progress_bar
from kgroups.cli.output.table import Column
from kgroups.cli.usage import option
from kgroups.core.errors import ItemError, NotFoundError, UsageError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_twins import sightings, standings
from kgroups.core.kafka.lookups.record_walk import Allowance, Stand, read_each, unread_error
from kgroups.core.lag.rules import Isolation
from kgroups.core.offsets.change import Change, Key
from kgroups.core.offsets.copy import put_at
from kgroups.core.offsets.record_match import Match, Sightings, Spot, Standing, matched
from kgroups.core.offsets.reset import committed
from kgroups.core.offsets.scope import log_of
from kgroups.core.snapshot import Group, Topic, TopicPartition
from kgroups.core.times import timestamp

MatchBy = Annotated[
    Literal["time", "records"] | None,
    option("--match HOW", "To another cluster by time or records (time).", show_default=False),
]
TopicPrefix = Annotated[
    str,
    option(
        "--topic-prefix PREFIX", "Put before topic names in the target: east.", show_default=False
    ),
]
FARTHER: Final = "use a higher --limit, or `--match time`"
COLUMN: Final = Column("match", "MATCH", quiet=(None,))


@dataclass(frozen=True, slots=True)
class Comparison:
    """How records are compared.

    Args:
        limit: of records that are read in each cluster.
        limit_ms: of time, for each cluster.
        found: what was found, by change.
    """

    limit: int
    limit_ms: int
    isolation: Isolation
    found: dict[Key, Mapping[str, Any]] = field(default_factory=dict)

    def told(self, change: Change) -> Mapping[str, Any]:
        """Fields of a change in documents."""
        return self.found.get(change.key, {})


def comparison_of(
    how: str | None, limit: str | None, isolation: Isolation, *, by_time: bool
) -> Comparison | None:
    """The comparison that the options ask for; None where times are enough.

    Args:
        by_time: offsets are translated by time otherwise.
    Raises:
        UsageError: they do not go together.
    """
    if how is not None and not by_time:
        hint = "name it with --to-context or --to-bootstrap-server"
        raise UsageError("--match requires another cluster, and no --checkpoints", hint=hint)
    if how == "records":
        return Comparison(*limits_of(limit), isolation)
    if limit is not None:
        raise UsageError("--limit requires --match records")
    return None


@dataclass(slots=True)
class _Side:
    """One of the clusters, while its records are read."""

    printer: Printer
    admin: ClusterAdmin
    topics: Mapping[str, Topic]
    comparison: Comparison
    doing: str
    allowance: Allowance = field(init=False)

    def __post_init__(self) -> None:
        limit, until = self.comparison.limit, Deadline.after(self.comparison.limit_ms)
        self.allowance = Allowance(limit, MOST_BYTES, until)

    def read(
        self,
        wanted: Mapping[TopicPartition, Any],
        ask: Callable[[OffsetsLog, Stand], Awaitable[Any]],
    ) -> dict[TopicPartition, Any]:
        """Answers of `ask` for each partition, or its error; logs without bounds are absent."""
        limit = self.comparison.limit
        grace_ms = self.comparison.limit_ms + self.printer.options.timeout_ms

        async def read(log: OffsetsLog, stand: Stand) -> Any:
            answer = await ask(log, stand)
            looked = limit - self.allowance.records
            self.printer.progress(progress_bar(self.doing, looked, limit))
            return answer

        stands = {at: stand for at in wanted if (stand := _stand(self.topics, at)) is not None}
        return read_each(
            *(self.admin, self.topics, stands, read),
            isolation=self.comparison.isolation,
            until=Deadline.after(grace_ms),
        )


def _stand(topics: Mapping[str, Topic], at: TopicPartition) -> Stand | None:
    log = log_of(topics, at)
    if log is None or log.log_start_offset is None or log.log_end_offset is None:
        return None
    return Stand(log.log_start_offset, log.log_start_offset, log.log_end_offset)


@contextmanager
def _stopped(*admins: ClusterAdmin) -> Iterator[None]:
    """Reading records is not counted: the deadlines of both clusters stand still."""
    ends = {id(one): one for one in (admin.ends() for admin in admins)}
    one, *others = ends.values()
    with one.stopped():
        if others:
            with others[0].stopped():
                yield
        else:
            yield


def matched_changes(
    printer: Printer,
    clusters: tuple[ClusterAdmin, ClusterAdmin],
    copies: Sequence[tuple[Group, Source]],
    logs: tuple[Mapping[str, Topic], Mapping[str, Topic]],
    prefix: str,
    comparison: Comparison,
) -> list[Change]:
    """The plan: each commit to where its next record is in the other cluster.

    Args:
        clusters: the source and the target.
        copies: groups of the target, without members, and what is copied to them.
        logs: the topics of both clusters, with bounds.
        prefix: of topics in the target cluster.
    Raises:
        ClusterError: a cluster cannot be reached.
    """
    commits: dict[TopicPartition, set[int]] = {}
    for _, source in copies:
        for at in source.partitions:
            commit = committed(source.group, at)
            if commit is not None:
                commits.setdefault(at, set()).add(commit.offset)
    here = _Side(printer, clusters[0], logs[0], comparison, "reading the source")
    there = _Side(printer, clusters[1], logs[1], comparison, "looking for the records")
    with _stopped(*clusters):
        stood = here.read(
            commits,
            lambda log, stand: standings(
                log, stand, sorted(commits[log.topic, log.partition]), here.allowance
            ),
        )
        wanted = {
            (prefix + topic, number): list(found.values())
            for (topic, number), found in stood.items()
            if not isinstance(found, str)
        }
        seen = there.read(
            wanted,
            lambda log, stand: sightings(
                log, stand, wanted[log.topic, log.partition], there.allowance
            ),
        )
    changes: list[Change] = []
    for group, source in copies:
        for at in source.partitions:
            commit, to = committed(source.group, at), (prefix + at[0], at[1])
            change = Change(group.group, *to)
            found, log = stood.get(at), log_of(logs[1], to)
            standing = found.get(commit.offset) if isinstance(found, dict) and commit else None
            problem = _unread(change.target, at, found, "source cluster")
            if problem is None and standing is None:
                end = log_of(logs[0], at)
                text = "looked no further in the source cluster, as far as --limit allows"
                if end is not None and commit and commit.offset > (end.log_end_offset or 0):
                    text = "the commit lies beyond the end of the log"
                problem = _not_there(change.target, text, FARTHER)
                comparison.found[change.key] = _document(Match("not there"), Standing((), ()))
            problem = problem or _unread(change.target, to, seen.get(to), "other cluster")
            if problem is not None or standing is None:
                changes.append(put_at(group, to, log, problem, ""))
                continue
            match = matched(standing if seen[to][1] else standing.untimed(), seen[to][0])
            comparison.found[change.key] = _document(match, standing)
            goal = match.offset if match.offset is not None else _why(change.target, seen[to][0])
            changes.append(put_at(group, to, log, goal, _note(match, standing)))
    return changes


def _unread(target: str, at: TopicPartition, found: object, where: str) -> ItemError | None:
    """Why records could not be read; None if they were."""
    if isinstance(found, str):
        return replace(unread_error(at, found), target=target)
    if found is None:
        text = f"`{at[0]}-{at[1]}` is not in the {where}, or has no leader"
        hint = "use --topic-prefix if topics have other names there"
        code = "UNKNOWN_TOPIC_OR_PARTITION"
        return ItemError(target, code, text, hint, NotFoundError.exit_code)
    return None


def _why(target: str, seen: Sightings) -> ItemError:
    if seen.unfinished is not None:
        text = f"looked up to {seen.looked_to} in the other cluster, as far as --limit allows"
        return _not_there(target, text, FARTHER)
    return _not_there(target, "the next record to read is not in the other cluster")


def _not_there(
    target: str, text: str, hint: str = "wait until it is replicated, or use `--match time`"
) -> ItemError:
    return ItemError(target, "NO_SAME_RECORD", text, hint, NotFoundError.exit_code)


def _note(match: Match, standing: Standing) -> str:
    if match.matched is None:
        text = "all is read" if not standing.after else "the next record is not there yet"
        return f"{text}, set to the log end"
    written = timestamp(match.matched.timestamp_ms)
    if match.verdict == "ambiguous":
        return f"{counted(match.alike, 'record')} alike, the earliest is from {written}"
    return f"next record is from {written}"


def _document(match: Match, standing: Standing) -> dict[str, Any]:
    def told(name: str, spot: Spot | None) -> dict[str, Any]:
        written = None if spot is None or spot.timestamp_ms < 0 else timestamp(spot.timestamp_ms)
        return {
            f"{name}_offset": None if spot is None else spot.offset,
            f"{name}_written_at": written,
        }

    source = standing.after[0] if standing.after else None
    return {
        "match": match.verdict,
        "match_count": match.alike,
        **told("matched", match.matched),
        **told("source", source),
    }
