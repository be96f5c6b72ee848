"""`--delete`: groups go with all that they committed."""

from collections.abc import Mapping, Sequence

from kgroups.cli.audit_log import tell
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.official.actions.internal_topics import (
    delete_internal_topics,
    internal_topics,
)
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.layouts import deleted_text
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail, fail_command, show
from kgroups.cli.official.tools import CONSUMER_TOOL, Tool
from kgroups.cli.official.words import (
    UNREACHABLE,
    doubt_text,
    exception_text,
    failure_text,
    group_failure,
    list_failure,
    nobody_answers,
    unlisted,
    unlisted_text,
)
from kgroups.cli.output.escapes import for_stdout
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Outcome
from kgroups.core.offsets.result import Doubt
from kgroups.core.snapshot import Group


def delete(arguments: Arguments) -> int:
    """Delete groups; those that cannot be are named, the others are gone."""
    tool = arguments.tool
    incomplete = False
    groups: Mapping[str, Group] = {}
    with open_cluster(arguments, to_change=True) as admin:
        names = sorted(set(arguments.values("group")))
        if arguments.has("all-groups") or tool != CONSUMER_TOOL:
            try:
                listing = admin.list_groups()
            except KgroupsError as error:
                fail_command(tool, unlisted_text(tool, error), error.hint)
                return 1
            for broken in listing.errors:
                fail_command(tool, list_failure(broken), f"{broken.target}: {broken.message}")
                incomplete = True
            if unlisted(listing.errors) is not None:
                return 1
            groups = {group.group: group for group in listing.groups if tool.counts(group)}
            if arguments.has("all-groups"):
                names = list(groups)
        refused = {} if tool == CONSUMER_TOOL else _refused(tool, names, groups)
        free = [name for name in names if name not in refused]
        topics: Mapping[str, Sequence[str]] = {}
        if arguments.has("delete-all-internal-topics"):
            topics = internal_topics(admin, free)
        with Interruption(admin) as interruption:
            outcomes = _delete(admin, free, interruption)
            tell(outcome.result for outcome in outcomes)
            code = report(outcomes, tool, refused) or int(incomplete)
            done = [outcome.target for outcome in outcomes if outcome.error is None]
            code = (
                _delete_topics(admin, {name: topics[name] for name in done if name in topics})
                or code
            )
            return EXIT_CODE_INTERRUPTED if interruption.asked else code


def _refused(tool: Tool, names: Sequence[str], groups: Mapping[str, Group]) -> dict[str, str]:
    """Why groups are not even tried, as the tools that list them first say it."""
    texts = {}
    for name in names:
        group = groups.get(name)
        if group is None and tool.kind == "streams":
            texts[name] = (
                f"java.lang.IllegalArgumentException: Group '{name}' does not exist or is not a "
                "streams group."
            )
        elif group is None:
            text = f"Group '{name}' is not a {tool.kind} group."
            texts[name] = exception_text("GROUP_ID_NOT_FOUND", text)
        elif group.state != "Empty":
            text = f"{tool.kind.capitalize()} group '{name}' is not EMPTY."
            texts[name] = exception_text("NON_EMPTY_GROUP", text)
    return texts


def _delete_topics(admin: ClusterAdmin, topics: Mapping[str, Sequence[str]]) -> int:
    """Delete the internal topics of groups that are gone, and say so; the exit code."""
    if not topics:
        return 0
    failures = delete_internal_topics(admin, topics)
    if not failures:
        names = ", ".join(f"'{name}'" for name in map(for_stdout(), topics))
        show(
            f"Deletion of associated internal topics of the streams groups ({names}) was "
            "successful.\n"
        )
        return 0
    lines = [
        f"* Internal topics of the streams group '{group}' could not be deleted due to: "
        f"{failure_text(error)}"
        for group, error in failures.items()
    ]
    fail("\n".join(["Deletion of some associated internal topics failed:", *lines]))
    return 1


def _delete(
    admin: ClusterAdmin, names: Sequence[str], interruption: Interruption
) -> Sequence[Outcome]:
    try:
        errors = interruption.send(lambda: admin.delete_groups(names) if names else ())
    except KgroupsError as error:
        return [Outcome(name, "failed", ItemError.of(name, error)) for name in names]
    if errors is None:
        return [Outcome(name, "unknown", not_waited_for(name)) for name in names]
    return errors


def report(outcomes: Sequence[Outcome], tool: Tool, refused: Mapping[str, str]) -> int:
    """Say what became of each group.

    Args:
        refused: groups that were not tried, with the reason.
    """
    done = [outcome.target for outcome in outcomes if outcome.error is None]
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not errors and not refused:
        show(deleted_text(done, failed=False, kind=tool.kind))
        return 0
    reasons = dict(refused) | {
        error.target: _reason(error) for error in errors if not isinstance(error, Doubt)
    }
    lines = [
        f"* Group '{name}' could not be deleted due to: {reason}"
        for name, reason in reasons.items()
    ]
    if lines:
        fail("\n".join([f"Deletion of some {tool.kind} groups failed:", *lines]))
    open_ = [
        f"* Group '{doubt.target}': {doubt_text(doubt)}"
        for doubt in errors
        if isinstance(doubt, Doubt)
    ]
    if open_:
        fail("\n".join([f"Some {tool.kind} groups may be deleted or not:", *open_]))
    show(deleted_text(done, failed=True, kind=tool.kind))
    return 1


def _reason(error: ItemError) -> str:
    if error.code in UNREACHABLE:
        return nobody_answers("deleteConsumerGroups")
    return group_failure(error.target, error)
