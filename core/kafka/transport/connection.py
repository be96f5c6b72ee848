"""One connection to one broker: TCP or TLS, versions, login, and pipelined requests."""

import asyncio
import ssl
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self

from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.failures import UNREADABLE, BrokerFailure
from kgroups.core.kafka.transport.handshake import no_handshake, open_stream, speaks_tls
from kgroups.core.kafka.transport.inbox import (
    Allowance,
    Inbox,
    Pending,
    address_text,
    not_kafka,
    timed_out,
    tls_expected,
)
from kgroups.core.kafka.transport.logins.login import log_in
from kgroups.core.kafka.transport.messages import (
    Message,
    answer_limit,
    choose_version,
    decode_introduction,
    decode_response,
    kafka_name,
)
from kgroups.core.kafka.transport.requests import Early, introduction
from kgroups.core.kafka.transport.tcp import Stream, close
from kgroups.core.protocol.budget import Room
from kgroups.core.protocol.frames import Encoded, VersionRange, write_request
from kgroups.core.protocol.tables.api_keys import Api

_RENEW_AFTER = 0.85
_BROKER_REGISTRATION = 62  # which brokers ask controllers for
"""Of the time for which a broker lets us stay; Java's clients renew between 85 % and 95 %."""

Reader = Callable[[Api, int, bytes, Room], Any]
"""Reads the answer of an API and version, with memory that it shares with other answers."""


Request = tuple[Api, int, Message, Reader]
"""An API, its version, the message, and what reads the answer."""


