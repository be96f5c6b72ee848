"""`--delete`: groups go with all that they committed."""

from collections.abc import Sequence

from kgroups.cli.audit_log import tell
from kgroups.cli.interruption import Interruption, not_waited_for
from kgroups.cli.official.actions.reading import is_consumer_group
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.layouts import deleted_text
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail, fail_command, show
from kgroups.cli.official.words import (
    UNREACHABLE,
    WRAPPER,
    doubt_text,
    group_failure,
    list_failure,
    nobody_answers,
    unlisted,
)
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Outcome
from kgroups.core.offsets.result import Doubt


def delete(arguments: Arguments) -> int:
    """Delete groups; those that cannot be are named, the others are gone."""
    incomplete = False
    with open_cluster(arguments, to_change=True) as admin:
        if arguments.has("all-groups"):
            try:
                listing = admin.list_groups()
            except KgroupsError as error:
                fail_command(WRAPPER + list_failure(error), error.hint)
                return 1
            for broken in listing.errors:
                fail_command(list_failure(broken), f"{broken.target}: {broken.message}")
                incomplete = True
            if unlisted(listing.errors) is not None:
                return 1
            names = [group.group for group in listing.groups if is_consumer_group(group)]
        else:
            names = sorted(set(arguments.values("group")))
        with Interruption(admin) as interruption:
            outcomes = _delete(admin, names, interruption)
            tell(outcome.result for outcome in outcomes)
            code = report(outcomes) or int(incomplete)
            return EXIT_CODE_INTERRUPTED if interruption.asked else code


def _delete(
    admin: ClusterAdmin, names: Sequence[str], interruption: Interruption
) -> Sequence[Outcome]:
    """What became of each group."""
    try:
        found = interruption.send(lambda: admin.delete_groups(names) if names else ())
    except KgroupsError as error:
        return [Outcome(name, "failed", ItemError.of(name, error)) for name in names]
    if found is None:
        return [Outcome(name, "unknown", not_waited_for(name)) for name in names]
    return found


def report(outcomes: Sequence[Outcome]) -> int:
    """Say what became of each group."""
    done = [outcome.target for outcome in outcomes if outcome.error is None]
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not errors:
        show(deleted_text(done, failed=False))
        return 0
    lines = [
        f"* Group '{error.target}' could not be deleted due to: {_reason(error)}"
        for error in errors
        if not isinstance(error, Doubt)
    ]
    if lines:
        fail("\n".join(["Deletion of some consumer groups failed:", *lines]))
    open_ = [
        f"* Group '{doubt.target}': {doubt_text(doubt)}"
        for doubt in errors
        if isinstance(doubt, Doubt)
    ]
    if open_:
        fail("\n".join(["Some consumer groups may be deleted or not:", *open_]))
    show(deleted_text(done, failed=True))
    return 1


def _reason(error: ItemError) -> str:
    if error.code in UNREACHABLE:
        return nobody_answers("deleteConsumerGroups")
    return group_failure(error.target, error)
