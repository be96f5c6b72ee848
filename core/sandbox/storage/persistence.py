"""Keeps a running cluster in its data directory: records at once, the rest once a turn."""

import asyncio
from collections.abc import Callable, Sequence

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.storage.data_directory import (
    DataDirectory,
    Meta,
    StoredPartition,
    StoredTopic,
    restore_topic,
)
from kgroups.core.sandbox.storage.topics import Topic, Topics


class Persistence:
    """The cluster's side of a data directory.

    Args:
        data: opened, and closed with this.
        meta: gives what is to be kept besides records.
    """

    def __init__(self, data: DataDirectory, meta: Callable[[], Meta]) -> None:
        self._data = data
        self._meta = meta
        self._is_stale = False
        self._is_open = True

    def load(self, topics: Topics) -> Meta | None:
        """Put back topics and records of the last run; None if there was none.

        Raises:
            UsageError: what is there was not written by this program.
        """
        try:
            meta = self._data.read_meta()
            for stored in meta.topics if meta is not None else ():
                restore_topic(topics, stored, self._data)
        except KgroupsError:
            self._data.close()
            self._is_open = False
            raise
        return meta

    def keeper(self, topic: str, partition: int) -> Callable[[bytes], None]:
        """What a partition's log calls with each batch that it stores."""
        return lambda batch: self._data.append(topic, partition, batch)

    def rewriter(self, topic: str, partition: int) -> Callable[[Sequence[bytes]], None]:
        """What a partition's log calls when compaction has changed it."""
        return lambda batches: self._data.rewrite(topic, partition, batches)

    def forget(self, topic: Topic) -> None:
        """Drop the records of a deleted topic."""
        self._data.forget_topic(topic.name, len(topic.partitions))

    def save_soon(self) -> None:
        """Write what changed once this turn of the loop is over, however often it changed."""
        if not self._is_stale:
            self._is_stale = True
            asyncio.get_running_loop().call_soon(self._save)

    def close(self) -> None:
        """Write the last state and let others use the directory."""
        if self._is_open:
            self._save()
            self._is_open = False
            self._data.close()

    def _save(self) -> None:
        self._is_stale = False
        if self._is_open:
            self._data.write_meta(self._meta())


def kept_topics(topics: Topics) -> tuple[StoredTopic, ...]:
    """Topics as they are kept."""
    return tuple(
        StoredTopic(
            topic.name,
            topic.topic_id,
            tuple(
                StoredPartition(one.replicas, one.leader_epoch, one.log.start_offset)
                for one in topic.partitions
            ),
            topic.configs,
        )
        for topic in topics
    )
