"""From a frame to its handler and back to bytes: versions, faults and failures on the way."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.frames import Header, read_header, write_response
from kgroups.core.protocol.reader import DecodeError, Message
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.cluster_state import ClusterState
from kgroups.core.sandbox.faults.fault_rules import Drop, Fault, LoseRequest
from kgroups.core.sandbox.wire.client_connection import Answer, CloseConnection, Connection
from kgroups.core.sandbox.wire.frame_codec import (
    Request,
    is_served,
    read_request,
    refuse_version,
    write_error,
)
from kgroups.core.sandbox.wire.listener import Broker

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """A request, with who was asked and who asks.

    Args:
        peer: the client's address as Java prints it.
    """

    cluster: ClusterState
    broker: Broker
    request: Request
    peer: str

    @property
    def body(self) -> Message:
        return self.request.body

    @property
    def version(self) -> int:
        return self.request.version


Handler = Callable[[Call], Message | Awaitable[Message | None] | None]
"""Gives the answer, or None for no answer at all (a Produce with acks=0)."""


class Dispatcher:
    """Handles the frames that one broker gets."""

    def __init__(
        self, cluster: ClusterState, broker: Broker, handlers: Mapping[Api, Handler]
    ) -> None:
        self._cluster = cluster
        self._broker = broker
        self._handlers = handlers

    def opened(self, connection: Connection) -> bool:
        """Take note of a connection, unless there are too many or it came too late."""
        cluster = self._cluster
        if not self._broker.is_up:
            return False
        if cluster.connection_count >= cluster.options.limits.connections:
            cluster.events.add(f"client {connection.peer}", "refused, too many connections")
            return False
        self._broker.connections.add(connection)
        cluster.connection_count += 1
        return True

    def closed(self, connection: Connection, reason: str | None) -> None:
        """Forget a connection."""
        if connection in self._broker.connections:
            self._broker.connections.discard(connection)
            self._cluster.connection_count -= 1
            if reason is not None:
                self._cluster.events.add(f"client {connection.peer}", f"closed: {reason}")

    def handle(self, frame: bytes, peer: str) -> Answer | Awaitable[Answer]:
        """The answer to a frame.

        Raises:
            CloseConnection: it is no request, or one that cannot be answered.
        """
        try:
            header = read_header(frame)
            if not is_served(header, self._cluster.caps):
                return self._refuse(frame, header)
            request = read_request(frame, header, peer)
        except DecodeError as error:
            raise CloseConnection(f"not a request: {error}") from error
        self._cluster.request_counts[request.api, request.version] += 1
        fault = self._cluster.faults.match(self._broker.broker_id, request)
        call = Call(self._cluster, self._broker, request, peer)
        if fault is not None:
            return self._faulty(call, fault)
        return self._call(call)

    def _refuse(self, frame: bytes, header: Header) -> Answer:
        answer = refuse_version(frame, header, self._cluster.caps)
        if answer is None:
            raise CloseConnection(f"API {header.api} version {header.version} is unknown")
        return answer

    def _call(self, call: Call) -> Answer | Awaitable[Answer]:
        request = call.request
        try:
            outcome = self._handlers[request.api](call)
            if outcome is None:
                return None
            if not isinstance(outcome, Awaitable):
                return write_response(request.api, request.version, request.correlation_id, outcome)
        except CloseConnection:
            raise
        except Exception as error:
            return self._failed(call, error)
        return self._later(call, outcome)

    async def _later(self, call: Call, outcome: Awaitable[Message | None]) -> Answer:
        request = call.request
        try:
            body = await outcome
            if body is None:
                return None
            return write_response(request.api, request.version, request.correlation_id, body)
        except CloseConnection:
            raise
        except Exception as error:
            return self._failed(call, error)

    def _failed(self, call: Call, error: Exception) -> Answer:
        """A bug of ours: named in the log, UNKNOWN_SERVER_ERROR to the client."""
        request = call.request
        what = f"{request.api.kafka_name} v{request.version}"
        _log.error("handling %s failed", what, exc_info=error)
        self._cluster.events.add(f"broker {self._broker.broker_id}", f"{what} failed: {error!r}")
        return self._error_answer(call, ErrorCode.UNKNOWN_SERVER_ERROR)

    def _error_answer(self, call: Call, code: int) -> Answer:
        request = call.request
        more: dict[str, object] = {}
        if request.api is Api.METADATA:
            more = {"brokers": self._cluster.broker_rows(), "cluster_id": self._cluster.cluster_id}
        header = Header(request.api, request.version, request.correlation_id)
        answer = write_error(request.frame, header, code, **more)
        if answer is None:
            raise CloseConnection(f"{request.api.kafka_name} has no field for error {code}")
        return answer

    async def _faulty(self, call: Call, fault: Fault) -> Answer:
        """Carry out a fault: wait, then lose, drop, answer the error, or go on as usual."""
        request = call.request
        what = f"{request.api.kafka_name} of {request.client_id!r}: {fault.describe()}"
        self._cluster.events.add(f"fault on broker {self._broker.broker_id}", what)
        if fault.delay_ms:
            await asyncio.sleep(fault.delay_ms / 1000)
        match fault.action:
            case Drop():
                raise CloseConnection("a fault rule drops it")
            case LoseRequest():
                await asyncio.get_running_loop().create_future()  # until the client gives up
                return None
            case None:
                answer = self._call(call)
                if answer is None or isinstance(answer, bytes | bytearray):
                    return answer
                return await answer
            case code:
                return self._error_answer(call, code)
