"""A consumer with `assign`: it chooses its partitions by hand, without I/O.

It is no member of its group, which it only stores offsets in, without a generation; a coordinator
takes that as long as the group has no members. The same commands, effects and manners as those of
members. Source: `ConsumerCoordinator` with `SubscriptionState.assignFromUser`.
"""

from typing import Any, Final

from kgroups.core.coordinator.classic.messages import NO_GENERATION, UNKNOWN_MEMBER_ID
from kgroups.core.coordinator.client.classic.states import reaction_to
from kgroups.core.coordinator.client.client_half import BACKOFF, ClientHalf, Wanted
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import Assign, Close, Command, CommitOffsets
from kgroups.core.coordinator.client.ports import Positions, no_positions
from kgroups.core.coordinator.client.reactions import AGAIN, Api, Reaction
from kgroups.core.coordinator.client.requests import commit_error, find_request
from kgroups.core.coordinator.timers import Timers


class ManualClient(ClientHalf):
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
            self.wait_with(self.want_commit(command))
        elif isinstance(command, Close) and not self._closing:
            self._closing = True
            offsets = self.positions(self.owned) if self.config.enable_auto_commit else {}
            if offsets:
                until_ms = self.now_ms + self.config.close_timeout_ms
                self.wait_with(Wanted(CommitOffsets(offsets, sync=True), until_ms))
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
            if not self.waits_for(Api.FIND):
                self.send(Api.FIND, find_request(self.config))
        else:
            self.send_waiting()
        committing = any(flight.wanted for flight in self.flights.values())
        if self._closing and not self.waiting and not committing:
            self.closed, self.timers = True, Timers()
            self.flights.clear()

    def _take_answer(self, token: int, answer: Any) -> None:
        flight = self.land(token)
        if flight is None:
            return
        if flight.wanted is not None:
            self._committed(flight.wanted, answer)
        elif not self.found(answer):
            for wanted in [wanted for wanted in self.waiting if not wanted.command.sync]:
                self.waiting.remove(wanted)
                self.tell_commit(wanted, "the coordinator is not known")

    def _committed(self, wanted: Wanted, answer: Any) -> None:
        error = commit_error(answer)
        reaction = reaction_to(Api.COMMIT, error)
        if reaction is Reaction.FIND:
            self.lose_coordinator(f"{Api.COMMIT} was answered {error.name}")
        self.settle_commit(wanted, error, again=reaction in AGAIN)
