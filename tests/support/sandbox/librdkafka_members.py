"""confluent-kafka against the sandbox: short ways to produce, poll and wait."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from tests.support.kafka.waiting import wait_for_thread, wait_until

FAST = {"heartbeat.interval.ms": 200, "session.timeout.ms": 6000, "fetch.wait.max.ms": 50}


def produce(servers: str, topic: str, count: int, *, partitions: int = 4, **settings: Any) -> None:
    """Send `count` records, in turn over the partitions, and see them acknowledged."""
    refused: list[object] = []
    given = {key.replace("_", "."): value for key, value in settings.items()}
    config = {"bootstrap.servers": servers, "linger.ms": 1, "log_level": 0, **given}
    producer = Producer(config)
    for number in range(count):
        producer.produce(
            topic,
            f"v{number}",
            partition=number % partitions,
            on_delivery=lambda error, _message: refused.append(error) if error else None,
        )
    assert producer.flush(60) == 0
    assert refused == []


class Member:
    """A consumer that is polled in a thread of its own, as an application would.

    Args:
        settings: of the consumer; client id, group and servers are given by name.
    """

    def __init__(
        self, servers: str, group: str, topics: Sequence[str], name: str, **settings: Any
    ) -> None:
        given = {key.replace("_", "."): value for key, value in settings.items()}
        fast = {} if given.get("group.protocol") == "consumer" else FAST
        self.consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "client.id": name,
                "auto.offset.reset": "earliest",
                "log_level": 0,
                **fast,
                **given,
            }
        )
        self.values: list[str] = []
        self.errors: list[Any] = []
        self.events: list[tuple[str, tuple[int, ...]]] = []
        self._done = threading.Event()
        self._owned: frozenset[int] = frozenset()
        self.consumer.subscribe(
            list(topics),
            on_assign=self._note("assigned"),
            on_revoke=self._note("revoked"),
            on_lost=self._note("lost"),
        )
        self._thread = threading.Thread(target=self._poll, name=name)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def partitions(self) -> set[int]:
        """What is assigned now."""
        return set(self._owned)

    def leave(self) -> None:
        """Commit what was read and leave the group."""
        if not self._done.is_set():
            self._done.set()
            wait_for_thread(self._thread)
            self.consumer.close()
            self._owned = frozenset()

    def _note(self, what: str) -> Callable[[Consumer, list[TopicPartition]], None]:
        def note(_: Consumer, partitions: list[TopicPartition]) -> None:
            self.events.append((what, tuple(sorted(one.partition for one in partitions))))

        return note

    def _poll(self) -> None:
        while not self._done.is_set():
            message = self.consumer.poll(0.05)
            # Asked here only: in another thread it can wait for ever on a poll's callback.
            self._owned = frozenset(one.partition for one in self.consumer.assignment())
            if message is not None:
                self._take(message)

    def _take(self, message: Message) -> None:
        if message.error():
            self.errors.append(message.error())
        else:
            self.values.append((message.value() or b"").decode())


def shares(*members: Member) -> list[int]:
    """How many partitions each member has, fewest first."""
    return sorted(len(member.partitions()) for member in members)


def wait_for_shares(expected: Sequence[int], *members: Member) -> None:
    """Wait until the members have so many partitions, none of them twice."""

    def settled() -> bool:
        owned = [partition for member in members for partition in member.partitions()]
        return shares(*members) == sorted(expected) and len(owned) == len(set(owned))

    wait_until(settled, what=f"shares of {list(expected)}")


@contextmanager
def members(
    servers: str, group: str, topics: Sequence[str], names: Sequence[str], **settings: Any
) -> Iterator[list[Member]]:
    """Members of a group; all leave at the end."""
    joined = [Member(servers, group, topics, name, **settings) for name in names]
    try:
        yield joined
    finally:
        for member in joined:
            member.leave()
