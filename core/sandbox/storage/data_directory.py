"""The data directory: topics and records outlive the process.

`meta.json` has the topics, ids and epochs and is replaced as a whole; `logs/TOPIC-PARTITION.log`
has the batches as they were stored, appended before a client is answered, so that a process that
is killed loses nothing that was acknowledged. A tail that was cut is dropped at the next start.
"""

import asyncio
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TextIO
from uuid import UUID

from msgspec import Struct, ValidationError, convert, json

from kgroups.core.errors import KgroupsError, RefusedError, UsageError, shorten
from kgroups.core.input_files.document import read_document
from kgroups.core.input_files.files import MIB, show_bytes
from kgroups.core.protocol.batches import (
    HEADER_BYTES,
    BatchHeader,
    CorruptBatch,
    read_batch_header,
    split_batches,
)
from kgroups.core.sandbox.storage.topics import Topic, Topics

_META = "meta.json"
_LOCK = "lock"
_LOCK_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_BATCH_BYTES = 64 * MIB
_MAX_LOG_BYTES = 1024 * MIB


class StoredPartition(Struct, frozen=True, array_like=True):
    """A partition as `meta.json` knows it."""

    replicas: tuple[int, ...]
    leader_epoch: int
    log_start_offset: int


class StoredTopic(Struct, frozen=True):
    """A topic as `meta.json` knows it."""

    name: str
    topic_id: UUID
    partitions: tuple[StoredPartition, ...]
    configs: dict[str, str]


class Meta(Struct, frozen=True):
    """Everything of a cluster that is not a record."""

    cluster_id: str
    next_producer_id: int
    topics: tuple[StoredTopic, ...]
    format: Literal[1] = 1


