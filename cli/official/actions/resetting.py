"""`--reset-offsets`: plans for every group first, then the writes, then the table or the CSV.

What is to be where is planned by `core.offsets`, as for our own `reset-offsets`; here is what the
official options mean by it, and how it is told.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from kgroups.assignors.order.java_order import utf16_key
from kgroups.cli.audit_log import tell
from kgroups.cli.exits import now_ms
from kgroups.cli.interruption import Interruption, tell_interrupted
from kgroups.cli.official import layouts
from kgroups.cli.official.actions.committing import commit
from kgroups.cli.official.actions.internal_topics import delete_after_reset, topics_to_delete
from kgroups.cli.official.actions.official_csv import plan_text
from kgroups.cli.official.actions.reading import foreign
from kgroups.cli.official.actions.reset_scope import (
    Reset,
    file_scopes,
    joined,
    log_of,
    offsets_since,
    option_scopes,
)
from kgroups.cli.official.actions.values import moment_ms, span_ms
from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.official_cluster import open_cluster
from kgroups.cli.official.streams import fail_command, is_unread, say, show
from kgroups.cli.official.tools import CONSUMER_TOOL, Tool
from kgroups.cli.official.validation import WITHOUT_MODE, Misuse
from kgroups.cli.official.words import (
    UNREACHABLE,
    WRAPPER,
    describe_failure,
    exception_text,
    list_failure,
    nobody_answers,
    unlisted,
)
from kgroups.cli.write_files import add_outcome, default_undo_dir, save_undo
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, KgroupsError, UsageError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.change import Change
from kgroups.core.offsets.commit_rows import commit_rows
from kgroups.core.offsets.plan_file import Offsets
from kgroups.core.offsets.reset import Known, plan_reset
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.offsets.targets import Target, TargetKind
from kgroups.core.snapshot import CommittedOffset, Group, GroupType, Topic, TopicPartition

RESET_TABLE = (
    layouts.GROUP,
    layouts.TOPIC,
    layouts.PARTITION,
    layouts.Column("NEW-OFFSET"),
)
STREAMS_TABLE = (
    layouts.Column("GROUP", 30),
    layouts.Column("TOPIC", 30),
    layouts.PARTITION,
    layouts.Column("NEW-OFFSET", 15),
)
REFUSED: Final = "Failed altering group offsets for the following partitions"
UNKNOWN: Final = "It is not known whether the offsets of the following partitions were altered"
TARGETS: Final[Mapping[str, TargetKind]] = {
    "to-earliest": "earliest",
    "to-latest": "latest",
    "to-current": "current",
    "to-offset": "offset",
    "shift-by": "shift",
    "to-datetime": "time",
    "by-duration": "time",
    "from-file": "file",
}


def reset_offsets(arguments: Arguments) -> int:
    """Plan, write if `--execute` is given, and print what was planned."""
    if not arguments.has("execute") and not arguments.has("dry-run"):
        say(WITHOUT_MODE)
    to_change = arguments.has("execute")
    with open_cluster(arguments, to_change=to_change) as admin, ExitStack() as stack:
        reset, interruption = Reset(arguments.tool), Interruption(admin)
        try:
            groups = _groups(arguments, admin, reset)
            _plan(arguments, admin, groups, reset)
            for text in reset.notices:
                say(text)
            if arguments.has("execute"):
                named = [group for group, planned in reset.plans.items() if planned]
                topics = topics_to_delete(arguments, admin, named)
                _write(admin, reset, stack.enter_context(interruption))
                written = {group: topics[group] for group in topics if reset.plans[group]}
                if written and not interruption.asked and not delete_after_reset(admin, written):
                    reset.failed = True
        except KgroupsError as error:
            if isinstance(error, UsageError):
                raise
            fail_command(arguments.tool, _cause(arguments.tool, error), error.hint or error.message)
            return EXIT_CODE_INTERRUPTED if interruption.asked else 1
        return _report(arguments, reset)


def _report(arguments: Arguments, reset: Reset) -> int:
    """Print what was planned, or is written; the exit code."""
    tell(Counter(reset.results).elements(), reset.undo)
    if arguments.has("export"):
        plans = {group: dict(_rows(changes)) for group, changes in reset.plans.items()}
        is_single = arguments.tool.kind == "share" or len(arguments.values("group")) == 1
        show(plan_text(plans, with_group=not is_single))
    elif arguments.tool.kind == "share" and not any(reset.plans.values()):
        show("\n")
    elif reset.plans:
        show(reset_table(reset.plans, arguments.tool))
    if reset.undo is not None and is_unread():
        add_outcome(reset.undo, reset.results)
    if reset.interrupted:
        results = reset.results
        tell_interrupted(
            "commits are written",
            results["done"],
            sum(results.values()),
            results["unknown"],
            reset.undo,
        )
        return EXIT_CODE_INTERRUPTED
    return 1 if reset.failed else 0


def _cause(tool: Tool, error: KgroupsError) -> str:
    if error.code in UNREACHABLE:
        return WRAPPER + nobody_answers(tool.call("describe"))
    return exception_text(error.code)


def _rows(changes: Iterable[Change]) -> list[tuple[TopicPartition, int]]:
    """Each partition with its new offset."""
    return [
        ((change.topic, change.partition), change.new.offset)
        for change in changes
        if change.topic is not None and change.partition is not None and change.new is not None
    ]


def reset_table(plans: Mapping[str, Sequence[Change]], tool: Tool = CONSUMER_TOOL) -> str:
    """All plans as one table."""
    rows = [
        [group, topic, str(number), str(offset)]
        for group, changes in sorted(plans.items(), key=lambda plan: utf16_key(plan[0]))
        for (topic, number), offset in sorted(_rows(changes))
    ]
    return "\n" + layouts.table(STREAMS_TABLE if tool.kind == "streams" else RESET_TABLE, rows)


def _groups(arguments: Arguments, admin: ClusterAdmin, reset: Reset) -> list[Group]:
    """The groups to reset; one that does not exist yet is empty, one not to be seen is left out."""
    if arguments.has("all-groups"):
        listing = admin.list_groups()
        broken = unlisted(listing.errors)
        if broken is not None:
            raise LateError(WRAPPER + list_failure(broken))
        for lost in listing.errors:
            reset.leave_out(list_failure(lost), f"{lost.target}: {lost.message}")
        names = [group.group for group in listing.groups if arguments.tool.counts(group)]
    else:
        names = sorted(set(arguments.values("group")))
    if not names:
        return []
    snapshot = admin.snapshot(names, members=arguments.tool != CONSUMER_TOOL, log_offsets=False)
    reset.cluster_id = snapshot.cluster_id
    failures = {error.target: error for error in snapshot.errors}
    by_name = {group.group: group for group in snapshot.groups}
    groups: list[Group] = []
    reset.plans = {name: [] for name in names}
    for name in names:
        error = failures.get(name)
        if error is None:
            groups.append(by_name[name])
        elif error.code == "GROUP_ID_NOT_FOUND" and arguments.tool.kind != "streams":
            kind: GroupType = "share" if arguments.tool.kind == "share" else "classic"
            admin.types[name] = kind
            groups.append(Group(name, kind, "Dead", offsets={}))
        else:
            hint = f"{name}: {error.message}"
            reset.drop(name, WRAPPER + describe_failure(arguments.tool, error), hint)
    return groups


def _plan(arguments: Arguments, admin: ClusterAdmin, groups: Sequence[Group], reset: Reset) -> None:
    """Plan all groups; nothing has been written when one of them cannot be.

    Raises:
        LateError: a partition of the scope does not exist, or has no leader, or a value is wrong.
        Misuse: scope or scenario is missing, or the scope cannot be read.
    """
    free = _free(groups, reset)
    if not free:
        return
    scenario = next((name for name in arguments.tool.scenarios if arguments.has(name)), None)
    given: Mapping[str, Offsets] = {}
    if scenario == "from-file":
        given, topics = file_scopes(arguments, admin, free, reset)
        scopes: Mapping[str, Iterable[TopicPartition]] = given
    else:
        scopes, topics = option_scopes(arguments, admin, free, reset)
    reset.topic_ids = {name: topic.topic_id for name, topic in topics.items()}
    target = _target(arguments, scenario)
    at_time: Mapping[TopicPartition, int | None] = {}
    if target.kind == "time":
        at_time = offsets_since(target.number, admin, topics, scopes)
        for topic, partition in sorted(at for at, offset in at_time.items() if offset is None):
            reset.notices.append(
                f"\nWarn: Partition {partition} from topic {topic} is empty. Falling back to "
                "latest known offset."
            )
    shared = Known(topics, at_time)
    for group in free:
        if group.group in scopes:
            own = given.get(group.group)
            measured = Known(topics, at_time, own) if own else shared
            planned = plan_reset(group, sorted(scopes[group.group]), target, measured)
            reset.plans[group.group] = [
                _settled(change, target, topics, reset) for change in planned
            ]


def _free(groups: Iterable[Group], reset: Reset) -> list[Group]:
    """The groups of consumers without members; the others are left out.

    Raises:
        LateError: there is one group, and it is of another kind.
    """
    free: list[Group] = []
    for group in groups:
        problem = foreign(reset.tool, group)
        if problem is not None:
            wrapped = group.type == "classic" and reset.tool == CONSUMER_TOOL
            reset.drop(group.group, (WRAPPER if wrapped else "") + problem)
            continue
        if group.state not in ("Empty", "Dead") and reset.tool.kind == "share":
            raise Misuse(f"Share group '{group.group}' is not empty.")
        if group.state not in ("Empty", "Dead"):
            reset.leave_out(
                f"Assignments can only be reset if the group '{group.group}' is inactive, but the "
                f"current state is {group.state}.",
                command=False,
            )
        elif group.offsets is None:
            reset.leave_out(f"the commits of group {group.group} could not be read")
        else:
            free.append(group)
    return free


def _target(arguments: Arguments, scenario: str | None) -> Target:
    """Target that the scenario asks for.

    Raises:
        LateError: its value cannot be read.
        Misuse: there is none.
    """
    if scenario is None:
        names = ", ".join(f"[{name}]" for name in arguments.tool.scenarios)
        raise Misuse(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")
    number = 0
    if scenario in ("to-offset", "shift-by"):
        number = arguments.number(scenario) or 0
    elif scenario == "to-datetime":
        number = moment_ms(arguments.value(scenario) or "")
    elif scenario == "by-duration":
        number = now_ms() - span_ms(arguments.value(scenario) or "")
    return Target(TARGETS[scenario], number)


def _settled(change: Change, target: Target, topics: Mapping[str, Topic], reset: Reset) -> Change:
    """The change as it is to be written, also where the group stands there already.

    Raises:
        LateError: it cannot be made.
        Misuse: a shift of a partition without commit.
    """
    at = (change.topic or "", change.partition or 0)
    asked = change.asked
    offset = None if change.new is None else change.new.offset
    if target.kind == "current":
        # where the group stands, even outside the log; who never committed is put to the end
        offset = log_of(topics, at).log_end_offset if asked is None else asked
    elif target.kind == "shift" and asked is None:
        raise Misuse(
            f"Cannot shift offset for partition {at[0]}-{at[1]} since there is no current "
            "committed offset"
        )
    elif change.clamped and asked is not None and offset is not None:
        edge = "higher than latest" if asked > offset else "lower than earliest"
        reset.notices.append(
            f"WARN New offset ({asked}) is {edge} offset for topic partition "
            f"{at[0]}-{at[1]}. Value will be set to {offset}."
        )
    if offset is None:
        code = "UNKNOWN_SERVER_ERROR" if change.error is None else change.error.code
        raise LateError(WRAPPER + exception_text(code))
    return Change(change.group, *at, old=change.old, new=CommittedOffset(offset))


def _write(admin: ClusterAdmin, reset: Reset, interruption: Interruption) -> None:
    """Save what is replaced, then commit every plan; what is refused is said and leaves its plan.

    Raises:
        LateError: nothing was written, to the only group.
        UsageError: what is replaced cannot be saved, so nothing is written.
    """
    changes = [change for planned in reset.plans.values() for change in planned]
    if not changes:
        return
    folder = default_undo_dir()
    if folder is not None:
        hint = "set KGROUPS_UNDO_DIR to another folder, or KGROUPS_NO_UNDO=1"
        reset.undo = save_undo(
            folder,
            "reset-offsets",
            commit_rows(changes),
            cluster_id=reset.cluster_id,
            topic_ids={at[0]: reset.topic_ids.get(at[0]) for at, _ in _rows(changes)},
            hint=hint,
        )
        say(f"undo file: {reset.undo}")
    wanted = {
        group: {at: CommittedOffset(offset) for at, offset in _rows(planned)}
        for group, planned in reset.plans.items()
        if planned
    }
    answers = commit(admin, wanted, interruption)
    reset.interrupted = interruption.asked
    results = [result_of(answer) for answer in answers.values()]
    done, unknown = results.count("done"), results.count("unknown")
    reset.results = {"done": done, "failed": len(results) - done - unknown, "unknown": unknown}
    alone = len(reset.plans) == 1 and not reset.interrupted
    for group, commits in wanted.items():
        errors = {at: answers[group, *at] for at in commits if answers[group, *at] is not None}
        for text, of in ((REFUSED, False), (UNKNOWN, True)):
            codes = {
                at: error.code
                for at, error in errors.items()
                if error is not None and isinstance(error, Doubt) is of
            }
            said = f"{text}: [{joined(codes, ', ')}]"
            if len(codes) == len(commits) and alone:
                raise LateError(said)
            if codes:
                reset.leave_out(said, f"group {group}: {', '.join(sorted(set(codes.values())))}")
        reset.plans[group] = [
            change
            for change in reset.plans[group]
            if (change.topic, change.partition) not in errors
        ]
