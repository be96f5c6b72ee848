"""FindCoordinator, DescribeGroups, ListGroups and DeleteGroups as fields by name."""

from collections.abc import Sequence

from kgroups.core.coordinator.admin_messages import (
    GROUP_KEY_TYPE,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kgroups.core.coordinator.fields.sender import NO_OPERATIONS, Body, Sender

_KEYS_SINCE = 4
"""FindCoordinator version from which several keys are asked for at once."""


def read_find(body: Body, sender: Sender) -> FindCoordinatorRequest:
    """The request of these fields: one key or, from version 4 on, several."""
    return FindCoordinatorRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        keys=tuple(keys_of(body, sender.version)),
        key_type=body.get("key_type", GROUP_KEY_TYPE),
    )


def keys_of(body: Body, version: int) -> Sequence[str]:
    """What a FindCoordinator request asks about."""
    keys: Sequence[str] = body["coordinator_keys"] if version >= _KEYS_SINCE else [body["key"]]
    return keys


def write_find(response: FindCoordinatorResponse, version: int) -> Body:
    """The fields of the answer."""
    return found_rows([one._asdict() for one in response.coordinators], version)


def found_rows(rows: Sequence[Body], version: int) -> Body:
    """Rows of an answer as this version has them: a list, or the only one."""
    return {"coordinators": rows} if version >= _KEYS_SINCE else rows[0]


def read_describe(body: Body, sender: Sender) -> DescribeGroupsRequest:
    """The request of these fields."""
    return DescribeGroupsRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        groups=tuple(body["groups"]),
    )


def write_describe(response: DescribeGroupsResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"groups": [_described_group(group) for group in response.groups]}


def _described_group(group: DescribedGroup) -> Body:
    return {
        "error_code": group.error_code,
        "error_message": group.error_message,
        "group_id": group.group_id,
        "group_state": group.group_state,
        "protocol_type": group.protocol_type,
        "protocol_data": group.protocol_data,
        "members": [member._asdict() for member in group.members],
        "authorized_operations": NO_OPERATIONS,
    }


def read_list(body: Body, sender: Sender) -> ListGroupsRequest:
    """The request of these fields."""
    return ListGroupsRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        states_filter=tuple(body.get("states_filter", ())),
        types_filter=tuple(body.get("types_filter", ())),
    )


def write_list(response: ListGroupsResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {
        "error_code": response.error_code,
        "groups": [group._asdict() for group in response.groups],
    }


def read_delete(body: Body, sender: Sender) -> DeleteGroupsRequest:
    """The request of these fields."""
    return DeleteGroupsRequest(
        version=sender.version,
        client_id=sender.client_id,
        client_host=sender.client_host,
        groups_names=tuple(body["groups_names"]),
    )


def write_delete(response: DeleteGroupsResponse, _version: int) -> Body:
    """The fields of the answer."""
    return {"results": [one._asdict() for one in response.results]}
