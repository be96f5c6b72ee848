"""Where a group stands in another cluster, told by the records on both sides of its commit. Pure.

A record is the same if its time, key, headers and value are. Replication keeps their order, so what
lies before and behind tells apart those that are alike, and shows where one is missing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Final, Literal, NamedTuple

from kgroups.core.protocol.batches import Record

NEIGHBOURS: Final = 50
"""Records on either side of a commit that are compared."""

Verdict = Literal["exact", "ambiguous", "not there"]


class Fingerprint(NamedTuple):
    """Fields that two records have in common if they are the same.

    Args:
        timestamp_ms: None where times are not compared, as the log has its own.
        digest: of key, headers and value.
    """

    timestamp_ms: int | None
    digest: bytes


def fingerprint(record: Record, *, timed: bool = True) -> Fingerprint:
    """Of a record; `timed`: with its time."""
    digest = blake2b(digest_size=16)
    for part in (record.key, record.value, *(part for pair in record.headers for part in pair)):
        digest.update(b"-" if part is None else b"%d:" % len(part))
        digest.update(part or b"")
    return Fingerprint(record.timestamp_ms if timed else None, digest.digest())


class Spot(NamedTuple):
    """A record and its place in a log."""

    offset: int
    timestamp_ms: int
    print: Fingerprint


class Edge(Enum):
    """Why there is no record: the log starts or ends there, or nothing is known."""

    START = "start"
    END = "end"
    UNKNOWN = "unknown"


class Standing(NamedTuple):
    """Where a group stands in a log.

    Args:
        before: the last records that it has read, ascending.
        after: the next ones; none where all is read.
    """

    before: Sequence[Spot]
    after: Sequence[Spot]

    @property
    def times(self) -> tuple[int, int] | None:
        """The times of the last record that is read and of the next, lower first; None: no record.

        Units: epoch milliseconds.
        """
        near = [spot.timestamp_ms for spot in (*self.before[-1:], *self.after[:1])]
        return (min(near), max(near)) if near else None

    def untimed(self) -> "Standing":
        """The same, where times are not compared."""
        return Standing(
            *(
                [spot._replace(print=spot.print._replace(timestamp_ms=None)) for spot in side]
                for side in self
            )
        )


@dataclass(slots=True)
class Sightings:
    """Records read of the other log: runs of records, around those that are looked for.

    Args:
        end: the offset after the last record, where that was reached.
        looked_to: how far the log was read.
        unfinished: the log was not read as far as it takes from this time on; None if it was.
    """

    wanted: frozenset[Fingerprint]
    spots: list[Spot | Edge] = field(default_factory=list)
    places: dict[Fingerprint, list[int]] = field(default_factory=dict)
    end: int | None = None
    looked_to: int = 0
    unfinished: int | None = None
    _ring: list[Spot | Edge] = field(default_factory=list)
    _since: int = NEIGHBOURS

    def edge(self, edge: Edge) -> None:
        """Take note of a place without a record."""
        if self._since < NEIGHBOURS:
            self.spots.append(edge)
        self._ring = [edge]
        self._since = NEIGHBOURS

    def add(self, spot: Spot) -> None:
        """Take the next record; only the neighbours of those that are looked for are kept."""
        if spot.print in self.wanted:
            self.spots += self._ring
            self._ring = []
            self._since = 0
            self.places.setdefault(spot.print, []).append(len(self.spots))
            self.spots.append(spot)
        elif self._since < NEIGHBOURS:
            self._since += 1
            self.spots.append(spot)
        else:
            self._ring.append(spot)
            if len(self._ring) > NEIGHBOURS:
                self._ring[:2] = [Edge.UNKNOWN]


class Match(NamedTuple):
    """The place in the other log.

    Args:
        offset: of the next record to be read there; None if it is not there.
        alike: places that are; the earliest is taken.
        matched: the record there; None at the log's end.
    """

    verdict: Verdict
    offset: int | None = None
    alike: int = 0
    matched: Spot | None = None


def matched(standing: Standing, seen: Sightings) -> Match:
    """Where the next record to be read is in the other log.

    It counts only if its neighbours say so, too: what comes before it must not be unread. Where it
    is gone there, the place is between the last record that was read and the next that was not.
    """
    search = _Search(standing, seen)
    places = search.of_next()
    certain = len(places) == 1 and (search.is_unique or search.is_whole(places[0]))
    if len(places) > 1:
        whole = [place for place in places if search.is_whole(place)]
        certain, places = len(whole) == 1, whole or places
    if not certain and len(places) <= 1:  # gone there, or another one is alike
        between = search.between()
        certain, places = len(between) == 1, between or places
    if not places:
        return Match("not there")
    spot = seen.spots[places[0]]
    offset, found = (spot.offset, spot) if isinstance(spot, Spot) else (seen.end, None)
    return Match("exact" if certain else "ambiguous", offset, len(places), found)


class _Search:
    """The places of one standing, as indices of spots."""

    def __init__(self, standing: Standing, seen: Sightings) -> None:
        self._seen = seen
        self._before = [spot.print for spot in standing.before]
        self._after = [spot.print for spot in standing.after]
        self._read = frozenset(self._before)
        self._unread = frozenset(self._after[1:])
        self._known = self._read.union(self._after)
        self.is_unique = not self._after or self._after[0] not in self._read | self._unread

    def of_next(self) -> list[int]:
        """Where the next record is, and its neighbours do not contradict."""
        if not self._after:
            return []
        is_alone = not self._before and len(self._after) == 1
        found: list[int] = []
        for place in self._seen.places.get(self._after[0], ()):
            last, following = next(self._known_from(place, -1)), next(self._known_from(place, 1))
            if last in self._unread and last not in self._read:
                continue
            if is_alone or last is Edge.START or last in self._read or following in self._unread:
                found.append(place)
        return found

    def between(self) -> list[int]:
        """Where one that was read is followed by one that was not, or by the end."""
        spots = self._seen.spots
        found: set[int] = set()
        if spots and spots[0] is Edge.START and self._is_unread(1):
            found.add(1)
        for one in self._read.difference(self._after):  # an unread one that is alike would do, too
            for place in self._seen.places.get(one, ()):
                is_last = one == self._before[-1]
                if place + 1 < len(spots) and self._follows(place + 1, is_last=is_last):
                    found.add(place + 1)
        return sorted(found)

    def _is_unread(self, place: int) -> bool:
        spot = self._seen.spots[place] if place < len(self._seen.spots) else None
        if not isinstance(spot, Spot):
            return False
        return spot.print in self._unread and spot.print not in self._read

    def _follows(self, place: int, *, is_last: bool) -> bool:
        """Whether the group is to go on there; `is_last`: behind the very last that it has read."""
        spot = self._seen.spots[place]
        if isinstance(spot, Spot):
            more = is_last and not self._after and spot.print not in self._read
            return more or self._is_unread(place)
        return is_last and spot is Edge.END

    def is_whole(self, place: int) -> bool:
        """Whether all neighbours are the same; before, as far as the other log begins.

        Where ours ends, another one that is alike may be the one that is meant.
        """
        for wanted, step in ((self._before[::-1], -1), (self._after[1:], 1)):
            known = self._known_from(place, step)
            for one, other in zip(wanted, known, strict=False):
                if other is Edge.START:
                    break
                if one != other:
                    return False
            else:
                if next(known, None) == self._after[0]:
                    return False
        return True

    def _known_from(self, place: int, step: int) -> Iterator[Fingerprint | Edge]:
        """The neighbours that the other log has, too, and then why there are no more."""
        spots, at = self._seen.spots, place + step
        while 0 <= at < len(spots):
            spot = spots[at]
            if isinstance(spot, Edge):
                yield spot
                return
            if spot.print in self._known:
                yield spot.print
            at += step
        yield Edge.UNKNOWN
