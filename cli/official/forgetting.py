"""`--delete-offsets`: one group forgets what it committed for topics."""

from collections.abc import Mapping, Sequence
from typing import Final

from kgroups.cli.official import layouts
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.cluster import open_cluster
from kgroups.cli.official.scope import scope_of
from kgroups.cli.official.streams import fail, fail_command, show
from kgroups.cli.official.words import (
    UNREACHABLE,
    error_text,
    exception_text,
    group_failure,
    nobody_answers,
)
from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.offsets.scope import Partition

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
    with open_cluster(arguments) as admin:
        from kgroups.core.kafka.alterations import topics_with_bounds
        from kgroups.core.kafka.writes import write_commits

        group = arguments.value("group") or ""
        scope = scope_of(arguments.values("topic"))
        try:
            listing = topics_with_bounds(admin, scope.topics)
            unknown = {
                name: listing.failures.get(name, MISSING)
                for name in scope.topics
                if name not in listing.topics
            }
            partitions = {
                (name, number): None
                for name in scope.topics
                if name in listing.topics
                for number in listing.topics[name].partitions
            } | dict.fromkeys(scope.partitions)
            answers = write_commits(admin, {group: partitions})
        except KgroupsError as error:
            return _stopped(error)
    refused = {at: answers[group, *at] for at in partitions}
    lost = [error for error in refused.values() if error is not None and error.code in UNREACHABLE]
    if lost and len(lost) == len(refused):
        return _stopped(lost[0])
    _headline(group, [error.code for error in refused.values() if error is not None])
    rows = {
        at: None if error is None else group_failure(group, error) for at, error in refused.items()
    }
    show(status_table(rows, unknown))
    return 1 if unknown or any(rows.values()) else 0


def _stopped(error: KgroupsError | ItemError) -> int:
    """Say why nothing could be asked; the exit code."""
    unreachable = error.code in UNREACHABLE
    cause = nobody_answers("offsetDelete") if unreachable else exception_text(error.code)
    fail_command(cause, error.hint or error.message)
    return 1


def _headline(group: str, codes: Sequence[str]) -> None:
    first = next(iter(codes), None)
    if first is None:
        show(f"Request succeeded for deleting offsets from group {group}.\n")
    elif first in OF_GROUP:
        fail(error_text(first))
    elif first in OF_PARTITIONS:
        fail("Encountered some partition-level error, see the follow-up details.")
    else:
        fail(f"Encountered some unknown error: {first}")


def status_table(
    failures: Mapping[Partition, str | None],
    unknown: Mapping[str, str],
    *,
    well: str = "Successful",
) -> str:
    """A row for each partition, and for each topic that cannot be looked up.

    Args:
        failures: what Java would throw for each partition; None where all is well.
        unknown: error names of topics.
        well: what stands where all is well.
    """
    rows = [
        [topic, str(number), well if text is None else f"Error: {text}"]
        for (topic, number), text in failures.items()
    ]
    rows += [
        [topic, layouts.NOTHING, f"Error: {exception_text(code)}"]
        for topic, code in unknown.items()
    ]
    return "\n" + layouts.table(OFFSET_TABLE, sorted(rows, key=lambda row: row[0] + row[1]))
