"""Which records groups will read next: whose times say how old what is unread is. Pure."""

from kgroups.core.lag.group_lag import NO_LOG
from kgroups.core.offsets.scope import log_of
from kgroups.core.snapshot import ClusterSnapshot

Place = tuple[str, int, int]


def unread_places(snapshot: ClusterSnapshot) -> list[Place]:
    """Topic, partition and offset of the oldest unread record of every commit, each place once.

    A commit at the end of its log, beyond it or without a known log has none, nor has one whose
    record has expired.
    """
    places: set[Place] = set()
    for group in snapshot.groups:
        for at, commit in group.commits():
            log = log_of(snapshot.topics, at) or NO_LOG
            start, end = log.log_start_offset, log.log_end_offset
            if log.error is not None or start is None or end is None:
                continue
            if start <= commit.offset < end:
                places.add((*at, commit.offset))
    return sorted(places)
