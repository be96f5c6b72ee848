"""What `kgroups doctor` learns of the cluster around groups: a few requests for all of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.doctor import cluster_facts
from kgroups.core.doctor.cluster_facts import PendingOffsets
from kgroups.core.doctor.detectors.transactions import holds_back
from kgroups.core.doctor.facts import DoctorFacts, Part
from kgroups.core.errors import ClusterError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_partitions import offsets_partitions
from kgroups.core.kafka.lookups.pending_offsets import pending_offsets
from kgroups.core.kafka.lookups.transactions import Transactions, open_transactions
from kgroups.core.snapshot import PartitionLog, TopicPartition

AROUND: Final[tuple[Part, ...]] = ("transactions", "pending")
NO_CLUSTER: Final = "a snapshot file does not record it"
OLDER: Final = "requires brokers of Kafka {} or later"


def look_around(
    admin: ClusterAdmin | None, every: Sequence[DoctorFacts], progress: Callable[[str], None]
) -> list[DoctorFacts]:
    """The facts with what the cluster tells; what it does not tell is `missing`, and why."""
    if admin is None:
        return [replace(each, missing=dict.fromkeys(AROUND, NO_CLUSTER)) for each in every]
    progress("looking at transactions")
    try:
        return _with_transactions(admin, every)
    except ClusterError as error:  # the rest is examined all the same
        return [replace(each, missing=dict.fromkeys(AROUND, error.message)) for each in every]


def _with_transactions(admin: ClusterAdmin, every: Sequence[DoctorFacts]) -> list[DoctorFacts]:
    """The facts with open transactions on partitions, and on the groups' own offsets.

    Raises:
        ClusterError: the cluster cannot be asked.
    """
    own = {facts.group.offsets_partition for facts in every} - {None}
    logs = offsets_partitions(admin, {number for number in own if number is not None})
    held = {facts.name: _held(facts) for facts in every}
    pending = pending_offsets(admin, dict(_doubtful(every, logs)))
    places = {at for each in held.values() for at in each}
    places |= {_place(facts) for facts in every if pending.get(facts.name)}
    found = open_transactions(admin, places)
    return [_joined(facts, held[facts.name], pending.get(facts.name), found) for facts in every]


def _held(facts: DoctorFacts) -> set[TopicPartition]:
    return {(row.topic, row.partition) for row in facts.rows or () if holds_back(facts, row)}


def _place(facts: DoctorFacts) -> TopicPartition:
    """Where the group's own offsets are."""
    return OFFSETS_TOPIC, facts.group.offsets_partition or 0


def _doubtful(
    every: Sequence[DoctorFacts], logs: Mapping[int, PartitionLog] | str
) -> Iterator[tuple[str, list[TopicPartition]]]:
    """Groups on whose partitions of the topic a transaction is open, and what they read.

    Where the topic may not be described, that is every group.
    """
    for facts in every:
        number = facts.group.offsets_partition
        log = None if isinstance(logs, str) or number is None else logs.get(number)
        is_whole = log is not None and log.last_stable_offset == log.log_end_offset
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
    holding = PendingOffsets(frozenset())
    if isinstance(pending, str):
        missing["pending"] = why_not(pending, "DESCRIBE on the group", "2.5")
    elif pending and place in found.failures:
        missing["pending"] = why_not(found.failures[place], f"READ on topic `{place[0]}`", "2.8")
    elif pending:
        holding = PendingOffsets(frozenset(pending), _among({place}, found))
    return replace(
        facts,
        transactions=None if "transactions" in missing else _among(held, found),
        pending=None if "pending" in missing else holding,
        missing={**facts.missing, **missing},
    )


def _among(places: Set[TopicPartition], found: Transactions) -> cluster_facts.Transactions:
    """The transactions that are open in some of these partitions."""
    those = [one for one in found.open if not places.isdisjoint(held.at for held in one.partitions)]
    return cluster_facts.Transactions(those, not found.unlisted)


def why_not(code: str, right: str, since: str) -> str:
    """Why a question was not answered: the right that is missing, or the release it takes.

    Args:
        code: Kafka's error name.
        since: the first release of Kafka whose brokers answer it.
    """
    if code.endswith("_AUTHORIZATION_FAILED"):
        return f"requires {right}"
    return OLDER.format(since) if code == "UNSUPPORTED_VERSION" else code
