"""Reads through librdkafka.

librdkafka asks group by group and does not hand out everything: subscriptions, KIP-848 epochs and
states, share and streams groups, the bytes of the last join, the metadata of commits. Those are
None or empty here.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from confluent_kafka import (
    ConsumerGroupState,
    ConsumerGroupTopicPartitions,
    ConsumerGroupType,
    IsolationLevel,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from kgroups.core.coordinator.placement import OFFSETS_TOPIC, offsets_partition
from kgroups.core.errors import ItemError, counted
from kgroups.core.kafka.answers import (
    GroupListing,
    Isolation,
    Placement,
    SnapshotScope,
    no_offsets_topic,
)
from kgroups.core.kafka.failures import BrokerFailure, item_error
from kgroups.core.kafka.librdkafka.librdkafka_session import LibrdkafkaSession
from kgroups.core.kafka.reads.by_leader import TopicListing
from kgroups.core.kafka.reads.group_listing import topics_of
from kgroups.core.snapshot import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    PartitionLog,
    Topic,
)
from kgroups.core.uuids import uuid_text

_STATES: dict[ConsumerGroupState, str | None] = {
    ConsumerGroupState.STABLE: "Stable",
    ConsumerGroupState.EMPTY: "Empty",
    ConsumerGroupState.DEAD: "Dead",
    ConsumerGroupState.PREPARING_REBALANCING: "PreparingRebalance",
    ConsumerGroupState.COMPLETING_REBALANCING: "CompletingRebalance",
}
"""Others (Assigning, Reconciling) it does not know."""

_AT_ONCE = 256
"""Requests under way together: enough to hide the round trips, few enough for one broker."""

Partitions = dict[tuple[str, int], Any]


class LibrdkafkaReads(LibrdkafkaSession):
    """Reads from a cluster; arguments as of a session.

    Every question raises BrokerFailure where the cluster cannot be asked.
    """

    def list_groups(self) -> GroupListing:
        """Every consumer group of the cluster."""
        self.begin()
        answer = self.wait(self.admin.list_consumer_groups(request_timeout=self.left_s()))
        groups = tuple(
            Group(
                group=item.group_id,
                type=_type_of(item.type),
                state=_STATES.get(item.state),
                protocol_type="" if item.is_simple_consumer_group else "consumer",
            )
            for item in sorted(answer.valid, key=lambda item: str(item.group_id))
        )
        errors = tuple(item_error("a broker", self.failure_of(error)) for error in answer.errors)
        return GroupListing(groups, self._brokers, self._cluster_id, errors)

    def topics(self) -> tuple[str, ...]:
        """Names of all topics, ascending."""
        return tuple(sorted(self._metadata().topics))

    def hidden(self, groups: Sequence[str]) -> tuple[ItemError, ...]:
        """Those of the groups that may not be looked at, whether they exist or not."""
        self.begin()
        errors: list[ItemError] = []
        if OFFSETS_TOPIC in self._metadata().topics:
            self.describe(list(dict.fromkeys(groups)), errors)
        return tuple(error for error in errors if error.code == "GROUP_AUTHORIZATION_FAILED")

    def place(self, groups: Sequence[str]) -> Placement:
        """Where these groups live, by their names; nothing is created for it."""
        self.begin()
        topic = self._metadata().topics.get(OFFSETS_TOPIC)
        brokers = {broker.id: broker for broker in self._brokers}
        leaders: dict[str, Broker] = {}
        errors: list[ItemError] = []
        for name in dict.fromkeys(groups):
            if topic is None:
                errors.append(no_offsets_topic(name))
                continue
            number = offsets_partition(name, len(topic.partitions))
            leader = brokers.get(topic.partitions[number].leader)
            if leader is None:
                errors.append(item_error(name, "COORDINATOR_NOT_AVAILABLE"))
            else:
                leaders[name] = leader
        return Placement(
            partitions=self._offsets_partitions or None,
            coordinators=leaders,
            cluster_id=self._cluster_id,
            bootstrap=self._settings.bootstrap_servers,
            errors=tuple(errors),
        )

    def snapshot(self, groups: Sequence[str] | None, scope: SnapshotScope) -> ClusterSnapshot:
        """Groups (None: all), what they committed, and the bounds of what they read."""
        errors: list[ItemError] = []
        if groups is None:
            listing = self.list_groups()
            names = [group.group for group in listing.groups]
            errors += listing.errors
        else:
            self.begin()
            names = sorted(set(groups))
        scope.progress(f"describing {counted(len(names), 'group')}")
        described = self.describe(names, errors)
        if not scope.members:
            described = [replace(group, members=None) for group in described]
        if scope.offsets:
            described = self._with_commits(described, errors)
        topics: dict[str, Topic] = {}
        if scope.offsets or scope.members:
            wanted = topics_of(described)
            if scope.more_topics is not None:
                wanted |= {name for name in self._metadata().topics if scope.more_topics(name)}
            scope.progress(f"reading offsets of {len(wanted):,} topics")
            topics = self.topics_named(wanted)
            if scope.log_offsets:
                topics = self.with_bounds(topics, scope.isolation)
                errors += [
                    item_error(f"{topic.topic}-{number}", log.error)
                    for topic in topics.values()
                    for number, log in topic.partitions.items()
                    if log.error is not None
                ]
        return ClusterSnapshot(
            captured_at_ms=time.time_ns() // 1_000_000,
            groups=tuple(described),
            topics=topics,
            brokers=self._brokers,
            cluster_id=self._cluster_id,
            bootstrap=self._settings.bootstrap_servers,
            errors=tuple(errors),
        )

    def describe(self, names: Sequence[str], errors: list[ItemError]) -> list[Group]:
        """Those of the groups that exist, with their members; the others go to `errors`."""
        if not names:
            return []
        futures = self.admin.describe_consumer_groups(list(names), request_timeout=self.left_s())
        groups: list[Group] = []
        for name in names:
            try:
                item = self.wait(futures[name])
            except BrokerFailure as failure:
                errors.append(item_error(name, failure))
                continue
            if item.state == ConsumerGroupState.DEAD:
                errors.append(item_error(name, "GROUP_ID_NOT_FOUND"))
                continue
            groups.append(self._located(_group_of(item)))
        return groups

    def _with_commits(self, groups: list[Group], errors: list[ItemError]) -> list[Group]:
        """The groups with their offsets: one request each, many under way at once.

        The metadata of a commit is left alone: the Python binding reads it past its end.
        """
        done: list[Group] = []
        for start in range(0, len(groups), _AT_ONCE):
            part = groups[start : start + _AT_ONCE]
            futures = [
                self.admin.list_consumer_group_offsets(
                    [ConsumerGroupTopicPartitions(group.group)], request_timeout=self.left_s()
                )[group.group]
                for group in part
            ]
            for group, future in zip(part, futures, strict=True):
                try:
                    answer = self.wait(future)
                except BrokerFailure as failure:
                    errors.append(item_error(group.group, failure))
                    done.append(group)
                    continue
                offsets: dict[str, dict[int, CommittedOffset]] = {}
                for item in sorted(
                    answer.topic_partitions, key=lambda entry: (entry.topic, entry.partition)
                ):
                    if item.error is not None:
                        target = f"{group.group} {item.topic}-{item.partition}"
                        errors.append(item_error(target, self.failure_of(item.error)))
                    elif item.offset >= 0:
                        offsets.setdefault(item.topic, {})[item.partition] = CommittedOffset(
                            item.offset, item.leader_epoch
                        )
                done.append(replace(group, offsets=offsets))
        return done

    def topic_listing(self, names: Sequence[str]) -> TopicListing:
        """Those of the topics that exist, and why the brokers do not tell us about others.

        Brokers before 2.8 have no topic ids, and who may not describe a topic learns none.
        """
        self.begin()
        topics = self.topics_named(set(names))
        failures: dict[str, str] = {}
        wanted = TopicCollection(sorted(set(names)))
        futures = self.admin.describe_topics(wanted, request_timeout=self.left_s()) if names else {}
        for name, future in futures.items():
            try:
                topic_id = _id_of(self.wait(future).topic_id)
            except BrokerFailure as failure:
                if name not in topics and failure.code != "UNKNOWN_TOPIC_OR_PARTITION":
                    failures[name] = failure.code
                continue
            if name in topics:
                topics[name] = replace(topics[name], topic_id=topic_id)
        return TopicListing(topics, failures)

    def topics_named(self, wanted: set[str]) -> dict[str, Topic]:
        """The topics that exist, without offsets."""
        listed = self._metadata().topics
        topics: dict[str, Topic] = {}
        for name in sorted(wanted):
            item = listed.get(name)
            if item is None or item.error is not None:
                continue
            topics[name] = Topic(
                name,
                {
                    number: PartitionLog(leader=None, error="LEADER_NOT_AVAILABLE")
                    if partition.leader < 0
                    else PartitionLog(
                        leader=partition.leader, in_sync_replicas=tuple(partition.isrs)
                    )
                    for number, partition in sorted(item.partitions.items())
                },
            )
        return topics

    def with_bounds(self, topics: Mapping[str, Topic], isolation: Isolation) -> dict[str, Topic]:
        """The topics with the bounds of each log that has a leader."""
        asked = [
            TopicPartition(name, number)
            for name, topic in topics.items()
            for number, log in topic.partitions.items()
            if log.leader is not None
        ]
        offset_spec: Any = OffsetSpec
        uncommitted = IsolationLevel.READ_UNCOMMITTED
        questions = {
            "log_start_offset": (offset_spec.earliest(), uncommitted),
            "log_end_offset": (offset_spec.latest(), uncommitted),
        }
        if isolation == "read_committed":
            questions["last_stable_offset"] = (offset_spec.latest(), IsolationLevel.READ_COMMITTED)
        logs: Partitions = {
            (name, number): log
            for name, topic in topics.items()
            for number, log in topic.partitions.items()
        }
        for field, (spec, level) in questions.items():
            for at, offset in self.offsets_of(dict.fromkeys(asked, spec), level).items():
                logs[at] = logs[at]._replace(
                    **{"error" if isinstance(offset, str) else field: offset}
                )
        return {
            name: replace(
                topic, partitions={number: logs[name, number] for number in topic.partitions}
            )
            for name, topic in topics.items()
        }

    def offsets_of(
        self,
        wanted: Mapping[TopicPartition, Any],
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
    ) -> dict[tuple[str, int], int | str]:
        """The offset of each partition by its spec, or an error name."""
        offsets: dict[tuple[str, int], int | str] = {}
        if not wanted:
            return offsets
        futures = self.admin.list_offsets(
            dict(wanted), isolation_level=isolation, request_timeout=self.left_s()
        )
        for at, future in futures.items():
            try:
                offsets[at.topic, at.partition] = int(self.wait(future).offset)
            except BrokerFailure as failure:
                offsets[at.topic, at.partition] = failure.code
        return offsets

    def _located(self, group: Group) -> Group:
        if not self._offsets_partitions:
            return group
        return replace(
            group, offsets_partition=offsets_partition(group.group, self._offsets_partitions)
        )


def _id_of(given: Any) -> str | None:
    high, low = given.get_most_significant_bits(), given.get_least_significant_bits()
    number = (high % 2**64 << 64) | low % 2**64
    return uuid_text(UUID(int=number)) if number else None


def _type_of(kind: Any) -> GroupType:
    """The group's type; what librdkafka does not know reads as classic."""
    return "consumer" if kind == ConsumerGroupType.CONSUMER else "classic"


def _group_of(item: Any) -> Group:
    """The group in an answer of `describe_consumer_groups`."""
    coordinator = item.coordinator
    return Group(
        group=item.group_id,
        type=_type_of(item.type),
        state=_STATES.get(item.state),
        protocol_type="" if item.is_simple_consumer_group else "consumer",
        assignor=item.partition_assignor or None,
        coordinator=coordinator.id if coordinator is not None else None,
        members=tuple(_member_of(member, _type_of(item.type)) for member in item.members),
    )


def _member_of(item: Any, kind: GroupType) -> Member:
    target = item.target_assignment
    return Member(
        member_id=item.member_id,
        client_id=item.client_id,
        host=item.host,
        instance_id=item.group_instance_id,
        member_protocol="consumer" if kind == "consumer" else "classic",
        assignment=_assignment_of(item.assignment),
        target_assignment=None if target is None else _assignment_of(target),
    )


def _assignment_of(item: Any) -> dict[str, tuple[int, ...]]:
    partitions: dict[str, tuple[int, ...]] = {}
    for entry in item.topic_partitions:
        partitions[entry.topic] = (*partitions.get(entry.topic, ()), entry.partition)
    return partitions
