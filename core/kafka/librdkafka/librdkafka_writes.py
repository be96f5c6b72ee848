"""Writes through librdkafka: commits, deletion of records, and what has to be known before them.

Its Python client has no call that deletes commits or removes members: those are refused. It writes
the metadata of a commit with a NUL behind it, so metadata are left out. What may be tried again is,
until the question's time is over. Every partition has its own answer: a call that succeeded may
hold partitions that did not. BrokerFailure: the cluster cannot be asked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from kgroups.core.errors import ItemError
from kgroups.core.kafka.answers import Outcome, SnapshotScope
from kgroups.core.kafka.deadline import Attempts
from kgroups.core.kafka.doubts import WRITING, Doubts, Failure
from kgroups.core.kafka.failures import OWN_CLIENT, UNHEARD, BrokerFailure, Lost, may_repeat
from kgroups.core.kafka.librdkafka.librdkafka_reads import LibrdkafkaReads
from kgroups.core.kafka.reads.by_leader import TopicListing
from kgroups.core.offsets.change import Key
from kgroups.core.offsets.read_back import Held
from kgroups.core.offsets.result import Doubt, result_of
from kgroups.core.snapshot import CommittedOffset, TopicPartition

Commits = Mapping[TopicPartition, CommittedOffset | None]

AT_ONCE = 256
_NO_DELETION = BrokerFailure(
    "UNSUPPORTED_VERSION",
    "deleting committed offsets is not supported through librdkafka",
    hint=OWN_CLIENT,
)


class LibrdkafkaClient(LibrdkafkaReads):
    """A cluster asked, and written to, through librdkafka; arguments as of a session."""

    def write_commits(
        self, groups: Mapping[str, Commits], doubts: Doubts[Key]
    ) -> dict[str, dict[TopicPartition, Failure]]:
        """Outcome for each partition of each group.

        Args:
            groups: group to partition to its new commit; None would delete the commit, and fails.
            doubts: told of what may have been written without an answer.
        """
        self.check_write()
        self.begin()
        failures: dict[str, dict[TopicPartition, Failure]] = {
            group: {at: _NO_DELETION for at, commit in commits.items() if commit is None}
            for group, commits in groups.items()
        }
        left = {
            group: {at: commit for at, commit in commits.items() if commit is not None}
            for group, commits in groups.items()
        }
        for _ in Attempts(self.deadline, whole=True):
            left = {group: commits for group, commits in left.items() if commits}
            names = list(left)
            for start in range(0, len(names), AT_ONCE):
                batch = names[start : start + AT_ONCE]
                futures = {group: self._alter(group, left[group]) for group in batch}
                for group, future in futures.items():
                    answers = self._commit_answers(future, left[group])
                    failures[group] |= answers
                    for (topic, number), why in answers.items():
                        doubts.note((group, topic, number), why)
                    left[group] = {
                        at: commit for at, commit in left[group].items() if may_repeat(answers[at])
                    }
            if not any(left.values()):
                break
        return failures

    def _alter(self, group: str, commits: Mapping[TopicPartition, CommittedOffset]) -> Any:
        """The future of one group's commits."""
        rows = []
        for (topic, number), commit in commits.items():
            epoch: dict[str, Any] = {}
            if commit.leader_epoch is not None:
                epoch["leader_epoch"] = commit.leader_epoch
            rows.append(ConfluentPartition(topic, number, commit.offset, **epoch))
        wanted = [ConsumerGroupTopicPartitions(group, rows)]
        return self.admin.alter_consumer_group_offsets(wanted, request_timeout=self.left_s())[group]

    def _commit_answers(
        self, future: Any, commits: Mapping[TopicPartition, CommittedOffset]
    ) -> dict[TopicPartition, Failure]:
        try:
            rows = self.wait(future).topic_partitions
        except BrokerFailure as failure:
            return dict.fromkeys(commits, _sent(failure))
        answers: dict[TopicPartition, Failure] = dict.fromkeys(commits, Lost("NETWORK_EXCEPTION"))
        for row in rows:
            failed = row.error is not None
            answers[row.topic, row.partition] = self.failure_of(row.error).code if failed else None
        return answers

    def held(self, groups: Sequence[str]) -> dict[str, Held | None]:
        """Commits of each group now; None where they cannot be learned."""
        looked = self.snapshot(groups, SnapshotScope(members=False, log_offsets=False))
        held: dict[str, Held | None] = dict.fromkeys(groups)
        held |= {error.target: {} for error in looked.errors if error.code == "GROUP_ID_NOT_FOUND"}
        held |= {group.group: group.offsets for group in looked.groups}
        named = set(groups)
        partly = {e.target.rpartition(" ")[0] for e in looked.errors if e.target not in named}
        return held | dict.fromkeys(partly & named)

    def delete_groups(self, groups: Sequence[str]) -> tuple[Outcome, ...]:
        """Outcome for each group, in the order given; a group named twice is deleted once."""
        self.check_write()
        self.begin()
        names = list(dict.fromkeys(groups))
        valid = [name for name in names if name]
        limit_s = WRITING * self.left_s()
        futures = self.admin.delete_consumer_groups(valid, request_timeout=limit_s) if valid else {}
        errors: dict[str, ItemError | None] = {}
        doubts: Doubts[str] = Doubts()
        for name in names:
            failure: Failure = None if name in futures else "GROUP_ID_NOT_FOUND"
            try:
                if name in futures:
                    self.wait(futures[name])
            except BrokerFailure as refused:
                failure = _sent(refused)
                doubts.note(name, failure)
            errors[name] = doubts.error(name, name, failure)
        doubtful = {name: error for name, error in errors.items() if isinstance(error, Doubt)}
        missing: list[ItemError] = []
        # A client without an answer may be stuck, or be backing off.
        looking = self.fresh() if doubtful else self
        for group in looking.describe(list(doubtful), missing):
            errors[group.group] = doubtful[group.group].refuted
        errors |= {error.target: None for error in missing if error.code == "GROUP_ID_NOT_FOUND"}
        return tuple(Outcome(name, result_of(errors[name]), errors[name]) for name in names)

    def delete_records(
        self, before: Mapping[TopicPartition, int], doubts: Doubts[TopicPartition]
    ) -> dict[TopicPartition, int | str]:
        """The new start of each partition's log, or an error name.

        Args:
            before: first offset to keep; -1 for the end of the log.
            doubts: told of deletions that may have been carried out without an answer.
        """
        self.check_write()
        self.begin()
        results: dict[TopicPartition, int | str] = {}
        topics = self.topics_named({topic for topic, _ in before})
        wanted = []
        for (topic, number), offset in before.items():
            if topic in topics and number in topics[topic].partitions:
                wanted.append(ConfluentPartition(topic, number, offset))
            else:
                results[topic, number] = "UNKNOWN_TOPIC_OR_PARTITION"
        limit_s = WRITING * self.left_s()
        futures = self.admin.delete_records(wanted, request_timeout=limit_s) if wanted else {}
        for at, future in futures.items():
            try:
                results[at.topic, at.partition] = int(self.wait(future).low_watermark)
            except BrokerFailure as failure:
                results[at.topic, at.partition] = failure.code
                doubts.note((at.topic, at.partition), _sent(failure))
        return results

    def topics_with_bounds(self, names: Sequence[str]) -> TopicListing:
        """Those of the topics that exist, with their ids and start and end of each log."""
        topics, failures = self.topic_listing(names)
        return TopicListing(self.with_bounds(topics, "read_uncommitted"), failures)

    def offsets_at(
        self, times: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int | str | None]:
        """The first offset of each partition that is not older than its time, or an error name.

        Args:
            times: epoch milliseconds, by partition.
        """
        self.begin()
        spec: Any = OffsetSpec
        wanted = {ConfluentPartition(*at): spec.for_timestamp(ms) for at, ms in times.items()}
        return {
            at: None if isinstance(offset, int) and offset < 0 else offset
            for at, offset in self.offsets_of(wanted).items()
        }


def _sent(failure: BrokerFailure) -> str | BrokerFailure:
    """The failure of a call: one without answer may have been sent, which librdkafka does not tell;
    any other one is the broker's answer.
    """
    return Lost.of(failure) if failure.code in UNHEARD else failure.code
