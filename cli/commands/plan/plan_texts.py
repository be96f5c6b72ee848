"""Texts of `kgroups plan`, the groups that they are about, and the plan of one group."""

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Final, cast

from kgroups.cli.commands.plan.plan_options import ChangeTexts
from kgroups.cli.log_leaders import with_leaders
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Item
from kgroups.cli.params import parse_choice
from kgroups.cli.source import cluster, cut_to_groups, snapshot_of_file
from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.grammar import parse_conditions
from kgroups.core.coordinator.releases import RELEASES
from kgroups.core.errors import CheckFailed, ItemError, KgroupsError, UsageError
from kgroups.core.input_files.document import read_document
from kgroups.core.kafka.lookups.broker_settings import Support, broker_settings, broker_support
from kgroups.core.planning.changes.apply import meant_in
from kgroups.core.planning.changes.change_table import CHANGES
from kgroups.core.planning.changes.kinds import (
    DIALECTS,
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Pattern,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.explanation.explain import explain, parse_partition
from kgroups.core.planning.leaders.libraries import LIBRARIES
from kgroups.core.planning.leaders.strategies import known_release
from kgroups.core.planning.metrics import PLAN_FIELDS, values_of
from kgroups.core.planning.migration.broker_rules import ASKED_FOR, BrokerRules, rules_from
from kgroups.core.planning.plan import Plan
from kgroups.core.planning.plan_item import explanation_item, plan_item
from kgroups.core.planning.scenario import is_scenario, parse_scenario
from kgroups.core.planning.topic_patterns import topic_matcher
from kgroups.core.protocol.errors import broker_error
from kgroups.core.snapshot import ClusterSnapshot, Group
from kgroups.core.snapshot_file import has_lines, parse_snapshot

TO_PROTOCOL = "to_protocol"
ALL: Final = "all"
RACKS: Final = {"racks": True, "no-racks": False}
NOT_PLANNED = "UNSUPPORTED_GROUP_TYPE"


@dataclass(frozen=True)
class PlanTexts:
    """The options of a plan, as they were written.

    Args:
        leader: a client library; after colons its version, whether `all` members have it, and of
            franz-go whether it balances racks, as in `RACKS`.
    """

    leader: str | None = None
    leader_from_log: bool = False
    changes: ChangeTexts = field(default_factory=dict)
    explain: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ()
    faithful: bool = False

    def check(self) -> None:
        """Refuse what cannot be understood, before anything is asked of a cluster.

        Raises:
            UsageError: an option's text is wrong.
        """
        parse_choice([self.library] if self.library else [], LIBRARIES, "client library")
        choices = (ALL, *RACKS) if self.library == "franz-go" else (ALL,)
        others = [word for word in self._leader_words[1:] if word not in self._versions]
        parse_choice(others, choices, f"setting of `--as {self.library}`")
        _ = self.release
        if self.leader and self.leader_from_log:
            raise UsageError("`--as` and `--leader-from-log` cannot be used together")
        if len(self.changes.get(TO_PROTOCOL, ())) > 1:
            raise UsageError("`--to-protocol` can be used only once")
        _ = self.conditions
        if self.explain:
            for text in self.explain:
                parse_partition(text)
        _ = self.parsed

    @property
    def library(self) -> str | None:
        """The leader's client library, where it was named."""
        return self._leader_words[0] or None

    @property
    def alike(self) -> bool:
        """Whether all members have the leader's library."""
        return ALL in self._leader_words[1:]

    @property
    def release(self) -> str | None:
        """The release of the Java client that leads, where it was named.

        Raises:
            UsageError: what leaders of this version assign is not known.
        """
        return known_release(self.library or "", *self._versions) if self._versions else None

    @property
    def _versions(self) -> tuple[str, ...]:
        return tuple(word for word in self._leader_words[1:] if word[:1].isdigit())[:1]

    @property
    def balances_racks(self) -> bool | None:
        """Whether franz-go applications balance racks, where that was said."""
        return next((RACKS[word] for word in self._leader_words[1:] if word in RACKS), None)

    @property
    def _leader_words(self) -> tuple[str, ...]:
        return tuple((self.leader or "").lower().split(":"))

    def refuse_views(self, option: str) -> None:
        """Refuse the options that look at one group at a time.

        Raises:
            UsageError: one was given; names it.
        """
        views = {
            "--explain": self.explain,
            "--fail-on": self.fail_on,
            "--faithful": self.faithful,
            "a version in --as": self.release,
        }
        for name, given in views.items():
            if given:
                raise UsageError(
                    f"`{name}` cannot be combined with `{option}`",
                    hint="it works on one group: `kgroups plan GROUP`",
                )

    @property
    def has_changes(self) -> bool:
        """Whether anything is to happen before the plan."""
        return any(self.changes.values())

    @property
    def moves_to_protocol(self) -> bool:
        """Whether members are to move to another protocol."""
        return bool(self.changes.get(TO_PROTOCOL))

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions on a plan that are to fail.

        Raises:
            UsageError: one cannot be understood.
        """
        return parse_conditions(self.fail_on, PLAN_FIELDS)

    @cached_property
    def parsed(self) -> Sequence[Change | Deploy]:
        """Changes to make, in the order of the table; `meant_in` says what each means in a group.

        Raises:
            UsageError: a text is wrong.
        """
        return [
            option.parse(text) for option in CHANGES for text in self.changes.get(option.key, ())
        ]

    def one_rebalance_for(self, group: Group) -> list[Change]:
        """Changes of a group that happen in one rebalance.

        Raises:
            UsageError: a deploy is among them.
        """
        for option in CHANGES:
            if option.deploys and self.changes.get(option.key):
                raise UsageError(
                    f"`{option.flag}` cannot be combined with `--report`",
                    hint="it works on one group: `kgroups plan GROUP`",
                )
        # Parsers of the other rows give nothing but these.
        return cast("list[Change]", meant_in(group, self.parsed, self.library))

    def topics_named(self) -> set[str]:
        """The topics that the changes name, those that are to be created too."""
        grown = {change.topic for change in self.parsed if isinstance(change, SetPartitions)}
        return self._subscribed() | grown | self.new_topics()

    def new_topics(self) -> set[str]:
        """The topics that are to be created."""
        return {change.topic for change in self.parsed if isinstance(change, AddTopic)}

    @property
    def grows(self) -> bool:
        """Whether topics are created or grow."""
        return any(isinstance(change, AddTopic | SetPartitions) for change in self.parsed)

    def names_topic(self) -> Callable[[str], bool] | None:
        """Which topics of the cluster the changes are about, beyond those that groups read."""
        named = self._subscribed()
        patterns = {change.pattern for change in self.parsed if isinstance(change, Pattern)}
        joining = [change.pattern for change in self.parsed if isinstance(change, AddMembers)]
        patterns |= {pattern.pattern for pattern in joining if pattern is not None}
        matchers: list[Callable[[str], bool]] = []
        for pattern, dialect in product(sorted(patterns), DIALECTS):
            # The group's own dialect is not known yet; a topic too many does no harm.
            try:
                matchers.append(topic_matcher(pattern, dialect))
            except UsageError:
                continue
        if not named and not matchers:
            return None
        return lambda name: name in named or any(matches(name) for matches in matchers)

    def _subscribed(self) -> set[str]:
        return {
            topic
            for change in self.parsed
            if isinstance(change, AddMembers | Subscribe)
            for topic in change.topics or ()
        }


@dataclass(frozen=True, slots=True)
class PlanSource:
    """The groups to plan, what a scenario says of them, and the rules of their coordinators."""

    snapshot: ClusterSnapshot
    changes: Mapping[str, Sequence[Change | Deploy]] = field(default_factory=dict)
    leaders: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[int, BrokerRules] = field(default_factory=dict)


def live_source(printer: Printer, names: Sequence[str] | None, texts: PlanTexts) -> PlanSource:
    """The groups as they are, and what their coordinators say where a plan depends on it.

    Raises:
        ClusterError: as `live_snapshot`.
    """
    snapshot = live_snapshot(printer, names, texts)
    if not texts.moves_to_protocol:
        return PlanSource(snapshot)
    coordinators = {
        group.coordinator: group.group for group in snapshot.groups if group.coordinator is not None
    }
    with cluster(printer.options) as admin:
        answers = broker_settings(admin, coordinators, ASKED_FOR)
        support = broker_support(admin, coordinators)
    unlearned = Support("served", RELEASES)
    rules = {
        broker: rules_from(a.values, a.failure, **support.get(broker, unlearned)._asdict())
        for broker, a in answers.items()
    }
    return PlanSource(snapshot, rules=rules)


def live_snapshot(
    printer: Printer, names: Sequence[str] | None, texts: PlanTexts
) -> ClusterSnapshot:
    """The groups as they are, and the topics that the changes name.

    Raises:
        ClusterError: the cluster cannot be asked, or does not tell us about such a topic.
    """
    with cluster(printer.options) as admin:
        snapshot = admin.snapshot(names, more_topics=texts.names_topic(), progress=printer.progress)
        asked, named = texts.leader_from_log, texts.leader is not None
        grows = texts.grows
        snapshot = with_leaders(printer, admin, snapshot, asked=asked, grows=grows, explained=named)
        missing = texts.topics_named() - set(snapshot.topics)
        if not missing:
            return snapshot
        others = admin.topics(sorted(missing))
    for name in sorted(set(others.failures) - texts.new_topics()):
        raise broker_error(name, others.failures[name]).as_error()
    return replace(snapshot, topics={**snapshot.topics, **others.topics})


def read_source(
    printer: Printer, names: Sequence[str] | None, file: Path | None, texts: PlanTexts
) -> PlanSource:
    """The groups of the cluster, of a snapshot file or of a scenario.

    Raises:
        UsageError: the file is neither; names file, line and what was expected.
    """
    if file is None:
        return live_source(printer, names, texts)
    if texts.leader_from_log:
        raise UsageError(
            "`--leader-from-log` and `--from` cannot be used together",
            hint="leave out one of them; the log is that of a cluster",
        )
    if has_lines(file):
        return PlanSource(snapshot_of_file(file, names))
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
            printer.note("GROUPS_LEFT_OUT", f"left out: {error.message}", error.target)
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
    if assignor is not None and ":" in assignor and "" not in sys.path:
        sys.path.insert(0, "")  # where kgroups runs, as `python -m` has it
    leader = texts.library or source.leaders.get(group.group)
    changes = meant_in(group, [*source.changes.get(group.group, ()), *texts.parsed], leader)
    try:
        plan = plan_changes(
            source.snapshot,
            group,
            changes,
            assignor,
            leader,
            alike=texts.alike,
            faithful=texts.faithful,
            rules=source.rules.get(-1 if group.coordinator is None else group.coordinator),
            balances_racks=texts.balances_racks,
            release=texts.release,
        )
        item = plan_item(plan)
        if texts.explain:
            wanted = [parse_partition(text) for text in texts.explain]
            item["explanations"] = [explanation_item(explain(plan, *at)) for at in wanted]
    except KgroupsError as error:
        if verbose and error.code == "ASSIGNOR_FAILED":
            traceback.print_exception(error)
        errors.append(ItemError.of(group.group, error))
        return None
    errors += _failed_checks(plan, texts.conditions)
    return item


def _failed_checks(plan: Plan, conditions: Sequence[Condition]) -> Iterator[ItemError]:
    """One error for each condition that holds in some outcome, or that cannot be told."""
    unsure = plan.confidence == "counts"
    metrics = [values_of(m, sizes_only=unsure) for m in plan.outcome_metrics or (plan.metrics,)]
    for condition in conditions:
        answers = [condition.holds(values) for values in metrics]
        if True in answers:
            count = answers.count(True)
            where = f" in {count} of {len(answers)} outcomes" if len(answers) > 1 else ""
            shown = ", ".join(condition.told(values_of(plan.metrics, sizes_only=False)))
            message = f"`{condition.text}` holds{where}: {shown}"
            yield ItemError(plan.group, "CHECK_FAILED", message, None, CheckFailed.exit_code)
        elif None in answers:
            why = "it is unknown which partitions move" if unsure else "a field is unknown"
            message = f"`{condition.text}` cannot be evaluated: {why}"
            yield ItemError(plan.group, "CHECK_UNDETERMINED", message, None, CheckFailed.exit_code)
