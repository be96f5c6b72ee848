"""The requests that members of both protocols send alike: where is the coordinator, and commits."""

from collections.abc import Mapping
from typing import Any

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.append_errors import NO_ERROR
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.offsets.messages import (
    NO_LEADER_EPOCH,
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitTopic,
)
from kgroups.core.protocol.errors import ErrorCode

FIND_VERSION, COMMIT_VERSION = 4, 9


def find_request(config: ClientConfig) -> FindCoordinatorRequest:
    """Where is the group's coordinator?"""
    return FindCoordinatorRequest(
        version=FIND_VERSION,
        client_id=config.client_id,
        client_host=config.client_host,
        keys=(config.group_id,),
    )


def commit_request(
    config: ClientConfig, epoch: int, member_id: str, offsets: Mapping[TopicPartition, int]
) -> OffsetCommitRequest:
    """Commit as the member that it is now.

    Args:
        epoch: its generation, or its member epoch (KIP-848).
    """
    topics: dict[str, list[OffsetCommitPartition]] = {}
    latest: str | None = None
    partitions: list[OffsetCommitPartition] = []
    new = tuple.__new__
    for (topic, partition), offset in offsets.items():
        if topic is not latest:
            latest, partitions = topic, topics.setdefault(topic, [])
        # As its class makes it, but twice as fast: every partition of every commit is one.
        partitions.append(new(OffsetCommitPartition, (partition, offset, NO_LEADER_EPOCH, "")))
    return OffsetCommitRequest(
        version=COMMIT_VERSION,
        client_id=config.client_id,
        client_host=config.client_host,
        group_id=config.group_id,
        generation_id_or_member_epoch=epoch,
        member_id=member_id,
        group_instance_id=config.group_instance_id,
        topics=tuple(OffsetCommitTopic(name, tuple(p)) for name, p in topics.items()),
    )


def commit_error(answer: Any) -> ErrorCode:
    """The first error in the answer to a commit; NETWORK_EXCEPTION where there is none."""
    if answer is None:
        return ErrorCode.NETWORK_EXCEPTION
    codes = (partition.error_code for topic in answer.topics for partition in topic.partitions)
    return next((code for code in codes if code is not NO_ERROR), NO_ERROR)
