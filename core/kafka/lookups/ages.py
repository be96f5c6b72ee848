"""Ages of unread records on a cluster: by ListOffsets, a bounded number of requests."""

from collections.abc import Iterable

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at_times
from kgroups.core.lag.ages import MOST_QUESTIONS, AgeSearch
from kgroups.core.lag.window.unread import Place


def record_ages(admin: ClusterAdmin, places: Iterable[Place], now_ms: int) -> dict[Place, float]:
    """Seconds since the records at these places were written, as far as their logs tell.

    Args:
        places: of records that logs hold.
        now_ms: epoch milliseconds that the ages are counted back from.
    Raises:
        ClusterError: the cluster cannot be asked.
    """
    search = AgeSearch(places, now_ms)
    for _ in range(MOST_QUESTIONS):
        times = search.times()
        if not times:
            break
        search.take(times, offsets_at_times(admin, times))
    return search.ages_s
