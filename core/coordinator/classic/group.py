"""A group of the classic protocol: state, generation and the checks that offsets ask for.

Time and answers are not decided here but in `join`, `rebalance`, `sync` and
`leave`. Source: `ClassicGroup`.
"""

from collections.abc import Sequence
from typing import ClassVar, Final

from kgroups.core.coordinator.admin_messages import DescribedGroup, DescribedMember
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.classic.members import ClassicMember, ClassicMembers
from kgroups.core.coordinator.classic.messages import UNKNOWN_MEMBER_ID, JoinGroupProtocol
from kgroups.core.coordinator.classic.states import (
    ALLOWED_PREVIOUS,
    OUTCOMES,
    Act,
    Ask,
    ClassicState,
)
from kgroups.core.coordinator.groups import (
    CommitRequest,
    Group,
    GroupKind,
    GroupSnapshot,
    MemberSnapshot,
    RetentionStart,
    Session,
)
from kgroups.core.coordinator.log.records import (
    GroupMetadataKey,
    GroupMetadataMember,
    GroupMetadataValue,
    OffsetCommitValue,
    Record,
)
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest, TxnOffsetCommitRequest
from kgroups.core.protocol.errors import ErrorCode

# Every commit of a member looks them up.
COMMIT_OUTCOMES = OUTCOMES[Ask.COMMIT_MEMBER]
RESTART_SESSION: Final = Act.RESTART_SESSION


