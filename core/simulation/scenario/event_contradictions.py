"""Contradictions in events, found without a run: one after the other, in order of time."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Final

from kgroups.core.errors import KgroupsError, PatternError, meant
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.kubernetes.deploy_event import A_QUARTER, Deploy
from kgroups.core.simulation.scenario.scenario_events import (
    FAILING_APIS,
    AddPartitions,
    ApplicationEvent,
    ChangeSubscription,
    CreateTopic,
    Load,
    PausePartitions,
    RequestError,
    RollingRestart,
    ScaleIn,
    ScaleOut,
    Scheduled,
    Seek,
    SpotEviction,
    Unsubscribe,
    ZoneOutage,
)
from kgroups.core.simulation.scenario.scenario_model import (
    GroupPlan,
    MemberPlan,
    Scenario,
    next_name,
)
from kgroups.core.simulation.scenario.subscriptions import pattern_matches

SAID: Final = {"topics": "topics", "pattern": "a pattern"}
OF_CLASSIC_MEMBERS: Final = frozenset(FAILING_APIS) - {"ConsumerGroupHeartbeat"}
SENT: Final = {"consumer": {"ConsumerGroupHeartbeat"}, "zookeeper": set[str]()}
"""The heartbeat request of members, by protocol, where it is not the classic one."""
# What is wrong: at which key, in one sentence, with a hint.
Found = Iterator[tuple[str, str, str | None]]


def of_events(scenario: Scenario) -> Iterator[tuple[int, str, str, str, str | None]]:
    """Events that do not find what they are about, those at random last.

    Yields:
        Number and name of the event, and what is wrong: at which key, a sentence, a hint.
    """
    partitions = {topic.name: topic.partitions for topic in scenario.topics}
    seats = {group.name: {member.name for member in group.members} for group in scenario.groups}
    # Whether a member has subscribed to topics or to a pattern; in neither where it unsubscribed.
    kinds: dict[tuple[str, str], str] = {
        (group.name, member.name): "topics" if member.pattern is None else "pattern"
        for group in scenario.groups
        for member in group.members
    }
    numbered = list(enumerate(scenario.events))
    numbered.sort(key=lambda pair: (pair[1].at_ms is None, pair[1].at_ms or 0))
    for number, scheduled in numbered:
        problems = _of_event(scenario, scheduled, partitions, seats)
        if isinstance(scheduled.event, Seek):
            problems = chain(problems, _of_time(scheduled, scheduled.event))
        if isinstance(scheduled.event, ChangeSubscription | Unsubscribe):
            problems = chain(problems, _of_change(scenario, scheduled.event, kinds))
        for key, what, hint in problems:
            yield number, scheduled.name, key, what, hint


def _of_event(
    scenario: Scenario,
    scheduled: Scheduled,
    partitions: dict[str, int],
    seats: dict[str, set[str]],
) -> Found:
    event, once = scheduled.event, scheduled.at_ms is not None
    if isinstance(event, CreateTopic):
        if event.topic in partitions or not once:
            what = f"topic `{event.topic}` is created twice"
            yield "topic", what, None if once else "write `at` instead of `every`"
        partitions[event.topic] = event.partitions
    elif isinstance(event, Load):
        if event.topic not in partitions:
            hint = meant(event.topic, partitions)
            yield "topic", f"there is no topic `{event.topic}` yet", hint
    elif isinstance(event, ZoneOutage | SpotEviction):
        racks = {t.rack for group in scenario.groups for t in group.templates} - {None}
        racks |= {member.rack for group in scenario.groups for member in group.members} - {None}
        if event.rack is not None and event.rack not in racks:
            named = [rack for rack in racks if rack is not None]
            yield "rack", f"no member is in rack `{event.rack}`", meant(event.rack, named)
    elif isinstance(event, AddPartitions):
        yield from _of_growth(event, partitions)
    elif isinstance(event, RequestError):
        group = scenario.group(event.group)
        protocol = "" if group is None else group.protocol
        if event.api not in SENT.get(protocol, OF_CLASSIC_MEMBERS):
            yield "api", f"members of protocol {protocol} send no {event.api}", None
        yield from _of_seats(scenario, scheduled, seats)
    elif isinstance(event, ApplicationEvent):
        yield from _of_application(scenario, event, partitions)
        yield from _of_seats(scenario, scheduled, seats)
    elif isinstance(event, ScaleOut):
        yield from _of_scale_out(scenario, event, seats[event.group], once=once)
    elif isinstance(event, Deploy):
        yield from _of_deploy(scenario, event, seats[event.group], once=once)
    else:
        yield from _of_seats(scenario, scheduled, seats)


def _of_time(scheduled: Scheduled, event: Seek) -> Found:
    at_ms = scheduled.from_ms if scheduled.at_ms is None else scheduled.at_ms
    if event.to.kind == "timestamp" and event.to.value > at_ms:
        yield "to", "the timestamp is later than the event", "times count from the run's start"


def _of_change(
    scenario: Scenario,
    event: ChangeSubscription | Unsubscribe,
    kinds: dict[tuple[str, str], str],
) -> Found:
    """Most libraries go from topics to a pattern, or back, only by `unsubscribe`."""
    group = scenario.needed(event.group)
    for plan in group.members:
        if event.member not in (None, plan.name):
            continue
        place = (group.name, plan.name)
        before = kinds.pop(place, None)
        if isinstance(event, Unsubscribe):
            continue
        kinds[place] = kind = "topics" if event.pattern is None else "pattern"
        if before not in (None, kind) and not LIBRARIES[plan.library].both:
            what = f"`{plan.name}` has subscribed to {SAID[before or kind]}: a consumer of "
            what += f"{plan.library} must unsubscribe before it subscribes to {SAID[kind]}"
            yield kind, what, "write an `unsubscribe` before it"
            return


def _of_application(
    scenario: Scenario, event: ApplicationEvent, partitions: dict[str, int]
) -> Found:
    """Calls of an application that the library of its consumer lacks."""
    topics = set(partitions)
    if isinstance(event, ChangeSubscription):
        made = (event.event for event in scenario.events)
        topics |= {event.topic for event in made if isinstance(event, CreateTopic)}
    for topic in getattr(event, "topics", ()):
        if topic not in topics:
            yield "topics", f"there is no topic `{topic}` yet", meant(topic, topics)
    group = scenario.needed(event.group)
    if isinstance(event, PausePartitions):
        return
    if isinstance(event, Seek):
        most = max(
            (partitions[name] for name in event.topics or partitions if name in topics), default=0
        )
        beyond = [number for number in event.partitions if number >= most]
        if beyond:
            yield "partitions", f"there is no partition {beyond[0]}", f"the last one is {most - 1}"
    if group.protocol == "zookeeper":
        hint = "it was subscribed once, when it was made: restart it, or write a `deploy`"
        what = "seek" if isinstance(event, Seek) else "change what it reads"
        yield "group", f"a consumer of Kafka 0.8 cannot {what}", hint
        return
    for plan in group.members:
        if event.member in (None, plan.name):
            traits = LIBRARIES[plan.library]
            if plan.assign and not isinstance(event, Seek):
                hint = "it has no subscription: write `seek`, or restart it with another one"
                yield "member", f"`{plan.name}` assigns itself its partitions", hint
            elif isinstance(event, Seek) and not traits.seeks:
                hint = "its applications choose where to begin in `Setup`, after a rebalance"
                yield "member", f"a consumer of {plan.library} that runs cannot seek", hint
            elif isinstance(event, Unsubscribe) and not traits.unsubscribes:
                hint = "write `scale_in`: it is closed instead"
                yield "member", f"{plan.library} cannot unsubscribe", hint
            elif isinstance(event, ChangeSubscription):
                yield from _of_subscription(event, group, plan)


def _of_subscription(event: ChangeSubscription, group: GroupPlan, plan: MemberPlan) -> Found:
    traits = LIBRARIES[plan.library]
    if not traits.resubscribes:
        what = f"{plan.library} cannot change the subscription of a consumer that runs"
        yield "member", what, "write a `deploy` with `change: {topics: ...}`"
    elif not event.topics and event.pattern is None:
        yield "group", "no subscription: `topics` or `pattern` is missing", None
    elif event.topics and event.pattern is not None and not traits.both:
        what = f"a consumer of {plan.library} subscribes either to topics or to a pattern"
        yield "pattern", what, "leave out `topics` or `pattern`"
    elif event.pattern is not None and traits.patterns == "none":
        yield "pattern", f"{plan.library} subscribes to no patterns", "name the `topics`"
    else:
        try:
            pattern_matches(group, replace(plan, topics=(), pattern=event.pattern))
        except PatternError as broken:
            yield "pattern", f"the pattern `{event.pattern}` does not compile: {broken}", None
        except KgroupsError as broken:
            yield "pattern", broken.message, broken.hint


def _of_deploy(scenario: Scenario, event: Deploy, seats: set[str], *, once: bool) -> Found:
    group = scenario.needed(event.group)
    if not seats:
        yield "group", "the group has no members", None
    if event.kind == "StatefulSet":
        for key, given in (("maxSurge", event.surge), ("maxUnavailable", event.unavailable)):
            if given != A_QUARTER:
                hint = "it replaces one pod after the other, from the highest ordinal down"
                yield key, f"a StatefulSet has no `{key}`", hint
    elif once:
        for plan in group.members:
            if event.entry in (None, plan.entry):
                seats.add(next_name(plan.name, seats))


def _of_growth(event: AddPartitions, partitions: dict[str, int]) -> Found:
    before = partitions.get(event.topic)
    if before is None:
        yield "topic", f"there is no topic `{event.topic}` yet", meant(event.topic, partitions)
    elif event.partitions <= before:
        what = f"`{event.topic}` has {before} partitions already"
        yield "partitions", what, "a topic can only get more partitions"
    else:
        partitions[event.topic] = event.partitions


def _of_scale_out(scenario: Scenario, event: ScaleOut, seats: set[str], *, once: bool) -> Found:
    group = scenario.needed(event.group)
    like = group.like(event.like)
    if like is None:
        what = f"there is no member `{event.like}`" if event.like else "the group has no members"
        yield "like", what, meant(event.like or "", seats)
        return
    for _ in range(event.count if once else 0):
        seats.add(next_name(like.name, seats))


def _of_seats(scenario: Scenario, scheduled: Scheduled, seats: dict[str, set[str]]) -> Found:
    """Members that an event names, or counts, are there by then."""
    event = scheduled.event
    there = seats.get(getattr(event, "group", ""), set())
    named = [getattr(event, "member", None), *getattr(event, "members", ())]
    grows = any(
        isinstance(s.event, ScaleOut) and s.at_ms is None and s.event.group == event.group  # type: ignore[union-attr] # has one
        for s in scenario.events
        if there
    )
    for name in named:
        if name is not None and name not in there and not grows:
            key = "members" if isinstance(event, RollingRestart | ScaleIn) else "member"
            yield key, f"there is no member `{name}` at that time", meant(name, there)
    counted = isinstance(event, ScaleIn) and not event.members and scheduled.at_ms is not None
    if counted and isinstance(event, ScaleIn) and event.count > len(there) and not grows:
        yield "count", f"the group has {len(there)} members, not {event.count}", None
