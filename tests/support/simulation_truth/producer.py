"""Records for many topics at steady rates, by one producer in a thread."""

import threading
import time
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from confluent_kafka import KafkaException, Producer

from kgroups.core.simulation.scenario.key_load import KeyLoad
from tests.support.kafka.waiting import wait_for_thread, wait_until

TICK_S: Final = 0.05
METADATA_S: Final = 30.0
KNOWN_S: Final = 240.0
GOLDEN: Final = (5**0.5 - 1) / 2


@dataclass
class _Stream:
    partitions: int
    rate: float
    began: float
    keys: Sequence[tuple[bytes, float]] = ()
    sent: int = 0

    def next_place(self) -> dict[str, Any]:
        """Where the next record goes: partitions take turns; keys come as often as they weigh."""
        if not self.keys:
            return {"partition": self.sent % self.partitions}
        sums = list(accumulate(weight for _, weight in self.keys))
        # Multiples of the golden ratio meet every stretch as often as it is long.
        name, _ = self.keys[bisect(sums, self.sent * GOLDEN % 1.0 * sums[-1])]
        return {"key": name}


class SteadyProducer:
    """The producer; a context manager is not needed: `close` ends it."""

    def __init__(self, servers: str) -> None:
        # As Java's producer does it, by librdkafka's own code.
        as_java = {"partitioner": "murmur2_random"}
        self._producer = Producer(
            {"bootstrap.servers": servers, "linger.ms": 0, "log_level": 0, **as_java}
        )
        self._streams: dict[str, _Stream] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def begin(
        self, topic: str, partitions: int, rate: float, *, keys: Mapping[str, Any] | None = None
    ) -> None:
        """So many records a second from now on, to the partitions in turn or by `keys`.

        New partitions are waited for: records for one that the producer does not know would hold up
        those for the others, and who reads them would wait for nothing to come.
        """
        wait_until(
            lambda: self._known(topic) >= partitions,
            f"the producer knows {partitions} partitions of {topic}",
            timeout_s=KNOWN_S,
        )
        load = KeyLoad(**(keys or {}))
        named = [
            (f"{load.prefix}{n}".encode(), n**-load.exponent) for n in range(1, load.count + 1)
        ]
        with self._lock:
            self._streams[topic] = _Stream(partitions, rate, time.monotonic(), named)

    def _known(self, topic: str) -> int:
        try:
            found = self._producer.list_topics(topic, timeout=METADATA_S).topics.get(topic)
        except KafkaException:
            return 0  # a broker that is busy, or away: it is asked again
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
                self._producer.produce(topic, b"record", **stream.next_place())
            except (BufferError, KafkaException):
                return  # a broker that is away: what is due is sent later
            stream.sent += 1
