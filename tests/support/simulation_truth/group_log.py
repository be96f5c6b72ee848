"""What `__consumer_offsets` says of the epochs of groups, followed while it is written."""

import threading

from confluent_kafka import Consumer, TopicPartition

from kgroups.core.coordinator.log.record_codec import decode_record
from kgroups.core.coordinator.log.records import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    GroupMetadataKey,
    GroupMetadataValue,
)
from tests.support.kafka.waiting import wait_for_thread


class GroupLog:
    """The newest epoch, or generation, of every group; a thread follows the log.

    Args:
        partitions: of `__consumer_offsets`.
    """

    def __init__(self, servers: str, partitions: int) -> None:
        self._epochs: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._reader = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "reader-of-the-log",
                "enable.auto.commit": False,
                "log_level": 0,
            }
        )
        self._reader.assign([TopicPartition("__consumer_offsets", n, 0) for n in range(partitions)])
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def epoch(self, group: str) -> int:
        """The newest that was written; 0 of a group that is not there."""
        with self._lock:
            return self._epochs.get(group, 0)

    def close(self) -> None:
        """Follow no more."""
        self._stop.set()
        wait_for_thread(self._thread)
        self._reader.close()

    def _follow(self) -> None:
        while not self._stop.is_set():
            message = self._reader.poll(0.2)
            if message is None or message.error() is not None:
                continue
            key = message.key()
            record = decode_record(key, message.value()) if isinstance(key, bytes) else None
            if record is None:
                continue
            if isinstance(record.key, GroupMetadataKey | ConsumerGroupMetadataKey):
                self._note(record.key.group_id, record.value)

    def _note(self, group: str, value: object) -> None:
        with self._lock:
            if isinstance(value, GroupMetadataValue):
                self._epochs[group] = value.generation
            elif isinstance(value, ConsumerGroupMetadataValue):
                self._epochs[group] = value.epoch
