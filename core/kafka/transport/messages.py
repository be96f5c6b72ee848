"""The APIs that the adapter speaks, a row each, and what answers may take: bytes and memory."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.settings import DEFAULT_ANSWER_BYTES
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.protocol.budget import Budget, MemoryLimitError, Room
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.frames import VersionRange, common_version, read_response
from kgroups.core.protocol.reader import DecodeError
from kgroups.core.protocol.rows import BY_NAME, decode_commits
from kgroups.core.protocol.tables.api_keys import Api

_MEMORY_FACTOR: Final = 4
"""Bytes of memory that an answer may take as objects, for each byte that it may be long."""

_ROW_BASE: Final = 1 << 20

Message = Any
"""A message: which attributes it has depends on its API."""


class Spoken(NamedTuple):
    """How an API is spoken here.

    Args:
        lowest: what brokers from 2.4 on offer at least.
        highest: the newest version that we need.
        most: bytes of its answer, where nothing in the cluster decides on them.
        row_factor: bytes of its answer to each byte of the request, where every row of it answers
            one of the request's.
    """

    lowest: int
    highest: int
    most: int | None = None
    row_factor: int | None = None


APIS: Final[Mapping[Api, Spoken]] = {
    Api.FETCH: Spoken(4, 11),  # 13 names topics by id
    Api.LIST_OFFSETS: Spoken(1, 7, row_factor=4),
    Api.METADATA: Spoken(5, 12),
    Api.OFFSET_COMMIT: Spoken(2, 10, row_factor=4),
    Api.OFFSET_FETCH: Spoken(2, 9),  # 10 names topics by id, which a deleted topic has no more
    Api.FIND_COORDINATOR: Spoken(1, 6, row_factor=256),  # a name is answered with a host
    Api.LEAVE_GROUP: Spoken(3, 5, row_factor=4),
    Api.DESCRIBE_GROUPS: Spoken(0, 6),
    Api.LIST_GROUPS: Spoken(0, 5),
    Api.SASL_HANDSHAKE: Spoken(1, 1, most=1 << 16),
    Api.API_VERSIONS: Spoken(0, 3, most=1 << 16),
    Api.DELETE_TOPICS: Spoken(1, 5, row_factor=16),  # 6 can name them by id
    Api.OFFSET_FOR_LEADER_EPOCH: Spoken(2, 4, row_factor=4),
    Api.INIT_PRODUCER_ID: Spoken(1, 5, most=1 << 16),
    Api.WRITE_TXN_MARKERS: Spoken(1, 2, row_factor=4),
    Api.DELETE_RECORDS: Spoken(0, 2, row_factor=4),
    Api.DESCRIBE_CONFIGS: Spoken(1, 4),
    Api.SASL_AUTHENTICATE: Spoken(0, 2, most=1 << 20),
    Api.DELETE_GROUPS: Spoken(0, 3, row_factor=4),  # 3 says why
    Api.OFFSET_DELETE: Spoken(0, 0, row_factor=4),
    Api.INCREMENTAL_ALTER_CONFIGS: Spoken(0, 1),
    Api.DESCRIBE_CLIENT_QUOTAS: Spoken(0, 1),
    Api.DESCRIBE_QUORUM: Spoken(1, 2),  # 0 has no times
    Api.DESCRIBE_PRODUCERS: Spoken(0, 0),
    Api.DESCRIBE_TRANSACTIONS: Spoken(0, 0),
    Api.LIST_TRANSACTIONS: Spoken(0, 0),
    Api.CONSUMER_GROUP_DESCRIBE: Spoken(0, 1),
    Api.LIST_CONFIG_RESOURCES: Spoken(1, 1),  # 0 lists client metrics only
    Api.SHARE_GROUP_DESCRIBE: Spoken(1, 1),
    Api.STREAMS_GROUP_DESCRIBE: Spoken(0, 1),
    Api.DESCRIBE_SHARE_GROUP_OFFSETS: Spoken(0, 1),  # 1 has the lag
    Api.ALTER_SHARE_GROUP_OFFSETS: Spoken(0, 0, row_factor=8),  # answers have topic ids
    Api.DELETE_SHARE_GROUP_OFFSETS: Spoken(0, 0, row_factor=16),
}


def kafka_name(api: Api) -> str:
    """Kafka's spelling of an API: `ListGroups`."""
    return api.name.title().replace("_", "")


def choose_version(api: Api, offered: VersionRange | None) -> int | None:
    """Highest version of `api` that both sides speak, or None if there is none."""
    return common_version(VersionRange(APIS[api].lowest, APIS[api].highest), offered)


def answer_limit(api: Api, request_bytes: int, most: int) -> int:
    """Bytes that the answer to a request of this length may have."""
    spoken = APIS[api]
    if spoken.row_factor is not None:
        return min(most, _ROW_BASE + spoken.row_factor * request_bytes)
    return most if spoken.most is None else min(most, spoken.most)


def decode_response(api: Api, version: int, frame: bytes, room: Room | None = None) -> Message:
    """The answer in `frame`, which starts with the correlation id.

    Args:
        room: memory that it shares with other answers.
    Raises:
        BrokerFailure: the bytes are not an answer of this version, or take too much memory.
    """
    budget = _budget(frame, room)
    what = f"the answer to {kafka_name(api)} v{version}"
    try:
        message = read_response(api, version, frame, budget)
    except DecodeError as error:
        raise BrokerFailure(
            "CORRUPT_MESSAGE", f"{what} cannot be read: {shorten(str(error))}"
        ) from error
    except MemoryLimitError as error:
        raise BrokerFailure(
            "RESPONSE_TOO_LARGE", f"{what} is larger than kgroups reads at once"
        ) from error
    budget.keep()
    return message


def decode_passing(api: Api, version: int, frame: bytes, _: Room) -> Message:
    """An answer that is searched and let go: it takes nothing of the memory that others share."""
    return decode_response(api, version, frame)


def decode_introduction(api: Api, version: int, frame: bytes, room: Room) -> Message:
    """The broker's versions; one that does not know our ApiVersions says so in version 0."""
    refused = frame[4:6] == ErrorCode.UNSUPPORTED_VERSION.to_bytes(2)
    return decode_response(api, 0 if refused else version, frame, room)


def decode_fetched(api: Api, version: int, frame: bytes, room: Room | None = None) -> Message:
    """Commits by group (`rows.Offsets`), or the answer to OffsetFetch as it is.

    That is one with an error in it, or of a version that has no groups.
    """
    commits = decode_commits(frame, _budget(frame, room)) if version in BY_NAME else None
    return decode_response(api, version, frame, room) if commits is None else commits


def _budget(frame: bytes, room: Room | None) -> Budget:
    return Budget(_MEMORY_FACTOR * max(len(frame), DEFAULT_ANSWER_BYTES), room)
