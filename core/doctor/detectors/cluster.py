"""Is the group's coordinator steady, and do the brokers' settings leave it room?"""

from collections.abc import Iterator

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding
from kgroups.core.doctor.thresholds import ELECTIONS, NEAR_SHARE, QUOTA_SHARE
from kgroups.core.times import timestamp


def coordinator_unstable(facts: DoctorFacts) -> Iterator[Finding]:
    """The group's coordinator moved while it was watched, or again and again."""
    then, now = facts.before and facts.before.coordinator, facts.group.coordinator
    has_moved = None not in (then, now) and then != now
    elections = 0 if facts.offsets_partition is None else facts.offsets_partition.elections
    logged, last_ms = facts.elections, None
    if logged is not None:
        elections, last_ms = max(elections, logged.per_hour), logged.last_ms
    if not has_moved and elections < ELECTIONS and logged is None:
        return
    yield Finding(
        "COORDINATOR_UNSTABLE",
        "warning" if elections >= ELECTIONS else "info",
        "certain",
        "commits and heartbeats fail until members find the new coordinator",
        f"kgroups coordinator {facts.word}",
        {"topic": OFFSETS_TOPIC, "partition": facts.group.offsets_partition or 0},
        {
            "elections_per_hour": elections,
            "last_election_at": None if last_ms is None else timestamp(last_ms),
            "coordinator_id": now,
            "coordinator_id_before": then if has_moved else None,
        },
    )


def group_near_limit(facts: DoctorFacts) -> Iterator[Finding]:
    """The group has nearly as many members as it may have."""
    settings, count = facts.settings, len(facts.group.members or ())
    most = None if settings is None else settings.max_size
    if settings is None or most is None or not count or count < NEAR_SHARE * most:
        return
    yield Finding(
        "GROUP_NEAR_LIMIT",
        "warning",
        "certain",
        "members that join are refused" if count >= most else "soon members that join are refused",
        "kgroups explain GROUP_NEAR_LIMIT",
        evidence={"member_count": count, "max_size": most, "setting": settings.max_size_name},
    )


def orphan_config(facts: DoctorFacts) -> Iterator[Finding]:
    """Configurations of a group that does not exist."""
    if facts.own_settings:
        yield Finding(
            "ORPHAN_CONFIG",
            "info",
            "certain",
            "they hold for whoever begins a group of this name",
            f"kgroups config {facts.word}",
            evidence={"settings": list(facts.own_settings)},
        )


def throttled(facts: DoctorFacts) -> Iterator[Finding]:
    """A client that has records to read reads about as many bytes as its quota allows."""
    for quota in facts.quotas or ():
        if quota.bytes_per_second >= QUOTA_SHARE * quota.consumer_byte_rate:
            yield Finding(
                "THROTTLED",
                "warning",
                "possible",
                "it reads no faster than its quota, however many records wait",
                "kgroups explain THROTTLED",
                {"client_id": quota.client_id},
                {
                    "bytes_per_second": round(quota.bytes_per_second),
                    "consumer_byte_rate": round(quota.consumer_byte_rate),
                    "over_seconds": facts.over_seconds,
                },
            )
