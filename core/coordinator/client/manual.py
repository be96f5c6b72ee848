"""A consumer with `assign`: it chooses its partitions by hand, without I/O.

It is no member of its group, which it only stores offsets in, without a generation; a coordinator
takes that as long as the group has no members. The same commands, effects and manners as those of
members. Source: `ConsumerCoordinator` with `SubscriptionState.assignFromUser`.
"""

from typing import Any, Final

from kgroups.core.coordinator.classic.messages import NO_GENERATION, UNKNOWN_MEMBER_ID
from kgroups.core.coordinator.client.classic.states import Api, Reaction, reaction_to
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import Assign, Close, Command, CommitOffsets
from kgroups.core.coordinator.client.ports import Positions, no_positions
from kgroups.core.coordinator.client.requester import BACKOFF, COMMIT_OVER, Requester, Wanted
from kgroups.core.coordinator.client.requests import commit_error, commit_request, find_request
from kgroups.core.coordinator.timers import Timers
from kgroups.core.protocol.errors import ErrorCode

AGAIN: Final = frozenset({Reaction.RETRY, Reaction.FIND})
CLOSING: Final = -1


class ManualClient(Requester):
    """One consumer.

    Args:
        now_ms: epoch milliseconds.
        positions: the next offset to read of each of these partitions that has one.

    Attributes:
        closed: whether it has done all that `Close` asks for.
        failure: always None: nothing that it is answered ends it.
    """

    __slots__ = ("_closing", "closed")

    failure: Final[str | None] = None

    def __init__(
        self, config: ClientConfig, *, now_ms: int, positions: Positions = no_positions
    ) -> None:
        super().__init__(config, now_ms, positions)
        self.closed = self._closing = False

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

    @property
    def identity(self) -> tuple[int, str]:
        """No generation, and no member id."""
        return NO_GENERATION, UNKNOWN_MEMBER_ID

    # ------------------------------------------------------------------ requests

    def _pursue(self) -> None:
        """Find the coordinator, send the commits that wait for it, close."""
        if self.closed or BACKOFF in self.timers:
            return
        if self.coordinator is None:
            if not self._waits_for(Api.FIND):
                self._send(Api.FIND, find_request(self.config))
        elif self._waiting:
            waiting, self._waiting = self._waiting, []
            self.timers.cancel(COMMIT_OVER)
            for wanted in waiting:
                request = commit_request(self.config, *self.identity, wanted.command.offsets)
                self._asked[self._send(Api.COMMIT, request)] = wanted
        if self._closing and not self._waiting and not self._asked:
            self.closed, self.timers = True, Timers()
            self._flights.clear()

    def _take_answer(self, token: int, answer: Any) -> None:
        api = self._land(token)
        if api == Api.FIND and not self._found(answer):
            for wanted in [wanted for wanted in self._waiting if not wanted.command.sync]:
                self._waiting.remove(wanted)
                self._tell_commit(wanted, "the coordinator is not known")
        elif api == Api.COMMIT:
            self._committed(self._asked.pop(token), answer)

    def _committed(self, wanted: Wanted, answer: Any) -> None:
        error = commit_error(answer)
        reaction = reaction_to(Api.COMMIT, error)
        if reaction is Reaction.FIND:
            self.lose_coordinator(f"{Api.COMMIT} was answered {error.name}")
        if reaction in AGAIN and self.now_ms < wanted.until_ms:
            self._wait_with(wanted)
            self._back_off()
        else:
            self._tell_commit(wanted, None if error is ErrorCode.NONE else error.name)

    def _want(self, command: CommitOffsets) -> None:
        patience_ms = self.config.default_api_timeout_ms
        if command.number == CLOSING:
            patience_ms = self.config.close_timeout_ms
        self._wait_with(Wanted(command, self.now_ms + (patience_ms if command.sync else 0)))
