"""`--where`: only groups for which a condition holds."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Final, NamedTuple

from kgroups.cli.exits import Note
from kgroups.cli.usage import Text, option
from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.grammar import parse_condition
from kgroups.core.conditions.group_figures import (
    GROUP_FIELDS,
    OFFSETS,
    Source,
    figures_in,
    source_of,
)
from kgroups.core.lag.group_times import Times
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.snapshot import ClusterSnapshot, Group

NAMES_IN_A_NOTE: Final = 5

WhereText = Annotated[Text, option("--where EXPR", "Only groups that meet this: 'lag > 1k'.")]


class Where(NamedTuple):
    """A condition on groups.

    Args:
        uncommitted, isolation: how their lag is counted.
    """

    condition: Condition
    uncommitted: Uncommitted | None = None
    isolation: Isolation = "read_uncommitted"

    @property
    def fields(self) -> set[str]:
        """The fields that it names."""
        return set(self.condition.fields)

    @property
    def needs_offsets(self) -> bool:
        """Whether commits and the bounds of logs have to be read for it."""
        return self.source in OFFSETS

    @property
    def source(self) -> Source:
        """Kind of facts that it takes."""
        return source_of([self.condition])

    def cut(
        self, snapshot: ClusterSnapshot, note: Callable[[Note], None], times: Times | None = None
    ) -> ClusterSnapshot:
        """The snapshot with the groups for which it holds.

        Args:
            note: told which were left out because that is not known.
        """
        kept: list[Group] = []
        unknown: list[str] = []
        for group in snapshot.groups:
            figures = figures_in(
                snapshot,
                group,
                self.source,
                uncommitted=self.uncommitted,
                isolation=self.isolation,
                times=times,
            )
            answer = self.condition.holds(figures)
            if answer is None:
                unknown.append(group.group)
            elif answer:
                kept.append(group)
        if unknown:
            note(left_out(unknown, f"`{self.condition.text}` cannot be evaluated"))
        return replace(snapshot, groups=tuple(kept))


def left_out(groups: Sequence[str], why: str) -> Note:
    """A note of groups that are left out: how many, why, and the first of them by name."""
    some = "1 group is" if len(groups) == 1 else f"{len(groups):,} groups are"
    names = ", ".join(f"`{name}`" for name in groups[:NAMES_IN_A_NOTE])
    more = len(groups) - NAMES_IN_A_NOTE
    rest = f", … {more:,} more" if more > 0 else ""
    return Note("GROUPS_LEFT_OUT", f"{some} left out: {why} ({names}{rest})")


def parse_where(
    text: str | None,
    uncommitted: Uncommitted | None = None,
    isolation: Isolation = "read_uncommitted",
) -> Where | None:
    """The condition that the option spells; None without one.

    Raises:
        UsageError: it cannot be understood.
    """
    if text is None:
        return None
    return Where(parse_condition(text, GROUP_FIELDS, "--where"), uncommitted, isolation)
