"""Driving the coordinator by frames, without the embedded cluster."""

from itertools import count
from uuid import UUID

import pytest

from kgroups.core.coordinator.classic.messages import SyncGroupResponse
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Reply
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.errors import UsageError
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.frames import read_response
from kgroups.core.protocol.kafka_json import to_json
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.table import response_table
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.caps import API_VERSIONS
from kgroups.core.sandbox.wire.coordinator_codec import (
    frame_json,
    read_frame,
    read_json,
    versions_of_fields,
    write_frame,
    write_json,
)
from tests.support.protocol.plain import Body
from tests.support.sandbox.frame_client import request_frame

TOPIC = TopicInfo("t", UUID(int=11), 4)
SUBSCRIPTION = b"\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff"
PARTITION: Body = {
    "partition_index": 1,
    "committed_offset": 7,
    "committed_leader_epoch": -1,
    "committed_metadata": "note",
}
GROUP: Body = {"group_id": "g", "member_id": "", "generation_id": -1, "group_instance_id": None}
REQUESTS: dict[Api, Body] = {
    Api.OFFSET_COMMIT: GROUP
    | {
        "generation_id_or_member_epoch": -1,
        "topics": [{"name": "t", "topic_id": TOPIC.topic_id, "partitions": [PARTITION]}],
    },
    Api.OFFSET_FETCH: GROUP
    | {
        "topics": [{"name": "t", "partition_indexes": [1]}],
        "groups": [{"group_id": "g", "topics": None, "member_id": None, "member_epoch": -1}],
        "require_stable": False,
    },
    Api.FIND_COORDINATOR: {"key": "g", "key_type": 0, "coordinator_keys": ["g"]},
    Api.JOIN_GROUP: GROUP
    | {
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    },
    Api.HEARTBEAT: GROUP,
    Api.LEAVE_GROUP: GROUP | {"members": [{"member_id": "m", "group_instance_id": None}]},
    Api.SYNC_GROUP: GROUP | {"assignments": []},
    Api.DESCRIBE_GROUPS: {"groups": ["g"], "include_authorized_operations": False},
    Api.LIST_GROUPS: {"states_filter": [], "types_filter": []},
    Api.DELETE_GROUPS: {"groups_names": ["g"]},
    Api.OFFSET_DELETE: {
        "group_id": "g",
        "topics": [{"name": "t", "partitions": [{"partition_index": 1}]}],
    },
    Api.CONSUMER_GROUP_HEARTBEAT: {
        "group_id": "k",
        "member_id": "AAAAAAAAAAAAAAAAAAAAAQ",
        "member_epoch": 0,
        "instance_id": None,
        "rack_id": None,
        "rebalance_timeout_ms": 10_000,
        "subscribed_topic_names": ["t"],
        "subscribed_topic_regex": None,
        "server_assignor": None,
        "topic_partitions": [],
    },
    Api.CONSUMER_GROUP_DESCRIBE: {"group_ids": ["k"], "include_authorized_operations": False},
}
EVERY = [
    (api, version)
    for api in REQUESTS
    for version in range(API_VERSIONS[api][0], API_VERSIONS[api][1] + 1)
]


def coordinator() -> Coordinator:
    """One that serves every partition, with a topic."""
    ids = count(1)
    return Coordinator(
        CoordinatorConfig(classic_initial_rebalance_delay_ms=0),
        Topology.of([TOPIC], version=1),
        lambda: UUID(int=next(ids)),
        now_ms=0,
    )


def test_every_api_of_the_coordinator_has_a_case() -> None:
    """The table of codecs and the cases are about the same APIs."""
    assert set(REQUESTS) == set(WIRE_FORMS)


