"""Contradictions in a scenario, found without a run: names, numbers, events in order.

Each is told with the places in a file that may be to blame, nearest first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from kgroups.core.coordinator.client.default_assignors import known_assignor
from kgroups.core.coordinator.config import wrong_settings
from kgroups.core.errors import UsageError, meant
from kgroups.core.input_files.document import Cursor, Document
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.kubernetes.deploy_event import NO_CHANGE, Deploy
from kgroups.core.simulation.kubernetes.new_version import changed_group, changed_member
from kgroups.core.simulation.scenario.event_contradictions import of_events
from kgroups.core.simulation.scenario.scenario_events import (
    CreateTopic,
)
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan, Scenario
from kgroups.core.simulation.scenario.subscriptions import offered

Path = tuple[str | int, ...]
STRATEGY: Final = "partition.assignment.strategy"
CLASSIC: Final = ("eager", "cooperative")
COOPERATIVE: Final = "cooperative-sticky"
INVALID: Final = "INVALID_CONFIG"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One thing that cannot be.

    Args:
        where: whose it is, for a scenario that is not from a file.
        paths: places in the file; the first one that is there is shown.
        code: Kafka's name of the error, where it has one.
    """

    where: str
    what: str
    paths: tuple[Path, ...]
    hint: str | None = None
    code: str | None = None

    def error(self, document: Document | None) -> UsageError:
        """The error that says so, with file and line if it is from a file."""
        for path in self.paths if document is not None else ():
            assert document is not None
            cursor = _cursor_at(document, path)
            if cursor is not None:
                try:
                    cursor.fail(self.what, hint=self.hint)
                except UsageError as error:
                    return UsageError(error.message, hint=error.hint, code=self.code)
        return UsageError(f"{self.where}: {self.what}", hint=self.hint, code=self.code)


def _cursor_at(document: Document, path: Path) -> Cursor | None:
    cursor = document.root
    for step in path:
        value = cursor.value
        there = dict(enumerate(value)) if isinstance(value, list) else value
        if not isinstance(there, dict) or step not in there:
            return None
        cursor = cursor.child(step, there[step])
    return cursor


def of_member(
    group: GroupPlan, plan: MemberPlan, key: str, what: str, **texts: str | None
) -> Contradiction:
    """Of one property, or one key, of a member."""
    entry: Path = ("groups", group.name, "members", plan.entry)
    settings: tuple[Path, ...] = ((*entry, "settings", key), (*entry, key))
    paths = (*settings, ("groups", group.name, "settings", key), entry, ("groups", group.name))
    return Contradiction(f"`{plan.name}` of `{group.name}`", what, paths, **texts)


def contradictions(scenario: Scenario) -> Iterator[Contradiction]:
    """Everything that cannot be, in the order of the file."""
    yield from _of_config(scenario)
    created = {s.event.topic for s in scenario.events if isinstance(s.event, CreateTopic)}
    topics = {topic.name for topic in scenario.topics} | created
    for group in scenario.groups:
        seen: set[tuple[object, ...]] = set()
        for plan in (*group.templates, *group.members):
            kind = (plan.entry, replace(plan, name="", instance_id=None, start_ms=0))
            if kind not in seen:
                seen.add(kind)
                yield from _of_subscription(scenario, group, plan, topics)
                yield from _of_assign(scenario, group, plan)
                yield from _of_library(group, plan)
                yield from _of_settings(group, plan)
        if group.protocol in CLASSIC:
            yield from _of_common_assignor(group)
    for number, group, plan in deployed(scenario):
        wrong = _of_subscription(scenario, group, plan, topics)
        for problem in (*wrong, *_of_library(group, plan), *_of_settings(group, plan)):
            yield in_deploy(number, problem)
    yield from _of_autoscalers(scenario)
    for number, event, key, what, hint in of_events(scenario):
        place: Path = ("events", number, event)
        yield Contradiction(f"`{event}`", what, ((*place, key), place, place[:2]), hint)


