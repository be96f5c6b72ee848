"""Actions that change nothing: `--list`, `--describe`, `--validate-regex`."""

from collections.abc import Iterator, Sequence

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.official import kind_layouts, layouts
from kgroups.cli.official.arguments import Arguments
from kgroups.cli.official.layouts import View
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail, fail_command, notice, show
from kgroups.cli.official.tools import CONSUMER_TOOL, Tool
from kgroups.cli.official.validation import states_of, types_of
from kgroups.cli.official.words import (
    UNREACHABLE,
    WRAPPER,
    describe_failure,
    exception_text,
    list_failure,
    nobody_answers,
    unlisted_text,
)
from kgroups.core.errors import ItemError, KgroupsError, PatternError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.topologies import topologies
from kgroups.core.lag.rules import LEADERLESS_ERRORS
from kgroups.core.patterns import compile_pattern
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition
from kgroups.core.topology_nodes import topology_text


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
    """List the groups, with their types and states if asked."""
    tool = arguments.tool
    with_states, with_types = arguments.has("state"), arguments.has("type")
    with open_cluster(arguments) as admin:
        types = types_of(arguments.value("type"))
        states = states_of(arguments.value("state"), tool.states)
        try:
            listing = admin.list_groups(states=states, types=types)
        except KgroupsError as error:
            bare = with_states or with_types
            text = list_failure(error) if bare else unlisted_text(tool, error)
            fail_command(tool, text, error.hint or error.message)
            return 1
    groups = [group for group in listing.groups if tool.counts(group)]
    if with_states and tool != CONSUMER_TOOL:
        show(kind_layouts.states_text(groups))
    else:
        show(layouts.list_text(groups, types=with_types, states=with_states))
    for broken in listing.errors:
        fail_command(tool, list_failure(broken), f"{broken.target}: {broken.message}")
    return 1 if listing.errors else 0


def describe(arguments: Arguments) -> int:
    """Describe groups; those that fail are named and the others shown."""
    tool = arguments.tool
    view: View = "offsets"
    if arguments.has("members"):
        view = "members"
    elif arguments.has("state"):
        view = "state"
    names = None if arguments.has("all-groups") else arguments.values("group")
    with open_cluster(arguments) as admin:
        if arguments.has("topology"):
            return show_topologies(admin, tool, names)
        try:
            snapshot = admin.snapshot(
                names, offsets=view == "offsets", log_offsets=view == "offsets"
            )
        except KgroupsError as error:
            if error.code not in UNREACHABLE:
                text = exception_text(error.code)
            elif names is None:
                text = unlisted_text(tool, error)
            else:
                text = nobody_answers(tool.call("describe"))
            fail_command(tool, text, error.hint or error.message)
            return 1
    verbose = arguments.has("verbose")
    return show_described(snapshot, [view], names=names, verbose=verbose, tool=tool)


def show_described(
    snapshot: ClusterSnapshot,
    views: Sequence[View],
    *,
    names: Sequence[str] | None,
    verbose: bool,
    tool: Tool = CONSUMER_TOOL,
) -> int:
    """Print the groups of a snapshot; 1 if something about them could not be learned.

    Args:
        names: groups that were named, of which each must be there; None for all of the tool's.
    """
    failed = False
    for view in views:
        for group in sorted(snapshot.groups, key=lambda group: utf16_key(group.group)):
            problem = foreign(tool, group)
            if problem is None:
                failed |= not _show_group(tool, snapshot, group, view, verbose=verbose)
            elif names is not None and view == views[0]:
                fail_command(tool, problem)
                failed = True
    for text, hint in _failures(tool, snapshot, offsets="offsets" in views):
        fail_command(tool, text, hint)
        failed = True
    return 1 if failed else 0


