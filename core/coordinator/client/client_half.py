"""The common part of client halves, whatever the protocol: time, effects, coordinator, back-off."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from kgroups.core.coordinator.admin_messages import FoundCoordinator
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    ClientEffect,
    ClientEvent,
    ClientEventKind,
    Polled,
    Send,
    TopicPartition,
)
from kgroups.core.coordinator.timers import Timers
from kgroups.core.coordinator.topology import BrokerEndpoint


class ClientHalf(ABC):
    """A consumer without I/O, whatever its protocol; `submit` is its kinds'.

    Attributes:
        owned: partitions that the application may read, in list order.
        coordinator: where requests of the group go; None while that is not known.
        attempts: that failed in a row.
        beat_due, poll_over: the timers of the next heartbeat and of `max.poll.interval.ms`.
    """

    # A simulation has thousands of these.
    __slots__ = (
        "_numbers",
        "attempts",
        "config",
        "coordinator",
        "effects",
        "now_ms",
        "owned",
        "timers",
    )

    beat_due: ClassVar[Any]
    poll_over: ClassVar[Any]

    def __init__(self, config: ClientConfig, now_ms: int) -> None:
        self.config, self.now_ms = config, now_ms
        self.owned: tuple[TopicPartition, ...] = ()
        self.coordinator: BrokerEndpoint | None = None
        self.effects: list[ClientEffect] = []
        self.timers: Timers[Any, None] = Timers()
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
        due_ms = self.timers.deadline(self.beat_due)
        if due_ms is not None:
            self.timers.schedule(self.beat_due, now_ms + int(share * (due_ms - now_ms)), None)

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

    @abstractmethod
    def _fire(self, timer: Any) -> None:
        """The time of a timer has come."""

    # ------------------------------------------------------------------ what they have in common

    def polled(self, command: Polled) -> None:
        """Put off the end of `max.poll.interval.ms`, where it is armed."""
        due_ms = command.at_ms + self.config.max_poll_interval_ms
        armed_ms = self.timers.deadline(self.poll_over)
        if armed_ms is not None and armed_ms < due_ms:
            self.timers.schedule(self.poll_over, due_ms, None)

    def tell(self, kind: ClientEventKind, reason: str = "", *detail: object) -> None:
        """Add an event."""
        self.effects.append(ClientEvent(self.now_ms, kind, reason, detail))

    def tell_commit(self, number: int, problem: str | None) -> None:
        """Tell the application how its commit went, by the number that it gave it."""
        kind = ClientEventKind.OFFSETS_COMMITTED
        if problem is not None:
            kind = ClientEventKind.COMMIT_FAILED
        self.tell(kind, problem or "", number)

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
