"""Groups with live members: real librdkafka consumers that poll in threads of this process."""

import queue
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Literal, Self

from confluent_kafka import Consumer, ConsumerGroupState, KafkaException
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin._group import MemberDescription

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.child import WAIT_S
from tests.support.kafka.waiting import wait_for_thread, wait_until
from tests.support.kafka.workload import Offsets, admin_of

Protocol = Literal["classic", "consumer"]

SESSION_MS = 60_000
"""No member is taken for dead that only waits for the processor."""

STATIC_SESSION_MS = 10_000
"""A static member does not leave: its group is empty once its session is over."""


@dataclass(frozen=True)
class MemberSpec:
    """One consumer.

    Args:
        client_id: shown by describe, different for each member of a group; a dynamic classic
            member's id starts with it.
        topics: names; one that starts with `^` is a pattern.
        instance_id: static membership when not empty.
        settings: librdkafka properties that win over all others.
    """

    client_id: str
    topics: tuple[str, ...]
    instance_id: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


class LiveMember:
    """A consumer that polls in its thread until it is closed, and never commits by itself.

    Everything is done in that thread: `Consumer.assignment` and `Consumer.memberid` keep Python's
    lock while they wait for librdkafka, and never come back when another thread is in `poll`.
    """

    def __init__(self, settings: Mapping[str, str | int | bool], spec: MemberSpec) -> None:
        self.spec = spec
        self.assignment: set[TopicPartition] = set()  # what the consumer itself believes to own
        self.complaint = ""  # the last error that a poll returned
        self._asked: queue.SimpleQueue[tuple[Callable[[Consumer], None], Future[None]]]
        self._asked = queue.SimpleQueue()
        self._stop = threading.Event()
        self.failure: BaseException | None = None
        consumer = Consumer({**settings, **spec.settings})
        consumer.subscribe(list(spec.topics))
        self._thread = threading.Thread(
            target=self._poll, args=(consumer,), name=spec.client_id, daemon=True
        )
        self._thread.start()

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """What the consumer itself believes to own."""
        return frozenset(self.assignment)

    def subscribe(self, topics: Iterable[str]) -> None:
        """Change the subscription."""
        wanted = list(topics)
        self._do(lambda consumer: consumer.subscribe(wanted))

    def commit(self, offsets: Offsets) -> None:
        """Commit as this member, and wait for the answer of each partition.

        Raises:
            KafkaException: the commit, or a partition of it, was refused.
        """

        def commit(consumer: Consumer) -> None:
            rows = [ConfluentPartition(*partition, offset) for partition, offset in offsets.items()]
            for row in consumer.commit(offsets=rows, asynchronous=False) or []:
                if row.error is not None:
                    raise KafkaException(row.error)

        self._do(commit)

    def close(self) -> None:
        """Leave the group (a static member stays in it) and end.

        Raises:
            BaseException: what went wrong while it polled.
        """
        self._stop.set()
        wait_for_thread(self._thread, timeout_s=WAIT_S)
        if self.failure is not None:
            raise self.failure

    def _do(self, action: Callable[[Consumer], None]) -> None:
        """Let the polling thread do it, and wait; its exception is raised here."""
        done: Future[None] = Future()
        self._asked.put((action, done))
        done.result(WAIT_S)

    def _poll(self, consumer: Consumer) -> None:
        try:
            while not self._stop.is_set():
                message = consumer.poll(0.1)
                if message is not None and (error := message.error()) is not None:
                    self.complaint = str(error)
                while not self._asked.empty():
                    action, done = self._asked.get_nowait()
                    try:
                        done.set_result(action(consumer))
                    except Exception as failure:
                        done.set_exception(failure)
                self.assignment = {(each.topic, each.partition) for each in consumer.assignment()}
            consumer.close()
        except BaseException as failure:
            self.failure = failure


