"""A ZooKeeper ensemble without I/O: sessions, a leader that orders writes, servers that follow.

    ensemble.accept(now_ms, connection, server)     # a client has connected
    ensemble.receive(now_ms, connection, message)   # Hello, Call, Ping, SetWatches, CloseSession
    ensemble.cut(now_ms, connection)                # the connection broke
    ensemble.advance(now_ms)
    for delivery in ensemble.take(): ...            # what servers send
    at_ms = ensemble.next_deadline()

Server 0 leads. A write takes its turn there at once; every other server applies it later, each
by a lag of its own, and answers reads from what it has applied. So a read may be stale, but a
client never goes back in time: its own writes are answered when its server has applied them, and
a watch tells it of a change before it can read that change.

Source: ZooKeeper 3.4 (CommitProcessor, FinalRequestProcessor, SessionTrackerImpl).
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from kgroups.core.coordinator.timers import Timers
from kgroups.core.zookeeper.node_tree import Change, Firing, Transaction, ZnodeTree
from kgroups.core.zookeeper.protocol import (
    READS,
    Answer,
    Api,
    Call,
    CloseSession,
    Delivery,
    Expired,
    HangUp,
    Hello,
    Notice,
    Ping,
    Pong,
    Reply,
    SetWatches,
    ToClient,
    ToServer,
    Welcome,
)

LEADER = 0
CLOSING = "close"

Lag = Callable[[int, int], int]


def no_lag(server: int, zxid: int) -> int:
    """Followers that apply a change the moment the leader decides it."""
    return 0


@dataclass(frozen=True, slots=True)
class EnsembleConfig:
    """The settings of an ensemble.

    Args:
        servers: how many; server 0 leads.
        tick_time_ms: sessions expire at multiples of it; a timeout lies within 2 to 20 of it.
        lag_ms: by how much (server, number of the change) is behind the leader; at most
            `zookeeper.sync.time.ms` where consumers' settings are right.
    """

    servers: int = 3
    tick_time_ms: int = 2_000
    lag_ms: Lag = no_lag


@dataclass(slots=True)
class _Session:
    timeout_ms: int
    connection: int | None


@dataclass(slots=True)
class _Connection:
    """A client at a server: calls that wait their turn, the write that is waited for."""

    server: int
    session_id: int = 0
    queue: deque[Call | Hello | SetWatches | CloseSession] = field(default_factory=deque)
    awaited: int = 0
    answer: Answer | str | None = None


class _Server:
    """A copy of the nodes and the changes on their way to it."""

    def __init__(self) -> None:
        self.tree = ZnodeTree()
        self.coming: deque[tuple[int, Transaction]] = deque()
        self.waiting: dict[int, None] = {}


class Ensemble:
    """The servers, their sessions and what happens at each.

    Args:
        watch: is told of every change when it is decided.
    """

    def __init__(
        self,
        config: EnsembleConfig | None = None,
        watch: Callable[[Transaction], None] | None = None,
    ) -> None:
        self.config = config = config or EnsembleConfig()
        self._watch = watch
        self._servers = [_Server() for _ in range(config.servers)]
        self._connections: dict[int, _Connection] = {}
        self._sessions: dict[int, _Session] = {}
        self._timers: Timers[tuple[str, int], None] = Timers()
        self._out: list[Delivery] = []
        self._numbers = self._zxid = 0

    # ------------------------------------------------------------------ what comes in

    def accept(self, now_ms: int, connection: int, server: int) -> None:
        """A client has connected to a server; `connection` is its number from now on."""
        self.advance(now_ms)
        self._connections[connection] = _Connection(server)

    def receive(self, now_ms: int, connection: int, message: ToServer) -> None:
        """A message arrives; one on a connection that is closed is lost."""
        self.advance(now_ms)
        held = self._connections.get(connection)
        if held is None:
            return
        if held.session_id:
            self._touch(now_ms, held.session_id)
        if isinstance(message, Ping):
            self._send(connection, Pong())
            return
        held.queue.append(message)
        self._serve(now_ms, connection)

    def cut(self, now_ms: int, connection: int) -> None:
        """The connection broke; its session lives on until it times out."""
        self.advance(now_ms)
        self._drop(connection)

    def write(self, now_ms: int, *changes: Change) -> None:
        """Make changes that no modelled session asks for, such as a broker's or a tool's."""
        self.advance(now_ms)
        self._commit(now_ms, changes)

    def advance(self, now_ms: int) -> None:
        """Let time pass: servers catch up, sessions expire, each at its own time."""
        while (due := self._timers.pop_due(now_ms)) is not None:
            kind, number = due.key
            if kind == "apply":
                self._catch_up(due.at_ms, number)
            else:
                self._end_session(due.at_ms, number)

    def next_deadline(self) -> int | None:
        """When `advance` must be called next; None for never."""
        return self._timers.next_deadline()

    def take(self) -> list[Delivery]:
        """The messages of servers since the last call, in order."""
        sent, self._out = self._out, []
        return sent

    def tree_of(self, server: int = LEADER) -> ZnodeTree:
        """The nodes as a server knows them."""
        return self._servers[server].tree

    # ------------------------------------------------------------------ sessions

    def _greet(self, now_ms: int, connection: int, hello: Hello) -> None:
        """Open or go on with a session."""
        held, config = self._connections[connection], self.config
        session_id = hello.session_id
        if not session_id:
            self._numbers += 1
            session_id, tick = self._numbers, config.tick_time_ms
            timeout_ms = min(max(hello.timeout_ms, 2 * tick), 20 * tick)
            self._sessions[session_id] = _Session(timeout_ms, None)
        session = self._sessions.get(session_id)
        if session is None:
            self._send(connection, Expired())
            self._drop(connection, warned=True)
            return
        if session.connection is not None and session.connection != connection:
            self._drop(session.connection, warned=True)
        session.connection, held.session_id = connection, session_id
        self._touch(now_ms, session_id)
        self._send(connection, Welcome(session_id, session.timeout_ms))

    def _touch(self, now_ms: int, session_id: int) -> None:
        """A session was heard of: it expires at the tick after its timeout."""
        session, tick = self._sessions.get(session_id), self.config.tick_time_ms
        if session is not None:
            at_ms = ((now_ms + session.timeout_ms) // tick + 1) * tick
            if self._timers.deadline(("expire", session_id)) != at_ms:
                self._timers.schedule(("expire", session_id), at_ms, None)

    def _end_session(self, now_ms: int, session_id: int) -> None:
        """Remove a session with its nodes; the connection goes when its server knows."""
        self._timers.cancel(("expire", session_id))
        session = self._sessions.pop(session_id)
        owned = self._servers[LEADER].tree.owned_by(session_id)
        self._commit(now_ms, tuple(Change(Api.DELETE, path) for path in reversed(owned)))
        if session.connection is not None:
            held = self._connections[session.connection]
            held.queue.clear()
            self._await(now_ms, session.connection, CLOSING)

    def _drop(self, connection: int, *, warned: bool = False) -> None:
        """Forget a connection, telling the client where it can hear it."""
        held = self._connections.pop(connection, None)
        if held is None:
            return
        server = self._servers[held.server]
        server.waiting.pop(connection, None)
        server.tree.forget_watches(connection)
        session = self._sessions.get(held.session_id)
        if session is not None and session.connection == connection:
            session.connection = None
        if warned:
            self._send(connection, HangUp())

    # ------------------------------------------------------------------ serving

    def _serve(self, now_ms: int, connection: int) -> None:
        """Work through a connection's queue until it has to wait for a change."""
        held = self._connections.get(connection)
        while held is not None and held.queue and held.answer is None:
            message = held.queue.popleft()
            server = self._servers[held.server]
            if isinstance(message, Hello):
                if message.last_zxid > server.tree.zxid:
                    held.queue.appendleft(message)
                    server.waiting[connection] = None
                    return
                self._greet(now_ms, connection, message)
            elif isinstance(message, SetWatches):
                self._tell(server, server.tree.set_watches(connection, message))
            elif isinstance(message, CloseSession):
                self._end_session(now_ms, held.session_id)
            elif message.request.api in READS:
                reply = server.tree.read(connection, message.request)
                self._send(connection, Answer(message.xid, server.tree.zxid, reply))
            else:
                self._write(now_ms, connection, message)
            held = self._connections.get(connection)

    def _write(self, now_ms: int, connection: int, call: Call) -> None:
        held, request = self._connections[connection], call.request
        error = self._servers[LEADER].tree.refuse(request)
        owner = held.session_id if request.ephemeral else 0
        changes = (Change(request.api, request.path, request.data, owner),) if not error else ()
        self._commit(now_ms, changes)
        self._await(now_ms, connection, Answer(call.xid, self._zxid, Reply(error)))

    def _commit(self, now_ms: int, changes: tuple[Change, ...]) -> None:
        """Give changes their turn; one without any is a refusal, which takes a turn too."""
        self._zxid += 1
        transaction = Transaction(self._zxid, changes)
        if self._watch is not None:
            self._watch(transaction)
        for number, server in enumerate(self._servers):
            lag_ms = self.config.lag_ms(number, self._zxid) if number != LEADER else 0
            last_ms = server.coming[-1][0] if server.coming else now_ms
            at_ms = max(now_ms + lag_ms, last_ms)
            server.coming.append((at_ms, transaction))
            if at_ms <= now_ms:
                self._catch_up(now_ms, number)
            elif ("apply", number) not in self._timers:
                self._timers.schedule(("apply", number), at_ms, None)

    def _await(self, now_ms: int, connection: int, answer: Answer | str) -> None:
        """Answer when the connection's server has applied everything decided so far."""
        held = self._connections[connection]
        held.awaited, held.answer = self._zxid, answer
        self._servers[held.server].waiting[connection] = None
        self._wake(now_ms, connection)

    def _catch_up(self, now_ms: int, number: int) -> None:
        """Let a server apply what is due, tell its watchers, answer those who waited for it."""
        server = self._servers[number]
        while server.coming and server.coming[0][0] <= now_ms:
            self._tell(server, server.tree.apply(server.coming.popleft()[1]))
        if server.coming:
            self._timers.schedule(("apply", number), server.coming[0][0], None)
        for connection in list(server.waiting):
            self._wake(now_ms, connection)

    def _wake(self, now_ms: int, connection: int) -> None:
        """Go on with a connection if what it waits for is there."""
        held = self._connections.get(connection)
        if held is None:
            return
        server = self._servers[held.server]
        if held.answer is not None:
            if server.tree.zxid < held.awaited:
                return
            answer, held.answer = held.answer, None
            if isinstance(answer, str):
                self._drop(connection, warned=True)
                return
            self._send(connection, answer)
        server.waiting.pop(connection, None)
        self._serve(now_ms, connection)

    # ------------------------------------------------------------------ sending

    def _tell(self, server: _Server, fired: list[Firing]) -> None:
        for firing in fired:
            self._send(firing.connection, Notice(server.tree.zxid, firing.event))

    def _send(self, connection: int, message: ToClient) -> None:
        self._out.append(Delivery(connection, message))
