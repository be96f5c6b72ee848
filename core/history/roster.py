"""Who is in a group, and how that differs from who was."""

from collections.abc import Callable, Hashable, Mapping
from typing import Final, NamedTuple

from kgroups.core.history.assigned import Partitions


class Seat(NamedTuple):
    """A member as records describe it.

    Args:
        rebalance_timeout_ms: None where only captures tell of it.
        session_timeout_ms: None for a member of KIP-848 too, whose group or broker has it.
        subscription: what it asked for, to be compared; None where that cannot be read.
        partitions: that it has, or was given.
    """

    client_id: str
    member_id: str
    instance_id: str | None
    host: str
    rebalance_timeout_ms: int | None
    session_timeout_ms: int | None = None
    subscription: Hashable = None
    partitions: Partitions = frozenset()

    def asks_otherwise(self, later: "Seat") -> bool:
        """Whether it is known that it asks for something else later."""
        both = (self.subscription, later.subscription)
        return None not in both and both[0] != both[1]


Roster = Mapping[str, Seat]
"""Members by their ids."""


class Departure(NamedTuple):
    """A member that is gone.

    Args:
        stayed_ms: since it joined; None where that is not in the log.
        silent_ms: since the last commit of one of its partitions; None without one.
        reason: that it gave to the broker, by the broker's log.
    """

    seat: Seat
    stayed_ms: int | None = None
    silent_ms: int | None = None
    reason: str | None = None


class Replacement(NamedTuple):
    """A client that came back under another member id."""

    old: Departure
    new: Seat


class Difference(NamedTuple):
    """Effect of a change on the members."""

    joined: tuple[Seat, ...] = ()
    left: tuple[Departure, ...] = ()
    replaced: tuple[Replacement, ...] = ()

    @property
    def gone(self) -> tuple[Departure, ...]:
        """Those whose member ids are gone."""
        return (*self.left, *(pair.old for pair in self.replaced))

    @property
    def came(self) -> tuple[Seat, ...]:
        """Those whose member ids are new."""
        return (*self.joined, *(pair.new for pair in self.replaced))

    @property
    def clients(self) -> frozenset[str]:
        """Client ids of all of them."""
        return frozenset(
            seat.client_id for seat in (*self.came, *(gone.seat for gone in self.gone))
        )


SAME_CLIENT: Final[tuple[Callable[[Seat], Hashable], ...]] = (
    lambda seat: seat.instance_id,
    lambda seat: seat.client_id and (seat.client_id, seat.host),
    lambda seat: seat.client_id,
)
"""By what a member is known again under another id; the best first."""


def is_same_client(first: Seat, other: Seat) -> bool:
    """Whether two members are one client, as far as their names tell."""
    if first.instance_id is not None or other.instance_id is not None:
        return first.instance_id == other.instance_id
    return first.member_id == other.member_id or (
        bool(first.client_id) and (first.client_id, first.host) == (other.client_id, other.host)
    )


def difference(before: Roster, after: Roster, departed: Callable[[Seat], Departure]) -> Difference:
    """Who joined, who left, and who came back under another id.

    Args:
        departed: what is known of one who is gone.
    """
    came = [seat for name, seat in after.items() if name not in before]
    gone = [seat for name, seat in before.items() if name not in after]
    replaced = []
    for known_by in SAME_CLIENT:
        left = []
        for old in gone:
            name = known_by(old)
            new = next((seat for seat in came if name and known_by(seat) == name), None)
            if new is None:
                left.append(old)
            else:
                came.remove(new)
                replaced.append(Replacement(departed(old), new))
        gone = left
    return Difference(tuple(came), tuple(map(departed, gone)), tuple(replaced))
