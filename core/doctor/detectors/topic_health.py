"""Are the group's topics there, and what it committed still in their logs?"""

from collections.abc import Iterator, Mapping
from shlex import quote

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.doctor.detectors.consumption import place
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding
from kgroups.core.doctor.thresholds import EXPIRES_SOON_S
from kgroups.core.snapshot import PartitionLog


def data_lost(facts: DoctorFacts) -> Iterator[Finding]:
    """Records expired before they were read."""
    for row in facts.rows or ():
        if row.lost:
            yield Finding(
                "DATA_LOST",
                "error",
                "certain",
                "these records were never processed",
                f"kgroups describe {facts.word} --topic {quote(row.topic)}",
                place(row),
                {"lost": row.lost, "committed_offset": row.committed_offset},
            )


def offsets_expiring(facts: DoctorFacts) -> Iterator[Finding]:
    """The broker deletes commits of the group before long."""
    now_ms = facts.snapshot.captured_at_ms
    left = [
        (expiry.expires_at_ms - now_ms) / 1_000
        for expiry in (facts.expiry.rows.values() if facts.expiry is not None else ())
        if expiry.expiry == "expires" and expiry.expires_at_ms is not None
    ]
    soon = [seconds for seconds in left if seconds < EXPIRES_SOON_S]
    if soon:
        yield Finding(
            "OFFSETS_EXPIRING",
            "warning",
            "certain",
            "its consumers begin anew by auto.offset.reset",
            f"kgroups describe {facts.word} --expiry",
            evidence={"expires_in_seconds": round(max(0.0, min(soon))), "partitions": len(soon)},
        )


def topic_missing(facts: DoctorFacts) -> Iterator[Finding]:
    """A topic or partition is gone that members subscribe to or the group has committed."""
    read = {topic for member in facts.group.members or () for topic in member.subscription or ()}
    seen = facts.snapshot.topics.keys() | facts.snapshot.hidden_topics
    missing = dict.fromkeys(sorted(read - seen), 0)
    for row in facts.rows or ():
        if row.lag_status == "topic_missing":
            missing[row.topic] = missing.get(row.topic, 0) + 1
    for topic, partitions in missing.items():
        is_read, was_read = topic in read, partitions > 0
        yield Finding(
            "TOPIC_MISSING",
            "error" if is_read and (was_read or read <= missing.keys()) else "warning",
            "certain",
            "its members read nothing from it" if is_read else "its commits keep alarms alive",
            f"kgroups delete-offsets {facts.word} --topic {quote(topic)} --dry-run"
            if was_read
            else f"kgroups describe {facts.word} --members --verbose",
            {"topic": topic},
            {"committed_partitions": partitions},
        )


def stale_commits(facts: DoctorFacts) -> Iterator[Finding]:
    """Commits of topics that no member reads any more, with lag that grows."""
    members = facts.group.members or ()
    if not members or any(m.subscription is None or m.subscription_regex for m in members):
        return
    read = {topic for member in members for topic in member.subscription or ()}
    lags: dict[str, int] = {}
    for row in facts.rows or ():
        if row.topic not in read and row.member_id is None and row.lag:
            lags[row.topic] = lags.get(row.topic, 0) + row.lag
    for topic, lag in lags.items():
        yield Finding(
            "STALE_COMMITS",
            "info",
            "likely",
            "its lag counts in alarms though nobody reads the topic",
            f"kgroups delete-offsets {facts.word} --topic {quote(topic)} --dry-run",
            {"topic": topic},
            {"lag": lag},
        )


def partitions_unavailable(facts: DoctorFacts) -> Iterator[Finding]:
    """Partitions that it reads without a leader, or with replicas that lag behind."""
    for row in facts.rows or ():
        log, is_leaderless = facts.log_of(row.topic, row.partition), row.lag_status == "leaderless"
        yield from _unavailable(facts, place(row), log, is_leaderless=is_leaderless)


def commits_unavailable(facts: DoctorFacts) -> Iterator[Finding]:
    """The same of the partition of its commits."""
    own, number = facts.offsets_partition, facts.group.offsets_partition
    if own is not None and number is not None:
        where: dict[str, str | int] = {"topic": OFFSETS_TOPIC, "partition": number}
        yield from _unavailable(facts, where, own.log, is_leaderless=own.log.leader is None)


def _unavailable(
    facts: DoctorFacts, where: Mapping[str, str | int], log: PartitionLog, *, is_leaderless: bool
) -> Iterator[Finding]:
    replicas, in_sync = len(log.racks), len(log.in_sync_replicas)
    is_own = where["topic"] == OFFSETS_TOPIC
    stops = (
        "its members can neither join nor commit"
        if is_own
        else "it can be neither read nor written"
    )
    if is_leaderless or 0 < in_sync < replicas:
        yield Finding(
            "PARTITIONS_UNAVAILABLE",
            "error" if is_leaderless else "warning",
            "certain",
            stops if is_leaderless else "it has fewer copies than it should",
            "kgroups ping" if is_leaderless else f"kgroups describe {facts.word} --verbose",
            where,
            {"in_sync_replicas": in_sync, "replicas": replicas} if replicas else {},
        )


def records_archived(facts: DoctorFacts) -> Iterator[Finding]:
    """Records of a share group that were delivered as often as may be, and that nobody accepted.

    Those that a member rejected are archived on purpose.
    """
    for row in facts.deliveries or ():
        if row.gave_up:
            yield Finding(
                "RECORDS_ARCHIVED",
                "warning",
                "certain",
                "they are not delivered any more, unless the group's offsets are reset",
                f"kgroups describe {facts.word} --deliveries --verbose",
                {"topic": row.topic, "partition": row.partition},
                {
                    "gave_up": row.gave_up,
                    "last_delivery": row.last_delivery,
                    "delivery_count_limit": row.delivery_count_limit,
                },
            )


def locks_exhausted(facts: DoctorFacts) -> Iterator[Finding]:
    """Partitions of a share group of which no new record is handed out, as too many are in flight.

    What is written of them tells at least how many. Locks of records that nobody has decided on
    before, with nothing decided behind them, are in the broker's memory alone.
    Source: org.apache.kafka.server.share: SharePartition.canAcquireRecords.
    """
    for row in facts.deliveries or ():
        limit, in_flight = row.record_lock_limit, row.in_flight
        if limit and in_flight and in_flight >= limit and row.no_state and facts.group.members:
            yield Finding(
                "LOCKS_EXHAUSTED",
                "warning",
                "likely",
                "no further records are delivered until the oldest ones are done with",
                f"kgroups describe {facts.word} --deliveries --verbose",
                {"topic": row.topic, "partition": row.partition},
                {"in_flight": in_flight, "record_lock_limit": limit, "no_state": row.no_state},
            )
