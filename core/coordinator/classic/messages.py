"""Requests of the classic protocol, with their answers."""

from dataclasses import dataclass
from typing import NamedTuple

from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode

UNKNOWN_MEMBER_ID = ""
NO_GENERATION = -1


class JoinGroupProtocol(NamedTuple):
    """One assignor that a member offers, with its subscription bytes."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinGroupRequest(Request):
    """JoinGroup (11). A version 0 request has no rebalance timeout: leave it -1."""

    group_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int = -1
    member_id: str = UNKNOWN_MEMBER_ID
    group_instance_id: str | None = None
    protocol_type: str = ""
    protocols: tuple[JoinGroupProtocol, ...] = ()
    reason: str | None = None

    @property
    def rebalance_ms(self) -> int:
        """The rebalance timeout; in version 0 the session timeout stands for it."""
        return self.session_timeout_ms if self.version == 0 else self.rebalance_timeout_ms


class JoinGroupResponseMember(NamedTuple):
    """One member, as the leader is told about it."""

    member_id: str
    group_instance_id: str | None
    metadata: bytes


@dataclass(frozen=True, slots=True)
class JoinGroupResponse:
    """Answer to JoinGroup; `members` is empty for everybody but the leader."""

    error_code: ErrorCode
    member_id: str = UNKNOWN_MEMBER_ID
    generation_id: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False
    members: tuple[JoinGroupResponseMember, ...] = ()


class SyncGroupAssignment(NamedTuple):
    """The leader's assignment for one member, as the member will get it."""

    member_id: str
    assignment: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncGroupRequest(Request):
    """SyncGroup (14)."""

    group_id: str | None
    generation_id: int
    member_id: str
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: tuple[SyncGroupAssignment, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncGroupResponse:
    """Answer to SyncGroup."""

    error_code: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatRequest(Request):
    """Heartbeat (12)."""

    group_id: str | None
    generation_id: int
    member_id: str
    group_instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatResponse:
    """Answer to Heartbeat."""

    error_code: ErrorCode


class MemberIdentity(NamedTuple):
    """Who is to leave: by member id, or by instance id with an empty member id."""

    member_id: str
    group_instance_id: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveGroupRequest(Request):
    """LeaveGroup (13). Versions 0 to 2 name one member: give it as the only entry."""

    group_id: str | None
    members: tuple[MemberIdentity, ...]


class MemberResponse(NamedTuple):
    """How it went for one member of a LeaveGroup; ids as they were sent."""

    member_id: str
    group_instance_id: str | None
    error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class LeaveGroupResponse:
    """Answer to LeaveGroup, member by member."""

    error_code: ErrorCode
    members: tuple[MemberResponse, ...] = ()
