"""Findings of `kgroups doctor`: every code with its meaning, and what to do."""

from collections.abc import Mapping
from typing import Final

from kgroups.cli.meanings.meaning import Meaning

FINDING_CODES: Final[Mapping[str, tuple[str, str]]] = {
    "ASSIGNOR_CONFLICT": (
        "a rolling deploy changed the assignment strategy, and old and new have none in common: "
        "brokers refuse the new members until the last old one has left",
        "deploy twice: first with both strategies, the old one first; then without it",
    ),
    "COMMIT_BACKWARDS": (
        "commits were lower than those before, while members were there",
        "look for two consumers of one partition, a reset, or an application that seeks",
    ),
    "COORDINATOR_UNSTABLE": (
        "the group's coordinator moved while it was watched or by a broker's log, or often",
        "look at the brokers: one may restart again and again, or lose its session",
    ),
    "DATA_LOST": (
        "records expired before the group read them",
        "raise the topic's retention, or make the group faster; what is lost is lost",
    ),
    "FALLING_BEHIND": (
        "records are consumed more slowly than they are produced",
        "add members up to the number of partitions, or make processing faster",
    ),
    "GROUP_NEAR_LIMIT": (
        "the group has nine tenths of the members that its brokers allow, or more",
        "raise `group.max.size` or `group.consumer.max.size`, or start fewer members",
    ),
    "HANGING_TRANSACTION": (
        "a transaction is open for too long, and holds `read_committed` members back",
        "look at its producer; if it is gone for good: `kgroups transactions abort`",
    ),
    "HOT_PARTITION": (
        "nearly all of the group's lag is in one partition",
        "spread the keys of the producer, or find out why that member is slow",
    ),
    "IDLE_MEMBERS": (
        "members have no partitions: there are more of them than partitions",
        "remove them, or add partitions; as a reserve they do no harm",
    ),
    "INSTANCE_ID_CONFLICT": (
        "two members use one group.instance.id: each takes the other's place, and is fenced",
        "give each member an instance id of its own, such as the name of its pod",
    ),
    "LOCKS_EXHAUSTED": (
        "so many records of a share group's partition are in flight that no others are delivered",
        "look for a member that keeps the record at the start offset; "
        "`share.partition.max.record.locks` is the limit",
    ),
    "MIXED_APPLICATIONS": (
        "members subscribe to different topics, with none in common",
        "give each application a group of its own",
    ),
    "NEW_PARTITIONS_SKIPPED": (
        "a partition was added, and the group's first commit in it is behind its first record",
        "if its consumers begin at the end, reset the partition to `earliest` while they are "
        "stopped; `auto.offset.reset=by_duration:P1D` (Kafka 4.0) avoids it",
    ),
    "NO_CONSUMER": (
        "records wait and the group has no members",
        "start its consumers; if it is not needed any more, delete it",
    ),
    "OFFSETS_EXPIRING": (
        "brokers delete commits of the group within a day: nobody reads there any more",
        "start its consumers, or save the commits: `kgroups snapshot save FILE`",
    ),
    "OFFSETS_PENDING": (
        "an open transaction holds the group's own offsets, so members that start have to wait",
        "look at its producer; if it is gone for good: `kgroups transactions abort`",
    ),
    "ORPHAN_CONFIG": (
        "a name has configurations of its own and no group",
        "remove them, unless the group is still to come: `kgroups config GROUP --unset SETTING`",
    ),
    "PARTITIONS_UNAVAILABLE": (
        "partitions of its topics or of its commits have no leader, or too few replicas in sync",
        "look at the brokers: one may be down or slow",
    ),
    "PHANTOM_LAG": (
        "the lag has no records: they were compacted, or are the ends of transactions",
        "nothing: it is gone with the next record; let alarms look at lag in time",
    ),
    "REBALANCE_STORM": (
        "the group rebalances again and again without a deploy",
        "follow the cause: longer sessions, smaller polls, or static members",
    ),
    "REBALANCE_STUCK": (
        "the group was rebalancing all the time that it was watched",
        "look for a member that does not rejoin: it may be busy with a long poll",
    ),
    "RECORDS_ARCHIVED": (
        "a share group gave up on records: each was delivered as often as it may be",
        "find out why members fail on them; `errors.deadletterqueue.topic.name` (Kafka 4.4) keeps "
        "such records, a reset delivers them again",
    ),
    "SLOW_REVOCATION": (
        "a member does not give up partitions, and another one waits for them (KIP-848)",
        "look at that member: it commits and revokes only when it polls",
    ),
    "STALE_COMMITS": (
        "the group has commits, with lag, of topics that no member subscribes to",
        "delete them: `kgroups delete-offsets GROUP --topic TOPIC`",
    ),
    "STALLED_PARTITION": (
        "the commit stands still while records wait and a member owns the partition, or while "
        "member after member is lost at it",
        "look at the member's log: it may be stuck on the next record",
    ),
    "THROTTLED": (
        "a client reads about as many bytes as its quota allows, while records wait",
        "raise its quota: `kafka-configs.sh --alter --entity-type clients`",
    ),
    "TOPIC_MISSING": (
        "a topic that the group reads or has committed does not exist",
        "create it, or delete the commits",
    ),
}

FINDINGS: Final = tuple(
    Meaning(code, "finding", text, to_do) for code, (text, to_do) in FINDING_CODES.items()
)
