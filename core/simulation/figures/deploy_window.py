"""The cost of each deploy to its group: figures from its start until all had settled again."""

from collections.abc import Callable
from typing import Final, NamedTuple

from kgroups.core.simulation.figures.ledger import Ledger

SUPERSEDED: Final = "another deploy took over"


class DeployOutcome(NamedTuple):
    """One deploy of one entry of a group.

    Args:
        entry: of the scenario; empty for a group that is not from a file.
        at_ms: when it began, from the start of the run.
        replicas: how many pods it replaces.
        completed: whether every pod was replaced and available.
        took_ms: until then; None if it never was.
        settled_ms: until, beyond that, every old pod had gone and the group was whole; None if
            never.
        unowned_ms: time without an owner in it, added up over partitions.
        doubled_ms: time with two owners, added up.
        moved: partitions that went over to another member.
        read_again: records read twice.
        failure: why it did not complete, as a clause; None if it did, or goes on.
    """

    entry: str
    kind: str
    at_ms: int
    replicas: int
    completed: bool
    took_ms: int | None
    settled_ms: int | None
    rebalances: int
    unowned_ms: int
    doubled_ms: int
    moved: int
    read_again: int
    failure: str | None

    @property
    def failed(self) -> bool:
        """Whether it was given up; one that another deploy took over was not."""
        return self.failure not in (None, SUPERSEDED)


class DeployWindow:
    """Counts while a deploy goes on.

    Args:
        count: rebalances of the group so far.

    Attributes:
        failure: why it did not complete.
    """

    def __init__(
        self,
        entry: str,
        kind: str,
        replicas: int,
        ledger: Ledger,
        count: Callable[[], int],
        now_ms: int,
    ) -> None:
        self._entry, self._kind, self._replicas = entry, kind, replicas
        self._ledger, self._count, self._from_ms = ledger, count, now_ms
        self._before = self._figures(now_ms)
        self._after: tuple[int, ...] | None = None
        self._took_ms: int | None = None
        self._settled_ms: int | None = None
        self.failure: str | None = None

    def _figures(self, now_ms: int) -> tuple[int, ...]:
        ledger = self._ledger
        unowned_ms, doubled_ms = ledger.totals(now_ms)
        return (self._count(), unowned_ms, doubled_ms, ledger.moved, ledger.highest.read_again)

    def complete(self, now_ms: int) -> None:
        """Every pod is replaced and available."""
        self._took_ms = now_ms - self._from_ms

    def settle(self, now_ms: int) -> None:
        """Everybody has settled: what follows is not the deploy's doing."""
        if self._after is None:
            self._after = self._figures(now_ms)
            self._settled_ms = now_ms - self._from_ms

    def close(self, now_ms: int) -> None:
        """It is over without that: replaced by another, or given up."""
        if self._after is None:
            self._after = self._figures(now_ms)

    def outcome(self, now_ms: int, start_ms: int) -> DeployOutcome:
        """Its figures, until now if it goes on."""
        after = self._after or self._figures(now_ms)
        counts = [later - before for before, later in zip(self._before, after, strict=True)]
        rebalances, unowned_ms, doubled_ms, moved, read_again = counts
        return DeployOutcome(
            entry=self._entry,
            kind=self._kind,
            at_ms=self._from_ms - start_ms,
            replicas=self._replicas,
            completed=self._took_ms is not None,
            took_ms=self._took_ms,
            settled_ms=self._settled_ms,
            rebalances=rebalances,
            unowned_ms=unowned_ms,
            doubled_ms=doubled_ms,
            moved=moved,
            read_again=read_again,
            failure=self.failure,
        )
