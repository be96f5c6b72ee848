"""Real clients for a cluster that is to be looked at: a producer, and members that live in threads.

The demonstration puts them on its sandbox, so that what its commands show are librdkafka's own
members and not rows that somebody made up.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from kgroups.core.errors import ClusterError
from kgroups.core.snapshot import TopicPartition

_POLL_S = 0.05
_CLOSE_S = 30.0


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """One consumer.

    Args:
        client_id: by which describe shows it; a classic member's id starts with it.
        protocol: `classic`, or `consumer` (KIP-848).
        settings: further properties of librdkafka.
    """

    group: str
    client_id: str
    topics: tuple[str, ...]
    protocol: str = "classic"
    settings: Mapping[str, str | int] | None = None


class LiveMember:
    """A consumer that polls in its thread until it is closed, and commits where it is told to.

    librdkafka is called in that thread only: some of its calls keep Python's lock while they wait.

    Args:
        position: offset to commit for each partition that it is given.
    """

    def __init__(
        self, bootstrap_servers: str, plan: MemberPlan, position: Callable[[TopicPartition], int]
    ) -> None:
        self.plan = plan
        self._position = position
        self._closing = threading.Event()
        settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": plan.group,
            "client.id": plan.client_id,
            "group.protocol": plan.protocol,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
        if plan.protocol == "classic":
            settings |= {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 300}
        consumer = Consumer({**settings, **(plan.settings or {})})
        consumer.subscribe(list(plan.topics))
        self._thread = threading.Thread(
            target=self._live, args=(consumer,), name=plan.client_id, daemon=True
        )
        self._thread.start()

    def begin_closing(self) -> None:
        """Tell it to leave; `close` waits until it has."""
        self._closing.set()

    def close(self, timeout_s: float = _CLOSE_S) -> None:
        """Leave the group and end; a client that hangs is left to itself when the time is over."""
        self._closing.set()
        self._thread.join(timeout_s)

    def _live(self, consumer: Consumer) -> None:
        committed: set[TopicPartition] = set()
        while not self._closing.is_set():
            consumer.poll(_POLL_S)
            owned = {(partition.topic, partition.partition) for partition in consumer.assignment()}
            if owned != committed and self._commit(consumer, sorted(owned)):
                committed = owned
        consumer.close()

    def _commit(self, consumer: Consumer, owned: Sequence[TopicPartition]) -> bool:
        """Whether the coordinator took every commit; while it rebalances it takes none."""
        if not owned:
            return True
        rows = [ConfluentPartition(*at, self._position(at)) for at in owned]
        try:
            answers = consumer.commit(offsets=rows, asynchronous=False) or []
        except KafkaException:
            return False
        return all(row.error is None for row in answers)


@contextmanager
def live_members(
    bootstrap_servers: str, plans: Sequence[MemberPlan], position: Callable[[TopicPartition], int]
) -> Iterator[tuple[LiveMember, ...]]:
    """Members that join at once; all are told to leave before the first is waited for."""
    members: list[LiveMember] = []
    try:
        members.extend(LiveMember(bootstrap_servers, plan, position) for plan in plans)
        yield tuple(members)
    finally:
        for member in members:
            member.begin_closing()
        deadline = time.monotonic() + _CLOSE_S
        for member in members:
            member.close(max(deadline - time.monotonic(), 0))


def produce(
    bootstrap_servers: str, counts: Mapping[TopicPartition, int], *, timeout_s: float
) -> None:
    """Append so many small records to each partition.

    Raises:
        ClusterError: not all of them were taken in time.
    """
    refused: list[str] = []

    def delivered(error: object, _message: object) -> None:
        if error is not None:
            refused.append(str(error))

    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 5, "log_level": 0})
    for (topic, partition), count in counts.items():
        for number in range(count):
            text = str(number).encode()
            producer.produce(topic, text, partition=partition, on_delivery=delivered)
        producer.poll(0)
    unsent = producer.flush(timeout_s)
    if unsent or refused:
        raise ClusterError(
            f"{unsent + len(refused)} records were not produced: "
            f"{next(iter(refused), 'no response')}"
        )
