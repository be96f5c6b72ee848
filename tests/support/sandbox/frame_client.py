"""A client that speaks frames: one socket, requests of any API and version, answers as dicts."""

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from kgroups.core.protocol.frames import read_response, write_request
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.protocol.plain import Body, as_message, as_plain

TIMEOUT_S = 60.0


def request_frame(
    api: int, version: int, body: Body, *, correlation_id: int = 1, client_id: str = "wire"
) -> bytes:
    """The bytes of a request, length first."""
    return write_request(Api(api), version, correlation_id, client_id, as_message(body))


def read_answer(api: int, version: int, frame: bytes) -> tuple[int, Body]:
    """Correlation id and fields of an answer."""
    body: Body = as_plain(read_response(Api(api), version, frame))
    return struct.unpack_from(">i", frame)[0], body


class WireClient:
    """One connection to one broker.

    Args:
        address: `host:port`, the first of a bootstrap list if there are several.
    """

    def __init__(self, address: str) -> None:
        host, port = address.split(",")[0].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, api: Api, version: int, body: Body | None = None) -> Body:
        """Send a request and read its answer."""
        self.send(api, version, body)
        return self.receive(api, version)

    def send(self, api: int, version: int, body: Body | None = None) -> None:
        """Send a request."""
        self._correlation_id += 1
        frame = request_frame(api, version, body or {}, correlation_id=self._correlation_id)
        self.socket.sendall(frame)

    def receive(self, api: Api, version: int) -> Body:
        """Read the next answer."""
        return read_answer(api, version, self.receive_frame())[1]

    def receive_frame(self) -> bytes:
        """Read the next frame, without its length; empty at the end of the connection."""
        head = self._read(4)
        return self._read(struct.unpack(">i", head)[0]) if head else b""

    def is_closed(self) -> bool:
        """Whether the server closes the connection before it says anything."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True

    def _read(self, size: int) -> bytes:
        parts = b""
        while len(parts) < size:
            part = self.socket.recv(size - len(parts))
            if not part:
                return b""
            parts += part
        return parts


@contextmanager
def connected(**given: Any) -> Iterator[tuple[Sandbox, WireClient]]:
    """One embedded broker, and a connection to it."""
    with Sandbox(brokers=1, **given) as cluster, WireClient(cluster.bootstrap_servers) as client:
        yield cluster, client


def join_body(group: str, *, member_id: str = "", **more: Any) -> Body:
    """A JoinGroup of a consumer that reads topic `t`."""
    metadata = b"\0\0" + struct.pack(">i", 1) + b"\0\1t" + struct.pack(">i", -1)
    return {
        "group_id": group,
        "session_timeout_ms": 30_000,
        "rebalance_timeout_ms": 30_000,
        "member_id": member_id,
        "group_instance_id": None,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": metadata}],
        "reason": None,
        **more,
    }
