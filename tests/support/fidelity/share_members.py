"""Live members of a share group, some of Kafka's Java client and some of librdkafka."""

from collections.abc import Sequence
from typing import Self

from tests.support.fidelity.hosts.pool import HostPool
from tests.support.kafka.share_groups import Sharer


class ShareMembers:
    """The members by their client ids; those left leave at the end of a `with` block.

    Args:
        hosts: where its Java members live.
    Attributes:
        topics: by client id, what each was told to subscribe to.
    """

    def __init__(self, bootstrap: str, group: str, hosts: HostPool) -> None:
        self._bootstrap, self._group, self._java = bootstrap, group, hosts.shared("java", group)
        self._members: dict[str, Sharer | None] = {}  # None: in Java
        self.topics: dict[str, set[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.names:
            self.leave(name)

    @property
    def names(self) -> list[str]:
        """Client ids, those that joined first before others."""
        return list(self._members)

    def join(self, name: str, topics: Sequence[str], *, in_java: bool) -> None:
        """One more member, which subscribes to these topics."""
        self.topics[name] = set(topics)
        if not in_java:
            self._members[name] = Sharer(self._bootstrap, self._group, topics, name)
            return
        config = {
            "bootstrap.servers": self._bootstrap,
            "group.id": self._group,
            "client.id": name,
        }
        self._java.ask("open", name=name, config=config, topics=list(topics), share=True)
        self._members[name] = None

    def leave(self, name: str) -> None:
        """A member leaves its group."""
        sharer = self._members.pop(name)
        del self.topics[name]
        if sharer is None:
            self._java.ask("close", name=name)
        else:
            sharer.consumer.close()

    def subscribe(self, name: str, topics: Sequence[str]) -> None:
        """A member subscribes to other topics."""
        self.topics[name] = set(topics)
        sharer = self._members[name]
        if sharer is None:
            self._java.ask("subscribe", name=name, topics=list(topics))
        else:
            sharer.consumer.subscribe(list(topics))

    def poll(self) -> None:
        """Lets members of librdkafka do what they do between two polls; Java's have threads."""
        for sharer in self._members.values():
            if sharer is not None:
                sharer.consumer.poll(0.05)
