"""FindCoordinator, DescribeGroups, ListGroups and DeleteGroups on the wire."""

from collections.abc import Awaitable

from kio.schema.errors import ErrorCode

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
from kgroups.core.sandbox.handlers.classic_groups import submit
from kgroups.core.sandbox.handlers.dispatch import Call
from kgroups.core.sandbox.handlers.metadata import NO_OPERATIONS
from kgroups.core.sandbox.wire.schema import Body

_KEYS_SINCE = 4
"""FindCoordinator version from which several keys are asked for at once."""


def find_coordinator(call: Call) -> Body | Awaitable[Body]:
    """Which broker a group belongs to. Transactions and share groups have no coordinator here."""
    body = call.body
    keys = body["coordinator_keys"] if call.version >= _KEYS_SINCE else [body["key"]]
    key_type = body.get("key_type", GROUP_KEY_TYPE)
    if key_type != GROUP_KEY_TYPE:
        rows = [_no_coordinator(key, key_type) for key in keys]
        return {"coordinators": rows} if call.version >= _KEYS_SINCE else rows[0]
    request = FindCoordinatorRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        keys=tuple(keys),
        key_type=key_type,
    )

    def render(response: FindCoordinatorResponse) -> Body:
        found = [one._asdict() for one in response.coordinators]
        return {"coordinators": found} if call.version >= _KEYS_SINCE else found[0]

    return submit(call, request, render)


_NOT_SERVED = {
    1: (ErrorCode.transactional_id_authorization_failed, "transactions"),
    2: (ErrorCode.invalid_request, "share groups"),
}
"""Key types without a coordinator here. The code for transactions is the one that every producer
takes for final; most would ask again for ever after another."""


def _no_coordinator(key: str, key_type: int) -> Body:
    unknown = (ErrorCode.invalid_request, f"key type {key_type}")
    code, what = _NOT_SERVED.get(key_type, unknown)
    return {
        "key": key,
        "node_id": -1,
        "host": "",
        "port": -1,
        "error_code": code,
        "error_message": f"The embedded cluster serves no {what}.",
    }


def describe_groups(call: Call) -> Body | Awaitable[Body]:
    """State and members of classic groups."""
    request = DescribeGroupsRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        groups=tuple(call.body["groups"]),
    )
    return submit(call, request, _render_describe)


def _render_describe(response: DescribeGroupsResponse) -> Body:
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


def list_groups(call: Call) -> Body | Awaitable[Body]:
    """Groups of this broker."""
    request = ListGroupsRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        states_filter=tuple(call.body.get("states_filter", ())),
        types_filter=tuple(call.body.get("types_filter", ())),
    )
    return submit(call, request, _render_list)


def _render_list(response: ListGroupsResponse) -> Body:
    return {
        "error_code": response.error_code,
        "groups": [group._asdict() for group in response.groups],
    }


def delete_groups(call: Call) -> Body | Awaitable[Body]:
    """Forget groups that have no members, with their offsets."""
    request = DeleteGroupsRequest(
        version=call.version,
        client_id=call.request.client_id or "",
        client_host=call.peer,
        groups_names=tuple(call.body["groups_names"]),
    )
    return submit(call, request, _render_delete)


def _render_delete(response: DeleteGroupsResponse) -> Body:
    return {"results": [one._asdict() for one in response.results]}
