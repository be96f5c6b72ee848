"""Consumers of kafka-python, each polled by a thread of its own, in which everything is done."""

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from kgroups.core.snapshot import TopicPartition
from tests.support.kafka.waiting import wait_for_thread
from tests.support.sandbox.kafka_python import KafkaConsumer

# kafka-python never ends a join during which its poll ran out of time.
POLL_MS = 1_000
DONE_S = 60.0


class KafkaPythonMember:
    """One consumer.

    Args:
        settings: of `KafkaConsumer`.
        topics, pattern: what it subscribes to; one of them.
    """

    def __init__(
        self, settings: Mapping[str, Any], topics: Sequence[str], pattern: str | None
    ) -> None:
        self.owned: frozenset[TopicPartition] = frozenset()
        self.failure: BaseException | None = None
        self._asked: queue.SimpleQueue[tuple[Callable[[Any], None], Future[None]]]
        self._asked = queue.SimpleQueue()
        self._stop = threading.Event()
        consumer = KafkaConsumer(**settings)
        consumer.subscribe(**({"pattern": pattern} if pattern else {"topics": list(topics)}))
        self._thread = threading.Thread(target=self._poll, args=(consumer,), daemon=True)
        self._thread.start()

    def subscribe(self, topics: Sequence[str]) -> None:
        """Change the subscription."""
        done: Future[None] = Future()
        self._asked.put((lambda consumer: consumer.subscribe(topics=list(topics)), done))
        done.result(DONE_S)

    def close(self) -> None:
        """Leave the group, unless static, and end."""
        self._stop.set()
        wait_for_thread(self._thread, timeout_s=DONE_S)

    def _poll(self, consumer: Any) -> None:
        try:
            while not self._stop.is_set():
                consumer.poll(timeout_ms=POLL_MS)
                while not self._asked.empty():
                    action, done = self._asked.get_nowait()
                    action(consumer)
                    done.set_result(None)
                self.owned = frozenset((p.topic, p.partition) for p in consumer.assignment())
        except BaseException as failure:
            self.failure = failure
        finally:
            consumer.close(autocommit=False)
