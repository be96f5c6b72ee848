"""The ways through a deploy: each step may end in several ways, and what follows depends on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kgroups.core.planning.confidence import EVEN, Word, same_sizes, stops_alike
from kgroups.core.planning.deploys.walk import Walk
from kgroups.core.planning.outcomes.outcome import Outcome, Outcomes, gathered
from kgroups.core.planning.outcomes.visible_order import HASH_ONLY, STICKY_FAMILY
from kgroups.core.planning.plan import Plan
from kgroups.core.planning.reasons import MORE_WAYS, UNKNOWN_RACKS
from kgroups.core.planning.settle import Settled

# Strategies that start from what was before.
REMEMBERING: Final = STICKY_FAMILY | HASH_ONLY

# How many doubts of a deploy are told in full.
TOLD: Final = 3

# Ways that are followed at most, where they have so many steps together or fewer, and at least; and
# plans that are made on all of them together.
MOST_WALKS: Final = 256
MOST_STEPS: Final = 512
LEAST_WALKS: Final = 24
MOST_PLANS: Final = 24

Plans = dict[tuple[int, ...], Plan]


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways through a deploy.

    Args:
        each: the first one is shown.
        complete: whether there are no others.
    """

    each: tuple[Walk, ...]
    complete: bool = True

    @property
    def doubts(self) -> list[str]:
        """Why what happens is not certain."""
        found = [doubt for walk in self.each for doubt in walk.doubts]
        if not self.complete:
            found.append(MORE_WAYS)
        return list(dict.fromkeys(found))

    def outcomes(self) -> Outcomes:
        """How the deploy can end, by the names that members go by."""
        ends = [
            Outcome(Settled(walk.shares(), (), ()), walk.weight, _led(walk)) for walk in self.each
        ]
        return gathered(ends, complete=not self.doubts)

    def confidence(self, outcomes: Outcomes) -> tuple[Word, str]:
        """How sure it is that the deploy ends as the first way does."""
        doubts = self.doubts
        if doubts:
            more = f"; {len(doubts) - TOLD} more" if len(doubts) > TOLD else ""
            told = "; ".join(doubts[:TOLD])
            sure = self._deals_evenly() or self._stops_alike()
            if sure and same_sizes(outcomes) and not any(way.guessed for way in self.each):
                return "counts", told + more
            return "likely", f"follows the likeliest outcome of each step: {told}{more}"
        if len(outcomes.each) == 1:
            stages = self.each[0].stages
            steps = len(stages)
            alike = len(self.each) > 1
            ground = f"all ways through {steps} steps end so" if alike else f"all {steps} steps are"
            # A member that is back sooner may join the rebalance that its leaving began.
            last = self.each[0].last
            counts = last is not None and last.assignor in REMEMBERING
            many = sum(stage.rebalances for stage in stages) > 1
            settles = ", if the group settles after each" if counts and many else ""
            return "exact", ground + settles
        reasons = dict.fromkeys(
            f"{stage.event}: {stage.confidence_reason}"
            for walk in self.each
            for stage in walk.stages
            if stage.confidence == "outcomes"
        )
        return "outcomes", "; ".join(list(reasons)[:TOLD])

    def _deals_evenly(self) -> bool:
        """Whether the sizes of shares are known whatever comes, racks too."""
        walk = self.each[0]
        last = walk.last
        members = walk.group.members or ()
        return (
            last is not None
            and last.assignor in EVEN
            and len({frozenset(member.subscription or ()) for member in members}) == 1
        )

    def _stops_alike(self) -> bool:
        """Whether the last rebalance of each way ends with the same sizes, whatever it begins with.

        Where members read different topics, a strategy that looks at racks may stop elsewhere.
        """
        return not any(UNKNOWN_RACKS in way.doubts for way in self.each) and all(
            last is not None
            and last.roster is not None
            and all(outcome.settled.settled for outcome in last.outcomes.each)
            and stops_alike(last.roster, last.strategies)
            for last in (way.last for way in self.each)
        )


def find_ways(walked: Callable[[Sequence[int], int, Plans], Walk]) -> Ways:
    """The ways through a deploy, the likeliest first: each follows other outcomes of its steps.

    Args:
        walked: from the outcomes to follow, the number of steps (0 while that is not known), and
            the plans made so far, which it adds to, to the walk.
    """
    plans: Plans = {}
    length = len(walked((), 0, plans).stages)
    most = max(LEAST_WALKS, min(MOST_WALKS, MOST_STEPS // max(length, 1)))
    found: list[Walk] = []
    taken: list[int] | None = []
    while taken is not None and len(found) < most and len(plans) < MOST_PLANS:
        walk = walked(taken, length, plans)
        found.append(walk)
        taken = walk.choices.next_run()
    return Ways(tuple(found) or (walked((), 0, plans),), taken is None)


def _led(walk: Walk) -> tuple[str, ...]:
    """The libraries that may lead at the last step of a way."""
    return walk.last.leader_clients if walk.last is not None else ()
