"""The strategies of kafka-python and aiokafka themselves, asked in this process."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kgroups.assignors.spec import AssignmentRequest, MemberSubscription
from kgroups.assignors.wire import Subscription, encode_sticky_data, encode_subscription

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AioRange
    from aiokafka.coordinator.assignors.roundrobin import (
        RoundRobinPartitionAssignor as AioRoundRobin,
    )
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import (
        StickyPartitionAssignor as AioSticky,
    )
    from aiokafka.coordinator.protocol import ConsumerProtocol
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

Json = Any
Plan = Mapping[str, Mapping[str, Sequence[int]]]


def _cluster(request: AssignmentRequest) -> Any:
    """What the Python libraries ask of a cluster's metadata."""

    def partitions_for_topic(topic: str) -> set[int] | None:
        known = request.topics.get(topic)
        return set(range(known.partitions)) if known and known.partitions else None

    return SimpleNamespace(
        partitions_for_topic=partitions_for_topic, topics=lambda *_: set(request.topics)
    )


def ask_kafka_python(strategy: str, request: AssignmentRequest) -> Plan:
    """What a kafka-python leader decides from the members' bytes; raises what it raises."""
    members = [
        SimpleNamespace(
            member_id=each.member_id,
            group_instance_id=each.instance_id,
            metadata=ConsumerProtocolSubscription.decode(subscription_bytes(each, 2)),
        )
        for each in request.members
    ]
    ask: Callable[[Any, Any], Any] = {
        "range": RangePartitionAssignor.assign,
        "roundrobin": RoundRobinPartitionAssignor.assign,
        "sticky": StickyPartitionAssignor().assign,
        "cooperative-sticky": CooperativeStickyAssignor().assign,
    }[strategy]
    answer = ask(_cluster(request), members)
    return {
        member: {topic: list(numbers) for topic, numbers in _pairs(given) if numbers}
        for member, given in answer.items()
    }


def _pairs(given: Any) -> list[tuple[str, list[int]]]:
    """Topics and partitions of one member's part of the answer."""
    listed = (
        given.assigned_partitions if hasattr(given, "assigned_partitions") else given.assignment
    )
    return [(e.topic, e.partitions) if hasattr(e, "topic") else (e[0], e[1]) for e in listed]


def ask_aiokafka(strategy: str, request: AssignmentRequest) -> Plan:
    """What an aiokafka leader decides from the members' bytes; raises what it raises."""
    members = {
        each.member_id: ConsumerProtocol.METADATA.decode(subscription_bytes(each, 0))
        for each in request.members
    }
    ask: Any = {
        "range": AioRange.assign,
        "roundrobin": AioRoundRobin.assign,
        "sticky": AioSticky.assign,
    }[strategy]
    answer = ask(_cluster(request), members)
    return {
        member: {topic: list(numbers) for topic, numbers in _pairs(given) if numbers}
        for member, given in answer.items()
    }


def subscription_bytes(member: MemberSubscription, version: int) -> bytes:
    """What a member sends, in a version of the subscription."""
    data = member.user_data
    if member.previous is not None:
        data = encode_sticky_data(*member.previous)
    return encode_subscription(
        Subscription(
            version, member.topics, data, _runs(member.owned), member.generation, member.rack
        )
    )


def _runs(owned: Sequence[tuple[str, Sequence[int]]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((topic, tuple(numbers)) for topic, numbers in owned)
