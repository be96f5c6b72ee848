"""A scenario from a group as it is: what a snapshot tells is taken over, the rest is assumed.

Its load can be measured (`measured_load`).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from kgroups.core.errors import UsageError
from kgroups.core.lag.rules import lag_at
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.live.measured_load import MeasuredLoad
from kgroups.core.simulation.scenario.member_settings import (
    LIBRARY_DEFAULTS,
    Library,
    Protocol,
)
from kgroups.core.simulation.scenario.scenario_model import (
    DEFAULT_SETTINGS,
    RECORD_TIME,
    GroupPlan,
    MemberPlan,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.scenario.spread import Spread
from kgroups.core.snapshot import ClusterSnapshot, Group, Member, Topic

# Records a second that come to each partition where nobody says how many.
ASSUMED_RATE: Final = 10.0
COOPERATIVE: Final = "cooperative-sticky"


def scenario_of_group(
    snapshot: ClusterSnapshot, name: str, load: MeasuredLoad | None = None
) -> Scenario:
    """A group of a snapshot with its topics and lag, and no events.

    Args:
        load: what was measured; None: rates and processing times are assumed.
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
    record_ms = _record_ms(load)
    members = tuple(_member(group, member, library, record_ms) for member in group.members)
    read = dict.fromkeys(topic for member in members for topic in member.topics)
    topics = [
        _topic(snapshot.topics[topic], group, load) for topic in read if topic in snapshot.topics
    ]
    measured, unknown = _told(load, topics, record_ms)
    assumed += [*unknown, DEFAULT_SETTINGS]
    plan = GroupPlan(
        name,
        _protocol(group),
        members,
        committed={topic.name: dict.fromkeys(range(topic.partitions), 0) for topic in topics},
        long_running=True,
    )
    brokers = max(1, len(snapshot.brokers))
    return Scenario(
        name, tuple(topics), (plan,), brokers=brokers, assumed=tuple(assumed), measured=measured
    )


def _protocol(group: Group) -> Protocol:
    if group.type == "consumer":
        return "consumer"
    return "cooperative" if group.assignor == COOPERATIVE else "eager"


def _library(group: Group) -> tuple[Library, list[str]]:
    likeliest = "java" if group.type == "consumer" else infer_leader(Evidence(group)).likeliest
    for library in LIBRARIES:
        if library == likeliest:
            shown = "the Java client" if library == "java" else library
            return library, [f"the members use {shown}"]
    return "java", [f"the members behave as the Java client does, not as {likeliest}"]


def _member(group: Group, member: Member, library: Library, record_ms: float) -> MemberPlan:
    base = LIBRARY_DEFAULTS[library]
    own = group.assignor if group.type == "classic" and group.assignor != COOPERATIVE else None
    settings = replace(base, assignors=(own,)) if own else base
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
        record=Spread(record_ms),
    )


def _topic(topic: Topic, group: Group, load: MeasuredLoad | None) -> TopicPlan:
    """The topic with as many unread records as the group's lag on it."""
    commits = (group.offsets or {}).get(topic.topic, {})
    lags = []
    for number, log in sorted(topic.partitions.items()):
        commit = commits.get(number)
        lags.append(lag_at(None if commit is None else commit.offset, log) or 0)
    count = len(lags)
    plain = TopicPlan(topic.topic, count, rate=ASSUMED_RATE * count, backlog=sum(lags))
    rates = _known(topic.topic, load)
    if not rates:
        return plain
    # A partition that could not be measured receives what the others do on average.
    mean = sum(rates.values()) / len(rates)
    shares = tuple(rates.get(number, mean) for number in sorted(topic.partitions))
    weights = shares if len(set(shares)) > 1 else ()
    return replace(plain, rate=sum(shares), weights=weights, backlogs=tuple(lags))


def _known(topic: str, load: MeasuredLoad | None) -> dict[int, float]:
    """The measured rates of a topic's partitions."""
    rates = {} if load is None else load.rates
    return {number: rate for (name, number), rate in rates.items() if name == topic}


def _record_ms(load: MeasuredLoad | None) -> float:
    if load is None:
        return RECORD_TIME.mean_ms
    if load.record_ms is not None:
        return load.record_ms
    return min(RECORD_TIME.mean_ms, load.most_record_ms or RECORD_TIME.mean_ms)


def _told(
    load: MeasuredLoad | None, topics: Iterable[TopicPlan], record_ms: float
) -> tuple[tuple[str, ...], list[str]]:
    """The measured and the assumed figures of the load, a sentence each."""
    measured: list[str] = []
    assumed: list[str] = []
    over = "" if load is None else f" over {load.over_ms / 1_000:g} s"
    for topic in topics:
        with_rate = len(_known(topic.name, load))
        if with_rate:
            measured.append(f"`{topic.name}` receives {topic.rate:,.4g} records per second{over}")
        if 0 < with_rate < topic.partitions:
            missing = topic.partitions - with_rate
            subject = "1 partition" if missing == 1 else f"{missing} partitions"
            verb = "receives" if missing == 1 else "receive"
            assumed.append(f"{subject} of `{topic.name}` {verb} as much as the others")
        elif not with_rate and load is not None:
            text = (
                f"each partition of `{topic.name}` receives {ASSUMED_RATE:.0f} records per second"
            )
            assumed.append(text)
    if load is None:
        assumed.append(f"each partition receives {ASSUMED_RATE:.0f} records per second")
    text = f"a record takes {record_ms:.3g} ms to process"
    if load is not None and load.record_ms is not None:
        members = "1 member that was" if load.busy == 1 else f"{load.busy} members that were"
        measured.append(f"{text}, by {members} behind")
    elif load is not None:
        assumed.append(f"{text}: no member was behind, so it could not be measured")
    else:
        assumed.append(text)
    return tuple(measured), assumed