def _of_autoscalers(scenario: Scenario) -> Iterator[Contradiction]:
    for group in scenario.groups:
        if group.autoscaler is None:
            continue
        where, place = f"`{group.name}`", ("groups", group.name, "autoscaler")
        if scenario.until_ms is None:
            what = "an autoscaler never rests: the scenario has no `until`"
            yield Contradiction(where, what, (place,), "write how long it lasts: `until: 1h`")
        if group.like(group.autoscaler.entry) is None:
            what = f"there is no entry `{group.autoscaler.entry}`"
            yield Contradiction(where, what, (place,))


def deployed(scenario: Scenario) -> Iterator[tuple[int, GroupPlan, MemberPlan]]:
    """Settings of members after each deploy of the original version, with the event's number."""
    for number, scheduled in enumerate(scenario.events):
        event = scheduled.event
        group = scenario.group(event.group) if isinstance(event, Deploy) else None
        if not isinstance(event, Deploy) or group is None or event.change == NO_CHANGE:
            continue
        for plan in group.templates or group.members:
            if event.entry in (None, plan.entry):
                yield (
                    number,
                    changed_group(group, event.change),
                    changed_member(group, plan, event.change),
                )


def in_deploy(number: int, problem: Contradiction) -> Contradiction:
    """Blames the event for the faults of a deployed member."""
    change: Path = ("events", number, "deploy", "change")
    key = problem.paths[0][-1]
    return replace(problem, paths=((*change, "settings", key), (*change, key), change[:2]))


def _of_config(scenario: Scenario) -> Iterator[Contradiction]:
    """The broker's bounds for the settings of groups."""
    for group in scenario.groups:
        for name, what, hint in wrong_settings(group.config, scenario.cluster):
            paths: tuple[Path, ...] = (("groups", group.name, "config", name),)
            yield Contradiction(f"`{group.name}`", what, paths, hint, INVALID)


# ---------------------------------------------------------------------- members


def _of_subscription(
    scenario: Scenario, group: GroupPlan, plan: MemberPlan, topics: set[str]
) -> Iterator[Contradiction]:
    created = scenario.auto_partitions and plan.settings.allow_auto_create_topics
    for topic in plan.topics:
        if topic not in topics and not created:
            hint = meant(topic, topics)
            if scenario.auto_partitions and hint is None:
                hint = "with `allow.auto.create.topics: true` the brokers would create it"
            yield of_member(group, plan, "topics", f"there is no topic `{topic}`", hint=hint)
    traits = LIBRARIES[plan.library]
    if plan.topics and plan.pattern is not None and not traits.both:
        who = "a Java consumer" if plan.library == "java" else f"a consumer of {plan.library}"
        what = f"{who} subscribes either to topics or to a pattern"
        yield of_member(group, plan, "pattern", what, hint="leave out `topics` or `pattern`")
    if plan.pattern is not None and traits.patterns == "none":
        what = f"{plan.library} subscribes to no patterns"
        yield of_member(group, plan, "pattern", what, hint="name the `topics`")


def _of_assign(scenario: Scenario, group: GroupPlan, plan: MemberPlan) -> Iterator[Contradiction]:
    """Partitions that are chosen by hand must be there when the run begins."""
    if not plan.assign:
        return
    partitions = {topic.name: topic.partitions for topic in scenario.topics}
    wrong: tuple[str, str | None] | None = None
    for topic, numbers in plan.assign:
        beyond = [number for number in numbers if number >= partitions.get(topic, 0)]
        if topic not in partitions:
            wrong = f"there is no topic `{topic}`", meant(topic, partitions)
        elif beyond:
            wrong = f"`{topic}` has no partition {beyond[0]}", None
    if plan.subscribes:
        wrong = "a consumer either subscribes or assigns itself partitions", "leave out one of them"
    elif group.protocol == "zookeeper":
        wrong = "a consumer of Kafka 0.8 cannot choose partitions by hand", "name the `topics`"
    elif not LIBRARIES[plan.library].assigns:
        wrong = f"a consumer of {plan.library} that has a group cannot choose partitions", None
    elif plan.listener is not None:
        wrong = "no listener is called where partitions are assigned by hand", "leave it out"
    if wrong is not None:
        what, hint = wrong
        yield of_member(group, plan, "assign", what, hint=hint)


