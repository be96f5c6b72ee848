"""The client's end of a ZooKeeper session, without I/O: connections, pings, watches to set again.

    session.connect(now_ms)
    token = session.call(now_ms, request)
    session.receive(now_ms, connection, message)
    session.advance(now_ms)
    for effect in session.take(): ...      # Dial, Transmit, and what the owner is told

A connection on which nothing came for two thirds of the timeout is given up; the session lives
on and the next server is tried. Only a server can say that a session is over, so a client that
reaches none does not know it. Source: org.apache.zookeeper.ClientCnxn (ZooKeeper 3.4).
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from kgroups.core.coordinator.timers import Timers
from kgroups.core.zookeeper.protocol import (
    Answer,
    Api,
    Call,
    CloseSession,
    EventType,
    Expired,
    HangUp,
    Hello,
    Notice,
    Ping,
    Reply,
    Request,
    SetWatches,
    ToClient,
    ToServer,
    WatchEvent,
    Welcome,
    ZkError,
)

RECONNECT_WITHIN_MS = 1_000


class SessionState(StrEnum):
    """Where a session is, by ZooKeeper's names."""

    CONNECTING = "Disconnected"
    CONNECTED = "SyncConnected"
    EXPIRED = "Expired"
    CLOSED = "Closed"


class Dial(NamedTuple):
    """Connect to a server; the number is the connection's from now on."""

    connection: int
    server: int


class Transmit(NamedTuple):
    """Send a message on a connection."""

    connection: int
    message: ToServer


class Told(NamedTuple):
    """The Reply to the call of this token; None: the connection broke, it may have been done."""

    token: int
    reply: Reply | None


class Fired(NamedTuple):
    """A watch fired."""

    event: WatchEvent


class Entered(NamedTuple):
    """The session went over into a state."""

    state: SessionState


SessionEffect = Dial | Transmit | Told | Fired | Entered


class _Timer(StrEnum):
    DIAL = "time to try the next server"
    GREETING = "no answer to Hello"
    PING = "nothing was sent for long"
    SILENCE = "no response for too long"


