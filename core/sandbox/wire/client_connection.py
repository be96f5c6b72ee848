"""One client's connection: frames in, answers out, in order, one request at a time.

A request that has to wait (a parked JoinGroup, a Fetch without data) holds back the next one of
the same connection, as a broker mutes the channel. Bytes that arrive meanwhile are kept up to a
bound; after that the client feels TCP's own back pressure. That is also what happens while
answers pile up because the client does not read them.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Protocol, cast

from kgroups.core.sandbox.limits import Limits

_LENGTH = struct.Struct(">i")
_FLUSH_BYTES = 64 * 1024
_FRAMES_A_TURN = 256

Answer = bytearray | bytes | None
"""Bytes to send, length first; None to send nothing (a Produce with acks=0)."""


class CloseConnection(Exception):
    """Raised while a frame is handled: the connection is to be closed, for this reason."""


class FrameHandler(Protocol):
    """The receiver of a connection's frames."""

    def handle(self, frame: bytes, peer: str) -> Answer | Awaitable[Answer]:
        """The answer, or an awaitable of it.

        Raises:
            CloseConnection: nothing can be answered.
        """

    def opened(self, connection: "Connection") -> bool:
        """Take note of a new connection; False refuses it."""

    def closed(self, connection: "Connection", reason: str | None) -> None:
        """Take note that a connection is gone; the reason if the server closed it."""


