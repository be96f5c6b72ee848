"""A finding: how bad, where, by which figures, and what to type next."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, get_args

Level = Literal["info", "warning", "error"]
Certainty = Literal["certain", "likely", "possible"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
CERTAINTIES: Final[tuple[Certainty, ...]] = get_args(Certainty)


def likely_or_possible(level: Level, *, is_likely: bool) -> tuple[Level, Certainty]:
    """This level where it is likely; what is only possible is worth knowing at most."""
    return (level, "likely") if is_likely else ("info", "possible")


class Proof(NamedTuple):
    """Advice that was tried on the group as it is.

    Args:
        change: what the advice is: `session.timeout.ms=15000`, `one more member`.
        before, after: the same figures as they are, and as they would be; with their units.
        assumes: what happens meanwhile: `3 pauses of up to 8.2s`.
    """

    change: str
    by: Literal["plan", "simulation"]
    before: Mapping[str, object]
    after: Mapping[str, object]
    assumes: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Args:
        code: as `kgroups explain` knows it.
        where: `topic`, `partition`, `member_id`, `client_id`, `instance_id`, as they apply.
        evidence: figures by names that have their units: `lag`, `over_seconds`.
        impact: what it means for the group, a clause.
        next: the command to type.
        proof: that it would help, or would not.
    """

    code: str
    level: Level
    certainty: Certainty
    impact: str
    next: str
    where: Mapping[str, str | int] = field(default_factory=dict)
    evidence: Mapping[str, object] = field(default_factory=dict)
    proof: Proof | None = None

    @property
    def rank(self) -> tuple[int, int, str]:
        """Worst and surest first."""
        return (-LEVELS.index(self.level), CERTAINTIES.index(self.certainty), self.code)
