"""`--reset-offsets`: plans for every group first, then the writes, then the table or the CSV."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kgroups.cli.official import layouts
from kgroups.cli.official.arguments import Arguments, LateError
from kgroups.cli.official.cluster import open_cluster
from kgroups.cli.official.moments import moment_ms, span_ms
from kgroups.cli.official.options import SCENARIOS
from kgroups.cli.official.plan_file import Partition, plan_text, read_plan
from kgroups.cli.official.reading import is_consumer_group, not_a_consumer_group
from kgroups.cli.official.scope import scope_of
from kgroups.cli.official.streams import fail, fail_command, say, show
from kgroups.cli.official.validation import WITHOUT_MODE, Misuse
from kgroups.cli.official.words import (
    UNREACHABLE,
    WRAPPER,
    describe_failure,
    error_text,
    exception_text,
    list_failure,
    nobody_answers,
)
from kgroups.cli.source import now_ms
from kgroups.core.errors import KgroupsError
from kgroups.core.snapshot import CommittedOffset, Group, PartitionLog, Topic

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

Offsets = dict[Partition, int]

RESET_TABLE = (
    layouts.GROUP,
    layouts.TOPIC,
    layouts.PARTITION,
    layouts.Column("NEW-OFFSET"),
)


@dataclass
class Reset:
    """What one call found out, and what it will write.

    Args:
        plans: group to its new offsets; empty where nothing can be done.
        notices: what the user should know, in order.
        failed: whether some group is left out.
    """

    plans: dict[str, Offsets] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    failed: bool = False


def reset_offsets(arguments: Arguments) -> int:
    """Plan, write if `--execute` is given, and print what was planned."""
    if not arguments.has("execute") and not arguments.has("dry-run"):
        say(WITHOUT_MODE)
    with open_cluster(arguments) as admin:
        try:
            groups = _groups(arguments, admin)
            reset = _planned(arguments, admin, groups)
            for text in reset.notices:
                say(text)
            if arguments.has("execute"):
                reset.failed |= _write(admin, reset.plans)
        except KgroupsError as error:
            if isinstance(error, Misuse):
                raise
            fail_command(_cause(error), error.hint or error.message)
            return 1
    if arguments.has("export"):
        show(plan_text(reset.plans, with_group=len(arguments.values("group")) != 1))
    elif groups:
        show(reset_table(reset.plans))
    return 1 if reset.failed else 0


def _cause(error: KgroupsError) -> str:
    if error.code in UNREACHABLE:
        return nobody_answers("describeConsumerGroups")
    return exception_text(error.code)


def reset_table(plans: Mapping[str, Offsets]) -> str:
    """All plans as one table."""
    rows = [
        [group, topic, str(number), str(offset)]
        for group, offsets in sorted(plans.items(), key=lambda each: layouts.java_order(each[0]))
        for (topic, number), offset in sorted(offsets.items())
    ]
    return "\n" + layouts.table(RESET_TABLE, rows)


def _groups(arguments: Arguments, admin: "ClusterAdmin") -> list[Group]:
    """The groups to reset; one that does not exist yet is empty."""
    if arguments.has("all-groups"):
        listing = admin.list_groups()
        if listing.errors:
            raise LateError(WRAPPER + list_failure(listing.errors[0]))
        names = [group.group for group in listing.groups if is_consumer_group(group)]
    else:
        names = sorted(set(arguments.values("group")))
    if not names:
        return []
    snapshot = admin.snapshot(names, members=False, log_offsets=False)
    groups = list(snapshot.groups)
    for error in snapshot.errors:
        if error.code == "GROUP_ID_NOT_FOUND":
            groups.append(Group(error.target, "classic", "Dead", offsets={}))
        elif error.target in names:
            raise LateError(describe_failure(error))
    return groups


def _planned(arguments: Arguments, admin: "ClusterAdmin", groups: Iterable[Group]) -> Reset:
    """Plans of all groups; nothing has been written when one of them cannot be made.

    Raises:
        LateError: a partition of the scope does not exist, or has no leader, or a value is wrong.
        Misuse: scope or scenario is missing, or the scope cannot be read.
    """
    reset = Reset()
    free: list[Group] = []
    for group in groups:
        reset.plans[group.group] = {}
        problem = not_a_consumer_group(group)
        if problem is not None:
            raise LateError((WRAPPER if group.type == "classic" else "") + problem)
        if group.state not in ("Empty", "Dead"):
            fail(
                f"Assignments can only be reset if the group '{group.group}' is inactive, but the "
                f"current state is {group.state}."
            )
            reset.failed = True
        else:
            free.append(group)
    if not free:
        return reset
    scenario = next((name for name in SCENARIOS if arguments.has(name)), None)
    if scenario == "from-file":
        wanted = _from_file(arguments, [group.group for group in groups], free, reset)
        topics = _topics(admin, {topic for part in wanted.values() for topic, _ in part})
        named = {at for part in wanted.values() for at in part}
        for topic, number in sorted(named):
            if topic not in topics:
                text = (
                    f"Failed to fetch metadata for partition {topic}-{number} because metadata for "
                    f"topic `{topic}` could not be found"
                )
                raise LateError(WRAPPER + exception_text("UNKNOWN_TOPIC_OR_PARTITION", text))
        _check_partitions(named, topics)
    else:
        scopes, topics = _scopes(arguments, admin, free)
        if scenario is None:
            names = ", ".join(f"[{name}]" for name in SCENARIOS)
            raise Misuse(
                f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]"
            )
        wanted = _targets(arguments, scenario, admin, topics, free, scopes, reset)
    for name, offsets in wanted.items():
        keep = scenario == "to-current"
        reset.plans[name] = {
            at: offset if keep else _clamped(at, offset, _log(topics, at), reset)
            for at, offset in offsets.items()
        }
    return reset


def _from_file(
    arguments: Arguments, names: Sequence[str], free: Iterable[Group], reset: Reset
) -> dict[str, Offsets]:
    given = arguments.values("group")
    path = arguments.value("from-file") or ""
    plan = read_plan(path, names, one_group=len(given) == 1)
    wanted: dict[str, Offsets] = {}
    for group in free:
        if group.group in plan:
            wanted[group.group] = plan[group.group]
        else:
            fail(f"No reset plan for group {group.group} found")
            reset.failed = True
    return wanted


def _scopes(
    arguments: Arguments, admin: "ClusterAdmin", free: Iterable[Group]
) -> tuple[dict[str, set[Partition]], dict[str, Topic]]:
    """Partitions of each group, all of which exist and have a leader, and their topics."""
    if arguments.has("all-topics"):
        scopes = {
            group.group: {
                (topic, number)
                for topic, numbers in (group.offsets or {}).items()
                for number in numbers
            }
            for group in free
        }
        topics = _topics(admin, {topic for scope in scopes.values() for topic, _ in scope})
    elif arguments.has("topic"):
        scope = scope_of(arguments.values("topic"))
        topics = _topics(admin, {*scope.topics, *(topic for topic, _ in scope.partitions)})
        for name in scope.topics:
            if name not in topics:
                raise LateError(error_text("UNKNOWN_TOPIC_OR_PARTITION"))
        whole = {(name, number) for name in scope.topics for number in topics[name].partitions}
        scopes = {group.group: whole | set(scope.partitions) for group in free}
    else:
        raise Misuse("One of the reset scopes should be defined: --all-topics, --topic.")
    _check_partitions({at for scope in scopes.values() for at in scope}, topics)
    return scopes, topics


def _topics(admin: "ClusterAdmin", names: set[str]) -> dict[str, Topic]:
    from kgroups.core.kafka.alterations import topics_with_bounds

    if not names:
        return {}
    listing = topics_with_bounds(admin, names)
    for code in listing.failures.values():
        raise LateError(error_text(code))
    return listing.topics


def _check_partitions(partitions: Iterable[Partition], topics: Mapping[str, Topic]) -> None:
    """Raises a `LateError` for partitions that do not exist or have no leader."""
    wanted = sorted(partitions)
    if any(topic not in topics for topic, _ in wanted):
        raise LateError(WRAPPER + exception_text("UNKNOWN_TOPIC_OR_PARTITION"))
    missing = [at for at in wanted if at[1] not in topics[at[0]].partitions]
    if missing:
        raise LateError(f'The partitions "{_joined(missing)}" do not exist')
    leaderless = [at for at in wanted if _log(topics, at).leader is None]
    if leaderless:
        raise LateError(f'The partitions "{_joined(leaderless)}" have no leader')
    for at in wanted:
        problem = _log(topics, at).error
        if problem is not None:
            raise LateError(WRAPPER + exception_text(problem))


def _joined(partitions: Iterable[Partition], separator: str = ",") -> str:
    return separator.join(f"{topic}-{number}" for topic, number in partitions)


def _log(topics: Mapping[str, Topic], at: Partition) -> PartitionLog:
    return topics[at[0]].partitions[at[1]]


def _targets(
    arguments: Arguments,
    scenario: str,
    admin: "ClusterAdmin",
    topics: Mapping[str, Topic],
    groups: Iterable[Group],
    scopes: Mapping[str, set[Partition]],
    reset: Reset,
) -> dict[str, Offsets]:
    """New offsets of each group, before they are put between the ends of the log."""
    number = arguments.number(scenario) if scenario in ("to-offset", "shift-by") else None
    at_time: Mapping[Partition, int | None] = {}
    if scenario in ("to-datetime", "by-duration"):
        at_time = _at_time(arguments.value(scenario) or "", scenario, admin, topics, scopes)
        for topic, partition in sorted(at for at, offset in at_time.items() if offset is None):
            reset.notices.append(
                f"\nWarn: Partition {partition} from topic {topic} is empty. Falling back to "
                "latest known offset."
            )
    wanted: dict[str, Offsets] = {}
    for group in groups:
        offsets: Offsets = {}
        for at in sorted(scopes[group.group]):
            log = _log(topics, at)
            commit = (group.offsets or {}).get(at[0], {}).get(at[1])
            offsets[at] = _target(scenario, at, log, commit, number, at_time.get(at))
        wanted[group.group] = offsets
    return wanted


def _target(
    scenario: str,
    at: Partition,
    log: PartitionLog,
    commit: CommittedOffset | None,
    number: int | None,
    found: int | None,
) -> int:
    start, end = log.log_start_offset or 0, log.log_end_offset or 0
    if scenario == "to-earliest":
        return start
    if scenario == "to-current":
        return end if commit is None else commit.offset
    if scenario == "to-offset":
        return number or 0
    if scenario == "shift-by":
        if commit is None:
            raise Misuse(
                f"Cannot shift offset for partition {at[0]}-{at[1]} since there is no current "
                "committed offset"
            )
        return commit.offset + (number or 0)
    return end if found is None else found


def _at_time(
    text: str,
    scenario: str,
    admin: "ClusterAdmin",
    topics: Mapping[str, Topic],
    scopes: Mapping[str, set[Partition]],
) -> dict[Partition, int | None]:
    """The first offset of each partition in scope that is not older than the moment asked for."""
    from kgroups.core.kafka.alterations import offsets_at

    moment = moment_ms(text) if scenario == "to-datetime" else now_ms() - span_ms(text)
    if moment < 0:
        raise LateError(exception_text("UNSUPPORTED_VERSION"))
    inside = {at for scope in scopes.values() for at in scope}
    asked = {
        name: Topic(
            name,
            {number: log for number, log in topic.partitions.items() if (name, number) in inside},
        )
        for name, topic in topics.items()
    }
    return offsets_at(admin, asked, moment)


def _clamped(at: Partition, offset: int, log: PartitionLog, reset: Reset) -> int:
    """The offset between start and end of the log; what was changed is said."""
    start, end = log.log_start_offset or 0, log.log_end_offset or 0
    name = f"{at[0]}-{at[1]}"
    if offset > end:
        reset.notices.append(
            f"WARN New offset ({offset}) is higher than latest offset for topic partition {name}. "
            f"Value will be set to {end}"
        )
        return end
    if offset < start:
        reset.notices.append(
            f"WARN New offset ({offset}) is lower than earliest offset for topic partition {name}. "
            f"Value will be set to {start}"
        )
        return start
    return offset


def _write(admin: "ClusterAdmin", plans: dict[str, Offsets]) -> bool:
    """Commit every plan; whether something was refused, which is said and leaves the plan."""
    from kgroups.core.kafka.alterations import commit_offsets

    failed = False
    for group, offsets in plans.items():
        if not offsets:
            continue
        try:
            errors = commit_offsets(admin, group, offsets)
        except KgroupsError as error:
            errors = dict.fromkeys(offsets, error.code)
        refused = {at: code for at, code in errors.items() if code is not None}
        if refused:
            failed = True
            fail_command(
                "Failed altering group offsets for the following partitions: "
                f"[{_joined(refused, ', ')}]",
                f"group {group}: " + ", ".join(sorted({code for code in refused.values() if code})),
            )
            plans[group] = {at: value for at, value in offsets.items() if at not in refused}
    return failed
