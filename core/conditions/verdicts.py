"""Verdicts of conditions on a group, in one look or throughout several: pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgroups.core.conditions.condition import Condition
from kgroups.core.conditions.fields import Values

Verdict = Literal["ok", "warning", "unknown", "failed"]


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions that groups must not meet.

    Args:
        fail_on: a group fails if one of them holds, or is not known to be false.
        warn_on: likewise, but the group only gets a warning.
        allow_unknown: whether what is not known counts as not met.
    """

    fail_on: tuple[Condition, ...]
    warn_on: tuple[Condition, ...] = ()
    allow_unknown: bool = False

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All of them, those that fail first."""
        return (*self.fail_on, *self.warn_on)


@dataclass(frozen=True, slots=True)
class Judged:
    """One group before a gate.

    Args:
        figures: what was learned of it, in the last look.
        answers: for each of the gate's `conditions`, whether it holds; None: unknown.
    """

    group: str
    gate: Gate
    figures: Values
    answers: tuple[bool | None, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst that one of the conditions makes of it."""
        count = len(self.gate.fail_on)
        fails, warns = self.answers[:count], self.answers[count:]
        unknown = not self.gate.allow_unknown
        if True in fails:
            return "failed"
        if unknown and None in fails:
            return "unknown"
        return "warning" if True in warns or (unknown and None in warns) else "ok"

    @property
    def met(self) -> Sequence[tuple[Condition, bool | None]]:
        """The conditions that count against it, with their answers."""
        counting = (True,) if self.gate.allow_unknown else (True, None)
        pairs = zip(self.gate.conditions, self.answers, strict=True)
        return [(condition, answer) for condition, answer in pairs if answer in counting]

    @property
    def is_open(self) -> bool:
        """Whether some condition may still turn out to hold throughout."""
        return any(answer is not False for answer in self.answers)

    def since(self, before: "Judged | None") -> "Judged":
        """The same group now, with answers to whether each condition has held all the time.

        Args:
            before: the answers until now; None: it was not there.
        """
        if before is None:
            return replace(self, answers=(False,) * len(self.answers))
        pairs = zip(before.answers, self.answers, strict=True)
        return replace(self, answers=tuple(_both(*pair) for pair in pairs))


def judge(group: str, gate: Gate, figures: Values) -> Judged:
    """A group before a gate, by one look."""
    return Judged(
        group, gate, figures, tuple(condition.holds(figures) for condition in gate.conditions)
    )


def throughout(before: Mapping[str, Judged], now: Mapping[str, Judged]) -> dict[str, Judged]:
    """The groups that are there now, with what held in every look up to now."""
    return {name: judged.since(before.get(name)) for name, judged in now.items()}


def _both(before: bool | None, now: bool | None) -> bool | None:
    if before is False or now is False:
        return False
    return None if before is None or now is None else True