def _show_group(
    tool: Tool, snapshot: ClusterSnapshot, group: Group, view: View, *, verbose: bool
) -> bool:
    """Print one group; whether it exists, which brokers before 4.0 tell by a state."""
    kind = tool.kind.capitalize()
    if group.state == "Dead":
        fail(f"{kind} group '{group.group}' does not exist.")
        return False
    if tool == CONSUMER_TOOL:
        words = layouts.notice(group)
        text = layouts.group_text(snapshot, group, view, verbose=verbose)
    else:
        words = f"{kind} group '{group.group}' has no active members."
        if group.state != "Empty" or (tool.kind == "share" and view == "offsets"):
            words = None
        text = kind_layouts.group_text(snapshot, group, view, verbose=verbose)
    if words is not None:
        notice(words)
    show(text)
    return True


def foreign(tool: Tool, group: Group) -> str | None:
    """Why the tool does not describe a group; None if it does."""
    if tool.counts(group):
        return None
    if group.type == "classic" and tool == CONSUMER_TOOL:
        return (
            f"java.lang.IllegalArgumentException: GroupId {group.group} is not a consumer group "
            f"({group.protocol_type})."
        )
    return exception_text("GROUP_ID_NOT_FOUND", f"Group {group.group} is not a {tool.kind} group.")


def _failures(
    tool: Tool, snapshot: ClusterSnapshot, *, offsets: bool
) -> Iterator[tuple[str, str | None]]:
    """Failures of the look, as the tool would say it, with our own words for it."""
    partitions = _unmeasured(tool, snapshot) if offsets else {}
    topics = {topic for topic, _ in partitions}
    expected = {f"{topic}-{number}" for topic, number in partitions} | topics
    codes = {error.target: error.code for error in snapshot.errors}
    for (topic, number), code in sorted(partitions.items()):
        failure = codes.get(topic, code)
        yield WRAPPER + exception_text(failure), f"partition {topic}-{number} is not measured"
    measured = {
        f"{topic.topic}-{number}"
        for topic in snapshot.topics.values()
        for number in topic.partitions
    } | set(snapshot.topics)
    for error in snapshot.errors:
        if error.target not in expected and error.target not in measured:
            is_clear = error.code == "GROUP_ID_NOT_FOUND"
            more = None if is_clear else f"{error.target}: {error.message}"
            yield describe_failure(tool, error), more


def _unmeasured(tool: Tool, snapshot: ClusterSnapshot) -> dict[TopicPartition, str]:
    """Partitions of the groups that are gone or were refused; leaderless ones are no failure."""
    codes_of: dict[TopicPartition, str] = {}
    for group in snapshot.groups:
        if not tool.counts(group):
            continue
        for line in layouts.offset_lines(snapshot, group):
            topic = snapshot.topics.get(line.topic)
            log = None if topic is None else topic.partitions.get(line.partition)
            code = "UNKNOWN_TOPIC_OR_PARTITION" if log is None else log.error
            if code is not None and code not in LEADERLESS_ERRORS:
                codes_of[line.topic, line.partition] = code
    return codes_of


def show_topologies(admin: ClusterAdmin, tool: Tool, names: Sequence[str] | None) -> int:
    """Print the topologies of groups; 1 if one of them is not known.

    Args:
        names: None for all groups of the tool.
    """
    if names is None:
        names = [group.group for group in admin.list_groups().groups if tool.counts(group)]
    code = 0
    answers = topologies(admin, names) if names else {}
    for group in sorted(answers, key=utf16_key):
        answer = answers[group]
        if answer is None:
            fail(f"No topology description is stored for streams group '{group}'.")
        elif isinstance(answer, ItemError):
            if answer.code == "UNKNOWN_SERVER_ERROR":
                fail(
                    "The broker failed to fetch the topology description for streams group "
                    f"'{group}'. See the broker logs for details."
                )
            else:
                fail_command(tool, exception_text(answer.code, answer.message), answer.hint)
        else:
            show(topology_text(answer) + "\n")
            continue
        code = 1
    return code
