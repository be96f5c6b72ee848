"""One connection to one broker: TCP or TLS, versions, login, and pipelined requests."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.handshake import bad_certificate, no_handshake
from kgroups.core.kafka.messages import (
    APIS,
    VersionRange,
    build,
    choose_version,
    decode_response,
    encode_request,
)
from kgroups.core.kafka.settings import ClientSettings

_MAX_FRAME = 1 << 30
_READ_LIMIT = 1 << 24
_UNSUPPORTED_VERSION = 35

Body = Callable[[int], Any]
"""Makes the request of a version."""

Reader = Callable[[str, int, bytes], Any]
"""Reads the answer of an API and version."""


class _Pending(NamedTuple):
    correlation_id: int
    answer: asyncio.Future[bytes]


class Connection:
    """A broker that we may ask: versions are known and we are logged in.

    Answers come in the order of the requests, so any number may be under way at once.
    """

    def __init__(
        self,
        address: tuple[str, int],
        settings: ClientSettings,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.address = f"{address[0]}:{address[1]}"
        self.versions: dict[int, VersionRange] = {}
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self._pending: deque[_Pending] = deque()
        self._next_id = 0
        self._failure: BrokerFailure | None = None
        self._asked: str = ""
        self._task = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def open(
        cls,
        address: tuple[str, int],
        settings: ClientSettings,
        tls: ssl.SSLContext | None,
        deadline: float,
    ) -> Self:
        """A connection to the broker at `address`, logged in.

        Args:
            address: host and port.
            settings: protocol and login.
            tls: context, when the protocol is encrypted.
            deadline: on the event loop's clock, seconds.
        Raises:
            BrokerFailure: nobody there, nobody who speaks this protocol, or the login failed.
        """
        name = f"{address[0]}:{address[1]}"
        try:
            async with asyncio.timeout_at(deadline):
                reader, writer = await asyncio.open_connection(
                    *address,
                    ssl=tls,
                    server_hostname=address[0] if tls else None,
                    limit=_READ_LIMIT,
                )
        except TimeoutError as error:
            raise _timed_out(name, "connect" if tls is None else "connect with TLS") from error
        except ssl.SSLCertVerificationError as error:
            raise await bad_certificate(address, error, deadline) from error
        except (ssl.SSLError, ConnectionResetError, BrokenPipeError, EOFError) as error:
            raise no_handshake(name, error, settings.tls) from error
        except (OSError, UnicodeError) as error:
            raise _unreachable(name, error) from error
        connection = cls(address, settings, reader, writer)
        try:
            await connection._introduce(deadline)
        except BaseException as error:
            await connection.close()
            hung_up = isinstance(error, BrokerFailure) and error.code == "NETWORK_EXCEPTION"
            doubtful = hung_up and tls is None and not connection.versions
            if doubtful and await _speaks_tls(address, deadline):
                raise _tls_expected(name) from error
            raise
        return connection

    def offers(self, api: str) -> int | None:
        """Version of `api` that both sides speak, or None."""
        return choose_version(api, self.versions.get(APIS[api].key))

    @property
    def usable(self) -> bool:
        """Whether it still stands."""
        return self._failure is None

    async def ask(
        self, api: str, body: Body, deadline: float, read: Reader = decode_response
    ) -> tuple[int, Any]:
        """Version and answer of one request at the highest version of both sides.

        Args:
            api: one of `messages.APIS`.
            body: makes the request of a version.
            deadline: on the event loop's clock, seconds.
            read: makes the answer of its bytes.
        Raises:
            BrokerFailure: the broker does not offer the API, did not answer in time, closed the
                connection, or its answer cannot be read.
        """
        version = self._version_of(api)
        return version, await self._ask(api, version, body(version), deadline, read)

    def _version_of(self, api: str) -> int:
        """The highest version of both sides.

        Raises:
            BrokerFailure: there is none.
        """
        version = self.offers(api)
        if version is None:
            raise BrokerFailure(
                "UNSUPPORTED_VERSION",
                f"broker {self.address} does not offer {api}",
                address=self.address,
            )
        return version

    async def ask_many(
        self, api: str, bodies: Sequence[Body], deadline: float, read: Reader = decode_response
    ) -> list[Any]:
        """The answer of each of many requests that are sent together, or its `BrokerFailure`.

        Args:
            api, deadline, read: as for `ask`.
            bodies: make the requests of a version.
        Raises:
            BrokerFailure: the broker does not offer the API, or the connection is closed.
        """
        version = self._version_of(api)
        if self._failure is not None:
            raise self._failure
        self._asked = api
        loop = asyncio.get_running_loop()
        frames: list[bytes] = []
        waiting: list[asyncio.Future[bytes]] = []
        for body in bodies:
            self._next_id += 1
            frames.append(
                encode_request(api, version, self._next_id, self._settings.client_id, body(version))
            )
            waiting.append(loop.create_future())
            self._pending.append(_Pending(self._next_id, waiting[-1]))
        self._writer.write(b"".join(frames))
        await asyncio.wait(waiting, timeout=max(0.0, deadline - loop.time()))
        return [self._outcome(api, version, answer, read) for answer in waiting]

    def _outcome(
        self, api: str, version: int, answer: "asyncio.Future[bytes]", read: Reader
    ) -> Any:
        """What one of many requests came to."""
        if not answer.done():
            answer.cancel()
            return _timed_out(self.address, f"answer {api}")
        failure = answer.exception()
        if failure is not None:
            return failure
        try:
            return read(api, version, answer.result())
        except BrokerFailure as unreadable:
            return unreadable

    async def close(self) -> None:
        """Ends the connection; requests under way fail."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._writer.transport.abort()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _ask(
        self, api: str, version: int, body: Any, deadline: float, read: Reader = decode_response
    ) -> Any:
        if self._failure is not None:
            raise self._failure
        self._asked = api
        self._next_id += 1
        pending = _Pending(self._next_id, asyncio.get_running_loop().create_future())
        frame = encode_request(api, version, self._next_id, self._settings.client_id, body)
        self._pending.append(pending)
        self._writer.write(frame)
        try:
            async with asyncio.timeout_at(deadline):
                answer = await pending.answer
        except TimeoutError as error:
            raise _timed_out(self.address, f"answer {api}") from error
        if api == "api_versions" and _is_refused_introduction(answer):
            version = 0
        return read(api, version, answer)

    async def _read(self) -> None:
        """Hands each frame to the request that waits for it, until the connection ends."""
        try:
            while True:
                size_bytes = await self._reader.readexactly(4)
                (size,) = struct.unpack(">i", size_bytes)
                if not 4 <= size <= _MAX_FRAME:
                    raise self._not_kafka(size_bytes)
                frame = await self._reader.readexactly(size)
                pending = self._pending.popleft()
                (correlation_id,) = struct.unpack_from(">i", frame)
                if correlation_id != pending.correlation_id:
                    raise self._not_kafka(frame[:4])
                if not pending.answer.done():
                    pending.answer.set_result(frame)
        except BrokerFailure as failure:
            self._fail(failure)
        except (OSError, EOFError, IndexError) as error:
            self._fail(self._closed(error))
        except asyncio.CancelledError:
            self._fail(BrokerFailure("NETWORK_EXCEPTION", address=self.address))
            raise

    def _fail(self, failure: BrokerFailure) -> None:
        self._failure = failure
        while self._pending:
            answer = self._pending.popleft().answer
            if not answer.done():
                answer.set_exception(failure)
                answer.exception()  # seen: nobody may be waiting for it any more

    def _not_kafka(self, start: bytes) -> BrokerFailure:
        if start[:2] == b"\x15\x03":  # a TLS alert
            return _tls_expected(self.address)
        return BrokerFailure(
            "NOT_KAFKA",
            f"{self.address} does not speak Kafka's protocol",
            hint="is this the port of a Kafka listener?",
            address=self.address,
        )

    def _closed(self, error: BaseException) -> BrokerFailure:
        """Why a broker hangs up depends on what it was asked last."""
        if isinstance(error, ssl.SSLError):  # with TLS 1.3 it judges us after our own handshake
            return no_handshake(self.address, error, self._settings.tls)
        protocol = self._settings.security_protocol
        hint = None
        if self._asked == "metadata" and not self._settings.uses_sasl:
            hint = (
                "a listener that asks for a login does that: set `security.protocol` and "
                "`sasl.mechanism`"
            )
        elif not self.versions and protocol in ("SSL", "SASL_SSL"):
            hint = "a listener that asks for a client certificate does that: set one"
        return BrokerFailure(
            "NETWORK_EXCEPTION",
            f"{self.address} closed the connection",
            hint=hint or "is it the right port, and is the broker up?",
            address=self.address,
        )

    async def _introduce(self, deadline: float) -> None:
        """Learns the broker's versions and logs in."""
        answer = await self._ask("api_versions", 3, _introduction(3), deadline)
        self.versions = {
            item.api_key: VersionRange(item.min_version, item.max_version)
            for item in answer.api_keys
        }
        if self._settings.uses_sasl:
            from kgroups.core.kafka.login import log_in

            await log_in(self, self._settings, deadline)


