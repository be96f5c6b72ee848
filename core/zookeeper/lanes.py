"""A consumer's threads as generators: each asks ZooKeeper, sleeps, or waits for the one lock.

A routine yields what it waits for: a Request (sent in the Reply), Sleep, or Lock. A lane does its
routines one after the other, as a thread its tasks. A request whose connection broke is asked
again when there is a session, as ZkClient does it.
"""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, TypeVar

from kgroups.core.coordinator.timers import Timers
from kgroups.core.zookeeper.client_session import ClientSession, SessionState
from kgroups.core.zookeeper.protocol import Reply, Request, ZkError

T = TypeVar("T")


class Sleep(NamedTuple):
    """Go on after so many ms."""

    for_ms: int


class Lock(NamedTuple):
    """Go on when nobody else rebalances; `Lanes.unlock` ends it."""


Demand = Request | Sleep | Lock
Routine = Generator[Demand, Reply | None, T]


class RoutineError(Exception):
    """An error that ends a routine, where Java's exception ends the task."""


class ZkFailure(RoutineError):
    """An operation on a node failed."""

    def __init__(self, error: ZkError, path: str) -> None:
        super().__init__(f"{error} for {path}")
        self.error, self.path = error, path


class NoNode(ZkFailure):
    """The node, or the one above it, is not there."""


class NodeExists(ZkFailure):
    """The node is there already."""


class LaneName(StrEnum):
    """The threads of a consumer."""

    MAIN = "main"
    EVENTS = "ZkClient-EventThread"
    WATCHER = "watcher_executor"
    COMMITTER = "autocommit"
    FINDER = "leader-finder-thread"


@dataclass(slots=True)
class _Lane:
    """A thread: what it does, what is left to do, what it must ask again when connected."""

    tasks: deque[Routine[None]] = field(default_factory=deque)
    current: Routine[None] | None = None
    parked: Request | None = None


class Lanes:
    """The threads of one consumer.

    Args:
        session: where requests go.
        failed: is told what ended a task before its end.
    """

    def __init__(
        self, session: ClientSession, now_ms: int, failed: Callable[[LaneName, str], None]
    ) -> None:
        self.now_ms = now_ms
        self._session, self._failed = session, failed
        self._lanes = {name: _Lane() for name in LaneName}
        self._timers: Timers[LaneName, None] = Timers()
        self._tokens: dict[int, LaneName] = {}
        self._ready: deque[tuple[LaneName, Reply | None]] = deque()
        self._holder: LaneName | None = None
        self._waiting: deque[LaneName] = deque()
        self._running: LaneName | None = None

    def queue(self, name: LaneName, task: Routine[None]) -> None:
        """Give a thread something more to do."""
        lane = self._lanes[name]
        lane.tasks.append(task)
        if lane.current is None:
            self._next(name)

    def idle(self, name: LaneName) -> bool:
        """Whether a thread has nothing to do."""
        return self._lanes[name].current is None

    def unlock(self) -> None:
        """The running routine has rebalanced; the next one that waits may."""
        if self._holder is not self._running:
            return
        self._holder = self._waiting.popleft() if self._waiting else None
        if self._holder is not None:
            self._ready.append((self._holder, None))

    def told(self, token: int, reply: Reply | None) -> None:
        """The answer to a request came; None: the connection broke."""
        name = self._tokens.pop(token, None)
        if name is not None and reply is not None:
            self._lanes[name].parked = None
            self._ready.append((name, reply))

    def connected(self) -> None:
        """There is a session: what was asked in vain is asked again."""
        for name, lane in self._lanes.items():
            if lane.parked is not None and name not in self._tokens.values():
                self._tokens[self._session.call(self.now_ms, lane.parked)] = name

    def pump(self) -> None:
        """Run what can run."""
        while self._ready:
            self._step(*self._ready.popleft())

    def advance(self, now_ms: int) -> None:
        """Wake who has slept long enough."""
        self.now_ms = max(self.now_ms, now_ms)
        while (due := self._timers.pop_due(now_ms)) is not None:
            self._ready.append((due.key, None))
            self.pump()

    def next_deadline(self) -> int | None:
        """When somebody wakes; None for never."""
        return self._timers.next_deadline()

    def cancel(self, name: LaneName) -> None:
        """End another thread where it stands; it may be given something new to do."""
        lane = self._lanes[name]
        lane.tasks.clear()
        if lane.current is not None:
            lane.current.close()
        lane.current = lane.parked = None
        self._timers.cancel(name)
        self._tokens = {token: owner for token, owner in self._tokens.items() if owner is not name}
        self._ready = deque(lane for lane in self._ready if lane[0] is not name)

    def stop(self) -> None:
        """End every other thread where it stands."""
        for name in LaneName:
            if name is not self._running:
                self.cancel(name)

    def _next(self, name: LaneName) -> None:
        lane = self._lanes[name]
        lane.current = lane.tasks.popleft() if lane.tasks else None
        if lane.current is not None:
            self._ready.append((name, None))

    def _step(self, name: LaneName, value: Reply | None) -> None:
        """Let a thread go on until it waits for something."""
        lane, before = self._lanes[name], self._running
        if lane.current is None:
            return
        self._running = name
        try:
            demand = lane.current.send(value)
        except StopIteration:
            self._next(name)
        except RoutineError as error:
            self._failed(name, str(error))
            self._next(name)
        else:
            self._wait(name, demand)
        finally:
            self._running = before

    def _wait(self, name: LaneName, demand: Demand) -> None:
        if isinstance(demand, Sleep):
            self._timers.schedule(name, self.now_ms + demand.for_ms, None)
        elif isinstance(demand, Lock):
            if self._holder is None:
                self._holder = name
                self._ready.append((name, None))
            else:
                self._waiting.append(name)
        else:
            self._lanes[name].parked = demand
            if self._session.state is SessionState.CONNECTED:
                self._tokens[self._session.call(self.now_ms, demand)] = name
