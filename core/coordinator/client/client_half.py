"""The common part of client halves, whatever the protocol: time, effects, coordinator, back-off.

Requests under way and the application's commits, too.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest, FoundCoordinator
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    Callback,
    CallbackDone,
    CallbackKind,
    ClientEffect,
    ClientEvent,
    ClientEventKind,
    CommitOffsets,
    Polled,
    Send,
    TopicPartition,
)
from kgroups.core.coordinator.client.ports import Positions
from kgroups.core.coordinator.client.reactions import Api
from kgroups.core.coordinator.client.requests import commit_request
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.timers import Timers
from kgroups.core.coordinator.topology import BrokerEndpoint
from kgroups.core.protocol.errors import ErrorCode

# The purposes of timers; kinds have more.
BEAT_DUE, POLL_OVER, BACKOFF = "heartbeat", "poll", "back-off"
REQUEST, COMMIT_OVER = "request", "commit"
NO_MEMBER = "the member is not part of an active group"


class Wanted(NamedTuple):
    """A commit that the application asked for.

    Args:
        until_ms: it is tried again until then; a commit that nobody waits for is tried once.
    """

    command: CommitOffsets
    until_ms: int


class Flight(NamedTuple):
    """A request that is under way, with the identity under which it was sent.

    Args:
        until_ms: the answer counts as lost from then on.
        awaited: the state goes on with its answer; else only an event tells of it.
        wanted: what is committed, if the application asked for it.
    """

    api: str
    identity: tuple[int, str]
    until_ms: int
    awaited: bool
    wanted: Wanted | None


class ClientHalf(ABC):
    """A consumer without I/O, whatever its protocol; `submit` is its kinds'.

    Attributes:
        owned: partitions that the application may read, in list order.
        coordinator: where requests of the group go; None while that is not known.
        attempts: that failed in a row.
        positions: the next offset to read of each of these partitions that has one.
        flights: requests under way, by token, oldest first.
        waiting: the application's commits that wait for the coordinator.
        callback: that the listener runs; None if none runs.
    """

    # A simulation has thousands of these.
    __slots__ = (
        "_numbers",
        "attempts",
        "callback",
        "config",
        "coordinator",
        "effects",
        "flights",
        "now_ms",
        "owned",
        "positions",
        "timers",
        "waiting",
    )

    def __init__(self, config: ClientConfig, now_ms: int, positions: Positions) -> None:
        self.config, self.now_ms, self.positions = config, now_ms, positions
        self.owned: tuple[TopicPartition, ...] = ()
        self.coordinator: BrokerEndpoint | None = None
        self.effects: list[ClientEffect] = []
        self.timers: Timers[str, None] = Timers()
        self.flights: dict[int, Flight] = {}
        self.waiting: list[Wanted] = []
        self.callback: Callback | None = None
        self._numbers = self.attempts = 0

    # ------------------------------------------------------------------ what a driver calls

    def response(self, now_ms: int, token: int, answer: object | None) -> None:
        """Take in the answer to the Send of this token; None if the connection broke."""
        self.advance(now_ms)
        self._take_answer(token, answer)
        self._pursue()

    def advance(self, now_ms: int) -> None:
        """Let time pass: timers fire one by one, each at its own time."""
        while (due := self.timers.pop_due(now_ms)) is not None:
            self.now_ms = max(self.now_ms, due.at_ms)
            self._fire(due.key)
            self._pursue()
        if now_ms > self.now_ms:
            self.now_ms = now_ms

    def next_deadline(self) -> int | None:
        """When `advance` must be called next, in epoch milliseconds; None for never."""
        return self.timers.next_deadline()

    def take(self) -> list[ClientEffect]:
        """The effects to carry out since the last call, in order."""
        effects, self.effects = self.effects, []
        return effects

    def hasten_beat(self, now_ms: int, share: float) -> None:
        """Send the next heartbeat after this share of the time until it is due."""
        due_ms = self.timers.deadline(BEAT_DUE)
        if due_ms is not None:
            self.timers.schedule(BEAT_DUE, now_ms + int(share * (due_ms - now_ms)), None)

    # For drivers with very many members: most of what a member does is this.

    def beat_alone(self, now_ms: int) -> Send | None:
        """The request of `advance` where a heartbeat is due now and nothing else is; else None.

        None means that nothing was done; so it does below.
        """
        return None

    def beat_answered(self, now_ms: int, token: int, answer: Any) -> bool:
        """Take in an answer that says nothing new to a stable member; False: `response` must."""
        return False

    def commit_alone(self, now_ms: int, offsets: Mapping[TopicPartition, int]) -> Send | None:
        """The request of `CommitOffsets` and then `Poll`, where they do nothing else; else None."""
        return None

    def commit_answered(self, now_ms: int, token: int, answer: Any) -> bool:
        """Take in that a commit of `commit_alone` went well; False: `response` must."""
        return False

    def _sent_alone(self) -> Send:
        """The one thing that it wants done."""
        sent = self.effects.pop()
        assert type(sent) is Send
        return sent

    @property
    @abstractmethod
    def identity(self) -> tuple[int, str]:
        """(generation or member epoch, member id); -1 and empty if it has none."""

    # ------------------------------------------------------------------ what its kinds do

    @abstractmethod
    def _pursue(self) -> None:
        """Do what can be done now."""

    @abstractmethod
    def _take_answer(self, token: int, answer: Any) -> None:
        """The body of an answer; None if there is none."""

    def _fire(self, timer: str) -> None:
        """The time of a timer has come."""
        if timer == REQUEST:  # close the connection: nothing else under way is answered either
            self.tell(ClientEventKind.CONNECTION_CLOSED, "a request was not answered in time")
            for token in list(self.flights):
                self._take_answer(token, None)
        elif timer == COMMIT_OVER:
            waiting, self.waiting = self.waiting, []
            for wanted in waiting:
                if wanted.command.sync and wanted.until_ms <= self.now_ms:
                    self.tell_commit(wanted, "no answer came in time")
                else:
                    self.wait_with(wanted)

    # ------------------------------------------------------------------ what they have in common

    def polled(self, command: Polled) -> None:
        """Put off the end of `max.poll.interval.ms`, where it is armed."""
        due_ms = command.at_ms + self.config.max_poll_interval_ms
        armed_ms = self.timers.deadline(POLL_OVER)
        if armed_ms is not None and armed_ms < due_ms:
            self.timers.schedule(POLL_OVER, due_ms, None)

    def arm(self, timer: str, after_ms: int) -> None:
        """Let a timer fire after so many ms, in place of what it was armed for."""
        self.timers.schedule(timer, self.now_ms + after_ms, None)

    def number(self) -> int:
        """A token or callback number that was not used before."""
        self._numbers += 1
        return self._numbers

    def tell(self, kind: ClientEventKind, reason: str = "", *detail: object) -> None:
        """Add an event."""
        self.effects.append(ClientEvent(self.now_ms, kind, reason, detail))

    def call_back(self, kind: CallbackKind, partitions: tuple[TopicPartition, ...]) -> None:
        """Run the application's listener; the steps stand still until it has finished."""
        self.callback = Callback(self.number(), kind, partitions)
        self.effects.append(self.callback)

    def finish_callback(self, command: CallbackDone) -> Callback | None:
        """The listener has finished this callback; None if it is another one that runs."""
        callback = self.callback
        if callback is None or callback.number != command.number:
            return None
        self.callback = None
        return callback

    def find(self, coordinator: FoundCoordinator) -> None:
        """Know from now on where the coordinator is."""
        self.coordinator = BrokerEndpoint(coordinator.node_id, coordinator.host, coordinator.port)
        self.tell(ClientEventKind.COORDINATOR_FOUND, "", self.coordinator)

    def lose_coordinator(self, reason: str) -> None:
        """Ask where the coordinator is before anything else is sent to it."""
        if self.coordinator is not None:
            self.coordinator = None
            self.tell(ClientEventKind.COORDINATOR_LOST, reason)

    def count_attempt(self) -> int:
        """Milliseconds until the next attempt: each time twice as long, up to a limit."""
        config = self.config
        doubled_ms = config.retry_backoff_ms << min(self.attempts, 20)
        self.attempts += 1
        return min(doubled_ms, config.retry_backoff_max_ms)

    def back_off(self) -> None:
        """Send nothing but heartbeats for a while, each time for longer."""
        self.arm(BACKOFF, self.count_attempt())

    # ------------------------------------------------------------------ requests

    def send(
        self,
        api: str,
        request: Request,
        *,
        timeout_ms: int | None = None,
        awaited: bool = True,
        wanted: Wanted | None = None,
    ) -> int:
        """Send a request to the coordinator, or FindCoordinator to any broker; its token."""
        self._numbers = token = self._numbers + 1
        patience_ms = self.config.request_timeout_ms if timeout_ms is None else timeout_ms
        until_ms = self.now_ms + patience_ms
        self.flights[token] = Flight(api, self.identity, until_ms, awaited, wanted)
        # One timer for all of them, for the one that is waited for least long.
        armed_ms = self.timers.deadline(REQUEST)
        if armed_ms is None or until_ms < armed_ms:
            self.timers.schedule(REQUEST, until_ms, None)
        to = None if type(request) is FindCoordinatorRequest else self.coordinator
        self.effects.append(Send(token, to, request))
        return token

    def land(self, token: int) -> Flight | None:
        """The request of this token, which is under way no more; None if nobody waits for it."""
        flights = self.flights
        flight = flights.pop(token, None)
        if flight is None:
            return None
        if not flights:
            self.timers.cancel(REQUEST)
        elif flight.until_ms <= (self.timers.deadline(REQUEST) or self.now_ms):
            self.timers.schedule(REQUEST, min(f.until_ms for f in flights.values()), None)
        return flight

    def waits_for(self, *apis: str) -> bool:
        """Whether the answer to such a request is awaited."""
        return any(flight.awaited and flight.api in apis for flight in self.flights.values())

    def drop(self, *apis: str) -> None:
        """Wait no more for the answers to these requests."""
        for token, flight in list(self.flights.items()):
            if flight.awaited and flight.api in apis:
                self.land(token)

    def found(self, answer: Any) -> bool:
        """Take in where the coordinator is; False if the answer does not say."""
        coordinator = None if answer is None else answer.coordinators[0]
        if coordinator is None or ErrorCode(coordinator.error_code) is not ErrorCode.NONE:
            self.back_off()
            return False
        self.attempts = 0
        self.find(coordinator)
        return True

    # ------------------------------------------------------------------ commits

    def send_commit(
        self, offsets: Mapping[TopicPartition, int], wanted: Wanted | None = None
    ) -> int:
        """Commit these offsets as who it is now; a commit of its own is awaited."""
        request = commit_request(self.config, *self.identity, offsets)
        return self.send(Api.COMMIT, request, awaited=wanted is None, wanted=wanted)

    def want_commit(self, command: CommitOffsets) -> Wanted:
        """The application's wish, with the time that it has."""
        patience_ms = self.config.default_api_timeout_ms if command.sync else 0
        return Wanted(command, self.now_ms + patience_ms)

    def wait_with(self, wanted: Wanted) -> None:
        """Keep a commit until the coordinator is known."""
        self.waiting.append(wanted)
        ends = [waiting.until_ms for waiting in self.waiting if waiting.command.sync]
        if ends:
            self.timers.schedule(COMMIT_OVER, min(ends), None)

    def obstacle(self) -> str | None:
        """Why nothing can be committed now; None if it can."""
        return None

    def send_waiting(self) -> None:
        """Send the commits that waited for the coordinator, once it is known."""
        if self.coordinator is not None and BACKOFF not in self.timers:
            obstacle = self.obstacle()
            for wanted in self.take_waiting():
                if obstacle is None:
                    self.send_commit(wanted.command.offsets, wanted)
                else:
                    self.tell_commit(wanted, obstacle)

    def take_waiting(self) -> list[Wanted]:
        """The commits that waited, which wait no more."""
        waiting, self.waiting = self.waiting, []
        self.timers.cancel(COMMIT_OVER)
        return waiting

    def settle_commit(self, wanted: Wanted, error: ErrorCode, *, again: bool) -> None:
        """Tell how a commit went; one that the application waits for is tried again first.

        Args:
            again: whether that may help.
        """
        if again and self.now_ms < wanted.until_ms:
            self.wait_with(wanted)
            self.back_off()
        else:
            self.tell_commit(wanted, None if error is ErrorCode.NONE else error.name)

    def tell_commit(self, wanted: Wanted, problem: str | None) -> None:
        """Tell the application how its commit went, by the number that it gave it."""
        kind = ClientEventKind.OFFSETS_COMMITTED
        if problem is not None:
            kind = ClientEventKind.COMMIT_FAILED
        self.tell(kind, problem or "", wanted.command.number)
