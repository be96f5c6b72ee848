"""`--delete-offsets`: deletes a group's committed offsets of topics."""

from collections.abc import Mapping, Sequence
from typing import Final

from kgroups.cli.audit_log import tell
from kgroups.cli.interruption import Interruption
from kgroups.cli.official import layouts
from kgroups.cli.official.actions.committing import commit
from kgroups.cli.official.actions.values import scope_of
from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail, fail_command, show
from kgroups.cli.official.tools import Tool
from kgroups.cli.official.words import (
    NO_NODES,
    UNREACHABLE,
    WRAPPER,
    doubt_text,
    error_text,
    exception_text,
    group_failure,
    nobody_answers,
)
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.offsets.scope import Scope
from kgroups.core.snapshot import TopicPartition
from kgroups.core.streams_tasks import input_commits

UNKNOWN: Final = "Encountered some unknown error: "
TIMED_OUT: Final = "REQUEST_TIMED_OUT"
MISSING: Final = "UNKNOWN_TOPIC_OR_PARTITION"
OFFSET_TABLE: Final = (layouts.TOPIC, layouts.PARTITION, layouts.Column("STATUS", 15))

# Errors of single partitions that the headline sums up, and those of the group that it tells.
OF_PARTITIONS: Final = frozenset(
    {"GROUP_SUBSCRIBED_TO_TOPIC", "TOPIC_AUTHORIZATION_FAILED", MISSING}
)
OF_GROUP: Final = frozenset(
    {"INVALID_GROUP_ID", "GROUP_ID_NOT_FOUND", "GROUP_AUTHORIZATION_FAILED", "NON_EMPTY_GROUP"}
)


def delete_offsets(arguments: Arguments) -> int:
    """Delete commits; a partition that is refused does not keep the others."""
    tool = arguments.tool
    with open_cluster(arguments, to_change=True) as admin:
        group = arguments.value("group") or ""
        interruption = Interruption(admin)
        if tool.kind == "share":
            return _delete_starts(arguments, admin, group, interruption)
        scope = scope_of(arguments.values(tool.topic))
        try:
            if arguments.has(tool.all_topics) and tool.kind == "streams":
                scope = Scope((), tuple(input_partitions(admin, group)))
            listing = topics_with_bounds(admin, scope.topics)
            unknown = {
                name: exception_text(listing.failures.get(name, MISSING))
                for name in scope.topics
                if name not in listing.topics
            }
            partitions = {
                (name, number): None
                for name in scope.topics
                if name in listing.topics
                for number in listing.topics[name].partitions
            } | dict.fromkeys(scope.partitions)
            with interruption:
                answers = commit(admin, {group: partitions}, interruption)
                outcomes = {at: answers[group, *at] for at in partitions}
                tell(result_of(error) for error in outcomes.values())
                code = _report(group, outcomes, unknown)
                return EXIT_CODE_INTERRUPTED if interruption.asked else code
        except KgroupsError as error:
            code = _stopped(tool, error, scope)
            return EXIT_CODE_INTERRUPTED if interruption.asked else code


def input_partitions(admin: ClusterAdmin, name: str) -> list[TopicPartition]:
    """Partitions of input topics that a streams group has committed.

    Raises:
        LateError: there is no such group.
    """
    looked = admin.snapshot([name], log_offsets=False)
    group = looked.group(name)
    if group is None or group.type != "streams":
        text = (
            f"Group {name} not found." if group is None else f"Group {name} is not a streams group."
        )
        raise LateError(WRAPPER + exception_text("GROUP_ID_NOT_FOUND", text))
    return input_commits(group)


