"""Changes that say the same again and again, put together; and the figures of a history."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from kgroups.core.history.changes import Change

LEAST: Final = 4
"""So many rebalances by one client are put together."""


class Repeat(NamedTuple):
    """Rebalances in a row that one client has caused."""

    client_id: str
    changes: Sequence[Change]

    @property
    def rebalances(self) -> list[Change]:
        """Those among them that are rebalances."""
        return [change for change in self.changes if change.kind == "rebalance"]

    @property
    def left(self) -> int:
        """How often it left."""
        return sum(len(change.members.gone) for change in self.changes)

    @property
    def joined(self) -> int:
        """How often it joined."""
        return sum(len(change.members.came) for change in self.changes)


def repeats(changes: Sequence[Change]) -> Iterator[Repeat | Change]:
    """The changes, with repeats in the place of those that they hold."""
    held: list[Change] = []
    client: str | None = None
    for change in changes:
        clients = change.members.clients
        goes_on = len(clients) == 1 and client in (None, *clients)
        if goes_on or (not clients and held and change.kind in ("commits", "rebalance", "gap")):
            client = next(iter(clients), client)
            held.append(change)
            continue
        yield from _together(client, held)
        held = [change] if len(clients) == 1 else []
        client = next(iter(clients)) if held else None
        if not held:
            yield change
    yield from _together(client, held)


def _together(client: str | None, held: Sequence[Change]) -> Iterator[Repeat | Change]:
    by_client = [at for at, change in enumerate(held) if change.members.clients]
    end = by_client[-1] + 1 if len(by_client) >= LEAST else 0
    if client is not None and end:
        yield Repeat(client, held[:end])
    yield from held[end:]


class Figures(NamedTuple):
    """Summary of a history.

    Args:
        client_id: of the member behind most rebalances, and how many it is behind.
    """

    rebalances: int
    unfinished: int
    rebalances_per_hour: float
    client_id: str | None
    client_rebalances: int
    commits: int
    backwards: int
    unowned: int


def figures(changes: Sequence[Change], span_ms: int) -> Figures:
    """The figures of a group's changes in so much time."""
    rebalances = [change for change in changes if change.kind == "rebalance"]
    behind = Counter(name for rebalance in rebalances for name in rebalance.members.clients)
    client, most = max(behind.items(), key=lambda item: item[1], default=(None, 0))
    counted = [change.commits for change in changes if change.commits is not None]
    return Figures(
        len(rebalances),
        sum(
            (change.number or 0) - (change.first_number or 0) + 1
            for change in changes
            if change.cause == "unfinished"
        ),
        round(len(rebalances) * 3_600_000 / span_ms, 2) if span_ms > 0 else 0.0,
        client,
        most,
        sum(commits.count for commits in counted),
        sum(commits.backwards for commits in counted),
        sum(commits.unowned for commits in counted),
    )