def _of_library(group: GroupPlan, plan: MemberPlan) -> Iterator[Contradiction]:
    """The features that the members' library lacks."""
    traits, able = LIBRARIES[plan.library], ", ".join
    if group.protocol == "consumer" and not traits.kip848:
        what = f"{plan.library} does not speak the consumer protocol (KIP-848)"
        hint = able(f"`{library}`" for library, other in LIBRARIES.items() if other.kip848)
        yield of_member(group, plan, "client", what, hint=f"clients that do: {hint}")
    if group.protocol == "cooperative" and not traits.cooperative:
        what = f"{plan.library} has no cooperative assignor"
        yield of_member(group, plan, "client", what, hint="write `protocol: eager`")
    if plan.commit is not None and group.protocol == "zookeeper":
        what = "a consumer of Kafka 0.8 commits by itself, in ZooKeeper"
        yield of_member(group, plan, "commit", what, hint="leave out `commit`")
    how = plan.commit
    if plan.polls_on and how is not None and (how.mode == "outside" or how.per == "partition"):
        what = "an application that polls on commits what was handed over, not what is done"
        yield of_member(group, plan, "commit", what, hint="leave out `polls_on`")
    if plan.polls_on and plan.skip_older_ms is not None:
        what = "`skip_older_than` is not simulated together with `polls_on`"
        yield of_member(group, plan, "skip_older_than", what, hint="leave out `polls_on`")
    if plan.instance_id is not None and not traits.static:
        what = f"{plan.library} has no static members"
        yield of_member(group, plan, "static", what, hint="leave out `static` or `instance_id`")


def _of_settings(group: GroupPlan, plan: MemberPlan) -> Iterator[Contradiction]:
    given = plan.settings
    if group.protocol not in CLASSIC:
        return
    if not 0 < given.heartbeat_interval_ms < given.session_timeout_ms:
        yield of_member(
            group,
            plan,
            "heartbeat.interval.ms",
            f"`heartbeat.interval.ms` ({given.heartbeat_interval_ms}) must be less than "
            f"`session.timeout.ms` ({given.session_timeout_ms})",
            hint="no client would start; a third of the session timeout is usual",
            code=INVALID,
        )
    if plan.library == "librdkafka" and given.max_poll_interval_ms < given.session_timeout_ms:
        yield of_member(
            group,
            plan,
            "max.poll.interval.ms",
            f"`max.poll.interval.ms` ({given.max_poll_interval_ms}) must be at least "
            f"`session.timeout.ms` ({given.session_timeout_ms})",
            hint="librdkafka refuses to start otherwise",
            code=INVALID,
        )
    yield from _of_assignors(group, plan)


def _of_assignors(group: GroupPlan, plan: MemberPlan) -> Iterator[Contradiction]:
    names = offered(group, plan)
    for name in names:
        try:
            known_assignor(name, plan.library)
        except UsageError as broken:
            yield of_member(group, plan, STRATEGY, broken.message, hint=broken.hint)
    shown = ", ".join(f"`{name}`" for name in names)
    eager = [name for name in names if name != COOPERATIVE]
    if group.protocol == "cooperative" and eager:
        what = f"the group is cooperative, {shown} is not"
        yield of_member(group, plan, STRATEGY, what, hint="write `protocol: eager`")
    elif group.protocol == "eager" and not eager:
        what = f"the group is eager, {shown} is cooperative"
        yield of_member(group, plan, STRATEGY, what, hint="write `protocol: cooperative`")


def _of_common_assignor(group: GroupPlan) -> Iterator[Contradiction]:
    """A broker refuses a member that has no assignor in common with the others."""
    common: set[str] | None = None
    for plan in group.members:
        names = offered(group, plan)
        if common is not None and common.isdisjoint(names):
            others = ", ".join(f"`{name}`" for name in sorted(common))
            what = f"no assignor in common with the members before it, which have {others}"
            yield of_member(
                group,
                plan,
                STRATEGY,
                what,
                hint="the broker would reject it",
                code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL.name,
            )
            return
        common = set(names) if common is None else common & set(names)
