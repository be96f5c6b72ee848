"""What `kgroups plan` was told: its texts, the groups they are about, and the plan of one group."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Item
from kgroups.cli.params import parse_choice
from kgroups.cli.source import cluster, cut_to_groups
from kgroups.core.broker_errors import broker_error
from kgroups.core.errors import CheckFailed, ItemError, KgroupsError, UsageError
from kgroups.core.snapshot import ClusterSnapshot, Group

if TYPE_CHECKING:
    from kgroups.core.planning.changes.kinds import Change, Dialect
    from kgroups.core.planning.plan import Plan

NOT_PLANNED = "UNSUPPORTED_GROUP_TYPE"

# Fields of `PlanTexts` that change a group.
CHANGE_FIELDS = (
    "add_members",
    "remove_member",
    "drop_host",
    "set_partitions",
    "add_topic",
    "subscribe",
    "pattern",
)


@dataclass(frozen=True, slots=True)
class PlanTexts:
    """The options of a plan, as they were written."""

    leader: str | None = None
    add_members: tuple[str, ...] = ()
    remove_member: tuple[str, ...] = ()
    drop_host: tuple[str, ...] = ()
    set_partitions: tuple[str, ...] = ()
    add_topic: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    pattern: tuple[str, ...] = ()
    explain: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ()
    faithful: bool = False

    def check(self) -> None:
        """Refuse what cannot be understood, before anything is asked of a cluster.

        Raises:
            UsageError: an option's text is wrong.
        """
        from kgroups.core.planning.conditions import parse_condition
        from kgroups.core.planning.explanation.explain import parse_partition
        from kgroups.core.planning.leaders.libraries import LIBRARIES

        parse_choice([self.leader] if self.leader else [], LIBRARIES, "client library")
        for text in self.fail_on:
            parse_condition(text)
        for text in self.explain:
            parse_partition(text)
        self.changes_for(Group("", "classic", "Empty", members=()))

    def refuse_views(self, option: str) -> None:
        """Refuse the options that look at one group at a time.

        Raises:
            UsageError: one was given; names it.
        """
        views = {
            "--explain": self.explain,
            "--fail-on": self.fail_on,
            "--faithful": self.faithful,
        }
        for name, given in views.items():
            if given:
                raise UsageError(
                    f"`{name}` cannot be combined with `{option}`",
                    hint="it looks at one group at a time: `kgroups plan GROUP`",
                )

    @property
    def has_changes(self) -> bool:
        """Whether anything is to happen before the plan."""
        return any(getattr(self, name) for name in CHANGE_FIELDS)

    def changes_for(self, group: Group) -> list["Change"]:
        """What happens to a group: members leave, topics change, subscriptions, members join."""
        from kgroups.core.planning.changes import kinds, spelling

        ids = {member.member_id for member in group.members or ()}
        ids |= {member.instance_id for member in group.members or () if member.instance_id}
        present = frozenset(ids)
        dialect = self._dialect(group) if self.pattern else "java"
        return [
            *(spelling.parse_remove_member(text, present) for text in self.remove_member),
            *(kinds.DropHost(host) for host in self.drop_host),
            *map(spelling.parse_set_partitions, self.set_partitions),
            *map(spelling.parse_add_topic, self.add_topic),
            *map(spelling.parse_subscribe, self.subscribe),
            *(spelling.parse_pattern(text, dialect) for text in self.pattern),
            *map(spelling.parse_add_members, self.add_members),
        ]

    def _dialect(self, group: Group) -> "Dialect":
        """Whose patterns the members of a group use."""
        from kgroups.core.planning.leaders.guess import infer_leader

        if group.type == "consumer":
            return "re2"
        return (
            "librdkafka" if infer_leader(group, self.leader).likeliest == "librdkafka" else "java"
        )

    def topics_named(self) -> set[str]:
        """The topics that have to be there for the changes to be made."""
        from kgroups.core.planning.changes.spelling import (
            parse_add_topic,
            parse_set_partitions,
            parse_subscribe,
        )

        subscribed = {topic for text in self.subscribe for topic in parse_subscribe(text).topics}
        grown = {parse_set_partitions(text).topic for text in self.set_partitions}
        made = {parse_add_topic(text).topic for text in self.add_topic}
        return (subscribed | grown) - made

    def names_topic(self) -> Callable[[str], bool] | None:
        """Which topics of the cluster the changes are about, beyond those that groups read."""
        from kgroups.core.planning.changes.kinds import DIALECTS
        from kgroups.core.planning.changes.spelling import parse_pattern, parse_subscribe
        from kgroups.core.planning.topic_patterns import topic_matcher

        named = {topic for text in self.subscribe for topic in parse_subscribe(text).topics}
        matchers: list[Callable[[str], bool]] = []
        for text in self.pattern:
            # The group's own dialect is not known yet; a topic too many does no harm.
            for dialect in DIALECTS:
                found = parse_pattern(text, dialect)
                try:
                    matchers.append(topic_matcher(found.pattern, found.dialect))
                except UsageError:
                    continue
        if not named and not matchers:
            return None
        return lambda name: name in named or any(matches(name) for matches in matchers)


@dataclass(frozen=True, slots=True)
class PlanSource:
    """The groups to plan, and what a scenario says of them."""

    snapshot: ClusterSnapshot
    changes: Mapping[str, Sequence["Change"]] = field(default_factory=dict)
    leaders: Mapping[str, str] = field(default_factory=dict)


def live_snapshot(
    printer: Printer, names: Sequence[str] | None, texts: PlanTexts
) -> ClusterSnapshot:
    """The groups as they are, and the topics that the changes name.

    Raises:
        ClusterError: the cluster cannot be asked, or does not tell us about such a topic.
    """
    with cluster(printer.options) as admin:
        snapshot = admin.snapshot(names, more_topics=texts.names_topic(), progress=printer.progress)
        missing = texts.topics_named() - set(snapshot.topics)
        hidden = admin.topics(sorted(missing)).failures if missing else {}
    for name, code in hidden.items():
        raise broker_error(name, code).as_error()
    return snapshot


def read_source(
    printer: Printer, names: Sequence[str] | None, file: Path | None, texts: PlanTexts
) -> PlanSource:
    """The groups of the cluster, of a snapshot file or of a scenario.

    Raises:
        UsageError: the file is neither; names file, line and what was expected.
    """
    if file is None:
        return PlanSource(live_snapshot(printer, names, texts))
    from kgroups.core.document import read_document
    from kgroups.core.planning.scenario import is_scenario, parse_scenario
    from kgroups.core.snapshot_parser import parse_snapshot

    document = read_document(file)
    if not is_scenario(document):
        return PlanSource(cut_to_groups(parse_snapshot(document), names, file))
    scenario = parse_scenario(document)
    snapshot = cut_to_groups(scenario.snapshot, names, file)
    return PlanSource(snapshot, scenario.changes, scenario.leaders)


def plan_all(
    printer: Printer,
    source: PlanSource,
    texts: PlanTexts,
    assignors: Sequence[str],
    *,
    strict: bool,
) -> tuple[list[Item], list[ItemError]]:
    """The plans of all groups under all assignors, and what failed.

    Args:
        assignors: names; none: each group's own.
        strict: whether a group of a type that has no plans is a failure; a note otherwise.
    """
    items: list[Item] = []
    errors = list(source.snapshot.errors)
    verbose = printer.options.verbose
    for group, name in product(source.snapshot.groups, assignors or (None,)):
        item = plan_or_error(source, group, texts, name, errors, verbose=verbose)
        if item is not None:
            items.append(item)
    if strict:
        return items, errors
    for error in errors:
        if error.code == NOT_PLANNED:  # nobody asked for these groups by name
            printer.note(f"left out: {error.message}")
    return items, [error for error in errors if error.code != NOT_PLANNED]


def plan_or_error(
    source: PlanSource,
    group: Group,
    texts: PlanTexts,
    assignor: str | None,
    errors: list[ItemError],
    *,
    verbose: bool = False,
) -> Item | None:
    """The plan of one group as an item; None, and one more error, if it cannot be planned."""
    from kgroups.core.planning.explanation.explain import explain, parse_partition
    from kgroups.core.planning.plan import plan_group
    from kgroups.core.planning.plan_item import explanation_item, plan_item

    if assignor is not None and ":" in assignor and "" not in sys.path:
        sys.path.insert(0, "")  # where kgroups runs, as `python -m` has it
    changes = [*source.changes.get(group.group, ()), *texts.changes_for(group)]
    leader = texts.leader or source.leaders.get(group.group)
    try:
        plan = plan_group(
            source.snapshot, group, changes, assignor, leader, faithful=texts.faithful
        )
        item = plan_item(plan)
        if texts.explain:
            wanted = [parse_partition(text) for text in texts.explain]
            item["explanations"] = [explanation_item(explain(plan, *each)) for each in wanted]
    except KgroupsError as error:
        if verbose and error.code == "ASSIGNOR_FAILED":
            import traceback

            traceback.print_exception(error)
        errors.append(ItemError.of(group.group, error))
        return None
    errors += _failed_checks(plan, texts.fail_on)
    return item


def _failed_checks(plan: "Plan", conditions: Sequence[str]) -> Iterator[ItemError]:
    """One error for each condition that holds in some outcome, or that cannot be told."""
    from kgroups.core.planning.conditions import parse_condition

    for text in conditions:
        condition = parse_condition(text)
        each = plan.outcome_metrics or (plan.metrics,)
        unsure = plan.confidence == "counts"
        answers = [condition.holds(metrics, sizes_only=unsure) for metrics in each]
        if True in answers:
            count = answers.count(True)
            where = f" in {count} of {len(answers)} outcomes" if len(answers) > 1 else ""
            shown = ", ".join(_figures(plan, condition.text))
            message = f"`{condition.text}` holds{where}: {shown}"
            yield ItemError(plan.group, "CHECK_FAILED", message, None, CheckFailed.exit_code)
        elif None in answers:
            why = "which partitions move is not known" if unsure else "a figure is not known"
            message = f"`{condition.text}` cannot be told: {why}"
            yield ItemError(plan.group, "CHECK_UNDETERMINED", message, None, CheckFailed.exit_code)


def _figures(plan: "Plan", text: str) -> Iterator[str]:
    """The figures that a condition names, with their values in the likeliest outcome."""
    from kgroups.core.planning.conditions import WHOLES, parse_condition

    named = {each.figure: each for part in parse_condition(text).any_of for each in part}
    for figure, each in named.items():
        value = getattr(plan.metrics, figure)
        shown = round(value, 2) if isinstance(value, float) else value
        whole = f" of {getattr(plan.metrics, WHOLES[figure])}" if each.percent else ""
        yield f"{figure} is {shown}{whole}"
