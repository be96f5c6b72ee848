"""Requests under way and commits that wait: with `assign`, and of KIP-848's members."""

from typing import Any, NamedTuple

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.client.client_half import ClientHalf
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import ClientEventKind, CommitOffsets, Send
from kgroups.core.coordinator.client.ports import Positions
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode

REQUEST, BACKOFF, COMMIT_OVER = "request", "back-off", "commit"


class Wanted(NamedTuple):
    """A commit that the application asked for.

    Args:
        until_ms: it is tried again until then; a commit that nobody waits for is tried once.
    """

    command: CommitOffsets
    until_ms: int


class Requester(ClientHalf):
    """A consumer, as far as it asks a coordinator; attributes as `ClientHalf`'s.

    Attributes:
        _flights: by token what was asked, and until when the answer is waited for; oldest first.
        _asked: the application's commits that are under way, by token.
        _waiting: those that wait for the coordinator.
    """

    __slots__ = ("_asked", "_flights", "_positions", "_waiting")

    def __init__(self, config: ClientConfig, now_ms: int, positions: Positions) -> None:
        super().__init__(config, now_ms)
        self._positions = positions
        self._flights: dict[int, tuple[str, int]] = {}
        self._asked: dict[int, Wanted] = {}
        self._waiting: list[Wanted] = []

    # ------------------------------------------------------------------ requests

    def _fire(self, timer: str) -> None:
        if timer == REQUEST:  # close the connection: nothing else under way is answered either
            self.tell(ClientEventKind.CONNECTION_CLOSED, "a request was not answered in time")
            for token in list(self._flights):
                self._take_answer(token, None)
        elif timer == COMMIT_OVER:
            waiting, self._waiting = self._waiting, []
            for wanted in waiting:
                if wanted.command.sync and wanted.until_ms <= self.now_ms:
                    self._tell_commit(wanted, "no answer came in time")
                else:
                    self._wait_with(wanted)

    def _send(self, api: str, request: Request) -> int:
        self._numbers = token = self._numbers + 1
        until_ms = self.now_ms + self.config.request_timeout_ms
        self._flights[token] = (api, until_ms)
        if REQUEST not in self.timers:
            self.timers.schedule(REQUEST, until_ms, None)
        to = None if type(request) is FindCoordinatorRequest else self.coordinator
        self.effects.append(Send(token, to, request))
        return token

    def _land(self, token: int) -> str | None:
        """The request of this token, which is under way no more; None if nobody waits."""
        api, _ = self._flights.pop(token, (None, 0))
        if not self._flights:
            self.timers.cancel(REQUEST)
        elif api is not None:
            _, until_ms = next(iter(self._flights.values()))
            self.timers.schedule(REQUEST, until_ms, None)
        return api

    def _waits_for(self, api: str) -> bool:
        return any(asked == api for asked, _ in self._flights.values())

    def _found(self, answer: Any) -> bool:
        """Take in where the coordinator is; False if the answer does not say."""
        coordinator = None if answer is None else answer.coordinators[0]
        if coordinator is None or ErrorCode(coordinator.error_code) is not ErrorCode.NONE:
            self._back_off()
            return False
        self.attempts = 0
        self.find(coordinator)
        return True

    def _back_off(self) -> None:
        self.timers.schedule(BACKOFF, self.now_ms + self.count_attempt(), None)

    # ------------------------------------------------------------------ commits

    def _wait_with(self, wanted: Wanted) -> None:
        """Keep a commit until the coordinator is known."""
        self._waiting.append(wanted)
        ends = [waiting.until_ms for waiting in self._waiting if waiting.command.sync]
        if ends:
            self.timers.schedule(COMMIT_OVER, min(ends), None)

    def _tell_commit(self, wanted: Wanted, problem: str | None) -> None:
        """Tell the application, by the number that it gave its commit."""
        self.tell_commit(max(0, wanted.command.number), problem)
