"""Share groups with real members: librdkafka's share consumer, and the settings of a group."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from confluent_kafka import AcknowledgeType, Message, ShareConsumer
from confluent_kafka.admin._resource import ResourceType

from tests.support.kafka.waiting import Deadline
from tests.support.kafka.workload import configure

Decide = Callable[[Message], AcknowledgeType]

FROM_THE_START: Final[Mapping[str, str]] = {
    "share.auto.offset.reset": "earliest",
    "share.assignment.interval.ms": "0",
}
"""Settings of a group whose members get all records, and as soon as they join: since 4.4."""


def configure_group(bootstrap: str, group: str, settings: Mapping[str, str]) -> None:
    """Sets settings of a group, which need not be there yet: `share.auto.offset.reset`, ..."""
    configure(bootstrap, group, settings, kind=ResourceType.GROUP)


def accept(_: Message) -> AcknowledgeType:
    """Every record is done."""
    return AcknowledgeType.ACCEPT


class Sharer:
    """A member of a share group that says of each record what became of it.

    Args:
        topics: what it subscribes to: one, or several.
        client_id: names the member.
    """

    def __init__(
        self, bootstrap: str, group: str, topics: str | Sequence[str], client_id: str = "sharer"
    ) -> None:
        self.consumer = ShareConsumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": group,
                "client.id": client_id,
                "share.acknowledgement.mode": "explicit",
                "log_level": 0,
            }
        )
        self.consumer.subscribe([topics] if isinstance(topics, str) else list(topics))

    def __enter__(self) -> "Sharer":
        return self

    def __exit__(self, *_: object) -> None:
        self.consumer.close()

    def take(self, count: int, decide: Decide = accept, seconds: float = 60) -> list[Message]:
        """At least so many records, each acknowledged as decided; redelivered ones count again.

        Raises:
            AssertionError: they did not come in time.
        """
        taken: list[Message] = []
        deadline = Deadline(seconds)
        while len(taken) < count:
            assert deadline.left(), f"{len(taken)} of {count} records came"
            for message in self.consumer.poll(0.2):
                assert message.error() is None, message.error()
                self.consumer.acknowledge(message, decide(message))
                taken.append(message)
            for failure in self.consumer.commit_sync(timeout=60.0).values():
                assert failure is None, failure
        return taken
