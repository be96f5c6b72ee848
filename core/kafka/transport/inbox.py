"""The answers of a broker, cut out of its bytes and matched with requests."""

import asyncio
import struct
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from kgroups.core.errors import shorten
from kgroups.core.kafka.config.settings import RequestTrace
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.transport.messages import kafka_name
from kgroups.core.protocol.budget import Room
from kgroups.core.protocol.errors import SPEAKS_KAFKA
from kgroups.core.protocol.tables.api_keys import Api

_LONGEST_HOST: Final = 255
_TLS_ALERT: Final = b"\x15\x03"

SMALL: Final = 1 << 16
"""Shorter answers are never waited for: those of all brokers of a cluster fit at once."""

_LARGE: Final = 1 << 20
_ROOM_FACTOR: Final = 10
"""Bytes of memory that the answers to one question may take together, as objects, for each byte
that one of them may be long: 640 MiB, of which a single one may take 256. Two million commits take
400 MB."""


class Allowance:
    """Limits shared by the answers of all brokers: bytes on their way, and memory once read.

    Answers of a megabyte and more wait for one another only, so that a broker which dribbles such
    a one does not keep the usual ones waiting.

    Args:
        total: bytes of large answers, and of others, that are on their way at once.
    """

    def __init__(self, total: int) -> None:
        self.room = Room(_ROOM_FACTOR * total)
        self._usual, self._large = Share(total), Share(total)

    def share(self, size: int) -> "Share":
        """Budget that an answer of `size` bytes counts against."""
        return self._usual if size <= _LARGE else self._large


class Share:
    """Bytes that answers share; who comes first is served first.

    Args:
        total: bytes; a single answer may have them all.
    """

    def __init__(self, total: int) -> None:
        self._left = self._total = total
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        """Holds room for an answer of `size` bytes, at most the total, while the block lasts."""
        size = min(size, self._total)
        if self._waiting or size > self._left:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((size, turn))
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled():
                    self._give(size)
                raise
        else:
            self._left -= size
        try:
            yield
        finally:
            self._give(size)

    def _give(self, size: int) -> None:
        self._left += size
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.cancelled():
                if wanted > self._left:
                    return
                self._left -= wanted
                turn.set_result(None)
            self._waiting.popleft()


class Pending(NamedTuple):
    """A request under way.

    Args:
        answer: what it says, to come.
        most: bytes that the answer may have.
        deadline: seconds of `time.monotonic`.
        sent_at: seconds of `time.monotonic`.
    """

    correlation_id: int
    answer: "asyncio.Future[Any]"
    read: Callable[[bytes], Any]
    api: Api
    most: int
    deadline: float
    version: int
    sent_bytes: int
    sent_at: float

    def traced(self, address: str, received: int | None, failure: str | None) -> RequestTrace:
        """The trace of the request, now that it is answered or given up."""
        passed = time.monotonic() - self.sent_at
        return RequestTrace(
            address,
            kafka_name(self.api),
            self.version,
            passed * 1_000,
            self.sent_bytes,
            received,
            failure,
        )


class Inbox:
    """The answers of one broker.

    Args:
        allowance: shared with the other brokers.
        most: bytes that any answer may have.
    """

    def __init__(
        self, address: str, reader: asyncio.StreamReader, allowance: Allowance, most: int
    ) -> None:
        self._address = address
        self._reader = reader
        self._allowance = allowance
        self._most = most

    async def size(self) -> int:
        """Bytes of the next answer, whatever was asked.

        Raises:
            BrokerFailure: it is too short to be one.
            EOFError, OSError: the connection has ended.
        """
        start = await self._reader.readexactly(4)
        (size,) = struct.unpack(">i", start)
        if start[:2] == _TLS_ALERT:
            raise tls_expected(self._address)
        if size < 4:
            raise not_kafka(self._address)
        return int(size)

    async def answer(self, pending: Pending, size: int, *, first: bool) -> bytes:
        """The frame of `size` bytes that answers a request.

        Args:
            first: nothing that the broker sent was understood yet.
        Raises:
            BrokerFailure: it is longer than the answer may be, did not come in time, or answers
                another request.
            EOFError, OSError: the connection has ended.
        """
        if size > pending.most:
            raise not_kafka(self._address) if first else self._too_large(size, pending)
        frame = await self._frame(size, pending)
        (correlation_id,) = struct.unpack_from(">i", frame)
        if correlation_id != pending.correlation_id:
            raise not_kafka(self._address)
        return frame

    async def _frame(self, size: int, pending: Pending) -> bytes:
        """The bytes of an answer.

        A large one counts against the allowance, so it ends with its request: a broker that
        dribbles must not keep the others waiting.
        """
        if size <= SMALL:
            return await self._reader.readexactly(size)
        share = self._allowance.share(size)
        try:
            async with asyncio.timeout_at(pending.deadline), share.hold(size):
                return await self._reader.readexactly(size)
        except TimeoutError as error:
            raise timed_out(self._address, f"answer {kafka_name(pending.api)}") from error

    def _too_large(self, size: int, pending: Pending) -> BrokerFailure:
        return BrokerFailure(
            "RESPONSE_TOO_LARGE",
            f"{self._address} announced {size:,} bytes in answer to {kafka_name(pending.api)}, "
            f"more than the {pending.most:,} that kgroups accepts",
            hint=None if pending.most == self._most else SPEAKS_KAFKA,
            address=self._address,
        )


def address_text(address: tuple[str, int]) -> str:
    """`host:port` for messages, `[::1]:port` of IPv6; a broker may call itself anything."""
    host = shorten(address[0], _LONGEST_HOST)
    return f"[{host}]:{address[1]}" if ":" in host else f"{host}:{address[1]}"


def not_kafka(address: str) -> BrokerFailure:
    """Failure: the answer does not belong to its request."""
    return BrokerFailure(
        "NOT_KAFKA",
        f"{address} does not speak Kafka's protocol",
        hint="check that this is the port of a Kafka listener",
        address=address,
    )


def tls_expected(address: str) -> BrokerFailure:
    """A TLS listener was spoken to in plain words."""
    return BrokerFailure(
        "NETWORK_EXCEPTION",
        f"{address} requires TLS, but the connection is plaintext",
        hint="set `security.protocol=SSL`, or `SASL_SSL` with a login",
        address=address,
        fatal=True,
    )


def timed_out(address: str, what: str) -> BrokerFailure:
    """The broker did not do something until the deadline."""
    return BrokerFailure(
        "REQUEST_TIMED_OUT",
        f"{address} did not {what} in time",
        hint="check the port, and that the broker is running; or increase `--timeout`",
        address=address,
    )
