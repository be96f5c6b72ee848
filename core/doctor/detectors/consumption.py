"""Is the group read, and fast enough?"""

from collections.abc import Iterator
from shlex import quote

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, likely_or_possible
from kgroups.core.doctor.thresholds import (
    BEHIND_RATIO,
    HOT_LAG,
    HOT_PARTITIONS,
    HOT_SHARE,
    STALLED_S,
)
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.lag.group_times import TimeFigures, is_usual
from kgroups.core.snapshot import TopicPartition


def place(row: OffsetRow) -> dict[str, str | int]:
    """Where a partition is, and who owns it."""
    where: dict[str, str | int] = {"topic": row.topic, "partition": row.partition}
    if row.member_id is not None and row.client_id is not None:
        where |= {"member_id": row.member_id, "client_id": row.client_id}
    return where


def rivals(facts: DoctorFacts, at: TopicPartition) -> dict[str, object]:
    """Evidence of two that commit a partition in turn; empty if there are none."""
    found = facts.rivals.get(at)
    if found is None:
        return {}
    return {
        "rivals": found.certainty,
        "turns": found.turns,
        "producer_ids": list(found.producer_ids) or None,
        "owner_client_ids": list(found.client_ids) or None,
    }


def no_consumer(facts: DoctorFacts) -> Iterator[Finding]:
    """Records wait, more come, and there is nobody to read them."""
    lag = sum(row.lag for row in facts.rows or () if row.lag and not facts.is_phantom(row))
    rate = None if facts.times is None else facts.times.total.rate_in
    if facts.has_members or facts.group.state != "Empty" or not lag:
        return
    grows = bool(rate)
    yield Finding(
        "NO_CONSUMER",
        "error" if grows else "info",
        "certain",
        "lag grows until a consumer starts" if grows else "records wait until a consumer starts",
        f"kgroups describe {facts.word} --deliveries"
        if facts.group.type == "share"
        else f"kgroups history {facts.word}",
        evidence={"lag": lag, "rate_in": rate, "member_count": 0},
    )


def stalled_partition(facts: DoctorFacts) -> Iterator[Finding]:
    """The commit stands still under a live owner while records wait.

    Over a short time it may only be the pause between two commits; and clients read what they have
    fetched of one partition before the next one's turn.
    """
    stalled = set((facts.times and facts.times.stalled) or ())
    is_long = (facts.over_seconds or 0.0) >= STALLED_S
    busy = _busy_members(facts) if stalled else frozenset()
    for row in facts.rows or ():
        if (row.topic, row.partition) not in stalled:
            continue
        if not is_long:
            impact = "nothing was committed, which is usual for so short a time"
        elif row.member_id in busy:
            impact = "its owner reads backlogs of other partitions meanwhile"
        else:
            impact = "its records are not processed, or not committed"
        is_likely = is_long and row.member_id not in busy
        yield Finding(
            "STALLED_PARTITION",
            *likely_or_possible("error", is_likely=is_likely),
            impact,
            f"kgroups peek {facts.word} --topic {quote(row.topic)}:{row.partition}"
            if is_likely
            else f"kgroups doctor {facts.word} --over {60 if is_long else 30}s",
            place(row),
            {
                "lag": row.lag,
                "committed_offset": row.committed_offset,
                "over_seconds": facts.over_seconds,
                **rivals(facts, (row.topic, row.partition)),
            },
        )


def _busy_members(facts: DoctorFacts) -> frozenset[str | None]:
    """Members that have read a partition without coming near its end."""
    rates = dict(facts.times.rows) if facts.times is not None else {}
    return frozenset(
        row.member_id
        for row in facts.rows or ()
        if (figures := rates.get((row.topic, row.partition))) is not None
        and figures.rate_out
        and not is_usual(row.lag, figures.rate_in)
    )


def falling_behind(facts: DoctorFacts) -> Iterator[Finding]:
    """Members read, but more slowly than records come in; `info` if they were not behind before.

    A member that restarts between the looks leaves as much unread.
    """
    if facts.times is None or not facts.has_members or facts.times.rebalances:
        return
    total = facts.times.total
    rate_in, rate_out = total.rate_in, total.rate_out
    if not rate_in or not rate_out or rate_out >= BEHIND_RATIO * rate_in:
        return
    lag = sum(row.lag or 0 for row in facts.rows or ())
    if is_usual(lag, rate_in):
        return
    before = lag - (rate_in - rate_out) * (facts.over_seconds or 0.0)
    was_behind = not is_usual(round(max(before, 0.0)), rate_in)
    yield Finding(
        "FALLING_BEHIND",
        "warning" if was_behind else "info",
        "likely" if was_behind else "possible",
        "lag grows; records are lost when retention reaches the commit",
        f"kgroups plan {facts.word} --add-members 1",
        evidence={
            "lag": lag,
            "rate_in": round(rate_in, 1),
            "rate_out": round(rate_out, 1),
            "over_seconds": facts.over_seconds,
            "retention_seconds_left": _retention_seconds_left(facts),
        },
    )


def _retention_seconds_left(facts: DoctorFacts) -> int | None:
    """Until the first partition's next record is deleted before it is read, at these rates.

    What is unread grows older by the share of records that are not read.
    """
    rates = dict(() if facts.times is None else facts.times.rows)
    left = []
    for at, (age_s, kept_s) in facts.ages.items():
        rate_in, rate_out = rates[at].rate_in or 0.0, rates[at].rate_out or 0.0
        if rate_out < rate_in:
            left.append(max(0.0, kept_s - age_s) * rate_in / (rate_in - rate_out))
    return round(min(left)) if left else None


def hot_partition(facts: DoctorFacts) -> Iterator[Finding]:
    """Nearly all the lag is in one partition; a burst is, too, until it is read."""
    measured = [row for row in facts.rows or () if row.lag is not None]
    lag = sum(row.lag or 0 for row in measured)
    if not facts.has_members or len(measured) < HOT_PARTITIONS or lag < HOT_LAG:
        return
    hottest = max(measured, key=lambda row: row.lag or 0)
    share = (hottest.lag or 0) / lag
    if share < HOT_SHARE:
        return
    rates = dict(() if facts.times is None else facts.times.rows)
    rate = rates.get((hottest.topic, hottest.partition), TimeFigures())
    grows = (
        (facts.over_seconds or 0.0) >= STALLED_S
        and (rate.rate_in or 0.0) > (rate.rate_out or 0.0)
        and not is_usual(hottest.lag, rate.rate_in)
    )
    yield Finding(
        "HOT_PARTITION",
        *likely_or_possible("warning", is_likely=grows),
        "one member has nearly all the work; more members do not help",
        f"kgroups describe {facts.word} --sort lag --over 10s",
        place(hottest),
        {
            "lag": hottest.lag,
            "share": round(share, 2),
            "partitions": len(measured),
            "rate_in": rate.rate_in,
            "rate_out": rate.rate_out,
        },
    )
