"""Facts of `kgroups doctor` on the cluster around groups: a few requests for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from typing import Final, get_args

from kgroups.cli.commands.doctor.record_lookups import (
    CLUSTER_CONFIGS,
    why_not,
    with_ages,
    with_gaps,
    with_quotas,
)
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.deliveries import STATE_TOPIC
from kgroups.core.doctor.cluster_facts import (
    GroupSettings,
    OffsetsPartition,
    PendingOffsets,
)
from kgroups.core.doctor.detectors.transactions import holds_back, judged
from kgroups.core.doctor.facts import DoctorFacts, Part
from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.broker_settings import BrokerSettings, broker_settings
from kgroups.core.kafka.lookups.group_settings import configured_groups, settings_of_groups
from kgroups.core.kafka.lookups.offsets_partitions import offsets_partitions, without_leader
from kgroups.core.kafka.lookups.open_transactions import open_transactions
from kgroups.core.kafka.lookups.pending_offsets import pending_offsets
from kgroups.core.kafka.lookups.share_state import deliveries
from kgroups.core.offsets.group_settings import Setting
from kgroups.core.open_transactions import Transactions
from kgroups.core.snapshot import ClusterSnapshot, Group, TopicPartition

NO_COORDINATOR: Final = "the group has no coordinator"
NO_CLUSTER: Final = "a snapshot file does not record it"
TRANSACTIONAL_IDS: Final = "requires DESCRIBE on the transactional id"
ELECTIONS_MS: Final = 3_600_000
"""How far back elections of coordinators are counted."""
SIZES: Final = {
    "classic": "group.max.size",
    "consumer": "group.consumer.max.size",
    "share": "group.share.max.size",
}
MOST_SETTINGS: Final = 100
"""Groups whose own settings are read, with one request per coordinator."""
MOST_SHARE_GROUPS: Final = 20
"""Share groups whose deliveries are read."""

Step = Callable[[ClusterAdmin, Sequence[DoctorFacts]], list[DoctorFacts]]


def look_around(
    admin: ClusterAdmin | None, every: Sequence[DoctorFacts], progress: Callable[[str], None]
) -> list[DoctorFacts]:
    """The facts with what the cluster tells; what it does not tell is `missing`, and why."""
    steps: tuple[tuple[str, Step, tuple[Part, ...]], ...] = (
        ("transactions", _with_transactions, ("transactions", "pending", "offsets_partition")),
        ("settings", _with_settings, ("settings",)),
        ("quotas", with_quotas, ("quotas",)),
        ("retention", with_ages, ("retention",)),
        ("gaps", with_gaps, ()),
        ("deliveries", _with_deliveries, ()),
    )
    if admin is None:
        around = [part for *_, parts in steps for part in parts]
        return [_undelivered(each.without(around, NO_CLUSTER), NO_CLUSTER) for each in every]
    for what, step, parts in steps:
        progress(f"looking at {what}")
        try:
            every = step(admin, every)
        except KgroupsError as error:  # the rest is examined all the same
            every = [each.without(parts, error.message) for each in every]
    return list(every)


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
        return facts.without(["offsets_partition"], why_not(logs, right, "2.1"))
    own = logs.get(_place(facts)[1])
    why = "the group's partition of `__consumer_offsets` is not known"
    if own is None:
        return facts.without(["offsets_partition"], why)
    return replace(facts, offsets_partition=own)


def _held(facts: DoctorFacts) -> set[TopicPartition]:
    return {(row.topic, row.partition) for row in facts.rows or () if holds_back(facts, row)}


def _place(facts: DoctorFacts) -> TopicPartition:
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


def _among(places: Set[TopicPartition], found: Transactions) -> Transactions:
    """The transactions that are open in some of these partitions."""
    those = (one for one in found.open if not places.isdisjoint(held.at for held in one.partitions))
    return replace(found, open=tuple(those))


def _is_untold(facts: DoctorFacts, found: Transactions) -> bool:
    """Whether there are only transactions whose age says nothing, as coordinators hide some."""
    at_ms = facts.snapshot.captured_at_ms
    says_nothing = all(judged(one, at_ms, is_sure=False) is None for one in found.open)
    return says_nothing and not all(one.is_known for one in found.open)


def _with_settings(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with what coordinators are set to, and what groups have of their own."""
    brokers = {facts.group.coordinator for facts in every} - {None}
    asked = [broker for broker in brokers if broker is not None]
    told = broker_settings(admin, asked, list(SIZES.values())) if asked else {}
    modern = [facts.name for facts in every if facts.group.type == "consumer"]
    own: Mapping[str, Mapping[str, Setting]] = {}
    with suppress(KgroupsError):  # facts to show, no more
        own = _settings(admin, modern[:MOST_SETTINGS])
    found = []
    for facts in every:
        answer = told.get(facts.group.coordinator or 0, BrokerSettings({}, "NOT_COORDINATOR"))
        if answer.failure is not None:
            why = why_not(answer.failure, CLUSTER_CONFIGS, "0.11")
            found.append(facts.without(["settings"], why))
            continue
        name = SIZES[facts.group.type]
        size = answer.values.get(name, "")
        most = int(size) if size.isdecimal() else None
        settings = GroupSettings(most, name, own.get(facts.name, {}))
        found.append(replace(facts, settings=settings))
    return found


