"""ZooKeeper's protocol: requests, answers, and notifications."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Api(StrEnum):
    """Operations on nodes, by ZooKeeper's names."""

    CREATE = "create"
    DELETE = "delete"
    SET_DATA = "setData"
    GET_DATA = "getData"
    EXISTS = "exists"
    GET_CHILDREN = "getChildren"


READS = frozenset({Api.GET_DATA, Api.EXISTS, Api.GET_CHILDREN})


class ZkError(StrEnum):
    """Why an operation failed, by ZooKeeper's names."""

    NO_NODE = "NoNode"
    NODE_EXISTS = "NodeExists"
    NOT_EMPTY = "NotEmpty"
    NO_CHILDREN_FOR_EPHEMERALS = "NoChildrenForEphemerals"


class EventType(StrEnum):
    """The event of a watch."""

    CREATED = "NodeCreated"
    DELETED = "NodeDeleted"
    DATA_CHANGED = "NodeDataChanged"
    CHILDREN_CHANGED = "NodeChildrenChanged"


@dataclass(frozen=True, slots=True)
class Request:
    """An operation on one node.

    Args:
        ephemeral: create: the node goes with the session.
        watch: reads: tell of the node's next change, once.
    """

    api: Api
    path: str
    data: str = ""
    ephemeral: bool = False
    watch: bool = False


class Reply(NamedTuple):
    """The answer to a Request.

    Args:
        data: of getData.
        children: of getChildren, sorted.
    """

    error: ZkError | None = None
    data: str = ""
    children: tuple[str, ...] = ()


class WatchEvent(NamedTuple):
    """A watch that fired; it is used up."""

    kind: EventType
    path: str


# ---------------------------------------------------------------------- client to server


class Hello(NamedTuple):
    """The first words on a connection.

    Args:
        session_id: to go on with; 0 for a new session.
        timeout_ms: `zookeeper.session.timeout.ms`.
        last_zxid: newest change that the client has seen; no server behind it may serve it.
    """

    session_id: int
    timeout_ms: int
    last_zxid: int


class Call(NamedTuple):
    """A Request with the client's number of it; answers come in order."""

    xid: int
    request: Request


class Ping(NamedTuple):
    """Keeps the session alive."""


class SetWatches(NamedTuple):
    """Watches of a session that has moved to another connection.

    Args:
        zxid: newest change that the client had seen; what has changed since is told at once.
        data: watched nodes that were there.
        absent: watched nodes that were not there.
    """

    zxid: int
    data: tuple[str, ...]
    absent: tuple[str, ...]
    children: tuple[str, ...]


class CloseSession(NamedTuple):
    """The client leaves; its ephemeral nodes go at once."""


ToServer = Hello | Call | Ping | SetWatches | CloseSession


# ---------------------------------------------------------------------- server to client


class Welcome(NamedTuple):
    """The session of this connection and the timeout that the ensemble grants it."""

    session_id: int
    timeout_ms: int


class Expired(NamedTuple):
    """The session that Hello named is gone."""


class Answer(NamedTuple):
    """The Reply to a Call, with the newest change that the server had applied."""

    xid: int
    zxid: int
    reply: Reply


class Pong(NamedTuple):
    """The answer to Ping."""


class Notice(NamedTuple):
    """A watch of this connection fired, by the change of this number."""

    zxid: int
    event: WatchEvent


class HangUp(NamedTuple):
    """The server closed the connection."""


ToClient = Welcome | Expired | Answer | Pong | Notice | HangUp


class Delivery(NamedTuple):
    """A message that leaves a server on a connection."""

    connection: int
    message: ToClient
