"""Groups that are waited for: since when a condition holds for each, and what changed. Pure."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import Values
from kgroups.core.errors import DeadlinePassed, ItemError
from kgroups.core.protocol.errors import broker_error
from kgroups.core.times import show_ms

SHORTHANDS: Final[Mapping[str, str]] = {
    "empty": "state = 'Empty'",
    "stable": "state = 'Stable'",
    # A group that has just come has no lag yet, as it has neither commits nor an assignment.
    "caught-up": "partitions > 0 and lag = 0",
}
"""Words for conditions that are waited for often."""
WHILE_COUNTING_MS: Final = 1_000
"""A rebalance that is over sooner may leave no trace."""


@dataclass(slots=True)
class Awaited:
    """One group, as the last look found it.

    Args:
        figures: what was learned of it; empty if nothing was.
        since_ms: milliseconds since which it holds and the group is as it is; None if it does not.
        rounds: what tells one rebalance of it from the next, as `rounds_of` gives it.
        was_moved: whether a rebalance interrupted the time that it has to hold.
        failure: why nothing was learned, if the group was asked for in vain.
    """

    was_there: bool = False
    figures: Values = field(default_factory=dict)
    holds: bool | None = None
    since_ms: float | None = None
    failure: ItemError | None = None
    rounds: Hashable = None
    was_moved: bool = False
    told: str = ""


class Wait:
    """The groups that are waited for.

    Args:
        stable_ms: for how long, without a break and without a rebalance; 0: one look.
    """

    def __init__(self, groups: Iterable[str], condition: Condition, stable_ms: int = 0) -> None:
        self.condition = condition
        self.stable_ms = stable_ms
        self.groups = {name: Awaited() for name in groups}

    def look(
        self,
        at_ms: float,
        figures: Mapping[str, Values],
        failures: Mapping[str, ItemError],
        rounds: Mapping[str, Hashable] = MappingProxyType({}),
    ) -> list[str]:
        """Sentences about a look, and about what is new since the one before.

        Args:
            at_ms: when, on the clock of the wait.
            failures: of groups that could not be looked at.
            rounds: of the groups that are there, as `rounds_of` gives them.
        """
        for name, group in self.groups.items():
            group.failure = failures.get(name)
            group.figures = figures.get(name, {}) if group.failure is None else {}
            group.was_there |= bool(group.figures)
            group.holds = self.condition.holds(group.figures) if group.figures else None
            before, group.rounds = group.rounds, rounds.get(name)
            group.was_moved = (
                self.stable_ms > 0 and group.since_ms is not None and before != group.rounds
            )
            if group.holds is not True:
                group.since_ms = None
            elif group.since_ms is None or group.was_moved:
                group.since_ms = at_ms
        return list(self._news())

    def miss(self) -> None:
        """A look that found nothing at all: nothing is known to have held meanwhile."""
        for group in self.groups.values():
            group.holds = group.since_ms = None

    def is_over(self, at_ms: float) -> bool:
        """Whether the condition has held for long enough for all of them."""
        due = self.due_ms
        return due is not None and at_ms >= due

    def next_look_ms(self, at_ms: float) -> float | None:
        """When to look again at the latest: each second while the time counts; None: whenever."""
        return None if self.due_ms is None else min(self.due_ms, at_ms + WHILE_COUNTING_MS)

    @property
    def due_ms(self) -> float | None:
        """When that will be, if nothing changes; None if it does not hold for all of them."""
        since = [group.since_ms for group in self.groups.values()]
        moments = [at for at in since if at is not None]
        return max(moments) + self.stable_ms if len(moments) == len(since) else None

    def reached(self, name: str, at_ms: float) -> bool:
        """Whether one group has met the condition for long enough."""
        since = self.groups[name].since_ms
        return since is not None and at_ms >= since + self.stable_ms

    def failures(self, at_ms: float) -> Iterator[ItemError]:
        """One error for each group that has not met it, at the deadline."""
        for name, group in self.groups.items():
            if self.reached(name, at_ms):
                continue
            if not group.was_there:
                yield group.failure or broker_error(name, "GROUP_ID_NOT_FOUND")
                continue
            if group.failure is not None and group.failure.code != "GROUP_ID_NOT_FOUND":
                yield group.failure
                continue
            error = DeadlinePassed(
                f"`{self.condition.text}` did not hold{self._for} within {show_ms(at_ms)}: "
                + self._state(group)
            )
            yield ItemError.of(name, error)

    def _news(self) -> Iterator[str]:
        for name, group in self.groups.items():
            state = self._state(group)
            if group.was_moved:
                yield f"`{name}`: it rebalanced; --stable starts over"
            if group.holds:
                text = f"`{self.condition.text}` holds: {state}"
            else:
                text = f"waiting for `{self.condition.text}`{self._for}: {state}"
            if text != group.told:
                group.told = text
                yield f"`{name}`: {text}"

    def _state(self, group: Awaited) -> str:
        if group.figures:
            return ", ".join(self.condition.told(group.figures))
        return "no such group" if group.failure is None else group.failure.message

    @property
    def _for(self) -> str:
        return f" for {show_ms(self.stable_ms)}" if self.stable_ms else ""
