"""Look-ups before offsets are changed: groups that are free, topics, files."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kgroups.cli.output.printer import Printer
from kgroups.core.errors import NotFoundError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.offsets.change import Change, blocked_group
from kgroups.core.offsets.plan_file import Offsets
from kgroups.core.offsets.scope import Scope, partitions_of
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group, GroupType, Topic, TopicPartition


def free_groups(
    looked: ClusterSnapshot,
    names: Sequence[str],
    *,
    create: bool = False,
    types: Mapping[str, GroupType] = MappingProxyType({}),
) -> tuple[list[Group], list[Change]]:
    """The named groups whose commits can be changed, and the refusals of the others.

    Args:
        create: a group that is not there counts as one that has committed nothing, for a commit
            makes it.
        types: of groups that are made, where they are not classic ones.
    """
    free: list[Group] = []
    refused: list[Change] = []
    by_name = {group.group: group for group in looked.groups}
    for name in names:
        group = by_name.get(name)
        problem = blocked_group(name, group, looked.errors)
        if problem is None and group is not None:
            free.append(group)
        elif create and problem and problem.error and problem.error.code == "GROUP_ID_NOT_FOUND":
            free.append(Group(name, types.get(name, "classic"), "Empty", members=(), offsets={}))
        elif problem is not None:
            refused.append(problem)
    return free, refused


def resolved(scope: Scope, topics: Mapping[str, Topic]) -> list[TopicPartition]:
    """The partitions that a scope names.

    Raises:
        NotFoundError: one of them does not exist.
    """
    partitions, missing = partitions_of(scope, topics)
    if missing:
        names = ", ".join(f"`{error.target}`" for error in missing)
        raise NotFoundError(f"no such topic or partition: {names}", code=missing[0].code)
    return partitions


def read_logs(
    admin: ClusterAdmin, names: set[str], known: Mapping[str, Topic] | None = None
) -> dict[str, Topic]:
    """Those of the topics that exist, with the bounds of their logs.

    Args:
        known: topics that were just looked up; they are not looked up again.
    Raises:
        ClusterError: the brokers would not say anything about one of them.
    """

    listing = topics_with_bounds(admin, names, known or {})
    for name, code in listing.failures.items():
        raise broker_error(name, code).as_error()
    return listing.topics


def warn_of_unknown_ids(
    printer: Printer, what: str, topics: Mapping[str, Topic], topic_ids: Mapping[str, str]
) -> None:
    """Say where a topic that was deleted and created again cannot be told from what it was.

    Args:
        what: `the undo file`.
        topic_ids: that it knows.
    """
    if not topic_ids and topics:
        text = f"{what} has no topic ids, so a recreated topic cannot be detected"
        printer.note("TOPIC_IDS_UNKNOWN", text)
        return
    unknown = [n for n in topics if n not in topic_ids or topics[n].topic_id is None]
    if unknown:
        printer.note(
            "TOPIC_IDS_UNKNOWN",
            f"{len(unknown)} topics have no known id, so it cannot be detected if they were "
            "recreated",
        )


def committed_by(looked: ClusterSnapshot, name: str) -> Offsets:
    """Where a group stands that others are put to.

    Raises:
        ClusterError: it may not be looked at, or could not be.
        NotFoundError: it is not there, or committed nothing.
    """
    held = looked.needed(name).offsets
    if not held:
        raise NotFoundError(
            f"group `{name}` committed nothing",
            hint="`kgroups describe GROUP` shows its commits",
        )
    return {
        (topic, number): commit.offset
        for topic, commits in held.items()
        for number, commit in commits.items()
    }
