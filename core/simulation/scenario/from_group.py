"""A scenario from a group as it is: what a snapshot tells is taken over, the rest is assumed."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.lag.rules import lag_at
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    Library,
    MemberSettings,
    Protocol,
)
from kgroups.core.simulation.scenario.scenario_model import (
    DEFAULT_SETTINGS,
    GroupPlan,
    MemberPlan,
    Scenario,
    TopicPlan,
)
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic

# Records a second that come to each partition where nobody says how many.
ASSUMED_RATE: Final = 10.0
COOPERATIVE: Final = "cooperative-sticky"


def scenario_of_group(snapshot: ClusterSnapshot, name: str) -> Scenario:
    """A group of a snapshot with its topics and lag, and no events.

    Raises:
        ClusterError: it may not be looked at, or could not be.
        NotFoundError: there is no such group.
        UsageError: it is neither classic nor consumer, or has no members.
    """
    group = snapshot.needed(name)
    if group.type not in ("classic", "consumer"):
        raise UsageError(f"`{name}` is a {group.type} group; only consumer groups can be simulated")
    if not group.members:
        raise UsageError(f"`{name}` has no members", hint="there is nothing to simulate")
    library, assumed = _library(group)
    members = tuple(_member(group, member, library) for member in group.members)
    read = dict.fromkeys(topic for member in members for topic in member.topics)
    topics = [_topic(snapshot.topics[topic], group) for topic in read if topic in snapshot.topics]
    assumed += [
        f"each partition receives {ASSUMED_RATE:.0f} records per second",
        "a record takes 1 ms to process",
        DEFAULT_SETTINGS,
    ]
    plan = GroupPlan(
        name,
        _protocol(group),
        members,
        committed={topic.name: dict.fromkeys(range(topic.partitions), 0) for topic in topics},
    )
    brokers = max(1, len(snapshot.brokers))
    return Scenario(name, tuple(topics), (plan,), brokers=brokers, assumed=tuple(assumed))


def _protocol(group: Group) -> Protocol:
    if group.type == "consumer":
        return "consumer"
    return "cooperative" if group.assignor == COOPERATIVE else "eager"


def _library(group: Group) -> tuple[Library, list[str]]:
    likeliest = "java" if group.type == "consumer" else infer_leader(group).likeliest
    for library in LIBRARIES:
        if library == likeliest:
            shown = "the Java client" if library == "java" else library
            return library, [f"the members use {shown}"]
    return "java", [f"the members behave as the Java client does, not as {likeliest}"]


def _member(group: Group, member: Member, library: Library) -> MemberPlan:
    base = LIBRARY_DEFAULTS[library]
    assignors = (group.assignor,) if group.type == "classic" and group.assignor else ()
    settings: MemberSettings = base
    if assignors and group.assignor != COOPERATIVE:
        settings = _with_assignors(base, assignors)
    topics = member.subscription or tuple(member.assignment or {})
    return MemberPlan(
        name=member.instance_id or member.member_id,
        library=library,
        topics=tuple(topics),
        pattern=member.subscription_regex if group.type == "consumer" else None,
        instance_id=member.instance_id,
        client_id=member.client_id or member.member_id,
        rack=member.rack,
        settings=settings,
    )


def _with_assignors(base: MemberSettings, assignors: Iterable[str | None]) -> MemberSettings:
    return replace(base, assignors=tuple(name for name in assignors if name))


def _topic(topic: Topic, group: Group) -> TopicPlan:
    """The topic with as many unread records as the group's lag on it."""
    commits = (group.offsets or {}).get(topic.topic, {})
    lag = 0
    for number, log in topic.partitions.items():
        commit = commits.get(number)
        lag += lag_at(None if commit is None else commit.offset, log) or 0
    count = len(topic.partitions)
    return TopicPlan(topic.topic, count, rate=ASSUMED_RATE * count, backlog=lag)
