"""The assignors as a member of a classic group uses them, bytes included.

`client_assignors` fills `client/ports.py`; the strategies and the bytes come
from `assignors`. What a member says of what it has is its own library's way (`rejoins`): a leader
of kafka-python cannot read what Java's members say, and then everybody loses what it had.
Source: `ConsumerCoordinator.metadata` and `onLeaderElected`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kgroups.assignors.other_clients.rejoins import rejoin_as
from kgroups.assignors.registry import assignor
from kgroups.assignors.rejoin import COOPERATIVE, STICKY
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.subscriptions import (
    assignment_bytes,
    last_assignment,
    member_subscription,
    subscription_bytes,
)
from kgroups.assignors.user.user_defined import GuardedAssignor
from kgroups.assignors.wire import (
    NEWEST_VERSION,
    Subscription,
    WireError,
    encode_cooperative_data,
    encode_sticky_data,
    encode_subscription,
    runs_of,
    sticky_topic_order,
)
from kgroups.core.coordinator.classic.messages import JoinGroupResponseMember
from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.client.ports import (
    ClientAssignor,
    Decide,
    Decided,
    Joining,
    PortError,
)
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.errors import UsageError

JAVA: Final = "java"
FRANZ_GO: Final = "franz-go"


def client_assignors(names: Iterable[str], library: str = "java") -> tuple[ClientAssignor, ...]:
    """Assignors by name, in order of preference, as a member uses them.

    Args:
        library: the member's client library, one of `assignors.registry.LEADERS`.

    Raises:
        AssignorError: there is none of such a name.
    """
    return tuple(_client_assignor(assignor(name, library), library) for name in names)


def _client_assignor(strategy: Assignor, library: str) -> ClientAssignor:
    name = strategy.name
    return ClientAssignor(
        name,
        name == COOPERATIVE,
        lambda joining: (
            _subscribe(strategy, joining) if library == JAVA else _say(name, library, joining)
        ),
        _decide_with(strategy),
        _read,
        exclusive="unique" not in getattr(strategy, "waives", ()),
    )


def known_assignor(name: str, library: str) -> ClientAssignor:
    """One assignor as a member of a library uses it.

    Raises:
        UsageError: there is none, or it cannot be loaded.
    """
    try:
        (only,) = client_assignors((name,), library)
    except AssignorError as error:
        raise UsageError(error.message, hint=error.hint) from error
    return only


def _subscribe(strategy: Assignor, joining: Joining) -> bytes:
    """As a Java member does."""
    return encode_subscription(
        Subscription(
            NEWEST_VERSION,
            joining.topics,
            _user_data(strategy, joining),
            runs_of(joining.owned),
            joining.generation,
            joining.rack_id,
        ).in_order()
    )


def _say(name: str, library: str, joining: Joining) -> bytes:
    """As a member of another library does; eager ones remember what they have given up."""
    joins = MemberSubscription("", joining.topics, rack=joining.rack_id)
    if joining.last is None:
        return subscription_bytes(joins)
    has = joining.owned if name == COOPERATIVE else joining.last
    # franz-go's say the generation that JoinGroup answered, whether they got what it gave them.
    generation = joining.generation if library == FRANZ_GO else joining.last_generation
    return subscription_bytes(rejoin_as(library, joins, name, has, generation))


def _user_data(strategy: Assignor, joining: Joining) -> bytes | None:
    """The strategy's own memory, which outlives lost generations too."""
    name = strategy.name
    if isinstance(strategy, GuardedAssignor):
        last = None
        if joining.last is not None:
            last = last_assignment(joining.last_bytes, joining.last_generation)
        try:
            return strategy.subscription_user_data(joining.topics, last)
        except AssignorError as failed:
            raise PortError(failed.message) from failed
    if name == COOPERATIVE:
        return encode_cooperative_data(joining.last_generation)
    if name == STICKY and joining.last is not None:
        return encode_sticky_data(sticky_topic_order(joining.last), joining.last_generation)
    return None


def _decide_with(strategy: Assignor) -> Decide:
    def decide(
        members: Sequence[JoinGroupResponseMember],
        topics: Mapping[str, TopicInfo],
        generation: int,
    ) -> Decided:
        try:
            subscribers = [
                member_subscription(m.member_id, m.metadata, instance_id=m.group_instance_id)
                for m in members
            ]
        except WireError as broken:
            raise PortError(f"a member's subscription cannot be read: {broken}") from broken
        wanted = frozenset(topic for subscriber in subscribers for topic in subscriber.topics)
        metadata = {name: _topic(topics[name]) for name in sorted(wanted) if name in topics}
        try:
            plan = strategy.assign(AssignmentRequest(subscribers, metadata, generation))
        except AssignorError as failed:
            raise PortError(failed.message) from failed
        assignments = {m.member_id: assignment_bytes(plan, m.member_id) for m in members}
        return Decided(assignments, wanted)

    return decide


def _topic(topic: TopicInfo) -> TopicPartitions:
    racks = [sorted(rack) for rack in topic.racks] if any(topic.racks) else []
    return TopicPartitions(topic.partitions, racks)


def _read(raw: bytes) -> tuple[TopicPartition, ...]:
    """No bytes are no partitions, as the coordinator stores for whom the leader left out."""
    try:
        return tuple(TopicPartition(*pair) for pair in last_assignment(raw).partitions)
    except WireError as broken:
        raise PortError(f"the assignment cannot be read: {broken}") from broken