class HeldBytes:
    """Bytes of requests that connections keep, bounded over all of them.

    Args:
        most: bytes; beyond it the connection that keeps most is closed.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._sizes: dict[Connection, int] = {}

    def note(self, connection: "Connection", size: int) -> None:
        """Take note of what a connection keeps now."""
        self._total += size - self._sizes.pop(connection, 0)
        if size:
            self._sizes[connection] = size
        while self._total > self._most:
            largest = max(self._sizes, key=lambda token: self._sizes[token])
            self._total -= self._sizes.pop(largest)
            largest.close(f"held the most of over {self._most} bytes of unfinished requests")


class Connection(asyncio.Protocol):
    """The server's end of one connection."""

    def __init__(self, handler: FrameHandler, limits: Limits, held: HeldBytes) -> None:
        self._handler = handler
        self._limits = limits
        self._held = held
        self._is_held = False
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._peer = ""
        self._waiting: asyncio.Future[Answer] | None = None
        self._blocked = False
        self._paused = False
        self._reason: str | None = None
        self._last_heard = self._loop.time()
        self._frame_since: float | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._slow_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start, unless the handler refuses."""
        self._transport = cast(asyncio.Transport, transport)
        peername = transport.get_extra_info("peername")
        self._peer = f"/{peername[0]}" if peername else "/"
        self._transport.set_write_buffer_limits(high=self._limits.unsent_bytes)
        if not self._handler.opened(self):
            self.close("refused")
            return
        self._watch_idle()

    def data_received(self, data: bytes) -> None:
        """Keep the bytes and handle what frames they complete."""
        self._last_heard = self._loop.time()
        self._buffer += data
        self._work()

    def eof_received(self) -> bool:
        """The client is done: so is the connection, also while a request waits."""
        return False

    def pause_writing(self) -> None:
        """Answers pile up: handle no more requests, and not for ever."""
        self._blocked = True
        self._slow_timer = self._loop.call_later(
            self._limits.slow_reader_ms / 1000, self.close, "does not read its responses"
        )

    def resume_writing(self) -> None:
        """The client reads again."""
        self._blocked = False
        if self._slow_timer is not None:
            self._slow_timer.cancel()
            self._slow_timer = None
        self._work()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop what is waiting; a member of a group is not removed by this."""
        for timer in (self._idle_timer, self._slow_timer):
            if timer is not None:
                timer.cancel()
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._transport = None
        self._forget()
        self._handler.closed(self, self._reason)

    @property
    def peer(self) -> str:
        """The client's address as Java prints it: `/127.0.0.1`."""
        return self._peer

    def close(self, reason: str) -> None:
        """Drop the connection at once; answers not yet sent are lost."""
        if self._transport is not None:
            self._reason = reason
            self._transport.abort()
            self._forget()

    def _work(self) -> None:
        """Handle complete frames until one has to wait, or it is another connection's turn."""
        for _ in range(_FRAMES_A_TURN):
            if self._waiting is not None or self._blocked or self._transport is None:
                break
            frame = self._next_frame()
            if frame is None:
                break
            try:
                answer = self._handler.handle(frame, self._peer)
            except CloseConnection as error:
                self._flush()
                self.close(str(error))
                return
            if answer is None or isinstance(answer, bytes | bytearray):
                self._send(answer)
            else:
                self._wait(answer)
        else:
            self._loop.call_soon(self._work)
        self._flush()
        self._regulate()

    def _next_frame(self) -> bytes | None:
        if len(self._buffer) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._buffer)
        if not 0 <= length <= self._limits.frame_bytes:
            self.close(f"a frame of {length} bytes, more than {self._limits.frame_bytes}")
            return None
        stop = _LENGTH.size + length
        if len(self._buffer) < stop:
            return None
        frame = bytes(memoryview(self._buffer)[_LENGTH.size : stop])
        del self._buffer[:stop]
        self._frame_since = None
        return frame

    def _send(self, answer: Answer) -> None:
        """Keep an answer for `_flush`, so that those to a pipelining client leave together."""
        if answer is not None:
            self._unsent += answer
            if len(self._unsent) >= _FLUSH_BYTES:
                self._flush()

    def _flush(self) -> None:
        if self._unsent and self._transport is not None:
            self._transport.write(self._unsent)
            self._unsent = bytearray()

    def _wait(self, answer: Awaitable[Answer]) -> None:
        self._waiting = asyncio.ensure_future(answer)
        self._waiting.add_done_callback(self._answered)

    def _answered(self, done: "asyncio.Future[Answer]") -> None:
        if done is not self._waiting:
            if not done.cancelled():
                done.exception()  # the connection is gone; nobody else will ask
            return
        self._waiting = None
        if done.cancelled():
            self.close("the request was abandoned")
            return
        error = done.exception()
        if error is not None:
            self.close(str(error))
            return
        self._last_heard = self._loop.time()
        self._send(done.result())
        self._work()

    def _forget(self) -> None:
        """Let go of what was kept."""
        self._buffer = bytearray()
        if self._is_held:
            self._is_held = False
            self._held.note(self, 0)

    def _regulate(self) -> None:
        """Stop reading while requests wait and enough is kept, and go on after that."""
        if self._transport is None:
            return
        busy = self._waiting is not None or self._blocked
        kept = len(self._buffer)
        if not kept or busy:  # nothing is begun, or it is we who let it wait
            self._frame_since = None
        elif self._frame_since is None:
            self._frame_since = self._loop.time()
        if kept or self._is_held:
            self._is_held = kept > 0
            self._held.note(self, kept)
        full = busy and len(self._buffer) > self._limits.unsent_bytes
        if full and not self._paused:
            self._transport.pause_reading()
        elif self._paused and not full:
            self._transport.resume_reading()
        self._paused = full

    def _watch_idle(self) -> None:
        """Close when nothing was heard for too long, or half a request stays half.

        A request that waits is no silence.
        """
        now = self._loop.time()
        limit, patience = self._limits.idle_ms / 1000, self._limits.frame_ms / 1000
        quiet = 0.0 if self._waiting is not None else now - self._last_heard
        if quiet >= limit:
            self.close("idle for too long")
            return
        if self._frame_since is not None and now - self._frame_since >= patience:
            self.close("did not complete its request in time")
            return
        self._idle_timer = self._loop.call_later(min(limit - quiet, patience), self._watch_idle)


ConnectionFactory = Callable[[], Connection]
