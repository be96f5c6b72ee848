"""An application's rebalance listener: how long each of its calls takes, and whether it fails."""

from collections.abc import Mapping
from random import Random
from typing import Final

from kgroups.core.coordinator.client.effects import Callback, CallbackKind
from kgroups.core.simulation.scenario.member_settings import NO_POLL_LIMIT_MS
from kgroups.core.simulation.scenario.scenario_model import ListenerPlan

FAILED: Final = "the rebalance listener failed"


class Listener:
    """One life's listener.

    Attributes:
        callback: the call that goes on, until `until_ms`; None between calls.
        commits: whether it commits what it gives up.
    """

    def __init__(self, plan: ListenerPlan, random: Random) -> None:
        self._plan, self._random = plan, random
        self.callback: Callback | None = None
        self.commits = plan.commits
        self.until_ms = self._ends_ms = 0

    def call(self, now_ms: int, callback: Callback) -> None:
        """It is called; without partitions it has nothing to do."""
        plan: Mapping[CallbackKind, float] = {
            CallbackKind.ASSIGNED: self._plan.on_assigned.draw(self._random),
            CallbackKind.REVOKED: self._plan.on_revoked.draw(self._random),
            CallbackKind.LOST: self._plan.on_lost.draw(self._random),
        }
        takes_ms = round(plan[callback.kind]) if callback.partitions else 0
        self.callback, self.until_ms = callback, now_ms + takes_ms

    def waits(self, now_ms: int) -> None:
        """For the answer to a commit, too."""
        self._ends_ms, self.until_ms = self.until_ms, now_ms + NO_POLL_LIMIT_MS

    def answered(self, now_ms: int) -> None:
        """The commit is over, well or not."""
        self.until_ms = max(self._ends_ms, now_ms)

    def ended(self) -> tuple[Callback, bool]:
        """The call is over: which one it was, and whether it failed."""
        callback, self.callback = self.callback, None
        assert callback is not None, "a call goes on"
        return callback, bool(callback.partitions) and self._random.random() < self._plan.fails