def _introduction(version: int) -> Any:
    return build(
        "api_versions",
        version,
        client_software_name="kgroups",
        client_software_version="0.1.0",
    )


def _is_refused_introduction(frame: bytes) -> bool:
    """Whether a broker did not know our ApiVersions version: then its answer is in version 0."""
    return len(frame) >= 6 and struct.unpack_from(">h", frame, 4)[0] == _UNSUPPORTED_VERSION


async def _speaks_tls(address: tuple[str, int], deadline: float) -> bool:
    """Whether a port that hung up on plain words answers to a TLS greeting."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # nothing is sent over it: only the answer matters
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout_at(deadline):
            _, writer = await asyncio.open_connection(*address, ssl=context)
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except (OSError, EOFError):
        return False
    writer.transport.abort()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def _tls_expected(address: str) -> BrokerFailure:
    return BrokerFailure(
        "NETWORK_EXCEPTION",
        f"{address} speaks TLS, and was spoken to in plain",
        hint="set `security.protocol=SSL`, or `SASL_SSL` with a login",
        address=address,
        fatal=True,
    )


def _timed_out(address: str, what: str) -> BrokerFailure:
    return BrokerFailure(
        "REQUEST_TIMED_OUT",
        f"{address} did not {what} in time",
        hint="is it the right port, and is the broker up? `--timeout` waits longer",
        address=address,
    )


def _unreachable(address: str, error: OSError | UnicodeError) -> BrokerFailure:
    """Nobody there: the name is unknown or the port is closed."""
    if isinstance(error, UnicodeError | socket.gaierror):
        reason, hint = "the host name is not known", "is it spelled right?"
    elif isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        reason, hint = "nothing listens there", "is it the right port, and is the broker up?"
    else:
        reason = (error.strerror or str(error) or type(error).__name__).lower()
        hint = "is it the right address, and is the broker up?"
    return BrokerFailure(
        "BROKER_NOT_AVAILABLE", f"{address} cannot be reached: {reason}", hint=hint, address=address
    )
