"""Writes through librdkafka: commits, deletion of records, and what has to be known before them.

Its Python client has no call that deletes commits or removes members: those are refused. It writes
the metadata of a commit with a NUL behind it, so metadata are left out. What may be tried again is,
until the question's time is over. Every partition has its own answer: a call that succeeded may
hold partitions that did not.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from confluent_kafka import ConsumerGroupTopicPartitions, TopicCollection
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from kgroups.core.kafka.failures import BrokerFailure, may_repeat
from kgroups.core.kafka.librdkafka.fallback import LibrdkafkaClient
from kgroups.core.kafka.reads.log_bounds import TopicListing
from kgroups.core.snapshot import CommittedOffset, TopicPartition
from kgroups.core.uuids import uuid_text

Failure = str | BrokerFailure | None
Commits = Mapping[TopicPartition, CommittedOffset | None]

AT_ONCE = 256
_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.05, 1.0
_NO_DELETION = BrokerFailure(
    "UNSUPPORTED_VERSION",
    "librdkafka's client for Python cannot delete commits",
    hint="a connection of our own can: PLAINTEXT, TLS, SASL PLAIN or SCRAM",
)


def write_commits(
    client: LibrdkafkaClient, groups: Mapping[str, Commits]
) -> dict[str, dict[TopicPartition, Failure]]:
    """What became of each partition of each group.

    Args:
        client: the cluster.
        groups: group to partition to its new commit; None would delete the commit, and fails.
    Raises:
        BrokerFailure: the cluster cannot be asked.
    """
    client.begin()
    found: dict[str, dict[TopicPartition, Failure]] = {
        group: {at: _NO_DELETION for at, commit in commits.items() if commit is None}
        for group, commits in groups.items()
    }
    left = {
        group: {at: commit for at, commit in commits.items() if commit is not None}
        for group, commits in groups.items()
    }
    pause_s = _FIRST_PAUSE_S
    while True:
        left = {group: commits for group, commits in left.items() if commits}
        names = list(left)
        for start in range(0, len(names), AT_ONCE):
            batch = names[start : start + AT_ONCE]
            futures = {group: _alter(client, group, left[group]) for group in batch}
            for group, future in futures.items():
                answers = _commit_answers(client, future, left[group])
                found[group] |= answers
                left[group] = {
                    at: commit for at, commit in left[group].items() if may_repeat(answers[at])
                }
        if not any(left.values()) or client.left_s() <= pause_s:
            return found
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, _LAST_PAUSE_S)


def _alter(
    client: LibrdkafkaClient, group: str, commits: Mapping[TopicPartition, CommittedOffset]
) -> Any:
    """The future of one group's commits."""
    rows = []
    for (topic, number), commit in commits.items():
        epoch: dict[str, Any] = {}
        if commit.leader_epoch is not None:
            epoch["leader_epoch"] = commit.leader_epoch
        rows.append(ConfluentPartition(topic, number, commit.offset, **epoch))
    wanted = [ConsumerGroupTopicPartitions(group, rows)]
    return client.admin.alter_consumer_group_offsets(wanted, request_timeout=client.left_s())[group]


def _commit_answers(
    client: LibrdkafkaClient, future: Any, commits: Mapping[TopicPartition, CommittedOffset]
) -> dict[TopicPartition, Failure]:
    try:
        rows = client.wait(future).topic_partitions
    except BrokerFailure as failure:
        if failure.code == "UNKNOWN_MEMBER_ID":
            return dict.fromkeys(commits, failure.code)
        return dict.fromkeys(commits, failure)
    answers: dict[TopicPartition, Failure] = dict.fromkeys(commits, "NETWORK_EXCEPTION")
    for row in rows:
        failed = row.error is not None
        answers[row.topic, row.partition] = client.failure_of(row.error).code if failed else None
    return answers


def delete_records(
    client: LibrdkafkaClient, before: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | str]:
    """The new start of each partition's log, or an error name.

    Args:
        client: the cluster.
        before: first offset to keep; -1 for the end of the log.
    Raises:
        BrokerFailure: the cluster cannot be asked.
    """
    client.begin()
    found: dict[TopicPartition, int | str] = {}
    known = client.topics_named({topic for topic, _ in before})
    wanted = []
    for (topic, number), offset in before.items():
        if topic in known and number in known[topic].partitions:
            wanted.append(ConfluentPartition(topic, number, offset))
        else:
            found[topic, number] = "UNKNOWN_TOPIC_OR_PARTITION"
    futures = client.admin.delete_records(wanted, request_timeout=client.left_s()) if wanted else {}
    for at, future in futures.items():
        try:
            found[at.topic, at.partition] = int(client.wait(future).low_watermark)
        except BrokerFailure as failure:
            found[at.topic, at.partition] = failure.code
    return found


def topics_with_bounds(client: LibrdkafkaClient, names: Sequence[str]) -> TopicListing:
    """Those of the topics that exist, with their ids and start and end of each partition's log.

    Raises:
        BrokerFailure: the cluster cannot be asked.
    """
    topics, failures = client.topic_listing(names)
    ids = _topic_ids(client, list(topics))
    topics = {name: replace(topic, topic_id=ids.get(name)) for name, topic in topics.items()}
    return TopicListing(client.with_bounds(topics, "read_uncommitted"), failures)


def _topic_ids(client: LibrdkafkaClient, names: Sequence[str]) -> dict[str, str]:
    """The ids of topics; brokers before 2.8 have none, and who may not describe one learns none."""
    if not names:
        return {}
    futures = client.admin.describe_topics(
        TopicCollection(list(names)), request_timeout=client.left_s()
    )
    found: dict[str, str] = {}
    for name, future in futures.items():
        try:
            given = client.wait(future).topic_id
        except BrokerFailure:
            continue
        high, low = given.get_most_significant_bits(), given.get_least_significant_bits()
        number = (high % 2**64 << 64) | low % 2**64
        if number:
            found[name] = uuid_text(UUID(int=number))
    return found


def offsets_at(
    client: LibrdkafkaClient, times: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int | str | None]:
    """The first offset of each partition that is not older than its time, or an error name.

    Args:
        client: the cluster.
        times: epoch milliseconds, by partition.
    Raises:
        BrokerFailure: the cluster cannot be asked.
    """
    client.begin()
    spec: Any = OffsetSpec
    wanted = {ConfluentPartition(*at): spec.for_timestamp(time_ms) for at, time_ms in times.items()}
    futures = client.admin.list_offsets(wanted, request_timeout=client.left_s()) if wanted else {}
    found: dict[TopicPartition, int | str | None] = {}
    for at, future in futures.items():
        try:
            offset = client.wait(future).offset
            found[at.topic, at.partition] = None if offset < 0 else int(offset)
        except BrokerFailure as failure:
            found[at.topic, at.partition] = failure.code
    return found
