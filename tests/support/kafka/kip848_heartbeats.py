"""KIP-848 groups of many members without many clients: heartbeats over one connection."""

import importlib
import threading
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Self

from kio.schema.errors import ErrorCode
from kio.schema.types import GroupId, TopicName
from kio.static.primitive import i32, i32Timedelta

from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.waiting import wait_for_thread, wait_until

IN_FLIGHT = 100
AT_ONCE = 200  # members that join before those that did are heard again
JOINING, LEAVING = 0, -1


class HeartbeatMember:
    """What one member knows: its id, epoch and partitions (topic id -> numbers)."""

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.epoch = JOINING
        self.owned: dict[uuid.UUID, tuple[int, ...]] = {}
        self.changed = True  # tell the coordinator what is owned with the next heartbeat

    @property
    def partition_count(self) -> int:
        """How many partitions it owns."""
        return sum(map(len, self.owned.values()))


class HeartbeatGroup:
    """A KIP-848 group whose members are rows in a table; it beats for them until closed.

    Args:
        coordinator: `host:port` of the broker that coordinates the group.
        count: how many members join at once.
        version: of ConsumerGroupHeartbeat; brokers before 4.0 have 0 alone.
    """

    def __init__(
        self,
        coordinator: str,
        group: str,
        topics: Sequence[str],
        count: int,
        *,
        client_id: str,
        version: int = 1,
    ) -> None:
        self.group = group
        schema = f"kio.schema.consumer_group_heartbeat.v{version}"
        self._request: Any = importlib.import_module(f"{schema}.request")
        answer: Any = importlib.import_module(f"{schema}.response")
        self._answer = answer.ConsumerGroupHeartbeatResponse
        self._topics = tuple(TopicName(topic) for topic in topics)
        self._connection = WireConnection(coordinator, client_id=client_id, timeout_s=60)
        self.members = [HeartbeatMember(f"member-{number:05d}") for number in range(count)]
        self._joining = 0  # so many of them have joined, or are about to
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._keep_alive, name=f"beats-{group}", daemon=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def join(self, partitions: int, *, timeout_s: float = 240.0) -> Self:
        """Join with every member and wait until all `partitions` are owned at one epoch.

        Members join some at a time, so that the first ones are heard again before the last ones
        have joined: a coordinator that is busy may take longer for all than a session lasts.
        """

        def settled() -> bool:
            self._joining = min(self._joining + AT_ONCE, len(self.members))
            self.beat()
            owned = sum(member.partition_count for member in self.members)
            epochs = {member.epoch for member in self.members}
            return owned == partitions and len(epochs) == 1 and JOINING not in epochs

        try:
            wait_until(settled, f"{len(self.members)} members have settled", timeout_s=timeout_s)
        except BaseException:
            self._connection.close()
            raise
        self._thread.start()
        return self

    def beat(self) -> None:
        """One heartbeat of every member; what the answers assign is owned from then on.

        Raises:
            RuntimeError: the coordinator refused one.
        """
        with self._lock:
            for at in range(0, self._joining, IN_FLIGHT):
                batch = self.members[at : min(at + IN_FLIGHT, self._joining)]
                for member in batch:
                    self._connection.send(self._heartbeat(member))
                for member in batch:
                    self._follow(member, self._connection.receive(self._answer))

    def close(self) -> None:
        """Let all members leave and close the connection.

        Raises:
            BaseException: what went wrong while it kept the group alive.
        """
        self._stop.set()
        if self._thread.ident is not None:
            wait_for_thread(self._thread)
        try:
            for member in self.members:
                member.epoch = LEAVING
            self.beat()
        finally:
            self._connection.close()
        if self._failure is not None:
            raise self._failure

    def _keep_alive(self) -> None:
        try:
            while not self._stop.wait(5):
                self.beat()
        except BaseException as failure:
            self._failure = failure

    def _heartbeat(self, member: HeartbeatMember) -> Any:
        """The next heartbeat; the first carries the whole subscription."""
        first = member.epoch == JOINING
        owned = tuple(
            self._request.TopicPartitions(
                topic_id=topic, partitions=tuple(i32(each) for each in numbers)
            )
            for topic, numbers in member.owned.items()
        )
        timeout_ms = 60_000 if first else -1
        return self._request.ConsumerGroupHeartbeatRequest(
            group_id=GroupId(self.group),
            member_id=member.member_id,
            member_epoch=i32(member.epoch),
            rebalance_timeout=i32Timedelta.parse(timedelta(milliseconds=timeout_ms)),
            subscribed_topic_names=self._topics if first else None,
            topic_partitions=owned if member.changed else None,
        )

    def _follow(self, member: HeartbeatMember, answer: Any) -> None:
        """Take epoch and assignment from an answer."""
        if answer.error_code != ErrorCode.none:
            raise RuntimeError(f"{member.member_id}: {answer.error_code!r} {answer.error_message}")
        member.epoch = int(answer.member_epoch)
        member.changed = answer.assignment is not None
        if answer.assignment is not None:
            member.owned = {
                each.topic_id: tuple(map(int, each.partitions))
                for each in answer.assignment.topic_partitions
                if each.topic_id is not None
            }
