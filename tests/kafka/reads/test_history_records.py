"""The records that `history` reads are those that Kafka's own formatters print, one by one."""

from base64 import b64decode
from typing import Any, Final

import pytest

from kgroups.core.coordinator.log import records as r
from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.history.log_entry import LogEntry
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.group_log import read_group_logs
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.formatters import formatted
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.workload import create_topics, end_offsets

pytestmark = pytest.mark.kafka

NAME: Final = "hist-formatted"


def printed(bootstrap: str, partition: int, formatter: str) -> list[Any]:
    """What the console consumer prints of a partition, from its beginning to its end of now."""
    at = (OFFSETS_TOPIC, partition)
    end = end_offsets(bootstrap, [at])[at]
    where = ("--partition", str(partition), "--offset", "earliest", "--max-messages", str(end))
    return formatted(bootstrap, OFFSETS_TOPIC, formatter, *where)


def read(bootstrap: str) -> list[LogEntry]:
    """Every record of the group, as we read it."""
    found: list[LogEntry] = []
    with ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=60_000) as admin:
        logs = read_group_logs(admin, admin.coordinators([NAME]), lambda _, e: found.append(e))
    assert not logs.failures
    assert not logs.unread.broken
    return found


def group_text(value: r.GroupMetadataValue | None) -> Any:
    """A group's record as the formatter has it."""
    return value and (
        value.generation,
        value.leader,
        value.protocol,
        value.current_state_timestamp_ms,
        [(m.member_id, m.client_id, m.client_host, m.assignment) for m in value.members],
    )


def kafkas_group_text(value: Any) -> Any:
    """The same, of what it printed."""
    data = value and value["data"]
    return data and (
        data["generation"],
        data["leader"],
        data["protocol"],
        data["currentStateTimestamp"],
        [
            (m["memberId"], m["clientId"], m["clientHost"], b64decode(m["assignment"]))
            for m in data["members"]
        ],
    )


def test_kafkas_formatters(kafka: KafkaCluster) -> None:
    """Generations with their members, and commits, of a group that was there and is deleted."""
    topic = f"{NAME}-t"
    create_topics(kafka.bootstrap, {topic: 2})
    with LiveGroup(kafka.bootstrap, NAME, [MemberSpec("a", (topic,))]) as group:
        group.wait_stable(2)
        group.members[0].commit({(topic, 0): 3, (topic, 1): 4})
        group.add(MemberSpec("b", (topic,)))
        group.wait_stable(2)
    with ClusterAdmin(settings_from_text("", kafka.bootstrap)) as admin:
        admin.delete_groups([NAME])
        place = admin.coordinators([NAME])
    entries = [entry.record for entry in read(kafka.bootstrap)]
    partition = offsets_partition(NAME, place.partitions or 0)
    groups = [
        kafkas_group_text(one["value"])
        for one in printed(kafka.bootstrap, partition, "GroupMetadataMessageFormatter")
        if one["key"]["data"]["group"] == NAME
    ]
    assert groups == [
        group_text(value)  # type: ignore[arg-type]
        for key, value in entries
        if isinstance(key, r.GroupMetadataKey)
    ]
    assert len(groups) > 3
    commits = [
        (
            one["key"]["data"]["topic"],
            one["key"]["data"]["partition"],
            one["value"] and one["value"]["data"]["offset"],
        )
        for one in printed(kafka.bootstrap, partition, "OffsetsMessageFormatter")
        if one["key"]["data"]["group"] == NAME
    ]
    assert commits == [
        (key.topic, key.partition, value and value.offset)  # type: ignore[union-attr]
        for key, value in entries
        if isinstance(key, r.OffsetCommitKey)
    ]
