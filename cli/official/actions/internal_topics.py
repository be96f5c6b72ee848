"""`--delete-internal-topic` and `--delete-all-internal-topics` of streams groups."""

from collections.abc import Mapping, Sequence

from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.streams import fail
from kgroups.cli.official.words import failure_text
from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.writes.topic_deletion import MISSING, delete_topics
from kgroups.core.streams_tasks import internal_topics_of, is_named_internal


def internal_topics(admin: ClusterAdmin, groups: Sequence[str]) -> dict[str, list[str]]:
    """The internal topics of each group that has some; those of other names are told and kept."""
    if not groups:
        return {}
    snapshot = admin.snapshot(groups, offsets=False, log_offsets=False)
    by_group: dict[str, list[str]] = {}
    for group in snapshot.groups:
        for topic in internal_topics_of(group):
            if is_named_internal(topic, group.group):
                by_group.setdefault(group.group, []).append(topic)
            else:
                fail(
                    f"The internal topic '{topic}' is not inferred as internal and thus will not "
                    f"be deleted with the group '{group.group}'."
                )
    return by_group


def topics_to_delete(
    arguments: Arguments, admin: ClusterAdmin, groups: Sequence[str]
) -> dict[str, list[str]]:
    """Topics that a reset of these groups is to delete, group by group.

    Raises:
        LateError: a topic is named that has not the name of an internal one of these groups.
    """
    if arguments.has("delete-all-internal-topics"):
        return internal_topics(admin, groups)
    by_group: dict[str, list[str]] = {}
    for topic in dict.fromkeys(arguments.values("delete-internal-topic")):
        owner = next((group for group in groups if is_named_internal(topic, group)), None)
        if owner is None:
            raise LateError(f"'{topic}' is not an internal topic of the group: nothing was written")
        by_group.setdefault(owner, []).append(topic)
    return by_group


def delete_after_reset(admin: ClusterAdmin, topics: Mapping[str, Sequence[str]]) -> bool:
    """Delete the topics of groups that begin anew; whether all are gone."""
    answers = delete_topics(admin, [topic for own in topics.values() for topic in own])
    for group, own in topics.items():
        errors = [error for topic in own if (error := answers[topic]) is not None]
        if any(error.code == MISSING for error in errors):
            fail(
                f"Deleting internal topics for group '{group}' failed because the topics do not "
                "exist."
            )
        elif errors:
            cause = failure_text(errors[0])
            fail(f"Deleting internal topics for group '{group}' failed due to {cause}")
    return not any(answers.values())


def delete_internal_topics(
    admin: ClusterAdmin, topics: Mapping[str, Sequence[str]]
) -> dict[str, ItemError]:
    """Delete the topics of each group; of groups with a topic that is still there, one error.

    Each such topic is named.
    """
    answers = delete_topics(admin, [topic for own in topics.values() for topic in own])
    failures: dict[str, ItemError] = {}
    for group, own in topics.items():
        for topic in own:
            error = answers[topic]
            if error is not None:
                fail(f"Failed to delete internal topic: {topic}")
                failures.setdefault(group, error)
    return failures
