"""A group of real consumers of either library, and what is done to it."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from kgroups.core.planning.changes.kinds import Dialect, Pattern
from kgroups.core.snapshot import TopicPartition
from tests.support.fidelity.java_members import JavaMembers
from tests.support.kafka.live_members import LiveGroup, LiveMember, MemberSpec

Library = Literal["java", "librdkafka"]
Protocol = Literal["classic", "consumer"]

JAVA_ASSIGNORS: Mapping[str, str] = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}


@dataclass(frozen=True)
class GroupSpec:
    """A group to drive.

    Args:
        name: its id, and the beginning of its topics' names.
        by_pattern: whether its members subscribe to all topics of that beginning.
    """

    name: str
    library: Library
    protocol: Protocol
    assignor: str
    by_pattern: bool

    @property
    def strategy(self) -> str:
        """The assignor's name; that of a coordinator's with `server`."""
        return f"server {self.assignor}" if self.protocol == "consumer" else self.assignor

    @property
    def is_raced(self) -> bool:
        """Whether its members meet a new topic one by one, with a rebalance in between."""
        return (
            self.by_pattern
            and self.library == "librdkafka"
            and self.strategy == "cooperative-sticky"
        )

    @property
    def dialect(self) -> Dialect:
        """Whose regular expressions its members use."""
        if self.protocol == "consumer":
            return "re2"
        return "java" if self.library == "java" else "librdkafka"

    @property
    def pattern(self) -> str:
        """The regular expression of its members."""
        return f"^{self.name}-.*" if self.library == "librdkafka" else f"{self.name}-.*"

    def said_pattern(self) -> list[Pattern]:
        """What has to be said to a plan, because classic members do not show it."""
        hidden = self.by_pattern and self.protocol == "classic"
        return [Pattern(self.pattern, self.dialect)] if hidden else []


class DrivenGroup:
    """The members of one group; a context manager that closes them.

    Args:
        topics: name to partitions, those of the group that exist; kept up to date by the caller.
    """

    def __init__(
        self, bootstrap: str, spec: GroupSpec, topics: dict[str, int], java: JavaMembers
    ) -> None:
        self.spec, self.topics = spec, topics
        self._bootstrap, self._java = bootstrap, java
        self._rdkafka = LiveGroup(
            bootstrap, spec.name, (), protocol=spec.protocol, assignor=spec.assignor
        )
        self._members: dict[str, LiveMember | None] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._rdkafka.close()
        java = [client_id for client_id, member in self._members.items() if member is None]
        self._members.clear()
        if java:
            with ThreadPoolExecutor(len(java)) as pool:  # leaving members wait for each other
                list(pool.map(lambda client_id: self._java.close(self._name(client_id)), java))

    @property
    def client_ids(self) -> list[str]:
        """Its members, in the order in which they joined."""
        return list(self._members)

    def join(self, client_id: str, instance_id: str = "") -> None:
        """Let a consumer join; it may take a moment until the group knows."""
        if self.spec.library == "librdkafka":
            topics = (self.spec.pattern,) if self.spec.by_pattern else tuple(self.topics)
            self._members[client_id] = self._rdkafka.add(MemberSpec(client_id, topics, instance_id))
            return
        self._java.open(self._name(client_id), self._config(client_id, instance_id), self._reads())
        self._members[client_id] = None

    def leave(self, client_id: str) -> None:
        """Let a consumer leave."""
        member = self._members.pop(client_id)
        if member is None:
            self._java.close(self._name(client_id))
        else:
            self._rdkafka.remove(member)

    def owned(self) -> dict[str, frozenset[TopicPartition]]:
        """Client id to what the consumer itself believes to own."""
        if self.spec.library == "java":
            names = {self._name(client_id): client_id for client_id in self._members}
            return {names[name]: held for name, held in self._java.owned(names).items()}
        return {
            client_id: frozenset(member.assignment)
            for client_id, member in self._members.items()
            if member is not None
        }

    def _name(self, client_id: str) -> str:
        return f"{self.spec.name}/{client_id}"

    def _reads(self) -> dict[str, object]:
        if not self.spec.by_pattern:
            return {"topics": sorted(self.topics)}
        return {("regex" if self.spec.protocol == "consumer" else "pattern"): self.spec.pattern}

    def _config(self, client_id: str, instance_id: str) -> dict[str, str]:
        config = {
            "bootstrap.servers": self._bootstrap,
            "group.id": self.spec.name,
            "client.id": client_id,
            "group.protocol": self.spec.protocol,
            "enable.auto.commit": "false",
            "auto.offset.reset": "earliest",
            "metadata.max.age.ms": "500",
        }
        if instance_id:
            config["group.instance.id"] = instance_id
        if self.spec.protocol == "consumer":
            return config | {"group.remote.assignor": self.spec.assignor}
        assignor = JAVA_ASSIGNORS[self.spec.assignor]
        return config | {
            "session.timeout.ms": "10000",
            "heartbeat.interval.ms": "300",
            "partition.assignment.strategy": f"org.apache.kafka.clients.consumer.{assignor}",
        }


Told = Callable[[DrivenGroup], None]
