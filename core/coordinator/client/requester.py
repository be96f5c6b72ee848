"""What a consumer does whatever its protocol: requests under way, commits that wait, the clock."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    ClientEffect,
    ClientEvent,
    ClientEventKind,
    CommitOffsets,
    Send,
    TopicPartition,
)
from kgroups.core.coordinator.client.ports import Positions
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.timers import Timers
from kgroups.core.coordinator.topology import BrokerEndpoint
from kgroups.core.protocol.errors import ErrorCode

REQUEST, BACKOFF, COMMIT_OVER = "request", "back-off", "commit"


class Wanted(NamedTuple):
    """A commit that the application asked for.

    Args:
        until_ms: it is tried again until then; a commit that nobody waits for is tried once.
    """

    command: CommitOffsets
    until_ms: int


class Requester(ABC):
    """A consumer without I/O, as far as it asks a coordinator; `submit` and more are its kinds'.

    Attributes:
        owned: partitions that the application may read.
        coordinator: where its requests go; None while that is not known.
        _flights: by token what was asked, and until when the answer is waited for; oldest first.
        _asked: the application's commits that are under way, by token.
        _waiting: those that wait for the coordinator.
    """

    __slots__ = (
        "_asked",
        "_attempts",
        "_effects",
        "_flights",
        "_now_ms",
        "_numbers",
        "_positions",
        "_timers",
        "_waiting",
        "config",
        "coordinator",
        "owned",
    )

    def __init__(self, config: ClientConfig, now_ms: int, positions: Positions) -> None:
        self.config, self._now_ms, self._positions = config, now_ms, positions
        self.owned: tuple[TopicPartition, ...] = ()
        self.coordinator: BrokerEndpoint | None = None
        self._effects: list[ClientEffect] = []
        self._timers: Timers[str, None] = Timers()
        self._flights: dict[int, tuple[str, int]] = {}
        self._asked: dict[int, Wanted] = {}
        self._waiting: list[Wanted] = []
        self._numbers = self._attempts = 0

    # ------------------------------------------------------------------ what a driver calls

    def response(self, now_ms: int, token: int, answer: object | None) -> None:
        """Take in the answer to the Send of this token; None if the connection broke."""
        self.advance(now_ms)
        self._take_answer(token, answer)
        self._pursue()

    def advance(self, now_ms: int) -> None:
        """Let time pass: timers fire one by one, each at its own time."""
        while (due := self._timers.pop_due(now_ms)) is not None:
            self._now_ms = max(self._now_ms, due.at_ms)
            self._fire(due.key)
            self._pursue()
        if now_ms > self._now_ms:
            self._now_ms = now_ms

    def next_deadline(self) -> int | None:
        """When `advance` must be called next, in epoch milliseconds; None for never."""
        return self._timers.next_deadline()

    def take(self) -> list[ClientEffect]:
        """What to carry out since the last call, in order."""
        effects, self._effects = self._effects, []
        return effects

    # ------------------------------------------------------------------ requests

    @abstractmethod
    def _pursue(self) -> None:
        """Do what can be done now."""

    @abstractmethod
    def _take_answer(self, token: int, answer: Any) -> None:
        """What an answer says; None if there is none."""

    def _fire(self, timer: str) -> None:
        """The time of a timer has come."""
        if timer == REQUEST:  # close the connection: nothing else under way is answered either
            self._tell(ClientEventKind.CONNECTION_CLOSED, "a request was not answered in time")
            for token in list(self._flights):
                self._take_answer(token, None)
        elif timer == COMMIT_OVER:
            waiting, self._waiting = self._waiting, []
            for wanted in waiting:
                if wanted.command.sync and wanted.until_ms <= self._now_ms:
                    self._tell_commit(wanted, "no answer came in time")
                else:
                    self._wait_with(wanted)

    def _send(self, api: str, request: Request) -> int:
        self._numbers = token = self._numbers + 1
        until_ms = self._now_ms + self.config.request_timeout_ms
        self._flights[token] = (api, until_ms)
        if REQUEST not in self._timers:
            self._timers.schedule(REQUEST, until_ms, None)
        to = None if type(request) is FindCoordinatorRequest else self.coordinator
        self._effects.append(Send(token, to, request))
        return token

    def _land(self, token: int) -> str | None:
        """What was asked under this token, which is under way no more; None if nobody waits."""
        api, _ = self._flights.pop(token, (None, 0))
        if not self._flights:
            self._timers.cancel(REQUEST)
        elif api is not None:
            _, until_ms = next(iter(self._flights.values()))
            self._timers.schedule(REQUEST, until_ms, None)
        return api

    def _waits_for(self, api: str) -> bool:
        return any(asked == api for asked, _ in self._flights.values())

    def _found(self, answer: Any) -> bool:
        """Take in where the coordinator is; False if the answer does not say."""
        found = None if answer is None else answer.coordinators[0]
        if found is None or ErrorCode(found.error_code) is not ErrorCode.NONE:
            self._back_off()
            return False
        self._attempts = 0
        self.coordinator = BrokerEndpoint(found.node_id, found.host, found.port)
        self._tell(ClientEventKind.COORDINATOR_FOUND, "", self.coordinator)
        return True

    def _lose_coordinator(self, reason: str) -> None:
        if self.coordinator is not None:
            self.coordinator = None
            self._tell(ClientEventKind.COORDINATOR_LOST, reason)

    def _tell(self, kind: ClientEventKind, reason: str = "", *detail: object) -> None:
        self._effects.append(ClientEvent(self._now_ms, kind, reason, detail))

    def _back_off(self) -> None:
        config = self.config
        wait_ms = min(
            config.retry_backoff_ms << min(self._attempts, 20), config.retry_backoff_max_ms
        )
        self._attempts += 1
        self._timers.schedule(BACKOFF, self._now_ms + wait_ms, None)

    # ------------------------------------------------------------------ commits

    def _wait_with(self, wanted: Wanted) -> None:
        """Keep a commit until the coordinator is known."""
        self._waiting.append(wanted)
        ends = [waiting.until_ms for waiting in self._waiting if waiting.command.sync]
        if ends:
            self._timers.schedule(COMMIT_OVER, min(ends), None)

    def _tell_commit(self, wanted: Wanted, problem: str | None) -> None:
        """Tell the application, by the number that it gave its commit."""
        kind = ClientEventKind.OFFSETS_COMMITTED
        if problem is not None:
            kind = ClientEventKind.COMMIT_FAILED
        self._tell(kind, problem or "", max(0, wanted.command.number))
