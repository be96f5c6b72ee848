"""Start offsets of share groups, altered and deleted: the requests, and what their answers say.

They have no metadata and no leader epoch, and are deleted topic by topic. A partition whose start
offset is altered begins anew: what was acknowledged or archived in it is delivered again.

Source: KIP-932; `ShareGroupOffset.fromRequest`.
"""

from collections.abc import Mapping
from typing import Final

from kgroups.core.kafka.failures import BrokerFailure, refusal
from kgroups.core.kafka.transport.messages import decode_response
from kgroups.core.kafka.transport.requests import by_topic
from kgroups.core.protocol.budget import Room
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.protocol.writer import Struct
from kgroups.core.snapshot import CommittedOffset, TopicPartition

EVERY: Final = -1
"""In an answer that is about whole topics: all partitions that were asked for."""

Failure = str | BrokerFailure | None


def alter_request(
    group: str,
    offsets: Mapping[TopicPartition, CommittedOffset | None],
    _ids: Mapping[str, bytes],
    _version: int,
) -> Struct:
    """The request that puts a group's partitions elsewhere."""
    given = {at: commit.offset for at, commit in offsets.items() if commit is not None}
    rows = by_topic(given, lambda number, at: Struct(partition_index=number, start_offset=at))
    topics = [Struct(topic_name=topic, partitions=parts) for topic, parts in rows.items()]
    return Struct(group_id=group, topics=topics)


def delete_request(
    group: str,
    offsets: Mapping[TopicPartition, CommittedOffset | None],
    _ids: Mapping[str, bytes],
    _version: int,
) -> Struct:
    """The request that deletes a group's start offsets of these topics."""
    topics = [Struct(topic_name=topic) for topic in dict.fromkeys(topic for topic, _ in offsets)]
    return Struct(group_id=group, topics=topics)


def decode_started(
    api: Api,
    version: int,
    frame: bytes,
    room: Room | None = None,
    *,
    names: Mapping[bytes, str] | None = None,
) -> dict[TopicPartition, Failure] | str | BrokerFailure:
    """Why each partition was not done, or None, in an answer to either; or why none was.

    Raises:
        BrokerFailure: the bytes are not an answer of this version.
    """
    answer = decode_response(api, version, frame, room)
    whole = refusal(answer)
    if whole is not None:
        return whole
    if api == Api.DELETE_SHARE_GROUP_OFFSETS:
        return {(topic.topic_name, EVERY): refusal(topic) for topic in answer.responses}
    return {
        (topic.topic_name, item.partition_index): refusal(item)
        for topic in answer.responses
        for item in topic.partitions
    }
