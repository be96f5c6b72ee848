"""Which partitions an official reset is about, checked before anything is planned."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgroups.cli.official.actions.official_csv import read_plan
from kgroups.cli.official.actions.values import scope_of
from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.streams import fail, fail_command
from kgroups.cli.official.tools import Tool
from kgroups.cli.official.validation import Misuse
from kgroups.cli.official.words import WRAPPER, error_text, exception_text
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.plan_file import Offsets
from kgroups.core.offsets.reset import committed_partitions
from kgroups.core.offsets.scope import partitions_of
from kgroups.core.snapshot import Group, PartitionLog, Topic, TopicPartition
from kgroups.core.streams_tasks import input_commits


@dataclass
class Reset:
    """Findings of one call, and what it will write.

    Args:
        topic_ids: of the topics in scope, as far as they are known.
        plans: group to what is to be committed; empty where nothing can be done.
        notices: what the user should know, in order.
        failed: whether some group is left out.
        undo: the file with what was replaced; None for none.
        results: how many commits were `done`, `failed`, or are `unknown`.
        interrupted: whether Ctrl-C came after the first write.
    """

    tool: Tool
    cluster_id: str | None = None
    topic_ids: dict[str, str | None] = field(default_factory=dict)
    plans: dict[str, list[Change]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    failed: bool = False
    undo: Path | None = None
    results: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False

    def drop(self, group: str, text: str, hint: str | None = None) -> None:
        """Leave a group out for a reason.

        Raises:
            LateError: it is the only one.
        """
        if len(self.plans) == 1:
            raise LateError(text)
        self.leave_out(text, hint or f"group {group} is left out")

    def leave_out(self, text: str, hint: str | None = None, *, command: bool = True) -> None:
        """Say why a group is left out.

        Args:
            command: in the words that the official tool ends with; else on a line of its own.
        """
        self.failed = True
        if command:
            fail_command(self.tool, text, hint)
        else:
            fail(text, hint)


def file_scopes(
    arguments: Arguments, admin: ClusterAdmin, free: Sequence[Group], reset: Reset
) -> tuple[dict[str, Offsets], Mapping[str, Topic]]:
    """The file's offsets for each group that it names, and their topics.

    Raises:
        LateError: the file cannot be read, or names a partition that cannot be reset.
    """
    one_group = len(arguments.values("group")) == 1
    plan = read_plan(arguments.value("from-file") or "", list(reset.plans), one_group=one_group)
    given = {group.group: plan[group.group] for group in free if group.group in plan}
    for group in free:
        if group.group not in given:
            reset.leave_out(f"No reset plan for group {group.group} found.", command=False)
    named = sorted({at for offsets in given.values() for at in offsets})
    topics, failures = _topics(admin, {topic for topic, _ in named})
    for topic, number in named:
        if topic not in topics and topic not in failures:
            text = (
                f"Failed to fetch metadata for partition {topic}-{number} because metadata for "
                f"topic `{topic}` could not be found"
            )
            raise LateError(WRAPPER + exception_text("UNKNOWN_TOPIC_OR_PARTITION", text))
    problem = _problem(named, topics, failures)
    if problem is not None:
        raise LateError(problem)
    return given, topics


def option_scopes(
    arguments: Arguments, admin: ClusterAdmin, free: Sequence[Group], reset: Reset
) -> tuple[dict[str, list[TopicPartition]], Mapping[str, Topic]]:
    """Partitions of each group, all of which exist and have a leader, and their topics.

    Raises:
        LateError: what is named cannot be reset.
        Misuse: nothing is named, or it cannot be read.
    """
    tool = arguments.tool
    if arguments.has(tool.all_topics):
        read = input_commits if tool.kind == "streams" else committed_partitions
        scopes = {group.group: read(group) for group in free}
        topics, failures = _topics(admin, {topic for own in scopes.values() for topic, _ in own})
        for group, own in list(scopes.items()):
            problem = _problem(own, topics, failures)
            if problem is not None:
                reset.drop(group, problem)
                del scopes[group]
        return scopes, topics
    if not arguments.has(tool.topic):
        scope_options = f"--{tool.all_topics}, --{tool.topic}"
        raise Misuse(f"One of the reset scopes should be defined: {scope_options}.")
    scope = scope_of(arguments.values(tool.topic))
    topics, failures = _topics(admin, scope.names)
    for name in scope.topics:
        if name not in topics:
            raise LateError(error_text(failures.get(name, "UNKNOWN_TOPIC_OR_PARTITION")))
    chosen, _ = partitions_of(scope, topics)
    named = sorted({*chosen, *scope.partitions})
    problem = _problem(named, topics, failures)
    if problem is not None:
        raise LateError(problem)
    scopes = {group.group: named for group in free}
    for each in free if tool.kind == "streams" else ():
        if not set(named) <= set(committed_partitions(each)):
            text = f"One or more topics are not part of the group '{each.group}'."
            reset.leave_out(text, command=False)
            del scopes[each.group]
    return scopes, topics


def _topics(admin: ClusterAdmin, names: set[str]) -> tuple[Mapping[str, Topic], Mapping[str, str]]:
    """Those of the topics that exist, and the errors of those that are not to be seen."""
    if not names:
        return {}, {}
    return topics_with_bounds(admin, names)


def _problem(
    partitions: Iterable[TopicPartition], topics: Mapping[str, Topic], failures: Mapping[str, str]
) -> str | None:
    """Why partitions cannot be reset: some do not exist, have no leader or are not to be seen."""
    wanted = sorted(partitions)
    for topic, _ in wanted:
        if topic in failures:
            return WRAPPER + exception_text(failures[topic])
        if topic not in topics:
            return WRAPPER + exception_text("UNKNOWN_TOPIC_OR_PARTITION")
    missing = [at for at in wanted if at[1] not in topics[at[0]].partitions]
    if missing:
        return f'The partitions "{joined(missing)}" do not exist'
    leaderless = [at for at in wanted if log_of(topics, at).leader is None]
    if leaderless:
        return f'The partitions "{joined(leaderless)}" have no leader'
    errors = (log_of(topics, at).error for at in wanted)
    return next((WRAPPER + exception_text(code) for code in errors if code is not None), None)


def joined(partitions: Iterable[TopicPartition], separator: str = ",") -> str:
    """`topic-0,topic-1`."""
    return separator.join(f"{topic}-{number}" for topic, number in partitions)


def log_of(topics: Mapping[str, Topic], at: TopicPartition) -> PartitionLog:
    """The log of a partition that is known to exist."""
    return topics[at[0]].partitions[at[1]]


def offsets_since(
    moment: int,
    admin: ClusterAdmin,
    topics: Mapping[str, Topic],
    scopes: Mapping[str, Iterable[TopicPartition]],
) -> dict[TopicPartition, int | None]:
    """The first offset of each partition in scope that is not older than the moment asked for.

    Raises:
        LateError: the moment is before 1970, which is a code of another meaning on the wire.
    """
    if moment < 0:
        raise LateError(WRAPPER + exception_text("UNSUPPORTED_VERSION"))
    inside = {at for scope in scopes.values() for at in scope}
    asked = {
        name: Topic(
            name,
            {number: log for number, log in topic.partitions.items() if (name, number) in inside},
        )
        for name, topic in topics.items()
    }
    return offsets_at(admin, asked, moment)
