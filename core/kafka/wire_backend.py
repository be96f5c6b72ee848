"""The cluster's answers over the wire, put together: listing, snapshot, deletion."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.errors import ItemError, counted
from kgroups.core.kafka.answers import (
    GroupListing,
    Outcome,
    Placement,
    SnapshotScope,
    no_offsets_topic,
    outcome_of,
)
from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import UNSEEN, BrokerFailure, item_error, may_repeat, refusal
from kgroups.core.kafka.group_kinds import KINDS, kind_of
from kgroups.core.kafka.reads.by_leader import read_topics
from kgroups.core.kafka.reads.committed_offsets import Commits, fetch_commits
from kgroups.core.kafka.reads.group_listing import (
    Described,
    Listing,
    describe,
    list_all,
    topics_of,
)
from kgroups.core.kafka.reads.log_bounds import END, STABLE_END, START, read_bounds
from kgroups.core.kafka.reads.streams_groups import with_partitions
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster, by_broker
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import ClusterSnapshot, Group, GroupType, Topic


async def delete_groups(
    cluster: Cluster, groups: Sequence[str], deadline: Deadline
) -> tuple[Outcome, ...]:
    """Outcome for each group, in the order given; a group named twice is deleted once."""
    names = list(dict.fromkeys(groups))
    if not cluster.has_offsets_topic:
        return tuple(outcome_of(name, "GROUP_ID_NOT_FOUND") for name in names)
    doubts: Doubts[str] = Doubts()
    problems = await _delete(cluster, names, deadline.part(WRITING), doubts)
    errors = {name: doubts.error(name, name, problems[name]) for name in names}
    doubtful = {name: error for name, error in errors.items() if isinstance(error, Doubt)}
    async for _ in Attempts(deadline, whole=True):
        if not doubtful:
            break
        placed, _ = await cluster.coordinators(list(doubtful), deadline)
        for name, seen in (await describe(cluster, placed, {}, deadline)).items():
            if not isinstance(seen, BrokerFailure):
                errors[name] = doubtful[name].refuted
            elif seen.code == "GROUP_ID_NOT_FOUND":
                errors[name] = None
        doubtful = {name: doubt for name, doubt in doubtful.items() if errors[name] is doubt}
        cluster.forget_failures()
    return tuple(Outcome(name, result_of(errors[name]), errors[name]) for name in names)


async def _delete(
    cluster: Cluster, names: Sequence[str], deadline: Deadline, doubts: Doubts[str]
) -> dict[str, Failure]:
    """The last answer for each group; a group that is gone after an attempt was deleted by it."""
    problems: dict[str, Failure] = {}
    left = list(names)
    async for attempt in Attempts(deadline, whole=True):
        find = cluster.known_coordinators if attempt == 1 else cluster.coordinators
        placed, lost = await find(left, deadline)
        problems |= lost
        grouped = by_broker(placed)

        async def ask(
            broker: int, limit: float, grouped: dict[int, list[str]] = grouped
        ) -> dict[str, Failure]:
            return await _delete_on(cluster, broker, grouped[broker], limit)

        results, failures = await cluster.each_broker(ask, deadline, grouped)
        for answers in results.values():
            problems |= answers
        for broker, failure in failures.items():
            problems |= dict.fromkeys(grouped[broker], failure)
        for name in left:
            if problems[name] == "GROUP_ID_NOT_FOUND" and doubts.holds(name):
                problems[name] = None
            doubts.note(name, problems[name])
        left = [name for name in left if may_repeat(problems[name])]
        if not left:
            break
        cluster.forget_failures()
    return problems


async def _delete_on(
    cluster: Cluster, broker: int, groups: Sequence[str], limit: float
) -> dict[str, Failure]:
    _, answer = await cluster.ask(broker, Api.DELETE_GROUPS, requests.delete_groups(groups), limit)
    refusals = {item.group_id: refusal(item) for item in answer.results}
    return {group: refusals.get(group, "CORRUPT_MESSAGE") for group in groups}


Types = Mapping[str, GroupType]

GROUPS_A_STEP: Final = 25_000
"""Described before the next: what is learned of a group takes several times what is kept of it."""

_DENIED: Final = "GROUP_AUTHORIZATION_FAILED"


async def list_groups(cluster: Cluster, deadline: Deadline) -> GroupListing:
    """Every group of the cluster, with its state.

    Raises:
        BrokerFailure: no broker could be asked.
    """
    errors: list[ItemError] = []
    groups = (await _list(cluster, deadline, errors)).groups
    if any(group.state is None for group in groups.values()):  # brokers before 2.6
        described = await describe(cluster, _placed(groups), {}, deadline)
        for name, outcome in described.items():
            if isinstance(outcome, Group):
                groups[name] = replace(outcome, members=None)
    brokers = tuple(cluster.brokers.values())
    return GroupListing(tuple(groups.values()), brokers, cluster.cluster_id, tuple(errors))


async def topic_names(cluster: Cluster, deadline: Deadline) -> tuple[str, ...]:
    """Names of all topics, ascending.

    Raises:
        BrokerFailure: no broker could be asked.
    """
    return tuple((await read_topics(cluster, None, deadline)).topics)


async def place(cluster: Cluster, groups: Sequence[str], deadline: Deadline) -> Placement:
    """Where these groups live; nothing is created for it."""
    if cluster.has_offsets_topic:
        placed, lost = await cluster.coordinators(list(dict.fromkeys(groups)), deadline)
        errors = [item_error(name, failure) for name, failure in lost.items()]
    else:
        placed, errors = {}, [no_offsets_topic(name) for name in dict.fromkeys(groups)]
    return Placement(
        partitions=cluster.offsets_partitions,
        coordinators={
            name: cluster.brokers[broker]
            for name, broker in placed.items()
            if broker in cluster.brokers
        },
        cluster_id=cluster.cluster_id,
        bootstrap=cluster.settings.bootstrap_servers,
        errors=tuple(errors),
    )


async def hidden(
    cluster: Cluster, groups: Sequence[str], listed: Iterable[Group], deadline: Deadline
) -> tuple[ItemError, ...]:
    """Those of the groups that may not be looked at, whether they exist or not.

    Brokers describe empty groups in a fifth of the time that they look coordinators up in, so
    groups that were just listed as empty are asked for where they were listed.
    """
    empty = {group.group: group for group in listed if group.state == "Empty"}
    near = _placed({name: empty[name] for name in groups if name in empty})
    described = await describe(
        cluster, near, dict.fromkeys(near, "classic"), deadline
    )  # whatever their types: a broker sees first whether we may ask
    hidden = [
        item_error(name, BrokerFailure(outcome.code, UNSEEN))
        for name, outcome in described.items()
        if isinstance(outcome, BrokerFailure) and outcome.code == _DENIED
    ]
    elsewhere = await place(cluster, [name for name in groups if name not in near], deadline)
    return (*hidden, *(error for error in elsewhere.errors if error.code == _DENIED))


async def snapshot(
    cluster: Cluster,
    groups: Sequence[str] | None,
    scope: SnapshotScope,
    deadline: Deadline,
) -> ClusterSnapshot:
    """Groups (None: all), what they committed, and the bounds of what they read.

    Raises:
        BrokerFailure: nothing could be learned.
    """
    errors: list[ItemError] = []
    scope.progress("listing groups")
    waiting, types = await _find(cluster, groups, deadline, errors)
    scope.progress(f"describing {counted(len(waiting), 'group')}")
    whole: list[Group] = []
    while waiting:
        some = {name: waiting.pop(name) for name in list(islice(waiting, GROUPS_A_STEP))}
        committing = _placed(some) if scope.offsets else {}
        described, commits = await asyncio.gather(
            _describe(cluster, some, types, deadline, needed=scope.members or groups is not None),
            fetch_commits(cluster, committing, deadline),
        )
        retyped = _learn_types(cluster, described)
        late = {name: committing[name] for name in retyped & committing.keys()}
        commits |= await fetch_commits(cluster, late, deadline)
        whole += _join(cluster, described, commits, errors, members=scope.members)
    topics: dict[str, Topic] = {}
    if scope.offsets or scope.members:
        names = topics_of(whole)
        if scope.more_topics is not None:
            names |= {n for n in await topic_names(cluster, deadline) if scope.more_topics(n)}
        scope.progress(f"reading offsets of {len(names):,} topics")
        listing = await read_topics(cluster, names, deadline)
        topics = listing.topics
        errors += [item_error(name, code) for name, code in listing.failures.items()]
        if scope.log_offsets:
            stable = [STABLE_END] if scope.isolation == "read_committed" else []
            topics = await read_bounds(cluster, topics, (START, END, *stable), deadline)
            errors += _partition_errors(topics)
    return ClusterSnapshot(
        captured_at_ms=time.time_ns() // 1_000_000,
        groups=tuple(with_partitions(group, topics) for group in whole),
        topics=topics,
        brokers=tuple(cluster.brokers.values()),
        cluster_id=cluster.cluster_id,
        bootstrap=cluster.settings.bootstrap_servers,
        errors=tuple(errors),
    )


async def _list(cluster: Cluster, deadline: Deadline, errors: list[ItemError]) -> Listing:
    """All groups of the brokers that could be asked; the others are `errors`."""
    listing = await list_all(cluster, deadline)
    if listing.failures and len(listing.failures) == len(cluster.brokers):
        raise next(iter(listing.failures.values()))
    for broker, failure in listing.failures.items():
        errors.append(item_error(cluster.label(broker), failure))
    lost = await cluster.lost_groups(deadline)
    errors += [] if lost is None else [lost]
    cluster.placed |= _placed(listing.groups)
    _learn_types(cluster, listing.groups)
    return listing


def _learn_types(cluster: Cluster, groups: Mapping[str, Described]) -> set[str]:
    """Remembers share groups; those that are read otherwise than was thought."""
    types, retyped = cluster.types, set()
    for name, group in groups.items():
        fetcher = kind_of(types, name).fetcher
        if isinstance(group, Group) and fetcher != KINDS[group.type].fetcher:
            retyped.add(name)
            types[name] = group.type
    return retyped


async def _find(
    cluster: Cluster, names: Sequence[str] | None, deadline: Deadline, errors: list[ItemError]
) -> tuple[dict[str, Group], Types]:
    """The groups asked for, each with its coordinator, as far as they can be placed.

    A cluster without `__consumer_offsets` would create it when asked for a coordinator, so
    there the groups are looked up in the listing.
    """
    if names is None:
        listing = await _list(cluster, deadline, errors)
        return listing.groups, _types_of(listing)
    wanted = sorted(set(names))
    if cluster.has_offsets_topic:
        placed, lost = await cluster.known_coordinators(wanted, deadline)
        cluster.open_ahead(deadline)
        errors += [item_error(name, failure) for name, failure in lost.items()]
        return {
            name: Group(name, "classic", None, coordinator=broker)
            for name, broker in sorted(placed.items())
        }, {}
    listing = await _list(cluster, deadline, errors)
    listed = listing.groups
    errors += [item_error(name, "GROUP_ID_NOT_FOUND") for name in wanted if name not in listed]
    return {name: listed[name] for name in wanted if name in listed}, _types_of(listing)


async def _describe(
    cluster: Cluster, listed: dict[str, Group], types: Types, deadline: Deadline, *, needed: bool
) -> dict[str, Described]:
    """Descriptions, or the listing's rows where they say enough.

    They do for a classic group without members: nothing else of it is left to describe.
    """
    complete = types and all(group.state is not None for group in listed.values())
    if not needed and (complete or not listed):
        return {**listed}
    asked = {
        name: broker
        for name, broker in _placed(listed).items()
        if listed[name].state != "Empty" or types.get(name) != "classic"
    }
    return {**listed, **(await describe(cluster, asked, types, deadline))}


def _join(
    cluster: Cluster,
    described: Mapping[str, Described],
    commits: Mapping[str, Commits | BrokerFailure],
    errors: list[ItemError],
    *,
    members: bool,
) -> list[Group]:
    """Groups with their commits, ascending by name; what failed goes to `errors`.

    A group that was only listed has no members.
    """
    joined: list[Group] = []
    for name in sorted(described):
        outcome = described[name]
        if isinstance(outcome, BrokerFailure):
            errors.append(item_error(name, outcome))
            continue
        committed = commits.get(name)
        offsets = None
        if isinstance(committed, BrokerFailure):
            errors.append(item_error(name, committed))
        elif committed is not None:
            offsets = committed.offsets
            errors += [
                item_error(f"{name} {topic}-{number}", code)
                for (topic, number), code in sorted(committed.failures.items())
            ]
        joined.append(
            replace(
                outcome,
                members=(outcome.members or ()) if members else None,
                offsets=offsets,
                offsets_partition=_partition_of(cluster, name),
            )
        )
    return joined


def _partition_of(cluster: Cluster, group: str) -> int | None:
    partitions = cluster.offsets_partitions
    return offsets_partition(group, partitions) if partitions else None


def _types_of(listing: Listing) -> Types:
    """Types of the groups, where the brokers tell them."""
    if not listing.has_types:
        return {}
    return {name: group.type for name, group in listing.groups.items()}


def _placed(groups: Mapping[str, Group]) -> dict[str, int]:
    return {
        name: group.coordinator for name, group in groups.items() if group.coordinator is not None
    }


def _partition_errors(topics: Mapping[str, Topic]) -> list[ItemError]:
    """A row for each partition whose log could not be asked."""
    return [
        item_error(f"{topic.topic}-{number}", log.error)
        for topic in topics.values()
        for number, log in topic.partitions.items()
        if log.error is not None
    ]
