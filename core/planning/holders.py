"""Who holds what before and after a plan, where one thing may have several holders. Pure."""

import base64
import random
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Final, Generic, Literal, NamedTuple, TypeVar

DRAWS: Final = 16
"""How often ids of new members are drawn, as they decide ties."""

Thing = TypeVar("Thing", bound=Hashable)
Holders = Mapping[Thing, Sequence[str]]
Kind = Literal["kept", "moved", "started", "ended"]


class HoldersPlan(NamedTuple, Generic[Thing]):
    """The partitions that the members of a group will hold.

    Args:
        before, after: member ids by thing; new members have ids that say so.
        confidence: `exact`; `ids`: other ids of new members would give them other things; `likely`:
            something is assumed, which a note names.
        notes: what is to be known of it, one sentence each.
    """

    group: str
    member_count: int
    before: Holders[Thing]
    after: Holders[Thing]
    confidence: Literal["exact", "ids", "likely"]
    notes: Sequence[str] = ()

    def moves(self) -> Iterator[tuple[Thing, str | None, str | None, Kind]]:
        """Each thing with who has it and who will, a row for each holder."""
        for thing in {**self.before, **self.after}:
            old, new = set(self.before.get(thing, ())), set(self.after.get(thing, ()))
            gone, come = sorted(old - new), sorted(new - old)
            yield from ((thing, name, name, "kept") for name in sorted(old & new))
            yield from ((thing, a, b, "moved") for a, b in zip(gone, come, strict=False))
            yield from ((thing, name, None, "ended") for name in gone[len(come) :])
            yield from ((thing, None, name, "started") for name in come[len(gone) :])


def drawn(assigned: Callable[[random.Random], Holders[Thing]]) -> tuple[Holders[Thing], bool]:
    """The assignment when ids are drawn, and whether other ids give the same."""
    plans = [assigned(random.Random(seed)) for seed in range(DRAWS)]
    return plans[0], all(plan == plans[0] for plan in plans)


def drawn_id(draw: random.Random) -> str:
    """An id as coordinators, topics and clients' processes have them."""
    return base64.urlsafe_b64encode(draw.randbytes(16)).decode().rstrip("=")
