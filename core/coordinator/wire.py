"""The coordinator's APIs on the wire: which class a request is read into.

The classes have Kafka's field names, so the codec makes and takes them; here is what differs, most
of it old versions that ask about one thing where newer ones ask about several.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Final

from kgroups.core.coordinator.admin_messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListGroupsRequest,
)
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    SyncGroupRequest,
)
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetDeleteTopic,
    OffsetFetchGroup,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchTopic,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.forms import Aliases, Form
from kgroups.core.protocol.reader import Message
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct

Arguments = Mapping[str, Any]

SEVERAL_KEYS: Final = 4
"""FindCoordinator version from which several keys are asked for at once."""
_SEVERAL_MEMBERS: Final = 3
_SEVERAL_GROUPS: Final = 8
_NULL_PROTOCOL: Final = 7
"""JoinGroup version from which a missing protocol name is null; before that it is empty."""


def _same(response: Message, _version: int) -> Message:
    return response


@dataclass(frozen=True, slots=True)
class WireForm:
    """One API.

    Args:
        convert_before: versions below this one are read as rows, of which `convert` makes the
            arguments of the class.
        answer: what is written of an answer, by version.
    """

    kind: type[Request]
    aliases: Aliases = ()
    convert_before: int = 0
    convert: Callable[[Message], Arguments] = vars
    answer: Callable[[Any, int], Message] = _same

    def form(self, version: int) -> Form | None:
        """The class that a request of this version is read into."""
        if version < self.convert_before:
            return None
        return Form(self.kind, self.aliases, as_arguments=True)

    def request(
        self, message: Message, version: int, client_id: str | None, client_host: str
    ) -> Request:
        """The request of what was read.

        Args:
            client_host: as Java prints an address: `/127.0.0.1`.
        """
        arguments = self.convert(message) if version < self.convert_before else message
        return self.kind(
            version=version, client_id=client_id or "", client_host=client_host, **arguments
        )


def _one_key(row: Message) -> Arguments:
    return {"keys": (row.key,), "key_type": row.key_type}


def _one_member(row: Message) -> Arguments:
    return {"group_id": row.group_id, "members": (MemberIdentity(row.member_id),)}


def _one_group(row: Message) -> Arguments:
    topics = None
    if row.topics is not None:
        topics = tuple(
            OffsetFetchTopic(topic.name, topic.partition_indexes) for topic in row.topics
        )
    group = OffsetFetchGroup(row.group_id, topics)
    return {"groups": (group,), "require_stable": row.require_stable}


def _deleted_offsets(row: Message) -> Arguments:
    topics = tuple(
        OffsetDeleteTopic(
            topic.name, tuple(partition.partition_index for partition in topic.partitions)
        )
        for topic in row.topics
    )
    return {"group_id": row.group_id, "topics": topics}


def _found(response: FindCoordinatorResponse, version: int) -> Message:
    return response if version >= SEVERAL_KEYS else response.coordinators[0]


def _joined(response: JoinGroupResponse, version: int) -> Message:
    if version >= _NULL_PROTOCOL or response.protocol_name is not None:
        return response
    return replace(response, protocol_name="")


def _left(response: LeaveGroupResponse, version: int) -> Message:
    """The answer; that about a single member has its error at the top."""
    code = response.error_code
    if version < _SEVERAL_MEMBERS and code is ErrorCode.NONE and response.members:
        return replace(response, error_code=response.members[0].error_code)
    return response


def _fetched(response: OffsetFetchResponse, version: int) -> Message:
    return response if version >= _SEVERAL_GROUPS else response.groups[0]


def _heartbeat(response: ConsumerGroupHeartbeatResponse, _version: int) -> Message:
    assignment = response.assignment
    wrapped = None if assignment is None else Struct(topic_partitions=assignment)
    return Struct(**_fields_of(response) | {"assignment": wrapped})


def _described(response: ConsumerGroupDescribeResponse, _version: int) -> Message:
    def member(row: object) -> Message:
        values = _fields_of(row)
        for name in ("assignment", "target_assignment"):
            values[name] = Struct(topic_partitions=values[name])
        return Struct(**values)

    groups = [
        Struct(**_fields_of(group) | {"members": [member(row) for row in group.members]})
        for group in response.groups
    ]
    return Struct(groups=groups)


def _fields_of(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


WIRE_FORMS: Final[Mapping[Api, WireForm]] = MappingProxyType(
    {
        Api.OFFSET_COMMIT: WireForm(OffsetCommitRequest),
        Api.OFFSET_FETCH: WireForm(
            OffsetFetchRequest,
            convert_before=_SEVERAL_GROUPS,
            convert=_one_group,
            answer=_fetched,
        ),
        Api.FIND_COORDINATOR: WireForm(
            FindCoordinatorRequest,
            aliases=(("coordinator_keys", "keys"),),
            convert_before=SEVERAL_KEYS,
            convert=_one_key,
            answer=_found,
        ),
        Api.JOIN_GROUP: WireForm(JoinGroupRequest, answer=_joined),
        Api.HEARTBEAT: WireForm(HeartbeatRequest),
        Api.LEAVE_GROUP: WireForm(
            LeaveGroupRequest,
            convert_before=_SEVERAL_MEMBERS,
            convert=_one_member,
            answer=_left,
        ),
        Api.SYNC_GROUP: WireForm(SyncGroupRequest),
        Api.DESCRIBE_GROUPS: WireForm(DescribeGroupsRequest),
        Api.LIST_GROUPS: WireForm(ListGroupsRequest),
        Api.DELETE_GROUPS: WireForm(DeleteGroupsRequest),
        Api.OFFSET_DELETE: WireForm(
            OffsetDeleteRequest, convert_before=1, convert=_deleted_offsets
        ),
        Api.CONSUMER_GROUP_HEARTBEAT: WireForm(ConsumerGroupHeartbeatRequest, answer=_heartbeat),
        Api.CONSUMER_GROUP_DESCRIBE: WireForm(ConsumerGroupDescribeRequest, answer=_described),
    }
)
"""The APIs of the coordinator: those of Kafka 4.4, in all versions of their message tables."""
