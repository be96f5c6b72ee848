"""The members of a group of the classic protocol, and what can be asked of them.

Of the bytes of a subscription only the topic names are read, as forgivingly as Kafka reads them: as
version 0 whatever version they name (an int16, an array of strings, user data). What newer versions
put behind does not matter for which topics count; the exact codec is `kgroups.assignors.wire`.
Source: `ClassicGroup`, `ClassicGroupMember`,
`ConsumerProtocol.deserializeConsumerProtocolSubscription`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from struct import error as StructError
from struct import unpack_from

from kgroups.assignors.order.hash_maps import JavaHashMap
from kgroups.assignors.order.java_order import hash_map_order
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic.messages import JoinGroupProtocol, JoinGroupResponseMember
from kgroups.core.protocol.errors import ErrorCode


class SubscriptionError(ValueError):
    """The bytes are no subscription."""


def read_topics(raw: bytes) -> tuple[str, ...]:
    """Topics subscribed to, in the member's order; what is not UTF-8 in a name is replaced.

    Raises:
        SubscriptionError: the bytes end too early, or something that must be there is null.
    """
    topics: list[str] = []
    try:
        _, count = unpack_from(">hi", raw)
        at = 6
        if not 0 <= count <= len(raw):
            raise SubscriptionError(f"{count} topics are announced")
        for _ in range(count):
            (size,) = unpack_from(">h", raw, at)
            at += 2 + size
            if size < 0 or at > len(raw):
                raise SubscriptionError(f"a name of {size} bytes is announced")
            topics.append(raw[at - size : at].decode(errors="replace"))
        (size,) = unpack_from(">i", raw, at)
    except StructError as broken:
        raise SubscriptionError("the bytes end too early") from broken
    if at + 4 + size > len(raw):
        raise SubscriptionError(f"{size} bytes of user data are announced")
    return tuple(topics)


CONSUMER_PROTOCOL_TYPE = "consumer"


@dataclass(slots=True, eq=False)
class ClassicMember:
    """One member.

    Args:
        assignment: what the leader last gave it.
        is_new: until it has learned its id from the end of a join phase.
        parked_join, parked_sync: tokens of requests that wait.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[JoinGroupProtocol, ...]
    assignment: bytes = b""
    is_new: bool = False
    parked_join: Hashable | None = None
    parked_sync: Hashable | None = None

    def metadata(self, protocol: str) -> bytes:
        """The member's bytes for one of the assignors that it offers; empty if it does not."""
        return next((offer.metadata for offer in self.protocols if offer.name == protocol), b"")

    def is_heard_of(self) -> bool:
        """Whether an expired session does not count: an answer is owed to the member."""
        return not self.is_new and (self.parked_join is not None or self.parked_sync is not None)


