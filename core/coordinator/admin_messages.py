"""Requests of administrators about groups, with their answers."""

from dataclasses import dataclass
from typing import NamedTuple

from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode

GROUP_KEY_TYPE = 0
GROUP_NOT_FOUND_VERSION = 6  # DescribeGroups: from here on a missing group is an error
DEAD = "Dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class FindCoordinatorRequest(Request):
    """FindCoordinator (10); before version 4 exactly one key."""

    keys: tuple[str, ...]
    key_type: int = GROUP_KEY_TYPE


class FoundCoordinator(NamedTuple):
    """Where one key's coordinator is; node -1 and an error where there is none."""

    key: str
    node_id: int
    host: str
    port: int
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None


@dataclass(frozen=True, slots=True)
class FindCoordinatorResponse:
    """Answer to FindCoordinator, in the order of the keys."""

    coordinators: tuple[FoundCoordinator, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeGroupsRequest(Request):
    """DescribeGroups (15)."""

    groups: tuple[str | None, ...]


class DescribedMember(NamedTuple):
    """One member of a described classic group."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


@dataclass(frozen=True, slots=True)
class DescribedGroup:
    """One group of a DescribeGroups answer."""

    group_id: str
    error_code: ErrorCode = ErrorCode.NONE
    error_message: str | None = None
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: tuple[DescribedMember, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeGroupsResponse:
    """Answer to DescribeGroups."""

    groups: tuple[DescribedGroup, ...]


def described_as_dead(group_id: str, version: int, message: str) -> DescribedGroup:
    """A group that is not there, or none of the classic protocol."""
    if version < GROUP_NOT_FOUND_VERSION:
        return DescribedGroup(group_id, group_state=DEAD)
    return DescribedGroup(group_id, ErrorCode.GROUP_ID_NOT_FOUND, message, DEAD)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListGroupsRequest(Request):
    """ListGroups (16); empty filters let everything through."""

    states_filter: tuple[str, ...] = ()
    types_filter: tuple[str, ...] = ()


class ListedGroup(NamedTuple):
    """One group of a ListGroups answer."""

    group_id: str
    protocol_type: str
    group_state: str
    group_type: str


@dataclass(frozen=True, slots=True)
class ListGroupsResponse:
    """Answer to ListGroups."""

    error_code: ErrorCode
    groups: tuple[ListedGroup, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteGroupsRequest(Request):
    """DeleteGroups (42)."""

    groups_names: tuple[str | None, ...]


class DeletedGroup(NamedTuple):
    """How it went for one group of a DeleteGroups."""

    group_id: str
    error_code: ErrorCode


@dataclass(frozen=True, slots=True)
class DeleteGroupsResponse:
    """Answer to DeleteGroups; groups that could not be deleted come first."""

    results: tuple[DeletedGroup, ...]