class Connection:
    """A broker that we may ask: versions are known and we are logged in.

    Answers come in the order of the requests, so any number may be under way at once.
    """

    def __init__(
        self,
        address: tuple[str, int],
        settings: ClientSettings,
        stream: Stream,
        allowance: Allowance,
    ) -> None:
        self.address = address_text(address)
        self._host = address[0]
        self.versions: dict[int, VersionRange] = {}
        self._settings = settings
        self._room = allowance.room
        reader, self._writer = stream
        self._inbox = Inbox(self.address, reader, allowance, settings.max_answer_bytes)
        self._pending: deque[Pending] = deque()
        self._next_id = 0
        self._failure: BrokerFailure | None = None
        self._log_in_at: float | None = None  # seconds of `time.monotonic`
        self._renewal: asyncio.Future[None] | None = None
        self._early: Pending | None = None
        self._task = asyncio.create_task(self._read())

    @classmethod
    async def open(
        cls,
        address: tuple[str, int],
        settings: ClientSettings,
        tls: ssl.SSLContext | None,
        deadline: float,
        allowance: Allowance | None = None,
        early: Early | None = None,
    ) -> Self:
        """A connection to the broker at `address`, logged in.

        Args:
            tls: context, when the protocol is encrypted.
            deadline: seconds of `time.monotonic`.
            allowance: shared with the connections to the other brokers.
            early: a request that goes with the first one, unless there is a login.
        Raises:
            BrokerFailure: nobody there, nobody who speaks this protocol, or the login failed.
        """
        stream = await open_stream(address, settings.tls, tls, deadline)
        allowance = allowance or Allowance(settings.max_answer_bytes)
        connection = cls(address, settings, stream, allowance)
        try:
            await connection._introduce(deadline, early)
        except BaseException as error:
            await connection.close()
            hung_up = isinstance(error, BrokerFailure) and error.code == "NETWORK_EXCEPTION"
            doubtful = hung_up and tls is None and not connection.versions
            if doubtful and await speaks_tls(address, deadline):
                raise tls_expected(address_text(address)) from error
            raise
        if early is not None and not connection._knows(early):  # it hangs up on such a request
            await connection.close()
            return await cls.open(address, settings, tls, deadline, allowance)
        return connection

    def offers(self, api: Api) -> int | None:
        """Version of `api` that both sides speak, or None."""
        return choose_version(api, self.versions.get(api))

    def newest(self, api: Api) -> int | None:
        """Newest version of `api` that the broker offers, whether we speak it or not; or None."""
        offered = self.versions.get(api)
        return None if offered is None else offered.highest

    def _knows(self, early: Early) -> bool:
        offered = self.versions.get(early.api)
        return offered is not None and offered.lowest <= early.version <= offered.highest

    @property
    def usable(self) -> bool:
        """Whether it stands, and nobody has given up waiting for the answer that is due.

        A broker answers the requests of a connection one after the other, so behind a request
        that it does not answer, every other one waits too.
        """
        return self._failure is None and not (self._pending and self._pending[0].answer.cancelled())

    async def ask(
        self, api: Api, message: Message, deadline: float, read: Reader = decode_response
    ) -> tuple[int, Any]:
        """Version and answer of one request at the highest version of both sides.

        Args:
            api: one of `APIS`.
            deadline: seconds of `time.monotonic`.
            read: makes the answer of its bytes.
        Raises:
            BrokerFailure: the broker does not offer the API, did not answer in time, closed the
                connection, or its answer cannot be read.
        """
        await self._renewed(deadline)
        return await self.ask_now(api, message, deadline, read)

    async def ask_now(
        self, api: Api, message: Message, deadline: float, read: Reader = decode_response
    ) -> tuple[int, Any]:
        """The same, even while the login is renewed: only its own messages may be sent then."""
        version = self._version_of(api)
        (pending,) = self._send([(api, version, message, read)], deadline)
        return version, await self._answer_to(pending)

    async def early_answer(self, early: Early, deadline: float) -> Any:
        """The answer to a request that went with the first one; it is sent now if it did not.

        Raises:
            BrokerFailure: as of `ask`.
        """
        if self._early is None:
            return (await self.ask(early.api, early.message, deadline))[1]
        return await self._answer_to(self._early)

    async def stays_open(self, deadline: float) -> bool:
        """Whether it is `usable`; the login is renewed where the broker would end it (KIP-368).

        What was asked before is answered before; what is asked meanwhile waits. If the broker
        does not let us in again, a new connection tells why.
        """
        is_due = self._log_in_at is not None and time.monotonic() >= self._log_in_at
        if not self.usable or not is_due or self._renewal is not None:
            return self.usable
        renewal = self._renewal = asyncio.get_running_loop().create_future()
        try:
            await self._log_in(deadline)
        except BrokerFailure as failure:
            self._fail(failure)
        except BaseException:  # what came next would be taken for part of a login
            self._fail(BrokerFailure("NETWORK_EXCEPTION", address=self.address))
            raise
        finally:
            self._renewal = None
            renewal.set_result(None)
        return self.usable

    async def _renewed(self, deadline: float) -> None:
        """Waits while the login is renewed."""
        if self._renewal is None:
            return
        try:
            async with asyncio.timeout_at(deadline):
                await asyncio.wait([self._renewal])
        except TimeoutError as error:
            raise timed_out(self.address, "renew the login") from error

    async def _log_in(self, deadline: float) -> None:
        began = time.monotonic()
        lifetime_s = await log_in(self, self._host, self._settings, deadline)
        self._log_in_at = None if lifetime_s is None else began + _RENEW_AFTER * lifetime_s

    def _version_of(self, api: Api) -> int:
        """The highest version of both sides.

        Raises:
            BrokerFailure: there is none.
        """
        version = self.offers(api)
        if version is None:
            raise BrokerFailure(
                "UNSUPPORTED_VERSION",
                f"broker {self.address} does not offer {kafka_name(api)}",
                address=self.address,
            )
        return version

    async def ask_many(
        self, api: Api, messages: Sequence[Message], deadline: float, read: Reader = decode_response
    ) -> list[Any]:
        """The answer of each of many requests that are sent together, or its `BrokerFailure`.

        Args:
            api, deadline, read: as for `ask`.
        Raises:
            BrokerFailure: the broker does not offer the API, or the connection is closed.
        """
        await self._renewed(deadline)
        version = self._version_of(api)
        waiting = self._send([(api, version, message, read) for message in messages], deadline)
        answers = [pending.answer for pending in waiting]
        await asyncio.wait(answers, timeout=max(0.0, deadline - time.monotonic()))
        return [self._outcome(api, pending) for pending in waiting]

    def _outcome(self, api: Api, pending: Pending) -> Any:
        """Outcome of one of many requests."""
        answer = pending.answer
        if not answer.done():
            answer.cancel()
            self._tell(pending, failure="REQUEST_TIMED_OUT")
            return timed_out(self.address, f"answer {kafka_name(api)}")
        failure = answer.exception()
        return failure if isinstance(failure, BrokerFailure) else answer.result()

    def _understood(self, read: Reader, api: Api, version: int, frame: bytes) -> Any:
        """Fields of an answer.

        Raises:
            BrokerFailure: it cannot be read, or holds an error number that is not known.
        """
        try:
            return read(api, version, frame, self._room)
        except BrokerFailure as failure:
            if failure.code not in UNREADABLE:
                raise
            raise BrokerFailure(
                failure.code, f"{self.address}: {failure.message}", address=self.address
            ) from failure

    def _queue(self, request: Request, deadline: float) -> tuple[bytes, Pending]:
        """A request's bytes, still to be sent, and its answer to come."""
        api, version, message, read = request
        self._next_id += 1
        version = (isinstance(message, Encoded) and message.version) or version
        frame = write_request(api, version, self._next_id, self._settings.client_id, message)
        answer = asyncio.get_running_loop().create_future()
        understood = partial(self._understood, read, api, version)
        most = answer_limit(api, len(frame), self._settings.max_answer_bytes)
        size = len(frame) - 4  # without its length
        pending = Pending(
            self._next_id, answer, understood, api, most, deadline, version, size, time.monotonic()
        )
        self._pending.append(pending)
        return frame, pending

    def _tell(
        self, pending: Pending, *, received: int | None = None, failure: str | None = None
    ) -> None:
        """Tell whoever wants to know of every request."""
        if self._settings.trace is not None:
            self._settings.trace(pending.traced(self.address, received, failure))

    async def close(self) -> None:
        """Ends the connection; requests under way fail."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await close(self._writer)

    def _send(self, requests: Iterable[Request], deadline: float) -> list[Pending]:
        """Sends requests together; their answers are to come."""
        if self._failure is not None:
            raise self._failure
        queued = [self._queue(request, deadline) for request in requests]
        self._writer.write(b"".join(frame for frame, _ in queued))
        return [pending for _, pending in queued]

    async def _answer_to(self, pending: Pending) -> Any:
        try:
            async with asyncio.timeout_at(pending.deadline):
                return await pending.answer
        except TimeoutError as error:
            self._tell(pending, failure="REQUEST_TIMED_OUT")
            raise timed_out(self.address, f"answer {kafka_name(pending.api)}") from error

    async def _read(self) -> None:
        """Hands each answer to the request that waits for it, until the connection ends.

        It is read here, so that no frame is kept until others have come.
        """
        try:
            while True:
                size = await self._inbox.size()
                if not self._pending:
                    raise not_kafka(self.address)
                frame = await self._inbox.answer(self._pending[0], size, first=not self.versions)
                pending = self._pending.popleft()
                self._tell(pending, received=size)
                _answer(pending, frame)
                del frame, pending  # may be large, and the next answer may be long in coming
        except BrokerFailure as failure:
            self._fail(failure)
        except (OSError, EOFError) as error:
            self._fail(self._closed(error))
        except GeneratorExit:  # nobody is left who could be told
            raise
        except BaseException:  # it is given up
            self._fail(BrokerFailure("NETWORK_EXCEPTION", address=self.address))
            raise

    def _fail(self, failure: BrokerFailure) -> None:
        self._failure = failure
        while self._pending:
            pending = self._pending.popleft()
            answer = pending.answer
            if not answer.done():
                self._tell(pending, failure=failure.code)
                answer.set_exception(failure)
                answer.exception()  # seen: nobody may be waiting for it any more

    def _closed(self, error: BaseException) -> BrokerFailure:
        """Why a broker hangs up depends on what it does not answer."""
        if isinstance(error, ssl.SSLError):  # TLS 1.3 judges us after our own handshake
            return no_handshake(self.address, error, self._settings.tls)
        protocol = self._settings.security_protocol
        hint = None
        asked = self._pending[0].api if self._pending else None
        if asked == Api.METADATA and not self._settings.uses_sasl:
            hint = "the listener may require a login: set `security.protocol` and `sasl.mechanism`"
        elif not self.versions and protocol in ("SSL", "SASL_SSL"):
            hint = "the listener may require a client certificate"
        return BrokerFailure(
            "NETWORK_EXCEPTION",
            f"{self.address} closed the connection",
            hint=hint or "check the port, and that the broker is running",
            address=self.address,
        )

    async def _introduce(self, deadline: float, early: Early | None) -> None:
        """Learns the broker's versions and logs in."""
        requests: list[Request] = [(Api.API_VERSIONS, 3, introduction(), decode_introduction)]
        if early is not None and not self._settings.uses_sasl:
            requests.append((early.api, early.version, early.message, decode_response))
        introduced, *others = self._send(requests, deadline)
        answer = await self._answer_to(introduced)
        self.versions = {
            item.api_key: VersionRange(item.min_version, item.max_version)
            for item in answer.api_keys
        }
        if Api.METADATA not in self.versions and _BROKER_REGISTRATION in self.versions:
            raise BrokerFailure(
                "BROKER_NOT_AVAILABLE",
                f"{self.address} is a controller's listener",
                hint="use the address of a broker",
                address=self.address,
            )
        self._early = next(iter(others), None)
        if self._settings.uses_sasl:
            await self._log_in(deadline)


def _answer(pending: Pending, frame: bytes) -> None:
    """Give what a frame says to whoever waits for it, if somebody still does."""
    if pending.answer.done():
        return
    try:
        pending.answer.set_result(pending.read(frame))
    except Exception as error:  # a failure of the broker, or of ours: the one who asked meets it
        pending.answer.set_exception(error)