def _with_deliveries(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with what became of records of the first few share groups."""
    shared = [facts.group for facts in every if facts.group.type == "share"][:MOST_SHARE_GROUPS]
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
            facts = _undelivered(facts, f"looked at for {MOST_SHARE_GROUPS} groups")
        told.append(facts)
    return told


def _undelivered(facts: DoctorFacts, why: str) -> DoctorFacts:
    """The facts of a share group without deliveries; others have none to miss."""
    if facts.group.type != "share":
        return facts
    return replace(facts.without(["deliveries"], why), deliveries=None)


def uncoordinated(admin: ClusterAdmin | None, snapshot: ClusterSnapshot) -> list[DoctorFacts]:
    """Facts about groups whose partition of `__consumer_offsets` has no leader."""
    code = "COORDINATOR_NOT_AVAILABLE"
    names = [each.target for each in snapshot.errors if each.code == code]
    if admin is None or not names:
        return []
    found: Mapping[str, tuple[int, OffsetsPartition]] = {}
    with suppress(KgroupsError):  # their failures are told all the same
        found = without_leader(admin, [name for name in names if name != OFFSETS_TOPIC])
    return [
        DoctorFacts(
            snapshot,
            Group(name, "classic", None, offsets_partition=number),
            offsets_partition=own,
        ).without(get_args(Part), NO_COORDINATOR)
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
        return [replace(each.without(["own_settings"], why), own_settings=None) for each in every]
    known = {group.group for group in snapshot.groups} | {each.target for each in snapshot.errors}
    strange = [name for name in named if name not in known]
    if not strange:
        return list(every)
    looked = admin.snapshot(strange, log_offsets=False)  # some may only be hidden
    gone = [each.target for each in looked.errors if each.code == "GROUP_ID_NOT_FOUND"]
    told = _settings(admin, gone[:MOST_SETTINGS])
    return [*every, *(_orphan(snapshot, name, settings) for name, settings in told.items())]


def _settings(admin: ClusterAdmin, groups: Sequence[str]) -> dict[str, Mapping[str, Setting]]:
    """Configurations of groups whose coordinator tells them, by name."""
    told = settings_of_groups(admin, groups)
    return {group: own for group, own in told.items() if not isinstance(own, BrokerFailure)}


def _orphan(snapshot: ClusterSnapshot, name: str, settings: Mapping[str, Setting]) -> DoctorFacts:
    own = [name for name, setting in settings.items() if setting.own is not None]
    group = Group(name, "consumer", "Dead", members=(), offsets={})
    return DoctorFacts(snapshot, group, rows=(), own_settings=own)
