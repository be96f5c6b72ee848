"""The embedded cluster itself, inside one event loop.

`sandbox.Sandbox` runs one in a thread of its own; `async with Cluster(...)` runs one in the
caller's loop.
"""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.cluster_state import ClusterState
from kgroups.core.sandbox.handlers.dispatch import Dispatcher
from kgroups.core.sandbox.handlers.handler_table import HANDLERS
from kgroups.core.sandbox.options import SandboxOptions
from kgroups.core.sandbox.seed import seed_groups, seed_topics
from kgroups.core.sandbox.storage.data_directory import DataDirectory, Meta
from kgroups.core.sandbox.storage.persistence import Persistence, kept_topics
from kgroups.core.sandbox.storage.topics import (
    OFFSETS_TOPIC,
)
from kgroups.core.sandbox.timed_faults import run_timed_faults
from kgroups.core.sandbox.wire.client_connection import Connection
from kgroups.core.sandbox.wire.frame_codec import warm_up
from kgroups.core.sandbox.wire.listener import Broker

_OFFSETS_TOPIC_CONFIGS = {
    "cleanup.policy": "compact",
    "compression.type": "producer",
    "segment.bytes": "104857600",
}
_LAST_TURNS = 10
"""Turns of the loop after the listeners closed, in which connections that were just accepted are
refused and those that were dropped report it."""


class Cluster(ClusterState):
    """N brokers on loopback that real clients talk to.

    All methods belong to the event loop that entered it.

    Args:
        options: shape and behaviour; checked when the cluster is made.
    """

    def __init__(self, options: SandboxOptions) -> None:
        super().__init__(options)
        self._timed_faults: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Make the topics and listen.

        Raises:
            UsageError: a port is taken.
        """
        try:
            for broker in self.brokers.values():
                broker.reserve()
            warm_up(self.caps)
            if self.options.data_dir is not None:
                self._open(self.options.data_dir)
            self._make_topics()
            for broker in self.brokers.values():
                await self.listen(broker)
        except KgroupsError:
            await self.stop()
            raise
        self.coordination.start()
        self._elect(everything=True)
        self.events.add("cluster", f"{len(self.brokers)} brokers at {self.bootstrap_servers}")
        if self._plan.timed_faults:
            self._timed_faults = asyncio.create_task(
                run_timed_faults(self, self._plan.timed_faults)
            )

    def _make_topics(self) -> None:
        """Make what the data directory did not bring: the internal topic, the snapshot's, ours."""
        config = self.coordination.config
        is_new = self.topics.get(OFFSETS_TOPIC) is None
        if is_new:
            partitions = config.offsets_partitions
            self.create_topic(OFFSETS_TOPIC, partitions, configs=_OFFSETS_TOPIC_CONFIGS)
        if self._snapshot is not None and is_new:  # what the directory has is newer than the file
            factor = self.options.default_replication_factor
            topics = seed_topics(self._snapshot, self.topics, replication_factor=factor)
            groups = seed_groups(self._snapshot, self.topics, config, now_ms=self.now_ms())
            self.events.add("cluster", f"{topics} topics and {groups} groups from the snapshot")
        for name, partitions in self.options.topics.items():
            if self.topics.get(name) is None:
                self.create_topic(name, partitions)

    async def stop(self) -> None:
        """Close every connection and listener; nothing is left behind."""
        for broker in self.brokers.values():
            await broker.shut("the cluster stops")
        self.coordination.stop()
        if self._timed_faults is not None:
            self._timed_faults.cancel()
        if self._persistence is not None:
            self._persistence.close()
        for _ in range(_LAST_TURNS):
            await asyncio.sleep(0)

    async def listen(self, broker: Broker) -> None:
        """Have a broker accept connections."""
        dispatcher = Dispatcher(self, broker, HANDLERS)
        await broker.listen(lambda: Connection(dispatcher, self.options.limits, self.held))

    def _open(self, path: Path) -> None:
        """Take over topics and records of the last run."""
        self._persistence = Persistence(DataDirectory(path), self._meta)
        meta = self._persistence.load(self.topics)
        if meta is not None:
            self.cluster_id = self.options.cluster_id or meta.cluster_id
            self._next_producer_id = meta.next_producer_id
            self.events.add("cluster", f"{len(meta.topics)} topics from {path}")

    def _meta(self) -> Meta:
        return Meta(self.cluster_id, self._next_producer_id, kept_topics(self.topics))
