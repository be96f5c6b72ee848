"""What `kgroups doctor` learns of the cluster around groups: a few requests for all of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Final, get_args

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.deliveries import STATE_TOPIC
from kgroups.core.doctor import cluster_facts
from kgroups.core.doctor.cluster_facts import (
    GroupSettings,
    MemberQuota,
    OffsetsPartition,
    PendingOffsets,
    RecordAge,
)
from kgroups.core.doctor.detectors.consumption import falling_behind
from kgroups.core.doctor.detectors.transactions import holds_back, judged
from kgroups.core.doctor.facts import DoctorFacts, Part
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.broker_settings import BrokerSettings, broker_settings
from kgroups.core.kafka.lookups.client_quotas import client_quotas, record_bytes
from kgroups.core.kafka.lookups.group_settings import configured_groups, group_settings
from kgroups.core.kafka.lookups.offsets_by_time import record_ages
from kgroups.core.kafka.lookups.offsets_partitions import offsets_partitions, without_leader
from kgroups.core.kafka.lookups.open_transactions import Transactions, open_transactions
from kgroups.core.kafka.lookups.pending_offsets import pending_offsets
from kgroups.core.kafka.lookups.share_state import deliveries
from kgroups.core.kafka.lookups.topic_retention import topic_retentions
from kgroups.core.lag.group_lag import OffsetRow
from kgroups.core.lag.group_times import is_usual
from kgroups.core.lag.window.unread import Place
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

NO_COORDINATOR: Final = "the group has no coordinator"
NO_CLUSTER: Final = "a snapshot file does not record it"
OLDER: Final = "requires brokers of Kafka {} or later"
TRANSACTIONAL_IDS: Final = "requires DESCRIBE on the transactional id"
CLUSTER_CONFIGS: Final = "DESCRIBE_CONFIGS on the cluster"
ELECTIONS_MS: Final = 3_600_000
"""How far back elections of coordinators are counted."""
SIZES: Final = {
    "classic": "group.max.size",
    "consumer": "group.consumer.max.size",
    "share": "group.share.max.size",
}
MOST_SETTINGS: Final = 20
"""Groups whose own settings are read: a request each."""
QUOTAS_OF_USERS: Final = "there are quotas of users, and brokers do not tell the users of members"

Step = Callable[[ClusterAdmin, Sequence[DoctorFacts]], list[DoctorFacts]]


def look_around(
    admin: ClusterAdmin | None, every: Sequence[DoctorFacts], progress: Callable[[str], None]
) -> list[DoctorFacts]:
    """The facts with what the cluster tells; what it does not tell is `missing`, and why."""
    steps: tuple[tuple[str, Step, tuple[Part, ...]], ...] = (
        ("transactions", _with_transactions, ("transactions", "pending", "offsets_partition")),
        ("settings", _with_settings, ("settings",)),
        ("quotas", _with_quotas, ("quotas",)),
        ("retention", _with_ages, ()),
        ("deliveries", _with_deliveries, ()),
    )
    if admin is None:
        around = [part for *_, parts in steps for part in parts]
        return [_undelivered(_without(each, around, NO_CLUSTER), NO_CLUSTER) for each in every]
    for what, step, parts in steps:
        progress(f"looking at {what}")
        try:
            every = step(admin, every)
        except KgroupsError as error:  # the rest is examined all the same
            every = [_without(each, parts, error.message) for each in every]
    return list(every)


def _without(facts: DoctorFacts, parts: Iterable[Part], why: str) -> DoctorFacts:
    return replace(facts, missing={**facts.missing, **dict.fromkeys(parts, why)})


def _with_transactions(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with open transactions on partitions, and on the groups' own offsets."""
    own = {facts.group.offsets_partition for facts in every} - {None}
    since_ms = every[0].snapshot.captured_at_ms - ELECTIONS_MS if every else 0
    logs = offsets_partitions(admin, {number for number in own if number is not None}, since_ms)
    held = {facts.name: _held(facts) for facts in every}
    pending = pending_offsets(admin, dict(_doubtful(every, logs)))
    places = {at for each in held.values() for at in each}
    places |= {_place(facts) for facts in every if pending.get(facts.name)}
    found = open_transactions(admin, places)
    return [
        _joined(_placed(facts, logs), held[facts.name], pending.get(facts.name), found)
        for facts in every
    ]


def _placed(facts: DoctorFacts, logs: Mapping[int, OffsetsPartition] | str) -> DoctorFacts:
    """The facts with the group's partition of the topic."""
    if isinstance(logs, str):
        right = f"DESCRIBE on topic `{OFFSETS_TOPIC}`"
        return _without(facts, ["offsets_partition"], why_not(logs, right, "2.1"))
    own = logs.get(_place(facts)[1])
    why = "the group's partition of `__consumer_offsets` is not known"
    if own is None:
        return _without(facts, ["offsets_partition"], why)
    return replace(facts, offsets_partition=own)


