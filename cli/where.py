"""`--where`: only groups for which a condition holds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, NamedTuple

import typer

from kgroups.cli.exits import Note
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
from kgroups.core.snapshot import ClusterSnapshot

WhereText = Annotated[
    str | None,
    typer.Option("--where", metavar="EXPR", help="Only groups that meet this: 'lag > 1k'."),
]


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
    def needs_description(self) -> bool:
        """Whether it takes more than the list of groups."""
        return self.source != "listing"

    @property
    def needs_offsets(self) -> bool:
        """Whether commits and the bounds of logs have to be read for it."""
        return self.source in OFFSETS

    @property
    def source(self) -> Source:
        """What has to be asked for it."""
        return source_of([self.condition])

    def cut(
        self, snapshot: ClusterSnapshot, note: Callable[[Note], None], times: Times | None = None
    ) -> ClusterSnapshot:
        """The snapshot with the groups for which it holds.

        Args:
            note: told how many were left out because that is not known.
        """
        kept, unknown = [], 0
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
            unknown += answer is None
            if answer:
                kept.append(group)
        if unknown:
            some = "1 group is" if unknown == 1 else f"{unknown:,} groups are"
            text = f"{some} left out: `{self.condition.text}` cannot be evaluated"
            note(Note("GROUPS_LEFT_OUT", text))
        return replace(snapshot, groups=tuple(kept))


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