class ClassicGroup(ClassicMembers, Group):
    """A group of the classic protocol.

    Attributes:
        generation: grows by one at the end of each join phase.
        state_since_ms: when the state was entered; None if the log did not say.
        new_member_added: a member came since the initial rebalance delay last began.
        subscribed_topics: of a group of consumers; None if not known.
        stored: the group as its last record has it; None if it has none.
    """

    kind: ClassVar[GroupKind] = GroupKind.CLASSIC

    def __init__(
        self,
        group_id: str,
        partition: int,
        state: ClassicState = ClassicState.EMPTY,
        state_since_ms: int | None = None,
    ) -> None:
        ClassicMembers.__init__(self)
        Group.__init__(self, group_id, partition)
        self.state = state
        self.previous_state = ClassicState.DEAD
        self.state_since_ms = state_since_ms
        self.generation = 0
        self.new_member_added = False
        self.subscribed_topics: frozenset[str] | None = None
        self.stored: GroupMetadataValue | None = None

    # ------------------------------------------------------------------ the classic protocol

    def move_to(self, state: ClassicState, now_ms: int) -> None:
        """Enter another state; the tables must allow it."""
        if self.state not in ALLOWED_PREVIOUS[state]:
            allowed = ", ".join(sorted(ALLOWED_PREVIOUS[state]))
            raise AssertionError(
                f"group {self.group_id} is {self.state}; {state} follows {allowed} only"
            )
        self.previous_state = self.state
        self.state = state
        self.state_since_ms = now_ms

    def supports(self, protocol_type: str, protocols: Sequence[JoinGroupProtocol]) -> bool:
        """Whether a member with these offers may be in the group."""
        if self.state is ClassicState.EMPTY:
            return bool(protocol_type) and bool(protocols)
        return protocol_type == self.protocol_type and self.has_common_protocol(protocols)

    def stored_value(self) -> GroupMetadataValue:
        """The group as a record holds it."""
        members = tuple(self._stored_member(member) for member in self.members.ordered_values())
        since_ms = -1 if self.state_since_ms is None else self.state_since_ms
        return GroupMetadataValue(
            self.protocol_type or "", self.generation, self.protocol, self.leader, since_ms, members
        )

    def _stored_member(self, member: ClassicMember) -> GroupMetadataMember:
        return GroupMetadataMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
            member.metadata(self.protocol or ""),
            member.assignment,
        )

    # ------------------------------------------------------------------ what every group answers

    def state_name(self) -> str:
        return self.state.value

    def listed_protocol_type(self) -> str:
        return self.protocol_type or ""

    def is_empty(self) -> bool:
        return self.state is ClassicState.EMPTY

    def is_subscribed_to(self, topic: str) -> bool:
        if not self.is_consumers():
            return False
        return self.subscribed_topics is None or topic in self.subscribed_topics

    def check_commit(self, request: CommitRequest) -> ErrorCode:
        generation = request.generation_id_or_member_epoch
        transactional = isinstance(request, TxnOffsetCommitRequest)
        if generation < 0 and self.state is ClassicState.EMPTY:
            return OUTCOMES[Ask.COMMIT_OUTSIDER][self.state].error
        given = request.member_id != UNKNOWN_MEMBER_ID or request.group_instance_id is not None
        if generation >= 0 or given:
            error = self.check_member(request.member_id, request.group_instance_id)
            if error is not NO_ERROR:
                return error
            if generation != self.generation:
                return ErrorCode.ILLEGAL_GENERATION
            if not transactional:
                return COMMIT_OUTCOMES[self.state].error
            ask = Ask.COMMIT_TRANSACTION
        else:
            ask = Ask.COMMIT_TRANSACTION if transactional else Ask.COMMIT_OUTSIDER
        return OUTCOMES[ask][self.state].error

    def renewed_session(self, request: OffsetCommitRequest) -> Session | None:
        member = self.members.get(request.member_id)
        if member is None or COMMIT_OUTCOMES[self.state].act is not RESTART_SESSION:
            return None
        return Session(member.member_id, member.session_timeout_ms)

    def check_fetch(self, member_id: str | None, member_epoch: int) -> ErrorCode:
        return OUTCOMES[Ask.FETCH][self.state].error

    def check_delete_offsets(self) -> ErrorCode:
        consumers = self.is_consumers()
        ask = Ask.DELETE_OFFSETS_CONSUMER if consumers else Ask.DELETE_OFFSETS_OTHER
        return OUTCOMES[ask][self.state].error

    def check_delete(self) -> ErrorCode:
        return OUTCOMES[Ask.DELETE_GROUP][self.state].error

    def retention_start(self) -> RetentionStart | None:
        if self.protocol_type is None:
            return _commit_time
        if self.state is ClassicState.EMPTY:
            since_ms = self.state_since_ms
            return _commit_time if since_ms is None else lambda value: since_ms
        fixed = self.is_consumers() and self.subscribed_topics is not None
        return _commit_time if fixed and self.state is ClassicState.STABLE else None

    def describe(self, version: int) -> DescribedGroup:
        stable = self.state is ClassicState.STABLE
        protocol = self.protocol or ""
        members = tuple(
            DescribedMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.metadata(protocol) if stable else b"",
                member.assignment,
            )
            for member in self.members.ordered_values()
        )
        return DescribedGroup(
            self.group_id,
            group_state=self.state.value,
            protocol_type=self.protocol_type or "",
            protocol_data=protocol if stable else "",
            members=members,
        )

    def tombstones(self) -> list[Record]:
        return [Record(GroupMetadataKey(self.group_id), None)]

    def durable_records(self) -> list[Record]:
        return [] if self.stored is None else [Record(GroupMetadataKey(self.group_id), self.stored)]

    def snapshot(self) -> GroupSnapshot:
        return GroupSnapshot(
            self.group_id,
            self.kind.value,
            self.state.value,
            self.protocol_type,
            self.protocol,
            self.generation,
            self.leader,
            tuple(self._member_snapshot(member) for member in self.members.ordered_values()),
            facts={
                "state_since_ms": self.state_since_ms,
                "pending_join": tuple(sorted(self.pending_join)),
                "pending_sync": tuple(sorted(self.pending_sync)),
                "subscribed_topics": self.subscribed_topics,
            },
        )

    def _member_snapshot(self, member: ClassicMember) -> MemberSnapshot:
        waiting = "sync" if member.parked_sync is not None else None
        return MemberSnapshot(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.session_timeout_ms,
            member.rebalance_timeout_ms,
            member.assignment,
            self.generation,
            "join" if member.parked_join is not None else waiting,
            {"protocols": member.protocols},
        )


def _commit_time(value: OffsetCommitValue) -> int:
    return value.commit_timestamp_ms