class ClientSession:
    """One client's session, and the next one after it has expired.

    Args:
        timeout_ms: `zookeeper.session.timeout.ms`; the ensemble may grant another.
        servers: how many there are to connect to.
        draw: a number below its argument, for the choice of a server and of a delay.
    """

    def __init__(self, timeout_ms: int, servers: int, draw: Callable[[int], int]) -> None:
        self.state = SessionState.CLOSED
        self._asked_ms, self._servers, self._draw = timeout_ms, servers, draw
        self._effects: list[SessionEffect] = []
        self._timers: Timers[_Timer, None] = Timers()
        self._server = draw(servers)
        self._numbers = self._connection = 0
        self._tokens: dict[int, Request] = {}
        self._excused = self._closing = False
        self._reset()

    def _reset(self) -> None:
        self.session_id = self._zxid = 0
        self._timeout_ms = self._asked_ms
        self._data: set[str] = set()
        self._absent: set[str] = set()
        self._children: set[str] = set()

    # ------------------------------------------------------------------ the owner's side

    def connect(self, now_ms: int) -> None:
        """Open a session; after Expired, the next one."""
        self._reset()
        self.state = SessionState.CONNECTING
        self._dial(now_ms)

    def call(self, now_ms: int, request: Request) -> int:
        """Ask; the Reply comes under the token. To be called when connected only."""
        self._numbers += 1
        self._tokens[self._numbers] = request
        self._transmit(now_ms, Call(self._numbers, request))
        return self._numbers

    def close(self, now_ms: int) -> None:
        """End the session and wait until the ensemble has; unreachable, it will time out there."""
        self._timers = Timers()
        self._tokens = {}
        self._closing = True
        if self.state is SessionState.CONNECTED:
            self._effects.append(Transmit(self._connection, CloseSession()))
            self._timers.schedule(_Timer.GREETING, now_ms + self._patience_ms, None)
        else:
            self._enter(SessionState.CLOSED)

    def take(self) -> list[SessionEffect]:
        """The effects to carry out since the last call, in order."""
        effects, self._effects = self._effects, []
        return effects

    def next_deadline(self) -> int | None:
        """When `advance` must be called next; None for never."""
        return self._timers.next_deadline()

    def advance(self, now_ms: int) -> None:
        """Let time pass: pings, patience with a silent server, attempts to connect."""
        while (due := self._timers.pop_due(now_ms)) is not None:
            if due.key is _Timer.DIAL:
                self._dial(now_ms)
            elif due.key is _Timer.PING:
                self._transmit(now_ms, Ping())
            elif due.at_ms < now_ms and not self._excused:
                # The process stood still: what has come meanwhile is read before it gives up.
                self._excused = True
                self._timers.schedule(due.key, now_ms + 1, None)
            else:
                self._lose(now_ms)

    # ------------------------------------------------------------------ the server's side

    def receive(self, now_ms: int, connection: int, message: ToClient) -> None:
        """A message arrives; one of a connection that was given up is ignored."""
        if connection != self._connection or self.state is SessionState.CLOSED:
            return
        self._excused = False
        if self._closing and not isinstance(message, HangUp):
            return
        if self.state is SessionState.CONNECTED:
            self._timers.schedule(_Timer.SILENCE, now_ms + self._patience_ms, None)
        if isinstance(message, Welcome):
            self._welcome(now_ms, message)
        elif isinstance(message, Answer):
            self._zxid = max(self._zxid, message.zxid)
            request = self._tokens.pop(message.xid)
            self._remember(request, message.reply)
            self._effects.append(Told(message.xid, message.reply))
        elif isinstance(message, Notice):
            self._zxid = max(self._zxid, message.zxid)
            self._use_up(message.event)
            self._effects.append(Fired(message.event))
        elif isinstance(message, HangUp):
            self._lose(now_ms)
        elif isinstance(message, Expired):
            self._timers = Timers()
            self._connection = 0
            self._enter(SessionState.EXPIRED)

    # ------------------------------------------------------------------ connections

    @property
    def _patience_ms(self) -> int:
        return self._timeout_ms * 2 // 3

    def _dial(self, now_ms: int) -> None:
        self._numbers += 1
        self._connection = self._numbers
        self._effects.append(Dial(self._connection, self._server))
        hello = Hello(self.session_id, self._asked_ms, self._zxid)
        self._effects.append(Transmit(self._connection, hello))
        self._timers.schedule(_Timer.GREETING, now_ms + self._timeout_ms // self._servers, None)

    def _welcome(self, now_ms: int, welcome: Welcome) -> None:
        self._timers.cancel(_Timer.GREETING)
        self.session_id, self._timeout_ms = welcome
        self._timers.schedule(_Timer.SILENCE, now_ms + self._patience_ms, None)
        if self._data or self._absent or self._children:
            watched = (self._data, self._absent, self._children)
            self._transmit(now_ms, SetWatches(self._zxid, *(tuple(sorted(w)) for w in watched)))
        self._timers.schedule(_Timer.PING, now_ms + self._patience_ms // 2, None)
        self._enter(SessionState.CONNECTED)

    def _transmit(self, now_ms: int, message: ToServer) -> None:
        self._effects.append(Transmit(self._connection, message))
        self._timers.schedule(_Timer.PING, now_ms + self._patience_ms // 2, None)

    def _lose(self, now_ms: int) -> None:
        """Give the connection up and try the next server after a random while."""
        self._connection = 0
        self._excused = False
        self._timers = Timers()
        if self._closing:
            self._enter(SessionState.CLOSED)
            return
        lost, self._tokens = self._tokens, {}
        if self.state is not SessionState.CONNECTING:
            self._enter(SessionState.CONNECTING)
        self._effects.extend(Told(token, None) for token in lost)
        self._server = (self._server + 1) % self._servers
        self._timers.schedule(_Timer.DIAL, now_ms + self._draw(RECONNECT_WITHIN_MS), None)

    def _enter(self, state: SessionState) -> None:
        self.state = state
        self._effects.append(Entered(state))

    # ------------------------------------------------------------------ watches

    def _remember(self, request: Request, reply: Reply) -> None:
        if not request.watch:
            return
        if reply.error is None:
            watched = self._children if request.api is Api.GET_CHILDREN else self._data
            watched.add(request.path)
        elif request.api is Api.EXISTS and reply.error is ZkError.NO_NODE:
            self._absent.add(request.path)

    def _use_up(self, event: WatchEvent) -> None:
        if event.kind is EventType.CHILDREN_CHANGED:
            self._children.discard(event.path)
            return
        self._data.discard(event.path)
        self._absent.discard(event.path)
        if event.kind is EventType.DELETED:
            self._children.discard(event.path)
