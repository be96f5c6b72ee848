"""Share groups: listed and described as far as their state goes."""

import uuid

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.share_group_heartbeat.v1.request import ShareGroupHeartbeatRequest
from kio.schema.share_group_heartbeat.v1.response import ShareGroupHeartbeatResponse
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.settings import ClientSettings
from tests.kafka.broker import KafkaCluster
from tests.kafka.waiting import wait_until
from tests.kafka.wire import WireConnection
from tests.kafka.workload import create_topics

pytestmark = pytest.mark.kafka


def test_share_group_is_listed_and_described(kafka: KafkaCluster) -> None:
    """Type, state, epochs, members and assignment; it commits no offsets, so those are None."""
    create_topics(kafka.bootstrap, {"other-share": 2})
    member = str(uuid.uuid4())

    def beat(connection: WireConnection, epoch: int) -> ShareGroupHeartbeatResponse:
        request = ShareGroupHeartbeatRequest(
            group_id=GroupId("other-share"),
            member_id=member,
            member_epoch=i32(epoch),
            subscribed_topic_names=(TopicName("other-share"),),
        )
        answer = connection.ask(request, ShareGroupHeartbeatResponse)
        assert answer.error_code == ErrorCode.none, answer.error_message
        return answer

    with (
        WireConnection(kafka.address(), client_id="sharer") as connection,
        ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin,
    ):
        state = {"epoch": 0, "partitions": 0}

        def settled() -> bool:
            answer = beat(connection, state["epoch"])
            state["epoch"] = int(answer.member_epoch)
            if answer.assignment is not None:
                rows = answer.assignment.topic_partitions
                state["partitions"] = sum(len(row.partitions) for row in rows)
            return state["partitions"] == 2

        wait_until(settled, "the share group has its partitions", pause_s=0.2)
        (listed,) = (g for g in admin.list_groups().groups if g.group == "other-share")
        snapshot = admin.snapshot(["other-share"])
        beat(connection, -1)
    assert (listed.type, listed.state) == ("share", "Stable")
    assert snapshot.errors == ()
    (group,) = snapshot.groups
    assert (group.type, group.state, group.offsets) == ("share", "Stable", None)
    assert group.group_epoch is not None
    (only,) = group.members or ()
    assert (only.member_id, only.client_id) == (member, "sharer")
    assert only.assignment == {"other-share": (0, 1)}
    assert only.target_assignment is None
    assert set(snapshot.topics) == {"other-share"}