class DataDirectory:
    """One directory, used by one process at a time.

    Args:
        meta: gives what is to be kept besides records.
    Raises:
        UsageError: it cannot be made or written.
        RefusedError: another sandbox uses it.
    """

    def __init__(self, path: Path, meta: Callable[[], Meta]) -> None:
        self.path, self._meta, self._is_stale = path, meta, False
        self._logs = path / "logs"
        self._lock: TextIO | None = None
        try:
            self._logs.mkdir(parents=True, exist_ok=True)
            lock = os.fdopen(os.open(path / _LOCK, _LOCK_FLAGS, 0o644), "a")
        except OSError as error:
            raise UsageError(f"data directory `{path}`: {error.strerror}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.close()
            raise RefusedError(
                f"data directory `{path}` is in use by another sandbox",
                hint="stop it first, or use another directory",
            ) from error
        self._lock = lock

    def close(self, *, save: bool = True) -> None:
        """Write the last state, and let others use the directory."""
        if self._lock is not None:
            if save:
                self._save()
            self._lock.close()
            self._lock = None

    def load(self, topics: Topics) -> Meta | None:
        """Put back topics and records of the last run; None if there was none.

        Raises:
            UsageError: what is there was not written by this program; the directory is closed.
        """
        try:
            meta = self.read_meta()
            for stored in meta.topics if meta is not None else ():
                restore_topic(topics, stored, self)
        except KgroupsError:
            self.close(save=False)
            raise
        return meta

    def save_soon(self) -> None:
        """Write what changed once this turn of the loop is over, however often it changed."""
        if not self._is_stale:
            self._is_stale = True
            asyncio.get_running_loop().call_soon(self._save)

    def read_meta(self) -> Meta | None:
        """The state of the last run; None in a new directory.

        Raises:
            UsageError: the file is not what this program writes.
        """
        path = self.path / _META
        if not os.path.lexists(path):
            return None
        hint = "move the data directory away to start with an empty one"
        try:
            return convert(read_document(path).value, Meta)
        except UsageError as error:
            raise UsageError(error.message, hint=hint) from error
        except ValidationError as error:
            raise UsageError(
                f"`{path}` cannot be read: {shorten(str(error))}", hint=hint
            ) from error

    def _save(self) -> None:
        """Replace `meta.json` as a whole."""
        self._is_stale = False
        if self._lock is not None:
            new = self.path / f"{_META}.new"
            new.write_bytes(json.format(json.encode(self._meta()), indent=1))
            new.replace(self.path / _META)

    def append(self, topic: str, partition: int, batch: bytes) -> None:
        """Put a stored batch at the end of its partition's file.

        Raises:
            OSError: it is not in the file, also not in part.
        """
        with self._log(topic, partition).open("ab", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            written = 0
            try:
                while written < len(batch):
                    written += file.write(batch[written:])
            except OSError:
                file.truncate(end)  # half a batch would hide what is appended after it
                raise

    def rewrite(self, topic: str, partition: int, batches: Sequence[bytes]) -> None:
        """Put these batches in the place of all that a partition's file holds, or change nothing.

        Raises:
            OSError: the old ones are still there.
        """
        path = self._log(topic, partition)
        new = path.with_suffix(".new")
        try:
            new.write_bytes(b"".join(batches))
            new.replace(path)
        except OSError:
            new.unlink(missing_ok=True)
            raise

    def read_log(self, topic: str, partition: int) -> Iterator[tuple[BatchHeader, bytes]]:
        """Batches of a partition, oldest first; what follows a broken one is cut off.

        Raises:
            UsageError: it is no file, or longer than one that the sandbox could hold.
        """
        path = self._log(topic, partition)
        if not os.path.lexists(path):
            return
        _check_log(path)
        start = 0
        try:
            with path.open("rb") as file:
                while head := file.read(HEADER_BYTES):
                    length = 12 + read_batch_header(head, 0).length
                    if not len(head) <= length <= _MAX_BATCH_BYTES:
                        raise CorruptBatch
                    batch = head + file.read(length - len(head))
                    yield split_batches(batch, stored=True)[0]
                    start += length
        except (CorruptBatch, IndexError):
            os.truncate(path, start)

    def forget(self, topic: Topic) -> None:
        """Remove the files of a deleted topic."""
        for partition in topic.partitions:
            self._log(topic.name, partition.index).unlink(missing_ok=True)

    def _log(self, topic: str, partition: int) -> Path:
        return self._logs / f"{topic}-{partition}.log"


def _check_log(path: Path) -> None:
    """See that a log is a file: a pipe would be waited for, and records are held in memory."""
    hint = "move the data directory away to start with an empty one"
    try:
        about = path.stat()
    except OSError as error:
        raise UsageError(f"log `{path}`: {error.strerror}", hint=hint) from error
    if not stat.S_ISREG(about.st_mode):
        raise UsageError(f"log `{path}` is not a regular file", hint=hint)
    if about.st_size > _MAX_LOG_BYTES:
        raise UsageError(f"log `{path}` is longer than {show_bytes(_MAX_LOG_BYTES)}", hint=hint)


def restore_topic(topics: Topics, stored: StoredTopic, data: DataDirectory) -> None:
    """Make a topic as it was kept, with its records.

    Replicas on brokers that this cluster does not have are spread anew.
    """
    replicas = [partition.replicas for partition in stored.partitions]
    all_exist = all(broker in topics.brokers for brokers in replicas for broker in brokers)
    topic = topics.create(
        stored.name,
        len(replicas),
        replication_factor=min(len(replicas[0]), len(topics.brokers)),
        configs=stored.configs,
        topic_id=stored.topic_id,
        assignments=replicas if all_exist else (),
    )
    for partition, kept in zip(topic.partitions, stored.partitions, strict=True):
        partition.leader_epoch = kept.leader_epoch
        partition.log.end_offset = kept.log_start_offset
        for header, batch in data.read_log(stored.name, partition.index):
            partition.log.restore(header, batch)
        partition.log.delete_before(kept.log_start_offset)


def kept_topics(topics: Topics) -> tuple[StoredTopic, ...]:
    """Topics as they are kept."""
    return tuple(
        StoredTopic(
            topic.name,
            topic.topic_id,
            tuple(
                StoredPartition(p.replicas, p.leader_epoch, p.log.start_offset)
                for p in topic.partitions
            ),
            topic.configs,
        )
        for topic in topics
    )
