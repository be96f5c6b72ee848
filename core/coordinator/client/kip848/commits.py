"""Commits of a member of a consumer group: before it gives partitions up, and its application's.

A commit speaks for the member epoch of the moment; a rebalance does not refuse it. Source:
`CommitRequestManager`.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kgroups.core.coordinator.client.classic.states import Api
from kgroups.core.coordinator.client.effects import (
    ClientEventKind,
    CommitOffsets,
    TopicPartition,
)
from kgroups.core.coordinator.client.kip848.heartbeats import commit_error
from kgroups.core.coordinator.client.kip848.member import (
    BACKOFF,
    COMMIT_OVER,
    JOIN_EPOCH,
    Kip848ClientMember,
)
from kgroups.core.coordinator.client.kip848.states import BEAT_REACTIONS, BeatReaction
from kgroups.core.coordinator.client.requests import commit_request
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode

AGAIN: Final = frozenset({BeatReaction.RETRY, BeatReaction.FIND})


class Waiting(NamedTuple):
    """A commit that the application waits for.

    Args:
        until_ms: it is tried again until then.
    """

    command: CommitOffsets
    until_ms: int


class Kip848Commits(Kip848ClientMember):
    """The commits of a member.

    Attributes:
        _asked: the application's commits that are under way, by token.
        _waiting: those that wait for the coordinator.
    """

    __slots__ = ("_asked", "_waiting")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._asked: dict[int, Waiting] = {}
        self._waiting: list[Waiting] = []

    def _commit(self, command: CommitOffsets) -> None:
        patience_ms = self.config.default_api_timeout_ms if command.sync else 0
        one = Waiting(command, self._now_ms + patience_ms)
        if self.epoch <= JOIN_EPOCH:
            self._tell_commit(one, "the member is not part of an active group")
        elif self.coordinator is not None:
            self._asked[self._send(Api.COMMIT, self._commit_of(command.offsets))] = one
        elif command.sync:
            self._wait_with(one)
        else:
            self._tell_commit(one, "the coordinator is not known")

    def _wait_with(self, one: Waiting) -> None:
        self._waiting.append(one)
        first_ms = min(each.until_ms for each in self._waiting)
        self._timers.schedule(COMMIT_OVER, first_ms, None)

    def _send_waiting(self) -> None:
        """Send what waited for the coordinator, once it is known."""
        if self._waiting and self.coordinator is not None and BACKOFF not in self._timers:
            waiting, self._waiting = self._waiting, []
            self._timers.cancel(COMMIT_OVER)
            for one in waiting:
                if self.epoch <= JOIN_EPOCH:
                    self._tell_commit(one, "the member is not part of an active group")
                else:
                    token = self._send(Api.COMMIT, self._commit_of(one.command.offsets))
                    self._asked[token] = one

    def _waited(self) -> None:
        """The time of a commit is over."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if one.until_ms <= self._now_ms:
                self._tell_commit(one, "no answer came in time")
            else:
                self._wait_with(one)

    def _auto_commit(self) -> bool:
        if not self.config.enable_auto_commit or self.epoch <= JOIN_EPOCH:
            return True
        offsets = self._positions(self.owned)
        if not offsets:
            return True
        if self.coordinator is None:
            return False
        self._commit_token = self._send(Api.COMMIT, self._commit_of(offsets))
        return True

    def _commit_of(self, offsets: Mapping[TopicPartition, int]) -> Request:
        place = self._place()
        return commit_request(place.config, place.epoch, place.member_id, offsets)

    def _committed(self, token: int, answer: Any) -> None:
        error = commit_error(answer)
        asked = self._asked.pop(token, None)
        reaction = BEAT_REACTIONS.get(error)
        again = reaction in AGAIN and asked is not None and self._now_ms < asked.until_ms
        if asked is not None and again:
            self._wait_with(asked)
            self._back_off()
        elif asked is not None:
            self._tell_commit(asked, None if error is ErrorCode.NONE else error.name)
        elif error is ErrorCode.NONE:
            self._tell(ClientEventKind.OFFSETS_COMMITTED)
        else:
            self._tell(ClientEventKind.COMMIT_FAILED, error.name)
        if reaction is BeatReaction.FIND:
            self._lose_coordinator(f"{Api.COMMIT} was answered {error.name}")
            if token == self._commit_token and self._steps:
                # The rebalance waits for this commit: again, once the coordinator is found.
                self._steps.insert(0, self._auto_commit)

    def _give_commits_up(self, reason: str) -> None:
        """The member is gone: nobody answers the commits that its application waits for."""
        given_up = [*self._asked.values(), *self._waiting]
        self._asked.clear()
        self._waiting.clear()
        self._timers.cancel(COMMIT_OVER)
        for one in given_up:
            self._tell_commit(one, reason)

    def _tell_commit(self, one: Waiting, problem: str | None) -> None:
        """Tell the application, by the number that it gave its commit."""
        kind = ClientEventKind.OFFSETS_COMMITTED
        if problem is not None:
            kind = ClientEventKind.COMMIT_FAILED
        self._tell(kind, problem or "", one.command.number)
