"""A plain connection to one broker for requests that no client library sends, written with kio."""

import io
import socket
import struct
from typing import Self, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i32
from kio.static.protocol import RequestPayload, ResponsePayload

Response = TypeVar("Response", bound=ResponsePayload)


class WireConnection:
    """One blocking connection; requests may be sent ahead, their answers come in order."""

    def __init__(
        self, address: str, *, client_id: str = "kgroups-tests", timeout_s: float = 60.0
    ) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        self._client_id = client_id
        self._sent = 0
        self._read = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the socket."""
        self._stream.close()
        self._socket.close()

    def send(self, request: RequestPayload) -> None:
        """Send one request without waiting for its answer."""
        out = io.BytesIO()
        header = request.__header_schema__(
            request_api_key=request.__api_key__,
            request_api_version=request.__version__,
            correlation_id=i32(self._sent),
            client_id=self._client_id,
        )
        entity_writer(type(header))(out, header)
        entity_writer(type(request))(out, request)
        body = out.getvalue()
        self._socket.sendall(struct.pack(">i", len(body)) + body)
        self._sent += 1

    def receive(self, kind: type[Response]) -> Response:
        """The next answer, which must be of `kind`."""
        (size,) = struct.unpack(">i", self._exactly(4))
        body = self._exactly(size)
        header, at = entity_reader(kind.__header_schema__)(body, 0)
        if header.correlation_id != self._read:
            raise RuntimeError(f"answer {header.correlation_id} came for request {self._read}")
        self._read += 1
        return entity_reader(kind)(body, at)[0]

    def ask(self, request: RequestPayload, kind: type[Response]) -> Response:
        """Send one request and wait for its answer."""
        self.send(request)
        return self.receive(kind)

    def _exactly(self, count: int) -> bytes:
        data = self._stream.read(count)
        if len(data) != count:
            raise ConnectionError("the broker closed the connection")
        return data