def _delete_starts(
    arguments: Arguments, admin: ClusterAdmin, group: str, interruption: Interruption
) -> int:
    """Delete the start offsets of a share group, topic by topic."""
    topics = sorted(set(arguments.values("topic")))
    try:
        admin.types[group] = "share"
        with interruption:
            answers = commit(admin, {group: {(topic, 0): None for topic in topics}}, interruption)
    except KgroupsError as error:
        if error.code not in UNREACHABLE:
            fail_command(arguments.tool, exception_text(error.code), error.hint or error.message)
            return 1
        errors: dict[str, ItemError | None] = dict.fromkeys(topics, ItemError.of(group, error))
    else:
        errors = {topic: answers[group, topic, 0] for topic in topics}
    tell(result_of(error) for error in errors.values())
    failed = {topic: error for topic, error in errors.items() if error is not None}
    reasons = {
        topic: doubt_text(error) if isinstance(error, Doubt) else error_text(error.code)
        for topic, error in failed.items()
    }
    codes = [error.code for error in failed.values()]
    if codes[:1] == ["GROUP_ID_NOT_FOUND"]:
        looked = admin.snapshot([group], members=False, offsets=False, log_offsets=False)
        text = f"Group {group} {'is not a share group' if looked.groups else 'not found'}."
        reasons = dict.fromkeys(reasons, text)
    elif MISSING in codes:
        text = "There is no offset information to delete."
        described = admin.topics(list(reasons)).topics
        reasons |= {topic: text for topic in described if failed[topic].code == MISSING}
    rows = [
        [topic, f"Error: {reasons[topic]}" if topic in reasons else "Successful"]
        for topic in sorted(errors)
    ]
    if codes and codes[0] in OF_GROUP:
        fail(next(iter(reasons.values())))
    show("\n" + layouts.table([layouts.TOPIC, layouts.Column("STATUS")], rows))
    if interruption.asked:
        return EXIT_CODE_INTERRUPTED
    return 1 if failed else 0


def _report(
    group: str,
    outcomes: Mapping[TopicPartition, ItemError | None],
    unknown: Mapping[str, str],
) -> int:
    _headline(group, [error.code for error in outcomes.values() if error is not None])
    rows = {at: None if error is None else _reason(group, error) for at, error in outcomes.items()}
    show(status_table(rows, unknown))
    return 1 if unknown or any(rows.values()) else 0


def _stopped(tool: Tool, error: KgroupsError, scope: Scope) -> int:
    """Say why nothing could be asked; the exit code."""
    if error.code not in UNREACHABLE:
        fail_command(tool, exception_text(error.code), error.hint or error.message)
        return 1
    fail(UNKNOWN + TIMED_OUT, error.hint or error.message)
    rows = dict.fromkeys(scope.partitions, nobody_answers("offsetDelete"))
    show(status_table(rows, dict.fromkeys(scope.topics, NO_NODES)))
    return 1


def _reason(group: str, error: ItemError) -> str:
    """Why a partition's commit is still there, or may be."""
    if isinstance(error, Doubt):
        return doubt_text(error)
    if error.code in UNREACHABLE:
        return nobody_answers("offsetDelete")
    return group_failure(group, error)


def _headline(group: str, codes: Sequence[str]) -> None:
    first = next(iter(codes), None)
    if first is None:
        show(f"Request succeeded for deleting offsets from group {for_stdout()(group)}.\n")
    elif first in OF_GROUP:
        fail(error_text(first))
    elif first in OF_PARTITIONS:
        fail("Encountered some partition-level error, see the follow-up details.")
    else:
        fail(UNKNOWN + (TIMED_OUT if first in UNREACHABLE else first))


def status_table(
    failures: Mapping[TopicPartition, str | None],
    unknown: Mapping[str, str],
    *,
    well: str = "Successful",
) -> str:
    """A row for each partition, and for each topic that cannot be looked up.

    Args:
        failures: what Java would throw for each partition; None where all is well.
        unknown: what it would throw for each topic.
        well: what stands where all is well.
    """
    rows = [
        [topic, str(number), well if text is None else f"Error: {text}"]
        for (topic, number), text in failures.items()
    ]
    rows += [[topic, layouts.NOTHING, f"Error: {text}"] for topic, text in unknown.items()]
    return "\n" + layouts.table(OFFSET_TABLE, sorted(rows, key=lambda row: row[0] + row[1]))
