"""Ports of a member: its assignors with their bytes, and its positions.

The assignors come in as functions, so that this package needs none;
`client/default_assignors.py` fills them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.core.coordinator.classic.messages import JoinGroupResponseMember
from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import TopicInfo


class PortError(ValueError):
    """Bytes of another member cannot be read, or an assignor gave up; the text says why."""


class Joining(NamedTuple):
    """The fields of a member's subscription.

    Args:
        topics: subscribed to, sorted.
        owned: still held while joining; an eager member has given everything up.
        generation: the member's present one; -1 if it has none.
        last: its last assignment, in list order; None before the first.
        last_generation: in which it got `last`; -1 before the first.
        last_bytes: of that assignment, as the leader wrote them.
    """

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...]
    generation: int
    rack_id: str | None
    last: tuple[TopicPartition, ...] | None
    last_generation: int
    last_bytes: bytes = b""


class Decided(NamedTuple):
    """The assignments of a leader.

    Args:
        topics: every topic that somebody in the group subscribes to.
    """

    assignments: Mapping[str, bytes]
    topics: frozenset[str]


# (members as JoinGroup listed them, topics of the cluster, newest generation seen)
Decide = Callable[[Sequence[JoinGroupResponseMember], Mapping[str, TopicInfo], int], Decided]


@dataclass(frozen=True, slots=True)
class ClientAssignor:
    """One assignor as a member uses it; each function raises PortError.

    Args:
        cooperative: it can work without everybody giving everything up first.
        subscribe: the bytes for JoinGroup.
        decide: what a leader does with everybody's bytes.
        read: the partitions in an assignment's bytes, in list order.
        exclusive: a partition goes to one member only.
    """

    name: str
    cooperative: bool
    subscribe: Callable[[Joining], bytes]
    decide: Decide
    read: Callable[[bytes], tuple[TopicPartition, ...]]
    exclusive: bool = True


Offsets = Mapping[TopicPartition, int]
Positions = Callable[[Iterable[TopicPartition]], Offsets]


def no_positions(partitions: Iterable[TopicPartition]) -> Offsets:
    """Nothing to commit."""
    return {}


@dataclass(frozen=True, slots=True)
class ClientPorts:
    """Functions that a member calls.

    Args:
        assignors: in order of preference; cooperative only if all of them are.
        positions: the next offset to read of each of these partitions that has one.
        stretch: chance of a back-off: by what it is longer than its attempt has it, from the same
            of the one before (None for the first), drawn each time; None: by nothing.
    """

    assignors: Sequence[ClientAssignor]
    positions: Positions = field(default=no_positions)
    stretch: Callable[[float | None], float] | None = None
