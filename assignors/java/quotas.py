"""Equal subscriptions: how many partitions each sticky member keeps, and who gets the next ones.

M members and P partitions: everybody ends with P//M or one more, P%M members with one more.

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder (KAFKA-9987, KAFKA-12464).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kgroups.assignors.spec import AssignorError


def leader_fails(what: str) -> AssignorError:
    """The error of a rebalance that a Java leader fails with IllegalStateException."""
    return AssignorError(
        f"a Java leader fails this rebalance: {what}",
        hint=(
            "a member claims a partition that does not exist; restart it to clear its old "
            "assignment"
        ),
        java="java.lang.IllegalStateException",
    )


@dataclass(slots=True)
class Quotas:
    """Who keeps how many, and who is still to be filled.

    Args:
        low: partitions that everybody gets.
        high: partitions that `larger` members get.
        larger: how many members get `high`.
        reached: how many members have got `high` so far.
        keep: per member, how many of its own partitions it keeps.
        under: members below `low`.
        exact: members at `low` that may get one more.
    """

    low: int
    high: int
    larger: int
    reached: int = 0
    keep: list[int] = field(default_factory=list)
    under: list[int] = field(default_factory=list)
    exact: list[int] = field(default_factory=list)

    def disputed(self, owned: Sequence[int]) -> list[int]:
        """Members with enough for a larger share, where there are fewer of those than of them.

        Whoever comes first in hash order gets it; nothing else is decided by that order.

        Args:
            owned: number of partitions that each member brought along.
        """
        able = [member for member, count in enumerate(owned) if count >= self.high]
        return able if 0 < self.larger < len(able) else []


def share_out(
    owned: Sequence[int], order: Iterable[int], ranks: Sequence[int], partitions: int
) -> Quotas:
    """How many of its partitions each member keeps.

    Args:
        owned: number of partitions that each member brings along.
        order: members in hash order: the first ones with enough get the larger share.
        ranks: place of each member in the order of ids.
        partitions: number of all partitions.
    """
    low, larger = divmod(partitions, len(owned))
    quotas = Quotas(low, low + (larger > 0), larger, keep=list(owned))
    for member in order:
        count = owned[member]
        if count < low:
            quotas.under.append(member)
        elif count >= quotas.high and quotas.reached < larger:
            quotas.keep[member] = quotas.high
            quotas.reached += 1
            if quotas.reached == larger:
                quotas.exact.clear()
        else:
            quotas.keep[member] = low
            if quotas.reached < larger:
                quotas.exact.append(member)
    quotas.under.sort(key=ranks.__getitem__)
    quotas.exact.sort(key=ranks.__getitem__)
    return quotas


def fill_order(quotas: Quotas, sizes: Sequence[int], wanted: int) -> list[int]:
    """The member for each of the `wanted` unassigned partitions, in order.

    Rounds over the members below the quota; whoever reaches it leaves the circle and waits for
    one of the larger shares.

    Raises:
        AssignorError: nobody is left to take a partition.
    """
    circle = quotas.under
    deficits = [quotas.low - sizes[member] for member in circle]
    spare = wanted - sum(deficits)
    if spare < 0:
        raise leader_fails("consumers remain below the quota")
    if spare > len(circle) + len(quotas.exact):
        raise leader_fails("no more unfilled consumers to be assigned")
    takers: list[int] = []
    tail = list(quotas.exact)
    done = 0
    while circle:
        rounds = min(deficits) - done
        takers += circle * rounds
        done += rounds
        tail += [m for m, deficit in zip(circle, deficits, strict=True) if deficit == done]
        left = [(m, d) for m, d in zip(circle, deficits, strict=True) if d > done]
        circle, deficits = [m for m, _ in left], [d for _, d in left]
    return takers + tail[:spare]
