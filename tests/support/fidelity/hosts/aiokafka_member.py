"""Consumers of aiokafka, all in one event loop; sticky ones need a process each."""

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer

from kgroups.core.snapshot import TopicPartition

DONE_S = 60.0


class EventLoop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def do(self, action: Coroutine[Any, Any, Any]) -> Any:
        """What comes of it."""
        return asyncio.run_coroutine_threadsafe(action, self._loop).result(DONE_S)


class AiokafkaMember:
    """One consumer.

    Args:
        loop: in which it lives.
        settings: of `AIOKafkaConsumer`.
        topics, pattern: what it subscribes to; one of them.
    """

    def __init__(
        self,
        loop: EventLoop,
        settings: Mapping[str, Any],
        topics: Sequence[str],
        pattern: str | None,
    ) -> None:
        self.failure: BaseException | None = None
        self._loop = loop
        loop.do(self._open(settings, topics, pattern))

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """What it believes to own."""
        return frozenset((p.topic, p.partition) for p in self._consumer.assignment())

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription."""
        self._loop.do(self._subscribe(topics, None))

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._loop.do(self._end())

    async def _open(
        self, settings: Mapping[str, Any], topics: Sequence[str], pattern: str | None
    ) -> None:
        self._consumer: Any = AIOKafkaConsumer(**settings)
        await self._subscribe(topics, pattern)
        await self._consumer.start()
        self._polling = asyncio.create_task(self._poll())

    async def _subscribe(self, topics: Sequence[str], pattern: str | None) -> None:
        self._consumer.subscribe(**({"pattern": pattern} if pattern else {"topics": list(topics)}))

    async def _poll(self) -> None:
        try:
            while True:
                await self._consumer.getmany(timeout_ms=200)
        except asyncio.CancelledError:
            raise
        except BaseException as failure:
            self.failure = failure

    async def _end(self) -> None:
        self._polling.cancel()
        await self._consumer.stop()
