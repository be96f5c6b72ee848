"""Facts of `kgroups doctor` on the records that groups have yet to read: age, size, gaps."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kgroups.core.doctor.cluster_facts import MemberQuota, RecordAge
from kgroups.core.doctor.detectors.consumption import falling_behind, no_consumer
from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.client_quotas import client_quotas, record_bytes
from kgroups.core.kafka.lookups.offsets_by_time import record_ages
from kgroups.core.kafka.lookups.record_times import next_record_times
from kgroups.core.kafka.lookups.topic_retention import topic_retentions
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.lag.group_times import is_usual
from kgroups.core.lag.window.unread import unread_places

OLDER: Final = "requires brokers of Kafka {} or later"
CLUSTER_CONFIGS: Final = "DESCRIBE_CONFIGS on the cluster"
TOPIC_CONFIGS: Final = "DESCRIBE_CONFIGS on topic `{}`"
QUOTAS_OF_USERS: Final = "there are quotas of users, and brokers do not tell the users of members"
MOST_IDLE: Final = 20
"""Groups without members whose gaps are looked for."""
MOST_FETCHES: Final = 200
"""Commits after which a record is looked for: a fetch each."""


def with_quotas(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with the quotas on clients that have records to read, where there are rates.

    Nobody tells which user a member is, and a quota of its user would come first.
    """
    if all(each.times is None for each in every):
        return list(every)
    try:
        quotas = client_quotas(admin)
    except KgroupsError as error:
        why = why_not(error.code, CLUSTER_CONFIGS, "2.6")
        return [each.without(["quotas"], why) for each in every]
    if any("user" in quota.entity for quota in quotas):
        return [each.without(["quotas"], QUOTAS_OF_USERS) for each in every]
    limits = {quota.entity.get("client-id"): quota.byte_rate for quota in quotas}
    return [replace(facts, quotas=list(_quotas_of(admin, facts, limits))) for facts in every]


def _quotas_of(
    admin: ClusterAdmin, facts: DoctorFacts, limits: Mapping[str | None, float]
) -> Iterator[MemberQuota]:
    """The quotas on clients of one group; the first record that waits is taken for all."""
    figures = dict(facts.times.rows) if facts.times is not None else {}
    by_client: dict[str, list[OffsetRow]] = {}
    for row in facts.rows or ():
        if row.client_id is not None:
            by_client.setdefault(row.client_id, []).append(row)
    late: dict[str | None, OffsetRow] = {}
    for row in _late_rows(facts):
        if row.lag and row.leader is not None:
            late.setdefault(row.client_id, row)
    for client_id, rows in by_client.items():
        limit, first = limits.get(client_id, limits.get(None)), late.get(client_id)
        read = sum(figures[row.topic, row.partition].rate_out or 0.0 for row in rows)
        if limit is None or first is None or not read:
            continue
        at, leader = (first.topic, first.partition), first.leader or 0
        size = record_bytes(admin, leader, at, first.committed_offset or 0)
        if size is not None:
            brokers = len({row.leader for row in rows})
            yield MemberQuota(client_id, limit * brokers, read * size)


def with_ages(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with how old the next records are of groups that fall behind."""
    late = {
        facts.name: [
            (row.topic, row.partition, row.committed_offset)
            for row in _late_rows(facts)
            if row.committed_offset is not None
        ]
        for facts in every
        if any(falling_behind(facts))
    }
    places = {place for each in late.values() for place in each}
    if not places:
        return list(every)
    retentions, denied = topic_retentions(admin, {topic for topic, *_ in places})
    places = {place for place in places if place[0] in retentions}
    ages_s = record_ages(admin, places, every[0].snapshot.captured_at_ms)
    found = []
    for facts in every:
        own = late.get(facts.name, ())
        ages = {
            (topic, number): RecordAge(ages_s[topic, number, offset], retentions[topic])
            for topic, number, offset in own
            if (topic, number, offset) in ages_s
        }
        topic = next((topic for topic, *_ in own if topic in denied), None)
        if topic is not None:
            why = why_not(denied[topic], TOPIC_CONFIGS.format(topic), "0.11")
            facts = facts.without(["retention"], f"retention_seconds_left {why}")
        found.append(replace(facts, ages=ages))
    return found


def _late_rows(facts: DoctorFacts) -> Iterator[OffsetRow]:
    """Partitions that are not nearly read, where their rates are known."""
    rates = dict(() if facts.times is None else facts.times.rows)
    for row in facts.rows or ():
        figures = rates.get((row.topic, row.partition))
        if figures is not None and not is_usual(row.lag, figures.rate_in):
            yield row


def with_gaps(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with the gaps of groups that nobody reads; of a few of them."""
    idle = [
        facts.group for facts in every if facts.group.type != "share" and any(no_consumer(facts))
    ]
    unread = replace(every[0].snapshot, groups=tuple(idle[:MOST_IDLE])) if idle else None
    places = () if unread is None else sorted(unread_places(unread))[:MOST_FETCHES]
    if not places:
        return list(every)
    topics = every[0].snapshot.topics
    read, errors = next_record_times(admin, topics, places, isolation="read_committed")
    failed = {error.target for error in errors}
    gaps = {place for place in places if place not in read and place[0] not in failed}
    return [replace(facts, gaps=facts.gaps | gaps) for facts in every]


def why_not(code: str, right: str, since: str) -> str:
    """Why a question was not answered: the right that is missing, or the release it takes.

    Args:
        code: Kafka's error name.
        since: the first release of Kafka whose brokers answer it.
    """
    if code.endswith("_AUTHORIZATION_FAILED"):
        return f"requires {right}"
    return OLDER.format(since) if code == "UNSUPPORTED_VERSION" else code
