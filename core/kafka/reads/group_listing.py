"""Groups of a cluster: listed by every broker, described by the coordinator of each."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from kgroups.core.kafka.deadline import Attempts, Deadline
from kgroups.core.kafka.failures import RETRIABLE, BrokerFailure, left_out
from kgroups.core.kafka.group_kinds import KINDS
from kgroups.core.kafka.reads.member_subscriptions import classic_member
from kgroups.core.kafka.reads.settling import ask_coordinators, unsettled_leaders
from kgroups.core.kafka.reads.streams_groups import streams_member, topology_of
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.errors import error_name
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import Group, GroupType, Member, MemberProtocol
from kgroups.core.streams_tasks import sources_of

_TYPES_AT_ONCE: tuple[tuple[GroupType, ...], ...] = (("classic", "consumer"), ("share", "streams"))
_MEMBER_PROTOCOLS: dict[int, MemberProtocol] = {0: "classic", 1: "consumer"}

Described = Group | BrokerFailure


class Listing(NamedTuple):
    """Groups by name, brokers that could not be asked, and whether the brokers gave types."""

    groups: dict[str, Group]
    failures: dict[int, BrokerFailure]
    has_types: bool


async def list_all(cluster: Cluster, deadline: Deadline) -> Listing:
    """Every group of the cluster: name, type, state, protocol type and coordinator.

    Brokers before 2.6 give no state (None), those before 3.8 no type: then it is `classic`,
    which `describe` corrects.

    A listing lacks, without an error, the groups of a coordinator that loads its log or moves
    meanwhile. Where that may not be, all coordinators have settled before, and stay in their place.
    """
    if not cluster.settles:
        return await _list(cluster, deadline)
    async for _ in Attempts(deadline):
        before = await cluster.placing(deadline)
        late = await unsettled_leaders(cluster, before, deadline)
        listing = await _list(cluster, deadline)
        after = await cluster.placing(deadline)
        if not late and before == after:
            break
        cluster.settled.clear()
        moved = {after[number][0] for number in after if before.get(number) != after[number]}
        late |= dict.fromkeys(moved & cluster.brokers.keys(), BrokerFailure("NOT_COORDINATOR"))
        listing.failures.update(
            (broker, why) for broker, why in late.items() if broker not in listing.failures
        )
    return listing


async def _list(cluster: Cluster, deadline: Deadline) -> Listing:
    """Groups that all brokers list now."""
    results, failures = await cluster.each_broker(
        lambda broker, limit: _list_one(cluster, broker, limit), deadline
    )
    listed = [group for groups, _ in results.values() for group in groups]
    has_types = all(version >= 5 for _, version in results.values())
    results.clear()
    listed.sort(key=attrgetter("group"))
    return Listing({group.group: group for group in listed}, failures, has_types)


async def _list_one(cluster: Cluster, broker: int, limit: float) -> tuple[list[Group], int]:
    """Groups that one broker coordinates, and the version of its answer."""
    pause_s = 0.05
    while True:
        version, answer = await cluster.ask(broker, Api.LIST_GROUPS, requests.list_groups(), limit)
        problem = error_name(answer.error_code)
        if problem is None:
            break
        if problem not in RETRIABLE or time.monotonic() + pause_s > limit:
            raise BrokerFailure(problem)
        await asyncio.sleep(pause_s)  # it is loading its groups, and has others than it lists
        pause_s *= 2
    groups = [
        Group(
            group=item.group_id,
            type=group_type(item.group_type) if version >= 5 else "classic",
            state=item.group_state or None if version >= 4 else None,
            protocol_type=item.protocol_type,
            coordinator=broker,
        )
        for item in answer.groups
    ]
    return groups, version


def group_type(text: str) -> GroupType:
    """The type as Kafka's listing spells it; a type that is newer than kgroups reads as classic."""
    lower = text.lower()
    return next((name for name in KINDS if name == lower), "classic")


async def describe(
    cluster: Cluster,
    coordinators: Mapping[str, int],
    types: Mapping[str, GroupType],
    deadline: Deadline,
) -> dict[str, Described]:
    """Each group with its members, or why it could not be described.

    Args:
        coordinators: group to broker id.
        types: group to its type, where that is known; others are asked for as every type.
    """

    async def ask(broker: int, groups: Sequence[str], limit: float) -> dict[str, Described]:
        return await _describe_on(cluster, broker, groups, types, limit)

    return await ask_coordinators(cluster, coordinators, deadline, ask)


