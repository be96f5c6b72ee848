"""A consumer's use of nodes: reads that watch where it listens, writes with their parents.

Each method is a routine for `lanes.py`. Source: kafka.utils.ZkUtils and org.I0Itec.zkclient's
ZkClient, of Kafka 0.8.2.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final, NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import BrokerEndpoint
from kgroups.core.zookeeper.lanes import NodeExists, NoNode, Routine, ZkFailure
from kgroups.core.zookeeper.node_tree import parent_of
from kgroups.core.zookeeper.protocol import Api, Reply, Request, ZkError

FAILURES: Final[Mapping[ZkError, type[ZkFailure]]] = {
    ZkError.NO_NODE: NoNode,
    ZkError.NODE_EXISTS: NodeExists,
}
BROKER_IDS: Final = "/brokers/ids"
BROKER_TOPICS: Final = "/brokers/topics"
STATIC, WHITE_LIST = "static", "white_list"


def topic_path(topic: str) -> str:
    """Node of a topic."""
    return f"{BROKER_TOPICS}/{topic}"


def ids_path(group: str) -> str:
    """Node below which a group's consumers register."""
    return f"/consumers/{group}/ids"


def owner_path(group: str, partition: TopicPartition) -> str:
    """Node that says which thread owns a partition."""
    return f"/consumers/{group}/owners/{partition.topic}/{partition.partition}"


def offset_path(group: str, partition: TopicPartition) -> str:
    """Node with a group's committed offset of a partition."""
    return f"/consumers/{group}/offsets/{partition.topic}/{partition.partition}"


class Subscription(NamedTuple):
    """The registration of a consumer.

    Args:
        topics: (topic or pattern, streams), sorted.
        white_list: the one topic is a pattern.
    """

    topics: tuple[tuple[str, int], ...]
    white_list: bool = False


def write_registration(subscription: Subscription, now_ms: int) -> str:
    """The data of a consumer's node."""
    pattern = WHITE_LIST if subscription.white_list else STATIC
    topics = dict(subscription.topics)
    return json.dumps(
        {"version": 1, "subscription": topics, "pattern": pattern, "timestamp": str(now_ms)},
        separators=(",", ":"),
    )


@lru_cache(maxsize=4096)
def read_registration(data: str) -> Subscription:
    """The content of a consumer's node."""
    document = json.loads(data)
    topics = tuple(sorted(document["subscription"].items()))
    return Subscription(topics, document["pattern"] == WHITE_LIST)


def write_topic(partitions: int, replicas: Mapping[int, Iterable[int]] | None = None) -> str:
    """The data of a topic's node.

    Args:
        replicas: broker ids by partition; broker 0 for those that are not named.
    """
    held = {str(n): list((replicas or {}).get(n, (0,))) for n in range(partitions)}
    return json.dumps({"version": 1, "partitions": held}, separators=(",", ":"))


@lru_cache(maxsize=1024)
def count_partitions(data: str) -> int:
    """How many partitions a topic's node speaks of."""
    return len(json.loads(data)["partitions"])


def write_broker(broker: BrokerEndpoint) -> str:
    """The data of a broker's node."""
    document = {"version": 1, "host": broker.host, "port": broker.port}
    return json.dumps(document, separators=(",", ":"))


class Nodes:
    """A client's way to the nodes.

    Attributes:
        child_listeners: nodes whose children are listened to -> what is done then.
        data_listeners: the same, of nodes whose data is listened to.
    """

    def __init__(self) -> None:
        self.child_listeners: dict[str, str] = {}
        self.data_listeners: dict[str, str] = {}

    def _ask(self, api: Api, path: str, data: str = "", *, ephemeral: bool = False) -> Routine[str]:
        reply = yield from self._reply(Request(api, path, data, ephemeral))
        return reply.data

    def _reply(self, request: Request) -> Routine[Reply]:
        reply = yield request
        assert reply is not None, "a request is answered with a Reply"
        if reply.error is not None:
            raise FAILURES.get(reply.error, ZkFailure)(reply.error, request.path)
        return reply

    def _watches(self, path: str) -> bool:
        return path in self.child_listeners or path in self.data_listeners

    # ------------------------------------------------------------------ reads

    def exists(self, path: str, *, watch: bool = False) -> Routine[bool]:
        """Whether a node is there."""
        reply = yield Request(Api.EXISTS, path, watch=watch or self._watches(path))
        return reply is not None and reply.error is None

    def children(self, path: str) -> Routine[tuple[str, ...]]:
        """Names below a node; ZkFailure if it is not there."""
        reply = yield from self._reply(Request(Api.GET_CHILDREN, path, watch=self._watches(path)))
        return reply.children

    def children_if_any(self, path: str) -> Routine[tuple[str, ...]]:
        """Names below a node; none if it is not there."""
        try:
            return (yield from self.children(path))
        except NoNode:
            return ()

    def data(self, path: str) -> Routine[str]:
        """A node's data; ZkFailure if it is not there."""
        reply = yield from self._reply(Request(Api.GET_DATA, path, watch=self._watches(path)))
        return reply.data

    def data_if_any(self, path: str) -> Routine[str | None]:
        """A node's data; None if it is not there."""
        try:
            return (yield from self.data(path))
        except NoNode:
            return None

    # ------------------------------------------------------------------ listening

    def listen_to_children(self, path: str, listener: str) -> Routine[tuple[str, ...]]:
        """Listen to a node's children from now on; those it has."""
        self.child_listeners[path] = listener
        yield from self.exists(path, watch=True)
        return (yield from self.children_if_any(path))

    def listen_to_data(self, path: str, listener: str) -> Routine[None]:
        """Listen to a node's data from now on."""
        self.data_listeners[path] = listener
        yield from self.exists(path, watch=True)

    # ------------------------------------------------------------------ writes

    def delete(self, path: str) -> Routine[None]:
        """Remove a node, unless it is gone already."""
        with suppress(NoNode):
            yield from self._ask(Api.DELETE, path)

    def create_persistent(self, path: str) -> Routine[None]:
        """Create a node that stays, with those above it, unless it is there."""
        try:
            yield from self._ask(Api.CREATE, path)
        except NodeExists:
            return
        except NoNode:
            yield from self.create_persistent(parent_of(path))
            yield from self.create_persistent(path)

    def create_ephemeral(self, path: str, data: str) -> Routine[None]:
        """Create a node that goes with the session, with persistent ones above it.

        Raises:
            ZkFailure: NodeExists: it is there with other data.
        """
        try:
            try:
                yield from self._ask(Api.CREATE, path, data, ephemeral=True)
            except NoNode:
                yield from self.create_persistent(parent_of(path))
                yield from self._ask(Api.CREATE, path, data, ephemeral=True)
        except NodeExists:
            # It may be our own: the connection broke after the first attempt was done.
            if (yield from self.data_if_any(path)) != data:
                raise

    def write_persistent(self, path: str, data: str) -> Routine[None]:
        """Write a node that stays, creating it and those above it where they are missing."""
        try:
            yield from self._ask(Api.SET_DATA, path, data)
        except NoNode:
            yield from self.create_persistent(parent_of(path))
            try:
                yield from self._ask(Api.CREATE, path, data)
            except NodeExists:
                yield from self._ask(Api.SET_DATA, path, data)
