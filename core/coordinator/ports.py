"""Ports of the coordinator: what it needs done by code outside the standard library.

The server-side assignors, a 64-bit hash and RE2 patterns come in as functions, so that only
`default_ports` depends on them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from kgroups.core.coordinator.releases import Release, draw_id
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.errors import UsageError


class AssignableMember(NamedTuple):
    """A member as a server-side assignor sees it.

    Args:
        topic_names: topics that it subscribes to, by name or by pattern, sorted.
        target: what the last target gave it.
    """

    member_id: str
    instance_id: str | None
    rack_id: str | None
    topic_names: tuple[str, ...]
    target: Mapping[UUID, frozenset[int]]


@dataclass(frozen=True, slots=True)
class AssignmentSpec:
    """A consumer group whose target is to be computed.

    Args:
        members: in the order in which Kafka's assignor walks them (`HashMap` order of the ids).
        topics: those of the subscribed topics that exist, by name.
        homogeneous: whether the group is taken to have equal subscriptions.
    """

    members: Sequence[AssignableMember]
    topics: Mapping[str, TopicInfo]
    homogeneous: bool


# The target of every member; a member that is left out gets nothing. Raises AssignorFailed.
ServerAssign = Callable[[AssignmentSpec], Mapping[str, Mapping[UUID, frozenset[int]]]]
Matches = Callable[[str], bool]


class AssignorFailed(Exception):
    """An assignor could not make a target where Kafka's throws: the request is answered with -1."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Functions that a coordinator calls.

    Args:
        assignors: server-side assignors by name; without any, the consumer group protocol is
            not served.
        hash64: XXH3 of some bytes, seed 0, unsigned.
        compile_pattern: an RE2 pattern to a test of a whole topic name; raises PatternError.
        draw_id: the id of a member of a KIP-848 group out of those that `new_id` makes.
    Raises:
        UsageError: there are assignors, and one of the others is missing.
    """

    assignors: Mapping[str, ServerAssign] = field(default_factory=dict)
    hash64: Callable[[bytes], int] | None = None
    compile_pattern: Callable[[str], Matches] | None = None
    draw_id: Callable[[Callable[[], UUID], Release], UUID] = draw_id

    def __post_init__(self) -> None:
        """Consumer groups need all of them."""
        if self.assignors and (self.hash64 is None or self.compile_pattern is None):
            raise UsageError("ports with assignors need `hash64` and `compile_pattern` too")