async def _describe_on(
    cluster: Cluster,
    broker: int,
    groups: Sequence[str],
    types: Mapping[str, GroupType],
    limit: float,
) -> dict[str, Described]:
    """Describes groups of one coordinator: one request a type, at once those of frequent types."""
    connection = await cluster.connection(broker, limit)
    described: dict[str, Described] = {}
    asked: set[str] = set()
    refused: set[GroupType] = set()
    left = list(groups)
    for kinds in _TYPES_AT_ONCE:
        names = {
            kind: [group for group in left if types.get(group, kind) == kind]
            for kind in kinds
            if connection.offers(KINDS[kind].describer) is not None
        }
        names = {kind: own for kind, own in names.items() if own}
        answers = await asyncio.gather(
            *(_describe_as(cluster, broker, kind, of, limit) for kind, of in names.items())
        )
        asked.update(*names.values())
        for kind, answer in zip(names, answers, strict=True):
            if any(map(_is_refusal, answer.values())):
                refused.add(kind)
            for group in left:
                if group in answer:
                    before = described.get(group)
                    new = answer[group]
                    described[group] = new if before is None else _choose((before, new))
        left = [group for group in left if not isinstance(described.get(group), Group)]
        if not left:
            break
    for group in left:
        if group not in described:
            kind_known = types.get(group)
            described[group] = left_out() if group in asked else _not_describable(kind_known)
    if refused & NOT_SERVED.keys():
        described |= await _unserved(cluster, broker, described, limit)
    return described


def _is_refusal(outcome: Described) -> bool:
    return isinstance(outcome, BrokerFailure) and outcome.code == "UNSUPPORTED_VERSION"


async def _unserved(
    cluster: Cluster, broker: int, described: Mapping[str, Described], limit: float
) -> dict[str, BrokerFailure]:
    """Those of groups that are there all the same: their type is not served any more."""
    missing = {
        group
        for group, outcome in described.items()
        if isinstance(outcome, BrokerFailure) and outcome.code == "GROUP_ID_NOT_FOUND"
    }
    if not missing:
        return {}
    listed, _ = await _list_one(cluster, broker, limit)
    return {
        group.group: BrokerFailure("UNSUPPORTED_VERSION", NOT_SERVED[group.type])
        for group in listed
        if group.group in missing and group.type in NOT_SERVED
    }


NOT_SERVED: Final[Mapping[GroupType, str]] = {
    "share": "the brokers do not serve share groups: the feature `share.version` is off",
    "streams": (
        "the brokers do not serve streams groups: the feature `streams.version` is off, or "
        "`group.coordinator.rebalance.protocols` lacks `streams`"
    ),
}
"""Why brokers that know the request refuse it."""

_SAYS_LEAST: Final = ("GROUP_ID_NOT_FOUND", "UNSUPPORTED_VERSION")
"""Of answers about one group by several APIs. The second is that of Kafka 3.7 to 3.9 whose
coordinator does not serve KIP-848: they offer ConsumerGroupDescribe all the same.
"""


def _choose(outcomes: Sequence[Described]) -> Described:
    """The description among the answers of several APIs, else the failure that says most."""
    for outcome in outcomes:
        if isinstance(outcome, Group):
            return outcome
    for outcome in outcomes:
        if isinstance(outcome, BrokerFailure) and outcome.code not in _SAYS_LEAST:
            return outcome
    return outcomes[0]


def _not_describable(kind: GroupType | None) -> BrokerFailure:
    subject = f"lists this {kind} group but" if kind else "lists groups but"
    what = "such groups" if kind else "them"
    return BrokerFailure("UNSUPPORTED_VERSION", f"the broker {subject} cannot describe {what}")