class ClassicMembers:
    """Members of one group with its leader and its assignor.

    Attributes:
        protocol_type: of all members; kept when the last one leaves.
        protocol: the assignor that was chosen for this generation.
        pending_join: ids handed out whose members have not joined with them yet.
        pending_sync: members of this generation that have not synced.
    """

    def __init__(self) -> None:
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: JavaHashMap[ClassicMember] = JavaHashMap()
        self.static_members: dict[str, str] = {}
        self.pending_join: set[str] = set()
        self.pending_sync: set[str] = set()
        self._joined = 0
        self._supported: dict[str, int] = {}

    def is_consumers(self) -> bool:
        """Whether the members are consumers, so that their bytes can be understood."""
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    def check_member(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """NONE if that member is there, and holds the instance id if it gives one."""
        if instance_id is not None:
            holder = self.static_members.get(instance_id)
            if holder is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if holder != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return NO_ERROR if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def has_common_protocol(self, protocols: Sequence[JoinGroupProtocol]) -> bool:
        """Whether one of these is offered by every member; with no members, any is."""
        size = len(self.members)
        return any(self._supported.get(offer.name, 0) == size for offer in protocols)

    def joined_count(self) -> int:
        """How many members have a JoinGroup parked."""
        return self._joined

    def all_joined(self) -> bool:
        """Whether the join phase need not wait: no member and no id handed out is missing."""
        return self._joined == len(self.members) and not self.pending_join

    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members; 0 without members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def join_members(self) -> tuple[JoinGroupResponseMember, ...]:
        """The members as the leader gets them: each with its bytes for the chosen protocol."""
        protocol = self.protocol or ""
        return tuple(
            JoinGroupResponseMember(member.member_id, member.instance_id, member.metadata(protocol))
            for member in self.members.ordered_values()
        )

    def count_votes(self) -> dict[str, int]:
        """Votes for each assignor that all members offer, in the order that settles ties.

        Every member votes for the first such assignor of its list.
        """
        size = len(self.members)
        candidates = {name for name, count in self._supported.items() if count == size}
        votes: dict[str, int] = {}
        for member in self.members.ordered_values():
            choice = next(offer.name for offer in member.protocols if offer.name in candidates)
            votes[choice] = votes.get(choice, 0) + 1
        return {name: votes[name] for name in hash_map_order(votes)}

    def vote(self) -> str:
        """The assignor with most votes; among equals the first in Java's HashMap order."""
        votes = self.count_votes()
        return max(votes, key=votes.__getitem__)

    def add(self, member: ClassicMember, parked: Hashable | None) -> None:
        """Take in a member, its JoinGroup parked; the first of all becomes leader."""
        if member.instance_id is not None:
            self.static_members[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._count(member, 1)
        self.park_join(member, parked)
        self.pending_join.discard(member.member_id)

    def remove(self, member_id: str) -> ClassicMember | None:
        """Take out a member, or an id handed out; gives back the member there was."""
        member = self.members.remove(member_id)
        if member is not None:
            self._count(member, -1)
            if member.parked_join is not None:
                self._joined -= 1
            if member.instance_id is not None:
                self.static_members.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members.ordered_keys()), None)
        self.pending_join.discard(member_id)
        self.pending_sync.discard(member_id)
        return member

    def update(
        self,
        member: ClassicMember,
        protocols: tuple[JoinGroupProtocol, ...],
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        """Take over what a member says about itself."""
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def park_join(self, member: ClassicMember, parked: Hashable | None) -> Hashable | None:
        """Park a JoinGroup, or with None take it out; gives back what was parked before."""
        before = member.parked_join
        self._joined += (parked is not None) - (before is not None)
        member.parked_join = parked
        return before

    def replace(self, instance_id: str, old_id: str, new_id: str) -> ClassicMember:
        """Give a static member a new id: everything but what was parked goes over."""
        old = self.members.take(old_id)
        new = replace(
            old,
            member_id=new_id,
            instance_id=instance_id,
            is_new=False,
            parked_join=None,
            parked_sync=None,
        )
        self.members[new_id] = new
        if self.leader == old_id:
            self.leader = new_id
        self.static_members[instance_id] = new_id
        return new

    def elect_joined_leader(self) -> bool:
        """Whether the group has a leader that has joined; if it must, it takes another one."""
        if self.leader is None:
            return False
        if self.members[self.leader].parked_join is None:
            joined = (m for m in self.members.ordered_values() if m.parked_join is not None)
            chosen = next(joined, None)
            if chosen is None:
                return False
            self.leader = chosen.member_id
        return True

    def compute_topics(self) -> frozenset[str] | None:
        """Topics that the members subscribe to; None if that cannot be known."""
        if not self.is_consumers():
            return None
        if not self.members:
            return frozenset()
        if self.protocol is None:
            return None
        topics: set[str] = set()
        try:
            for member in self.members.values():
                topics.update(read_topics(member.metadata(self.protocol)))
        except SubscriptionError:
            return None
        return frozenset(topics)

    def _count(self, member: ClassicMember, step: int) -> None:
        for offer in member.protocols:
            self._supported[offer.name] = self._supported.get(offer.name, 0) + step
