"""Records for many topics at steady rates, by one producer in a thread."""

import threading
import time
from dataclasses import dataclass
from typing import Final

from confluent_kafka import KafkaException, Producer

from tests.support.kafka.waiting import wait_for_thread, wait_until

TICK_S: Final = 0.05
METADATA_S: Final = 30.0


@dataclass
class _Stream:
    partitions: int
    rate: float
    began: float
    sent: int = 0


class SteadyProducer:
    """The producer; a context manager is not needed: `close` ends it."""

    def __init__(self, servers: str) -> None:
        self._producer = Producer({"bootstrap.servers": servers, "linger.ms": 0, "log_level": 0})
        self._streams: dict[str, _Stream] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def begin(self, topic: str, partitions: int, rate: float) -> None:
        """So many records a second from now on, to the partitions in turn.

        New partitions are waited for: records for one that the producer does not know would hold up
        those for the others, and who reads them would wait for nothing to come.
        """
        wait_until(
            lambda: self._known(topic) >= partitions,
            f"the producer knows {partitions} partitions of {topic}",
        )
        with self._lock:
            self._streams[topic] = _Stream(partitions, rate, time.monotonic())

    def _known(self, topic: str) -> int:
        found = self._producer.list_topics(topic, timeout=METADATA_S).topics.get(topic)
        return 0 if found is None else len(found.partitions)

    def end(self, topic: str) -> None:
        """No more."""
        with self._lock:
            self._streams.pop(topic, None)

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        wait_for_thread(self._thread)

    def _run(self) -> None:
        while not self._stop.wait(TICK_S):
            with self._lock:
                streams = list(self._streams.items())
            for topic, stream in streams:
                self._send(topic, stream)
            self._producer.poll(0)

    def _send(self, topic: str, stream: _Stream) -> None:
        due = int((time.monotonic() - stream.began) * stream.rate)
        while stream.sent < due:
            try:
                self._producer.produce(topic, b"record", partition=stream.sent % stream.partitions)
            except (BufferError, KafkaException):
                return  # a broker that is away: what is due is sent later
            stream.sent += 1
