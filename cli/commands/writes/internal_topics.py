"""Internal topics of streams groups, which go with a reset or with the group if asked for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from kgroups.cli.output.printer import Printer
from kgroups.cli.usage import Texts, option
from kgroups.core.errors import ItemError, KgroupsError, RefusedError, UsageError, counted
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.writes.topic_deletion import delete_topics
from kgroups.core.offsets.result import WriteItem
from kgroups.core.streams_tasks import internal_topics_of, is_named_internal

InternalTopics = Annotated[
    Texts, option("--delete-internal-topic TOPIC", "Then delete this internal topic; repeatable.")
]
AllInternalTopics = Annotated[
    bool, option("--delete-all-internal-topics", "Then delete all internal topics.")
]
Topics = Mapping[str, Sequence[str]]
"""Group to internal topics that are to be deleted."""


def topics_of(
    printer: Printer,
    admin: ClusterAdmin,
    groups: Sequence[str],
    named: Sequence[str] | None,
    *,
    every: bool,
) -> dict[str, list[str]]:
    """The internal topics to delete of these groups, each told in a note.

    Raises:
        RefusedError: a named topic is not an internal one of the groups.
        UsageError: both options are given.
    """
    if named and every:
        raise UsageError(
            "--delete-internal-topic and --delete-all-internal-topics cannot be used together"
        )
    if not (named or every) or not groups:
        return {}
    looked = admin.snapshot(groups, offsets=False, log_offsets=False)
    found: dict[str, list[str]] = {}
    for group in looked.groups:
        for topic in internal_topics_of(group) if group.type == "streams" else ():
            if not is_named_internal(topic, group.group):
                text = (
                    f"keeping `{topic}`, which is not named as an internal topic of {group.group}"
                )
                printer.note("TOPIC_KEPT", text, topic)
            elif every or topic in (named or ()):
                found.setdefault(group.group, []).append(topic)
    strange = set(named or ()) - {topic for topics in found.values() for topic in topics}
    if strange:
        raise RefusedError(
            f"`{min(strange)}` is not an internal topic of the groups",
            hint="`kgroups describe GROUP --tasks` shows what they read",
        )
    for name, topics in found.items():
        text = f"internal topics of {name} to delete: {', '.join(topics)}"
        printer.note("INTERNAL_TOPICS", text, name)
    return found


def topics_question(topics: Topics) -> str:
    """`This deletes 2 internal topics, too.`"""
    count = sum(map(len, topics.values()))
    return f" This also deletes {counted(count, 'internal topic')}." if count else ""


def delete_with(
    admin: ClusterAdmin, topics: Topics, items: Iterable[WriteItem]
) -> tuple[list[str], list[ItemError]]:
    """Delete the topics of groups whose items are all done: the deleted ones, and failures."""
    undone = {
        getattr(item, "group", "") for item in items if item.result not in ("done", "skipped")
    }
    wanted = [topic for group, own in topics.items() if group not in undone for topic in own]
    try:
        told = delete_topics(admin, wanted) if wanted else {}
    except KgroupsError as error:
        return [], [ItemError.of(topic, error) for topic in wanted]
    failures = [error for error in told.values() if error is not None]
    return [topic for topic, failure in told.items() if failure is None], failures