@dataclass(frozen=True)
class Picture:
    """Partitions of each member by its client id: as the coordinator answers, and as it believes.

    Args:
        partitions: how many are to be assigned in all.
        complaints: the last error of each member that had one.
    """

    described: Mapping[str, set[TopicPartition]]
    believed: Mapping[str, set[TopicPartition]]
    partitions: int
    complaints: Mapping[str, str]

    def __bool__(self) -> bool:
        """Whether the two agree, and all partitions are assigned."""
        return self.described == self.believed and self.partitions == sum(
            map(len, self.believed.values())
        )


class LiveGroup:
    """A group and its members; a context manager that closes them all.

    Args:
        bootstrap: the cluster's address.
        group: its id.
        members: who joins at once.
        protocol: `classic`, or `consumer` (KIP-848).
        assignor: classic: librdkafka's `partition.assignment.strategy`; consumer: the server-side
            assignor asked for.
        settings: more librdkafka properties, of every member.
    """

    def __init__(
        self,
        bootstrap: str,
        group: str,
        members: Iterable[MemberSpec],
        *,
        protocol: Protocol = "classic",
        assignor: str = "",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.group = group
        self._bootstrap = bootstrap
        self._protocol: Protocol = protocol
        self._settings: dict[str, str | int | bool] = {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 500,
            "log_level": 0,
        }
        if protocol == "classic":
            self._settings |= {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 300}
            self._settings["partition.assignment.strategy"] = assignor or "range"
        elif assignor:
            self._settings["group.remote.assignor"] = assignor
        self._given = dict(settings or {})
        self._settings |= self._given
        self._admin = admin_of(bootstrap)
        self.members: list[LiveMember] = []
        for spec in members:
            self.add(spec)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, spec: MemberSpec) -> LiveMember:
        """Let one more member join; `wait_stable` waits for it."""
        settings = {**self._settings, "client.id": spec.client_id}
        if spec.instance_id:
            settings["group.instance.id"] = spec.instance_id
            if self._protocol == "classic" and "session.timeout.ms" not in self._given:
                settings["session.timeout.ms"] = STATIC_SESSION_MS
        member = LiveMember(settings, spec)
        self.members.append(member)
        return member

    def remove(self, member: LiveMember) -> None:
        """Let one member leave."""
        self.members.remove(member)
        member.close()

    def wait_stable(self, partitions: int, *, timeout_s: float = 180.0) -> Self:
        """Wait until the group is stable with all its members and `partitions` of them assigned.

        The broker's picture and the members' own must agree.

        Raises:
            BaseException: what ended a member's polling.
        """
        wait_until(
            lambda: self._picture(partitions),
            f"group {self.group!r} is stable with {len(self.members)} members",
            timeout_s=timeout_s,
        )
        return self

    def described(self) -> dict[str, MemberDescription]:
        """Client id -> member, as the coordinator answers now; empty unless Stable."""
        future = self._admin.describe_consumer_groups([self.group])[self.group]
        try:
            answer = future.result(60)
        except KafkaException:  # not joined yet
            return {}
        if answer.state != ConsumerGroupState.STABLE:
            return {}
        return {member.client_id: member for member in answer.members}

    def member_id(self, member: LiveMember) -> str:
        """The id that the coordinator knows a member of the stable group by."""
        return str(self.described()[member.spec.client_id].member_id)

    def close(self) -> None:
        """Close all members, all of them told first: leaving members wait for each other."""
        failures: list[BaseException] = []

        def closing(member: LiveMember) -> Callable[[], None]:
            def close() -> None:
                try:
                    member.close()
                except BaseException as failure:
                    failures.append(failure)

            return close

        threads = [threading.Thread(target=closing(member)) for member in self.members]
        self.members.clear()
        for thread in threads:
            thread.start()
        for thread in threads:
            wait_for_thread(thread)
        if failures:
            raise failures[0]

    def _picture(self, partitions: int) -> Picture:
        for member in self.members:
            if member.failure is not None:
                raise member.failure
        described = {
            client_id: {(each.topic, each.partition) for each in found.assignment.topic_partitions}
            for client_id, found in self.described().items()
        }
        believed = {member.spec.client_id: member.assignment for member in self.members}
        complaints = {m.spec.client_id: m.complaint for m in self.members if m.complaint}
        return Picture(described, believed, partitions, complaints)