def _held(facts: DoctorFacts) -> set[TopicPartition]:
    return {(row.topic, row.partition) for row in facts.rows or () if holds_back(facts, row)}


def _place(facts: DoctorFacts) -> TopicPartition:
    """Where the group's own offsets are."""
    return OFFSETS_TOPIC, facts.group.offsets_partition or 0


def _doubtful(
    every: Sequence[DoctorFacts], logs: Mapping[int, OffsetsPartition] | str
) -> Iterator[tuple[str, list[TopicPartition]]]:
    """Groups on whose partitions of the topic a transaction is open, and what they read.

    Where the topic may not be described, that is every group.
    """
    for facts in every:
        number = facts.group.offsets_partition
        own = None if isinstance(logs, str) or number is None else logs.get(number)
        is_whole = own is not None and own.log.last_stable_offset == own.log.log_end_offset
        if facts.rows and not is_whole:
            yield facts.name, [(row.topic, row.partition) for row in facts.rows]


def _joined(
    facts: DoctorFacts,
    held: Set[TopicPartition],
    pending: Set[TopicPartition] | str | None,
    found: Transactions,
) -> DoctorFacts:
    """The facts of one group with what was found."""
    missing: dict[Part, str] = {}
    for at in held & found.failures.keys():
        missing["transactions"] = why_not(found.failures[at], f"READ on topic `{at[0]}`", "2.8")
    place = _place(facts)
    transactions = _among(held, found)
    if _is_untold(facts, transactions):
        missing.setdefault("transactions", TRANSACTIONAL_IDS)
    holding = PendingOffsets(frozenset())
    if isinstance(pending, str):
        missing["pending"] = why_not(pending, "DESCRIBE on the group", "2.5")
    elif pending and place in found.failures:
        missing["pending"] = why_not(found.failures[place], f"READ on topic `{place[0]}`", "2.8")
    elif pending:
        holding = PendingOffsets(frozenset(pending), _among({place}, found))
        if _is_untold(facts, holding.transactions):
            missing["pending"] = TRANSACTIONAL_IDS
    return replace(
        facts,
        transactions=None if "transactions" in missing else transactions,
        pending=None if "pending" in missing else holding,
        missing={**facts.missing, **missing},
    )


def _among(places: Set[TopicPartition], found: Transactions) -> cluster_facts.Transactions:
    """The transactions that are open in some of these partitions."""
    those = [one for one in found.open if not places.isdisjoint(held.at for held in one.partitions)]
    return cluster_facts.Transactions(those, not found.unlisted)


def _is_untold(facts: DoctorFacts, found: cluster_facts.Transactions) -> bool:
    """Whether there are only transactions whose age says nothing, as coordinators hide some."""
    at_ms = facts.snapshot.captured_at_ms
    says_nothing = all(judged(one, at_ms, is_sure=False) is None for one in found.open)
    return says_nothing and not all(one.is_known for one in found.open)


