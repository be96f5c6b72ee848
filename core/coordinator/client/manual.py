"""A consumer with `assign`: it chooses its partitions by hand, without I/O.

It is no member of its group, which it only stores offsets in, without a generation; a coordinator
takes that as long as the group has no members. The same commands, effects and manners as those of
members. Source: `ConsumerCoordinator` with `SubscriptionState.assignFromUser`.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.admin_messages import FindCoordinatorRequest
from kgroups.core.coordinator.classic.messages import NO_GENERATION, UNKNOWN_MEMBER_ID
from kgroups.core.coordinator.client.classic.answers import error_of
from kgroups.core.coordinator.client.classic.states import Api, Reaction, reaction_to
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    Assign,
    ClientEffect,
    ClientEvent,
    ClientEventKind,
    Close,
    Command,
    CommitOffsets,
    Send,
    TopicPartition,
)
from kgroups.core.coordinator.client.ports import Positions, no_positions
from kgroups.core.coordinator.client.requests import commit_request, find_request
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.timers import Timers
from kgroups.core.coordinator.topology import BrokerEndpoint
from kgroups.core.protocol.errors import ErrorCode

REQUEST, BACKOFF, COMMIT_OVER = "request", "back-off", "commit"
AGAIN: Final = frozenset({Reaction.RETRY, Reaction.FIND})
CLOSING: Final = -1


class Wanted(NamedTuple):
    """A commit that has not been answered.

    Args:
        until_ms: it is tried again until then; a commit that nobody waits for is tried once.
    """

    command: CommitOffsets
    until_ms: int


class ManualClient:
    """One consumer.

    Args:
        config: its settings.
        now_ms: epoch milliseconds.
        positions: the next offset to read of each of these partitions that has one.

    Attributes:
        owned: the partitions that it reads.
        coordinator: where offsets are stored; None while that is not known.
        closed: whether it has done all that `Close` asks for.
        failure: always None: nothing that it is answered ends it.
    """

    __slots__ = (
        "_attempts",
        "_closing",
        "_effects",
        "_flights",
        "_now_ms",
        "_numbers",
        "_positions",
        "_timers",
        "_wanted",
        "closed",
        "config",
        "coordinator",
        "owned",
    )

    failure: Final[str | None] = None

    def __init__(
        self, config: ClientConfig, *, now_ms: int, positions: Positions = no_positions
    ) -> None:
        self.config, self._now_ms, self._positions = config, now_ms, positions
        self.owned: tuple[TopicPartition, ...] = ()
        self.coordinator: BrokerEndpoint | None = None
        self.closed = self._closing = False
        self._effects: list[ClientEffect] = []
        self._timers: Timers[str, None] = Timers()
        # Token -> the commit that was asked for, None for FindCoordinator; and until when.
        self._flights: dict[int, tuple[Wanted | None, int]] = {}
        self._wanted: list[Wanted] = []
        self._numbers = self._attempts = 0

    # ------------------------------------------------------------------ what a driver calls

    def submit(self, now_ms: int, command: Command) -> None:
        """Take in a command; those that only concern members change nothing."""
        self.advance(now_ms)
        if isinstance(command, Assign):
            self.owned = command.partitions
        elif isinstance(command, CommitOffsets):
            self._want(command)
        elif isinstance(command, Close) and not self._closing:
            self._closing = True
            offsets = self._positions(self.owned) if self.config.enable_auto_commit else {}
            if offsets:
                self._want(CommitOffsets(offsets, CLOSING, sync=True))
        self._pursue()

    def response(self, now_ms: int, token: int, answer: object | None) -> None:
        """Take in the answer to the Send of this token; None if the connection broke."""
        self.advance(now_ms)
        self._take_answer(token, answer)
        self._pursue()

    def advance(self, now_ms: int) -> None:
        """Let time pass: timers fire one by one, each at its own time."""
        while (due := self._timers.pop_due(now_ms)) is not None:
            self._now_ms = max(self._now_ms, due.at_ms)
            if due.key == REQUEST:
                self._tell(ClientEventKind.CONNECTION_CLOSED, "a request was not answered in time")
                for token in list(self._flights):
                    self._take_answer(token, None)
            elif due.key == COMMIT_OVER:
                self._commits_over()
            self._pursue()
        self._now_ms = max(self._now_ms, now_ms)

    def next_deadline(self) -> int | None:
        """When `advance` must be called next, in epoch milliseconds; None for never."""
        return self._timers.next_deadline()

    def take(self) -> list[ClientEffect]:
        """What to carry out since the last call, in order."""
        effects, self._effects = self._effects, []
        return effects

    def beat_alone(self, now_ms: int) -> Send | None:
        """Who is no member sends no heartbeats."""
        return None

    def beat_answered(self, now_ms: int, token: int, answer: object) -> bool:
        """And none is answered."""
        return False

    def commit_alone(self, now_ms: int, offsets: Mapping[TopicPartition, int]) -> Send | None:
        """Its commits wait for the coordinator, and are tried again: `submit` takes them all."""
        return None

    def commit_answered(self, now_ms: int, token: int, answer: object) -> bool:
        """As all answers: `response` takes it."""
        return False

    @property
    def identity(self) -> tuple[int, str]:
        """No generation, and no member id."""
        return NO_GENERATION, UNKNOWN_MEMBER_ID

    # ------------------------------------------------------------------ requests

    def _pursue(self) -> None:
        """Find the coordinator, send the commits that wait for it, close."""
        if self.closed or BACKOFF in self._timers:
            return
        if self.coordinator is None:
            if all(commit is not None for commit, _ in self._flights.values()):
                self._send(None, find_request(self.config))
        elif self._wanted:
            wanted, self._wanted = self._wanted, []
            self._timers.cancel(COMMIT_OVER)
            for one in wanted:
                offsets: Mapping[TopicPartition, int] = one.command.offsets
                self._send(one, commit_request(self.config, *self.identity, offsets))
        commits = any(commit is not None for commit, _ in self._flights.values())
        if self._closing and not self._wanted and not commits:
            self.closed, self._timers = True, Timers()
            self._flights.clear()

    def _send(self, commit: Wanted | None, request: Request) -> None:
        self._numbers = token = self._numbers + 1
        until_ms = self._now_ms + self.config.request_timeout_ms
        self._flights[token] = (commit, until_ms)
        if REQUEST not in self._timers:
            self._timers.schedule(REQUEST, until_ms, None)
        to = None if type(request) is FindCoordinatorRequest else self.coordinator
        self._effects.append(Send(token, to, request))

    def _take_answer(self, token: int, answer: Any) -> None:
        if token not in self._flights:
            return
        commit, _ = self._flights.pop(token)
        self._timers.cancel(REQUEST)
        if self._flights:
            self._timers.schedule(REQUEST, min(at for _, at in self._flights.values()), None)
        api = Api.FIND if commit is None else Api.COMMIT
        error = ErrorCode.NETWORK_EXCEPTION if answer is None else error_of(api, answer)
        reaction = reaction_to(api, error)
        if commit is None:
            self._found(answer, error)
            return
        if reaction is Reaction.FIND and self.coordinator is not None:
            self.coordinator = None
            self._tell(ClientEventKind.COORDINATOR_LOST, f"{api} was answered {error.name}")
        if reaction in AGAIN and self._now_ms < commit.until_ms:
            self._put_off(commit)
            self._back_off()
        else:
            self._tell_commit(commit, None if error is ErrorCode.NONE else error.name)

    def _found(self, answer: Any, error: ErrorCode) -> None:
        if error is not ErrorCode.NONE:
            self._back_off()
            for one in [one for one in self._wanted if not one.command.sync]:
                self._wanted.remove(one)
                self._tell_commit(one, "the coordinator is not known")
            return
        self._attempts = 0
        (found,) = answer.coordinators
        self.coordinator = BrokerEndpoint(found.node_id, found.host, found.port)
        self._tell(ClientEventKind.COORDINATOR_FOUND, "", self.coordinator)

    # ------------------------------------------------------------------ commits

    def _want(self, command: CommitOffsets) -> None:
        patience_ms = self.config.default_api_timeout_ms
        if command.number == CLOSING:
            patience_ms = self.config.close_timeout_ms
        self._put_off(Wanted(command, self._now_ms + (patience_ms if command.sync else 0)))

    def _put_off(self, one: Wanted) -> None:
        self._wanted.append(one)
        ends = [each.until_ms for each in self._wanted if each.command.sync]
        if ends:
            self._timers.schedule(COMMIT_OVER, min(ends), None)

    def _commits_over(self) -> None:
        wanted, self._wanted = self._wanted, []
        for one in wanted:
            if one.command.sync and one.until_ms <= self._now_ms:
                self._tell_commit(one, "no answer came in time")
            else:
                self._put_off(one)

    def _tell_commit(self, one: Wanted, problem: str | None) -> None:
        good = problem is None
        kind = ClientEventKind.OFFSETS_COMMITTED if good else ClientEventKind.COMMIT_FAILED
        self._tell(kind, problem or "", max(0, one.command.number))

    def _tell(self, kind: ClientEventKind, reason: str = "", *detail: object) -> None:
        self._effects.append(ClientEvent(self._now_ms, kind, reason, detail))

    def _back_off(self) -> None:
        config = self.config
        wait_ms = min(
            config.retry_backoff_ms << min(self._attempts, 20), config.retry_backoff_max_ms
        )
        self._attempts += 1
        self._timers.schedule(BACKOFF, self._now_ms + wait_ms, None)
