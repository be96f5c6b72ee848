"""A way to a broker that can be cut: packets are kept, or lost as on a real network.

A client that comes in by a detour's listener of the broker is sent to where the detour listens.
While it is cut, nothing passes: no data, no end of a connection, and a SYN is not answered, because
the queue of connections is full. A cut that stalls lets everything pass when it is over. One that
drops lets pass what was under way when TCP would have sent it again: 200 ms, 600 ms, 1.4 s, ...
after the first packet that was lost; a connection that is asked for meanwhile is asked for again
by the client's own kernel.
"""

import select
import socket
import threading
import time
from contextlib import suppress
from typing import Final, Literal, Self

from tests.support.kafka.waiting import wait_for_thread

Direction = Literal["requests", "answers"]

RESEND_S: Final = 0.2
BACKLOG: Final = 64
CHUNK: Final = 1 << 16
LOOK_S: Final = 0.05
IDLE_S: Final = 30.0


def resent_at(first: float, until: float) -> float:
    """When a packet that was lost first at `first` passes, if nothing passes until `until`."""
    after, wait = 0.0, RESEND_S
    while first + after < until:
        after += wait
        wait *= 2
    return first + after


class Detour:
    """The way: it listens on loopback; a context manager that closes it.

    Attributes:
        broker_port: of the broker's listener behind it.
        port: where clients come in.
    """

    def __init__(self) -> None:
        self._server = socket.socket()
        self._server.bind(("127.0.0.1", 0))
        self._server.listen(BACKLOG)
        self._server.settimeout(IDLE_S)
        self.port: int = self._server.getsockname()[1]
        self.broker_port = 0
        self._until = 0.0
        self._stalls = False
        self._lost: tuple[Direction, ...] = ()
        self._turn = threading.Lock()
        self._closed = threading.Event()
        self._fillers: list[socket.socket] = []
        self._pumps: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def open(self, broker_port: int) -> None:
        """Serve clients of the broker's listener."""
        self.broker_port = broker_port
        self._accepting.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give every connection up."""
        self._closed.set()
        for one in (*self._sockets, *self._fillers):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in (self._accepting, *self._pumps):
            if thread.ident is not None:
                wait_for_thread(thread)
        for one in (*self._sockets, *self._fillers, self._server):
            one.close()

    def cut(
        self, for_s: float, *, stalls: bool = False, lost: Literal["both", Direction] = "both"
    ) -> None:
        """Nothing passes for so long.

        Args:
            stalls: what is sent meanwhile passes when it is over.
            lost: whose packets do not pass; a new connection needs those of both.
        """
        with self._turn:
            self._stalls = stalls
            self._lost = ("requests", "answers") if lost == "both" else (lost,)
            self._until = time.monotonic() + for_s
            self._server.listen(0)
            full = False
            while not full:
                filler = socket.socket()
                filler.setblocking(False)
                with suppress(BlockingIOError):
                    filler.connect(("127.0.0.1", self.port))
                _, full_now, _ = select.select([], [filler], [], LOOK_S)
                self._fillers.append(filler)
                full = not full_now

    # ------------------------------------------------------------------ connections

    def _accept(self) -> None:
        while not self._closed.is_set():
            with self._turn:
                if time.monotonic() < self._until:
                    ready = False
                else:
                    if self._fillers:
                        self._server.listen(BACKLOG)
                    ready = bool(select.select([self._server], [], [], LOOK_S)[0])
                if ready:
                    self._take()
            if not ready:
                self._closed.wait(LOOK_S)

    def _take(self) -> None:
        client, address = self._server.accept()
        own = [filler for filler in self._fillers if filler.getsockname() == address]
        if own:
            self._fillers.remove(own[0])
            own[0].close()
            client.close()
            return
        try:
            broker = socket.create_connection(("127.0.0.1", self.broker_port), timeout=10)
        except OSError:
            client.close()
            return
        self._sockets += [client, broker]
        for one in (client, broker):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._pump(client, broker, "requests")
        self._pump(broker, client, "answers")

    def _pump(self, source: socket.socket, target: socket.socket, direction: Direction) -> None:
        def pump() -> None:
            source.settimeout(IDLE_S)
            with suppress(OSError):
                while data := self._received(source):
                    self._pass(direction)
                    target.sendall(data)
                self._pass(direction)
                target.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=pump, daemon=True)
        self._pumps.append(thread)
        thread.start()

    def _received(self, source: socket.socket) -> bytes:
        """What comes next; empty at the end of the connection, or of the detour."""
        while not self._closed.is_set():
            with suppress(TimeoutError):
                return source.recv(CHUNK)
        return b""

    def _pass(self, direction: Direction) -> None:
        """Wait until what has come now may pass."""
        now = time.monotonic()
        if now >= self._until or direction not in self._lost:
            return
        passes = self._until if self._stalls else resent_at(now, self._until)
        self._closed.wait(passes - now)