async def _describe_as(
    cluster: Cluster, broker: int, kind: GroupType, groups: Sequence[str], limit: float
) -> dict[str, Described]:
    """Describes groups through the API of one type.

    The empty name, which only a classic group may have, spoils the answer to
    ConsumerGroupDescribe of Kafka 3.9 and 4.0: every group beside it is one with
    UNKNOWN_SERVER_ERROR, where later ones say INVALID_GROUP_ID of that one.
    """
    api = KINDS[kind].describer
    if kind != "classic" and "" in groups and len(groups) > 1:
        named = [group for group in groups if group]
        apart = await _describe_as(cluster, broker, kind, [""], limit)
        return apart | await _describe_as(cluster, broker, kind, named, limit)
    try:
        version, answer = await cluster.ask(broker, api, requests.describe_groups(groups), limit)
    except BrokerFailure as failure:
        return dict.fromkeys(groups, failure)
    described: dict[str, Described] = {}
    for item in answer.groups:
        # Kafka 4.0 may name a group twice: with its description, and as one that does not exist.
        outcome = _described(kind, version, item, broker)
        unsaid = isinstance(outcome, BrokerFailure) and outcome.code == "UNKNOWN_SERVER_ERROR"
        if unsaid and kind != "classic" and not item.group_id:
            outcome = BrokerFailure("INVALID_GROUP_ID")
        before = described.get(item.group_id)
        described[item.group_id] = outcome if before is None else _choose((before, outcome))
    return described


def _described(kind: GroupType, version: int, item: Any, broker: int) -> Described:
    problem = error_name(item.error_code)
    if problem is not None:
        off = NOT_SERVED.get(kind) if problem == "UNSUPPORTED_VERSION" else None
        return BrokerFailure(problem, off)
    if kind == "classic":
        # Below version 6 a group that does not exist, or is not classic, is said to be Dead.
        if item.group_state == "Dead" and version < 6:
            return BrokerFailure("GROUP_ID_NOT_FOUND")
        return _classic_group(item, broker)
    return _kip848_group(kind, item, broker)


def _classic_group(item: Any, broker: int) -> Group:
    is_consumer = item.protocol_type == "consumer"
    return Group(
        group=item.group_id,
        type="classic",
        state=item.group_state,
        protocol_type=item.protocol_type,
        assignor=item.protocol_data or None,
        coordinator=broker,
        members=tuple(_classic_member(member, is_consumer) for member in item.members),
    )


def _classic_member(item: Any, is_consumer: bool) -> Member:
    """A member; other users of the protocol (Connect) have bytes of their own."""
    known = Member(item.member_id, item.client_id, item.client_host, item.group_instance_id)
    if not is_consumer:
        return known
    return classic_member(known, item.member_metadata, item.member_assignment)


def _kip848_group(kind: GroupType, item: Any, broker: int) -> Group:
    member_of = streams_member if kind == "streams" else _kip848_member
    return Group(
        group=item.group_id,
        type=kind,
        state=item.group_state,
        protocol_type="consumer" if kind == "consumer" else kind,
        assignor=getattr(item, "assignor_name", None) or None,
        coordinator=broker,
        group_epoch=item.group_epoch,
        target_epoch=item.assignment_epoch,
        topology=topology_of(getattr(item, "topology", None)),
        members=tuple(map(member_of, item.members)),
    )


def _kip848_member(item: Any) -> Member:
    """A member of a KIP-848 or share group; version 0 does not say who speaks classic."""
    target = getattr(item, "target_assignment", None)
    return Member(
        member_id=item.member_id,
        client_id=item.client_id,
        host=item.client_host,
        instance_id=getattr(item, "instance_id", None),
        member_protocol=_MEMBER_PROTOCOLS.get(getattr(item, "member_type", 1), "consumer"),
        member_epoch=item.member_epoch,
        subscription=tuple(item.subscribed_topic_names),
        subscription_regex=getattr(item, "subscribed_topic_regex", None) or None,
        assignment=_assignment(item.assignment),
        target_assignment=None if target is None else _assignment(target),
        rack=item.rack_id,
    )


def _assignment(item: Any) -> dict[str, tuple[int, ...]]:
    """Topic to partitions; two topics of one name (deleted, created anew) are joined."""
    partitions: dict[str, tuple[int, ...]] = {}
    for entry in item.topic_partitions:
        name = entry.topic_name
        partitions[name] = partitions.get(name, ()) + tuple(entry.partitions)
    return partitions


def topics_of(groups: Iterable[Group]) -> set[str]:
    """Every topic that these groups subscribe to, are assigned, or committed; internal ones too."""
    topics: set[str] = set()
    for group in groups:
        topics.update(group.offsets or ())
        for part in group.topology or ():
            topics.update(sources_of(part), part.state_changelog_topics)
        for member in group.members or ():
            topics.update(member.subscription or (), member.assignment or ())
            topics.update(member.target_assignment or ())
    return topics
