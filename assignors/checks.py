"""Properties of a good assignment, which tests, `check_assignor` and users share.

Each property looks at a request and the answer to it and says what is wrong, in words. A strategy
that does not promise one names it in `waives`.

Source: KIP-54 (balance first, then stickiness); the invariants of Kafka's own assignor tests.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartition,
)


class Finding(NamedTuple):
    """A promise that a strategy broke.

    Args:
        property: its name in `PROPERTIES`, or `answers` where it raised.
        case: the smallest request found on which it breaks, in words.
    """

    property: str
    message: str
    case: str = ""


def holders_of(
    assignment: Assignment, request: AssignmentRequest
) -> dict[str, list[TopicPartition]]:
    """Partitions of each member, those included that a cooperative round hands over later."""
    held = {m.member_id: list(assignment.partitions_of(m.member_id)) for m in request.members}
    withheld: Mapping[TopicPartition, str] = getattr(assignment, "withheld", {})
    for partition, member_id in withheld.items():
        held[member_id].append(partition)
    return held


def _wanted(request: AssignmentRequest) -> set[TopicPartition]:
    """Every partition of a topic that exists and has a subscriber."""
    topics = {topic for member in request.members for topic in member.topics}
    return {
        (topic, partition)
        for topic in topics
        if topic in request.topics
        for partition in range(request.topics[topic].partitions)
    }


def complete(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """Every partition of the subscribed topics is given to somebody."""
    given = {partition for partitions in held.values() for partition in partitions}
    missing = sorted(_wanted(request) - given)
    return f"{_named(missing)} is not assigned to any member" if missing else None


def unique(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """No partition is given twice."""
    seen: dict[TopicPartition, str] = {}
    for member_id, partitions in held.items():
        for partition in partitions:
            if partition in seen:
                return (
                    f"{_named([partition])} is assigned to both `{seen[partition]}` and "
                    f"`{member_id}`"
                )
            seen[partition] = member_id
    return None


def subscribed(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """Members get partitions only of topics that exist and that they subscribe to."""
    wanted = _wanted(request)
    for member in request.members:
        for partition in held[member.member_id]:
            if partition[0] not in member.topics or partition not in wanted:
                return (
                    f"`{member.member_id}` is assigned {_named([partition])} but does not "
                    "subscribe to it"
                )
    return None


def balanced(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """No member holds a partition that one with two less could have."""
    sizes = {member_id: len(partitions) for member_id, partitions in held.items()}
    least: dict[str, str] = {}  # topic -> the subscriber that holds fewest
    for member in request.members:
        for topic in member.topics:
            if topic not in least or sizes[member.member_id] < sizes[least[topic]]:
                least[topic] = member.member_id
    for member_id, partitions in held.items():
        for topic, partition in partitions:
            other = least.get(topic, member_id)
            if sizes[other] < sizes[member_id] - 1:
                return (
                    f"`{member_id}` has {sizes[member_id]} partitions, including "
                    f"{topic}-{partition}, but `{other}` only {sizes[other]}"
                )
    return None


def sticky(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """Asked again with what everybody holds, the strategy moves nothing."""
    again = replace(request, members=tuple(_with_owned(request, held)))
    after = holders_of(strategy.assign(again), again)
    for member_id, partitions in after.items():
        moved = sorted(set(partitions) - set(held[member_id]))
        if moved:
            return f"run again, it also assigns {_named(moved)} to `{member_id}`"
    return None


def order_free(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """The order in which members are listed makes no difference to who gets what."""
    turned = replace(request, members=tuple(reversed(request.members)))
    after = holders_of(strategy.assign(turned), turned)
    for member_id, partitions in held.items():
        if set(after[member_id]) != set(partitions):
            return f"with members in reverse order, `{member_id}` gets a different assignment"
    return None


def deterministic(
    strategy: Assignor, request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> str | None:
    """The same request gives the same answer, list order included."""
    after = holders_of(strategy.assign(request), request)
    for member_id, partitions in held.items():
        if after[member_id] != partitions:
            return f"run twice, `{member_id}` gets a different assignment the second time"
    return None


Property = Callable[[Assignor, AssignmentRequest, dict[str, list[TopicPartition]]], str | None]

PROPERTIES: Mapping[str, Property] = MappingProxyType(
    {
        "complete": complete,
        "unique": unique,
        "subscribed": subscribed,
        "balanced": balanced,
        "sticky": sticky,
        "order-free": order_free,
        "deterministic": deterministic,
    }
)


def _with_owned(
    request: AssignmentRequest, held: dict[str, list[TopicPartition]]
) -> Iterator[MemberSubscription]:
    """The members as they come back with what they hold."""
    generation = request.generation + 1
    for member in request.members:
        runs: dict[str, list[int]] = {}
        for topic, partition in held[member.member_id]:
            runs.setdefault(topic, []).append(partition)
        owned = tuple((topic, tuple(partitions)) for topic, partitions in runs.items())
        yield replace(
            member,
            owned=owned,
            generation=generation,
            previous=(owned, generation),
            user_data=None,
        )


def _named(partitions: Iterable[TopicPartition]) -> str:
    """Partitions in words, not too many of them."""
    listed = [f"{topic}-{partition}" for topic, partition in partitions]
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")


def broken_promises(strategy: Assignor, request: AssignmentRequest) -> list[Finding]:
    """Properties that the strategy promises and its answer to this request lacks."""
    waived = frozenset(getattr(strategy, "waives", ()))
    try:
        held = holders_of(strategy.assign(request), request)
        said = [
            (name, test(strategy, request, held))
            for name, test in PROPERTIES.items()
            if name not in waived
        ]
    except AssignorError as error:
        return [Finding("answers", error.message)]
    return [Finding(name, message) for name, message in said if message is not None]
