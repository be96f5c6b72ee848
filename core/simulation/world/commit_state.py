"""Where one process is with the commits of its application."""

from collections import deque

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.scenario.scenario_model import CommitPlan


class CommitState:
    """Of one life of a member.

    Attributes:
        tracked: whether the application looks at how its commits end: one that is configured by
            `commit` does.
        parts: of the last poll what is still to be processed: a partition, the offset after it,
            and the time that it takes in ms; the first one is being processed.
        awaits: number of the commit that it waits for; 0: it waits for none.
        asked: commits under way, by number.
        committed_ms: when it committed last.
        failed: its last commit failed: it polls before it commits again.
    """

    __slots__ = (
        "_number",
        "asked",
        "awaits",
        "committed_ms",
        "failed",
        "parts",
        "plan",
        "tracked",
    )

    def __init__(self, plan: CommitPlan, now_ms: int, *, tracked: bool) -> None:
        self.plan, self.committed_ms, self.tracked = plan, now_ms, tracked
        self.parts: deque[tuple[TopicPartition, int, float]] = deque()
        self.asked: dict[int, dict[TopicPartition, int]] = {}
        self.awaits = self._number = 0
        self.failed = False

    def number(self, offsets: dict[TopicPartition, int]) -> int:
        """By which one more commit is told apart."""
        self._number += 1
        self.asked[self._number] = offsets
        return self._number