@pytest.mark.parametrize(("api", "version"), EVERY, ids=lambda value: str(value))
def test_a_frame_in_and_a_frame_out(api: Api, version: int) -> None:
    """Of every API and version: the request is read, submitted, and its answer can be read."""
    frame = request_frame(api, version, REQUESTS[api], correlation_id=77)[4:]
    asked = read_frame(frame, client_host="/127.0.0.1")
    assert (asked.api, asked.version, asked.correlation_id) == (api, version, 77)
    assert (asked.request.client_id, asked.request.client_host) == ("wire", "/127.0.0.1")
    one = coordinator()
    one.submit(0, asked.correlation_id, asked.request)
    while (at_ms := one.next_deadline()) is not None and at_ms <= 10_000:
        one.advance(at_ms)
    (reply,) = [effect for effect in one.take() if isinstance(effect, Reply)]
    assert (reply.token, reply.api) == (77, api.kafka_name)
    answer = write_frame(asked, reply.response)[4:]
    assert answer[:4] == (77).to_bytes(4, "big")
    message = read_response(api, version, answer)
    assert write_json(asked, reply.response) == to_json(response_table(api), version, message)


@pytest.mark.parametrize(("api", "version"), EVERY, ids=lambda value: str(value))
def test_a_request_as_json(api: Api, version: int) -> None:
    """Of every API and version: what a frame shows as JSON is the request of that frame."""
    frame = request_frame(api, version, REQUESTS[api], correlation_id=77)[4:]
    message = frame_json(frame)
    asked = read_json(
        api, version, message, correlation_id=77, client_id="wire", client_host="/127.0.0.1"
    )
    assert asked == read_frame(frame, client_host="/127.0.0.1")


def test_an_exchange_in_json() -> None:
    """As Kafka's request log shows it."""
    message = {
        "groupId": "g",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 10_000,
        "memberId": "",
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": "AAAAAAABAAF0/////w=="}],
    }
    asked = read_json(Api.JOIN_GROUP, 3, message, client_id="c")
    one = coordinator()
    one.submit(0, "join", asked.request)
    while (at_ms := one.next_deadline()) is not None and at_ms <= 10_000:
        one.advance(at_ms)
    (reply,) = [effect for effect in one.take() if isinstance(effect, Reply)]
    member_id = "c-00000000-0000-0000-0000-000000000001"
    assert write_json(asked, reply.response) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "generationId": 1,
        "protocolName": "range",
        "leader": member_id,
        "memberId": member_id,
        "members": [{"memberId": member_id, "metadata": "AAAAAAABAAF0/////w=="}],
    }


def test_what_is_not_the_coordinators() -> None:
    """Another API, a version that is not served, and no frame at all are refused."""
    for frame in (request_frame(Api.METADATA, 1, {"topics": None})[4:], b"\x00\x0b\x7f\xff", b""):
        with pytest.raises(DecodeError):
            read_frame(frame + b"\0" * 4 if frame else frame)
    for api, version in ((Api.METADATA, 1), (Api.JOIN_GROUP, 99)):
        with pytest.raises(DecodeError, match="not the coordinator's"):
            read_json(api, version, {})


def test_which_version_carries_which_field() -> None:
    """Instance ids since JoinGroup 5, reasons since 8, `skip_assignment` since 9."""
    fields = versions_of_fields(Api.JOIN_GROUP)
    assert fields["request.group_instance_id"] == (5, 9)
    assert fields["request.reason"] == (8, 9)
    assert fields["response.skip_assignment"] == (9, 9)
    assert fields["response.members.group_instance_id"] == (5, 9)
    assert fields["request.group_id"][0] == API_VERSIONS[Api.JOIN_GROUP][0]


def test_an_answer_to_another_request_is_refused() -> None:
    """It would be written with fields that the message does not have."""
    message = {"groupId": "g", "generationId": 3, "memberId": "m", "groupInstanceId": None}
    asked = read_json(Api.HEARTBEAT, 4, message, client_id="c", client_host="/h")
    for write in (write_json, write_frame):
        with pytest.raises(UsageError, match="SyncGroupResponse does not answer Heartbeat"):
            write(asked, SyncGroupResponse(ErrorCode.NONE))
