"""Requests of the coordinator by API key: fields to messages, answers to fields.

Fields are what any codec of Kafka's messages gives and takes (`sender.Body`); the embedded cluster
reads and writes their bytes (`kgroups.core.sandbox.wire.coordinator_codec`).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.fields import administration, classic, kip848, offsets
from kgroups.core.coordinator.fields.sender import Body, Sender
from kgroups.core.coordinator.request import Request


class FieldCodec(NamedTuple):
    """One API.

    Args:
        read: fields and sender to the request; a field that the version lacks may be absent.
        write: the answer and the request's version to fields, those that it lacks included.
    """

    api: str
    read: Callable[[Body, Sender], Request]
    write: Callable[[Any, int], Body]


CODECS: Final[Mapping[int, FieldCodec]] = MappingProxyType(
    {
        8: FieldCodec("OffsetCommit", offsets.read_commit, offsets.write_commit),
        9: FieldCodec("OffsetFetch", offsets.read_fetch, offsets.write_fetch),
        10: FieldCodec("FindCoordinator", administration.read_find, administration.write_find),
        11: FieldCodec("JoinGroup", classic.read_join, classic.write_join),
        12: FieldCodec("Heartbeat", classic.read_heartbeat, classic.write_heartbeat),
        13: FieldCodec("LeaveGroup", classic.read_leave, classic.write_leave),
        14: FieldCodec("SyncGroup", classic.read_sync, classic.write_sync),
        15: FieldCodec(
            "DescribeGroups", administration.read_describe, administration.write_describe
        ),
        16: FieldCodec("ListGroups", administration.read_list, administration.write_list),
        42: FieldCodec("DeleteGroups", administration.read_delete, administration.write_delete),
        47: FieldCodec("OffsetDelete", offsets.read_delete, offsets.write_delete),
        68: FieldCodec("ConsumerGroupHeartbeat", kip848.read_heartbeat, kip848.write_heartbeat),
        69: FieldCodec("ConsumerGroupDescribe", kip848.read_describe, kip848.write_describe),
    }
)
"""By API key."""


def read_request(api_key: int, body: Body, sender: Sender) -> Request:
    """The coordinator's request of these fields.

    Raises:
        KeyError: the coordinator does not serve this API, or a field is missing.
    """
    return CODECS[api_key].read(body, sender)


def write_response(api_key: int, version: int, response: object) -> Body:
    """The fields of an answer to a request of this version."""
    return CODECS[api_key].write(response, version)