def _with_settings(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with what coordinators are set to, and what few groups have of their own."""
    brokers = {facts.group.coordinator for facts in every} - {None}
    asked = [broker for broker in brokers if broker is not None]
    told = broker_settings(admin, asked, list(SIZES.values())) if asked else {}
    modern = [facts.name for facts in every if facts.group.type == "consumer"]
    own = {}
    for name in modern if len(modern) <= MOST_SETTINGS else ():
        with suppress(KgroupsError):  # facts to show, no more
            own[name] = group_settings(admin, name)
    found = []
    for facts in every:
        answer = told.get(facts.group.coordinator or 0, BrokerSettings({}, "NOT_COORDINATOR"))
        if answer.failure is not None:
            why = why_not(answer.failure, CLUSTER_CONFIGS, "0.11")
            found.append(_without(facts, ["settings"], why))
            continue
        name = SIZES[facts.group.type]
        size = answer.values.get(name, "")
        most = int(size) if size.isdecimal() else None
        settings = GroupSettings(most, name, own.get(facts.name, {}))
        found.append(replace(facts, settings=settings))
    return found


def _with_quotas(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with the quotas on clients that have records to read, where there are rates.

    Nobody tells which user a member is, and a quota of its user would come first.
    """
    if all(each.times is None for each in every):
        return list(every)
    try:
        quotas = client_quotas(admin)
    except KgroupsError as error:
        why = why_not(error.code, CLUSTER_CONFIGS, "2.6")
        return [_without(each, ["quotas"], why) for each in every]
    if any("user" in quota.entity for quota in quotas):
        return [_without(each, ["quotas"], QUOTAS_OF_USERS) for each in every]
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
    for client_id, rows in by_client.items():
        limit = limits.get(client_id, limits.get(None))
        late = [r for r in rows if not is_usual(r.lag, figures[r.topic, r.partition].rate_in)]
        read = sum(figures[row.topic, row.partition].rate_out or 0.0 for row in rows)
        first = next((row for row in late if row.lag and row.leader is not None), None)
        if limit is None or first is None or not read:
            continue
        at, leader = (first.topic, first.partition), first.leader or 0
        size = record_bytes(admin, leader, at, first.committed_offset or 0)
        if size is not None:
            brokers = len({row.leader for row in rows})
            yield MemberQuota(client_id, limit * brokers, read * size)


def _with_ages(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with how old the next records are of groups that fall behind."""
    late = {facts.name: _late_places(facts) for facts in every if any(falling_behind(facts))}
    places = {place for each in late.values() for place in each}
    if not places:
        return list(every)
    retentions = topic_retentions(admin, {topic for topic, *_ in places})
    places = {place for place in places if place[0] in retentions}
    ages_s = record_ages(admin, places, every[0].snapshot.captured_at_ms)
    return [
        replace(
            facts,
            ages={
                (topic, number): RecordAge(ages_s[topic, number, offset], retentions[topic])
                for topic, number, offset in late.get(facts.name, ())
                if (topic, number, offset) in ages_s
            },
        )
        for facts in every
    ]


def _late_places(facts: DoctorFacts) -> list[Place]:
    """Where the next records are of partitions that are not nearly read."""
    rates = dict(() if facts.times is None else facts.times.rows)
    return [
        (row.topic, row.partition, row.committed_offset)
        for row in facts.rows or ()
        if row.committed_offset is not None
        and (figures := rates.get((row.topic, row.partition))) is not None
        and not is_usual(row.lag, figures.rate_in)
    ]


def _with_deliveries(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with what became of records of the first few share groups."""
    shared = [facts.group for facts in every if facts.group.type == "share"][:MOST_SETTINGS]
    if not shared:
        return list(every)
    try:
        found = deliveries(admin, shared, every[0].snapshot.topics)
    except KgroupsError as error:
        return [_undelivered(each, error.message) for each in every]
    told = []
    for facts in every:
        rows = found.get(facts.name, [])
        code = next((row.error for row in rows if row.error is not None), None)
        if code is not None:
            facts = _undelivered(facts, why_not(code, f"READ on topic `{STATE_TOPIC}`", "4.1"))
        elif facts.name in found:
            facts = replace(facts, deliveries=rows)
        else:
            facts = _undelivered(facts, f"looked at for {MOST_SETTINGS} groups")
        told.append(facts)
    return told


def _undelivered(facts: DoctorFacts, why: str) -> DoctorFacts:
    """The facts of a share group without deliveries; others have none to miss."""
    if facts.group.type != "share":
        return facts
    return replace(_without(facts, ["deliveries"], why), deliveries=None)


def uncoordinated(admin: ClusterAdmin | None, snapshot: ClusterSnapshot) -> list[DoctorFacts]:
    """What is known of groups whose partition of `__consumer_offsets` has no leader."""
    code = "COORDINATOR_NOT_AVAILABLE"
    names = [each.target for each in snapshot.errors if each.code == code]
    if admin is None or not names:
        return []
    found: Mapping[str, tuple[int, OffsetsPartition]] = {}
    with suppress(KgroupsError):  # their failures are told all the same
        found = without_leader(admin, [name for name in names if name != OFFSETS_TOPIC])
    return [
        _without(
            DoctorFacts(
                snapshot,
                Group(name, "classic", None, offsets_partition=number),
                offsets_partition=own,
            ),
            get_args(Part),
            NO_COORDINATOR,
        )
        for name, (number, own) in found.items()
    ]


def with_orphans(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, every: Sequence[DoctorFacts]
) -> list[DoctorFacts]:
    """The facts, and those of names with configurations and without a group.

    Args:
        snapshot: of all groups.
    """
    try:
        named = configured_groups(admin)
    except KgroupsError as error:
        why = why_not(error.code or error.message, CLUSTER_CONFIGS, "4.1")
        return [replace(_without(each, ["own_settings"], why), own_settings=None) for each in every]
    known = {group.group for group in snapshot.groups} | {each.target for each in snapshot.errors}
    strange = [name for name in named if name not in known]
    if not strange:
        return list(every)
    looked = admin.snapshot(strange, log_offsets=False)  # some may only be hidden
    gone = [each.target for each in looked.errors if each.code == "GROUP_ID_NOT_FOUND"]
    return [*every, *(_orphan(admin, snapshot, name) for name in gone[:MOST_SETTINGS])]


def _orphan(admin: ClusterAdmin, snapshot: ClusterSnapshot, name: str) -> DoctorFacts:
    settings = group_settings(admin, name)
    own = [name for name, setting in settings.items() if setting.own is not None]
    group = Group(name, "consumer", "Dead", members=(), offsets={})
    return DoctorFacts(snapshot, group, rows=(), own_settings=own)


def why_not(code: str, right: str, since: str) -> str:
    """Why a question was not answered: the right that is missing, or the release it takes.

    Args:
        code: Kafka's error name.
        since: the first release of Kafka whose brokers answer it.
    """
    if code.endswith("_AUTHORIZATION_FAILED"):
        return f"requires {right}"
    return OLDER.format(since) if code == "UNSUPPORTED_VERSION" else code
