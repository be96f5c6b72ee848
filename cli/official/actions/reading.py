"""What changes nothing: `--list`, `--describe`, `--validate-regex`."""

from collections.abc import Iterator, Sequence

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.official import layouts
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.layouts import View
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail, fail_command, notice, show
from kgroups.cli.official.validation import states_of, types_of
from kgroups.cli.official.words import (
    UNREACHABLE,
    WRAPPER,
    describe_failure,
    exception_text,
    list_failure,
    nobody_answers,
)
from kgroups.core.errors import ItemError, KgroupsError, PatternError
from kgroups.core.lag.rules import LEADERLESS_ERRORS
from kgroups.core.patterns import compile_pattern
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition


def validate_regex(arguments: Arguments) -> int:
    """Check a regular expression as brokers do."""
    pattern = arguments.value("validate-regex") or ""
    try:
        compile_pattern(pattern)
    except PatternError as error:
        show(f"The regular expression `{pattern}` is invalid: {error}.\n")
    else:
        show(f"The regular expression `{pattern}` is valid.\n")
    return 0


def list_groups(arguments: Arguments) -> int:
    """List consumer groups, with their types and states if asked."""
    with_states, with_types = arguments.has("state"), arguments.has("type")
    with open_cluster(arguments) as admin:
        types = types_of(arguments.value("type"))
        states = states_of(arguments.value("state"))
        try:
            listing = admin.list_groups(states=states, types=types)
        except KgroupsError as error:
            wrapper = "" if with_states or with_types else WRAPPER
            fail_command(wrapper + list_failure(error), error.hint or error.message)
            return 1
    groups = [group for group in listing.groups if is_consumer_group(group)]
    show(layouts.list_text(groups, types=with_types, states=with_states))
    for broken in listing.errors:
        fail_command(list_failure(broken), f"{broken.target}: {broken.message}")
    return 1 if listing.errors else 0


def is_consumer_group(group: Group) -> bool:
    """Whether the tool counts a group as one of consumers, or of nobody but commits."""
    if group.type == "classic":
        return (group.protocol_type or "") in ("", "consumer")
    return group.type == "consumer"


def describe(arguments: Arguments) -> int:
    """Describe groups; those that fail are named and the others shown."""
    view: View = "offsets"
    if arguments.has("members"):
        view = "members"
    elif arguments.has("state"):
        view = "state"
    names = None if arguments.has("all-groups") else arguments.values("group")
    with open_cluster(arguments) as admin:
        try:
            snapshot = admin.snapshot(
                names, offsets=view == "offsets", log_offsets=view == "offsets"
            )
        except KgroupsError as error:
            if error.code not in UNREACHABLE:
                text = exception_text(error.code)
            elif names is None:
                text = WRAPPER + list_failure(error)
            else:
                text = nobody_answers("describeConsumerGroups")
            fail_command(text, error.hint or error.message)
            return 1
    return show_described(snapshot, [view], names=names, verbose=arguments.has("verbose"))


def show_described(
    snapshot: ClusterSnapshot,
    views: Sequence[View],
    *,
    names: Sequence[str] | None,
    verbose: bool,
) -> int:
    """Print the groups of a snapshot; 1 if something about them could not be learned.

    Args:
        snapshot: has the groups.
        views: which tables, for every group.
        names: groups that were named, of which each must be there; None for all consumer groups.
        verbose: more columns.
    """
    failed = False
    for view in views:
        for group in sorted(snapshot.groups, key=lambda group: utf16_key(group.group)):
            problem = not_a_consumer_group(group)
            if problem is None:
                failed |= not _show_group(snapshot, group, view, verbose=verbose)
            elif names is not None and view == views[0]:
                fail_command(problem)
                failed = True
    for text, hint in _failures(snapshot, offsets="offsets" in views):
        fail_command(text, hint)
        failed = True
    return 1 if failed else 0


def _show_group(snapshot: ClusterSnapshot, group: Group, view: View, *, verbose: bool) -> bool:
    """Print one group; whether it exists, which brokers before 4.0 tell by a state."""
    if group.state == "Dead":
        fail(f"Consumer group '{group.group}' does not exist.")
        return False
    words = layouts.notice(group)
    if words is not None:
        notice(words)
    show(layouts.group_text(snapshot, group, view, verbose=verbose))
    return True


def not_a_consumer_group(group: Group) -> str | None:
    """Why the tool does not describe a group; None if it does."""
    if is_consumer_group(group):
        return None
    if group.type == "classic":
        return (
            f"java.lang.IllegalArgumentException: GroupId {group.group} is not a consumer group "
            f"({group.protocol_type})."
        )
    return exception_text("GROUP_ID_NOT_FOUND", f"Group {group.group} is not a consumer group.")


def _failures(snapshot: ClusterSnapshot, *, offsets: bool) -> Iterator[tuple[str, str | None]]:
    """What could not be learned, as the tool would say it, with our own words for it."""
    partitions = _unmeasured(snapshot) if offsets else {}
    topics = {topic for topic, _ in partitions}
    told = {f"{topic}-{number}" for topic, number in partitions} | topics
    codes = {error.target: error.code for error in snapshot.errors}
    for (topic, number), code in sorted(partitions.items()):
        known = codes.get(topic, code)
        yield WRAPPER + exception_text(known), f"partition {topic}-{number} is not measured"
    measured = {
        f"{topic.topic}-{number}"
        for topic in snapshot.topics.values()
        for number in topic.partitions
    } | set(snapshot.topics)
    for error in snapshot.errors:
        if error.target not in told and error.target not in measured:
            yield describe_failure(error), _explained(error)


def _explained(error: ItemError) -> str | None:
    if error.code == "GROUP_ID_NOT_FOUND":
        return None
    return f"{error.target}: {error.message}"


def _unmeasured(snapshot: ClusterSnapshot) -> dict[TopicPartition, str]:
    """Partitions of the groups that are gone or were refused; leaderless ones are no failure."""
    found: dict[TopicPartition, str] = {}
    for group in snapshot.groups:
        if not is_consumer_group(group):
            continue
        for line in layouts.offset_lines(snapshot, group):
            topic = snapshot.topics.get(line.topic)
            log = None if topic is None else topic.partitions.get(line.partition)
            code = "UNKNOWN_TOPIC_OR_PARTITION" if log is None else log.error
            if code is not None and code not in LEADERLESS_ERRORS:
                found[line.topic, line.partition] = code
    return found
