"""A librdkafka consumer in a process of its own: it may well die over a group that it leads.

python -m tests.support.assignors.librdkafka_consumer BOOTSTRAP STRATEGY
"""

import os
import sys
import threading

from confluent_kafka import Consumer

OWN_TOPIC = "its-own"


def lead(bootstrap: str, strategy: str) -> None:
    """Join and stay, until the input ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "made-up",
            "partition.assignment.strategy": strategy,
            "heartbeat.interval.ms": 1,
            "auto.commit.interval.ms": 1,  # keeps the client's loop turning
            "max.poll.interval.ms": 86_400_000,
            "session.timeout.ms": 3_600_000,
            "log_level": 0,
        }
    )
    consumer.subscribe([OWN_TOPIC])
    done = threading.Event()
    threading.Thread(target=_wait_for_the_end, args=(done,), daemon=True).start()
    while not done.is_set():
        consumer.poll(0.2)  # rebalances are served here
    os._exit(0)  # what it leads has no end


def _wait_for_the_end(done: threading.Event) -> None:
    sys.stdin.read()
    done.set()


if __name__ == "__main__":
    lead(sys.argv[1], sys.argv[2])
