"""The ZooKeeper ensemble as a service of the world: frames in, frames and causes out.

What a group did before there was a coordinator is in `core/zookeeper`; here it is given topics,
brokers and committed offsets, and its connections are told apart by who sent what.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import Topology
from kgroups.core.errors import counted
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, Scenario
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.actors import (
    Answer,
    Began,
    Forgotten,
    Noted,
    Push,
    Service,
    ServiceOutput,
)
from kgroups.core.zookeeper import protocol
from kgroups.core.zookeeper.ensemble import Ensemble, EnsembleConfig
from kgroups.core.zookeeper.node_tree import Change, Transaction, parent_of
from kgroups.core.zookeeper.nodes import (
    BROKER_IDS,
    BROKER_TOPICS,
    count_partitions,
    ids_path,
    offset_path,
    topic_path,
    write_broker,
    write_topic,
)
from kgroups.core.zookeeper.protocol import Api, ToServer

SERVERS: Final = 3
# A follower is behind by zookeeper.sync.time.ms times a random share to this power: nine changes
# in ten reach it within 4 % of that time, one in a hundred takes longer than 70 % of it.
STALENESS: Final = 32

# What each message is counted and shown by.
KINDS: Final = {
    protocol.Hello: "connect",
    protocol.Ping: "ping",
    protocol.SetWatches: "setWatches",
    protocol.CloseSession: "closeSession",
}


# How a timeline shows what became of a node.
NODE_CHANGES: Final = {
    Api.CREATE: "node created",
    Api.SET_DATA: "node changed",
    Api.DELETE: "node deleted",
}


class Frame(NamedTuple):
    """A message on one of a consumer's connections.

    Args:
        connection: the consumer's number of it.
    """

    connection: int
    server: int
    message: ToServer


class Reception(NamedTuple):
    """A message of a server on one of a consumer's connections."""

    connection: int
    message: protocol.ToClient


def kind_of(message: ToServer) -> str:
    """The name that a message is counted and shown by."""
    if isinstance(message, protocol.Call):
        return message.request.api
    return KINDS[type(message)]


def _noted(change: Change) -> Noted:
    """A change of a node, with its content; commits, which are most of them, are routine."""
    _, _, rest = change.path.partition("/consumers/")
    group, _, below = rest.partition("/")
    text = f"{change.path} {change.data}".rstrip()
    return Noted(group, NODE_CHANGES[change.api], text, below.startswith("offsets/"))


@dataclass(slots=True)
class _Link:
    """A connection: whose it is, and tokens of what has no answer yet.

    Attributes:
        calls: by xid.
        others: of Hello, pings and CloseSession, in order.
    """

    sender: str
    connection: int
    calls: dict[int, Hashable] = field(default_factory=dict)
    others: deque[Hashable] = field(default_factory=deque)


class ZookeeperService(Service):
    """The ensemble of a run, with every consumer's connections to it.

    Args:
        scenario: whose groups of the protocol `zookeeper` have commits from the start on.
        random: how far followers are behind.
        topology: topics and brokers at the start.
    """

    def __init__(
        self, scenario: Scenario, random: Random, topology: Topology, *, now_ms: int
    ) -> None:
        self._groups = [group for group in scenario.groups if group.protocol == "zookeeper"]
        settings = [plan.settings for group in self._groups for plan in group.members]
        sync_ms = max((member.zookeeper_sync_time_ms for member in settings), default=0)
        config = EnsembleConfig(
            SERVERS, lag_ms=lambda server, zxid: round(sync_ms * random.random() ** STALENESS)
        )
        self._ensemble = Ensemble(config, watch=self._see)
        self._links: dict[int, _Link] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._out: list[ServiceOutput] = []
        self._gone: set[str] = set()
        self._told: set[tuple[str, int]] = set()
        self._topology = Topology()
        self._plant(now_ms)
        self.update_topology(now_ms, topology)
        self._out = [output for output in self._out if type(output) is Noted]

    def _plant(self, now_ms: int) -> None:
        """Nodes that are there before anybody comes."""
        paths = dict.fromkeys((BROKER_IDS, BROKER_TOPICS, "/consumers"), "")
        for group in self._groups:
            paths[ids_path(group.name)] = ""
            for topic, offsets in group.committed.items():
                for number, offset in offsets.items():
                    partition = TopicPartition(topic, number)
                    paths[offset_path(group.name, partition)] = str(offset)
        made: dict[str, None] = {}
        for path in paths:
            above = [path]
            while (path := parent_of(path)) != "/":
                above.append(path)
            made.update(dict.fromkeys(reversed(above)))
        changes = [Change(Api.CREATE, path, paths.get(path, "")) for path in made]
        self._ensemble.write(now_ms, *changes)
        self._ensemble.advance(now_ms + 1)

    # ------------------------------------------------------------------ what comes in

    def submit(self, now_ms: int, token: Hashable, sender: str, request: object) -> None:
        assert isinstance(request, Frame), "a consumer sends the ensemble frames"
        if sender in self._gone:
            self._out.append(Forgotten(token))
            return
        key = (sender, request.connection)
        if key not in self._numbers:
            self._numbers[key] = number = len(self._numbers) + 1
            self._links[number] = _Link(sender, request.connection)
            self._ensemble.accept(now_ms, number, request.server)
        link = self._links.get(self._numbers[key])
        if link is None:
            self._out.append(Forgotten(token))
            return
        message = request.message
        if isinstance(message, protocol.Call):
            link.calls[message.xid] = token
        elif isinstance(message, protocol.SetWatches):
            self._out.append(Answer(token, None))
        else:
            link.others.append(token)
        self._ensemble.receive(now_ms, self._numbers[key], message)
        self._collect()

    def disconnect(self, now_ms: int, sender: str) -> None:
        """The process is gone: its connections break, its session lives on."""
        self._gone.add(sender)
        for number in [n for n, link in self._links.items() if link.sender == sender]:
            self._ensemble.cut(now_ms, number)
            self._unlink(number)
        self._collect()

    def update_topology(self, now_ms: int, topology: Topology) -> None:
        """Write the nodes of topics and brokers that came, grew or went."""
        changes: list[Change] = []
        before, self._topology = self._topology, topology
        for name, topic in topology.topics.items():
            old = before.topic(name)
            if old is None or old.partitions != topic.partitions:
                api = Api.CREATE if old is None else Api.SET_DATA
                changes.append(Change(api, topic_path(name), write_topic(topic.partitions)))
        for number, broker in topology.brokers.items():
            if number not in before.brokers:
                changes.append(Change(Api.CREATE, f"{BROKER_IDS}/{number}", write_broker(broker)))
        gone = [number for number in before.brokers if number not in topology.brokers]
        changes += [Change(Api.DELETE, f"{BROKER_IDS}/{number}") for number in gone]
        for change in changes:
            self._ensemble.write(now_ms, change)
        self._collect()

    def advance(self, now_ms: int) -> None:
        self._ensemble.advance(now_ms)
        self._collect()

    def next_deadline(self) -> int | None:
        return self._ensemble.next_deadline()

    def take(self) -> list[ServiceOutput]:
        out, self._out = self._out, []
        return out

    # ------------------------------------------------------------------ what it is like

    @property
    def waiting(self) -> int:
        """Requests that have no answer yet: their server is behind."""
        return sum(len(link.calls) + len(link.others) for link in self._links.values())

    def mourns(self, group: str, alive: Iterator[str]) -> bool:
        """Whether the node of a consumer that is gone still stands: its session has not expired.

        Args:
            alive: ids of the group's consumers that are there.
        """
        node = self._ensemble.tree_of().node(ids_path(group))
        return node is not None and not node.children <= set(alive)

    # ------------------------------------------------------------------ what goes out

    def _collect(self) -> None:
        """Turn what servers send into answers and pushes."""
        for delivery in self._ensemble.take():
            link = self._links.get(delivery.connection)
            if link is None:
                continue
            message = delivery.message
            heard = Reception(link.connection, message)
            if isinstance(message, protocol.Answer):
                self._out.append(Answer(link.calls.pop(message.xid), heard))
            elif isinstance(message, protocol.Notice):
                self._out.append(Push(link.sender, heard, "watch notifications"))
                self._see_notice(link.sender, message)
            elif isinstance(message, protocol.HangUp):
                self._hang_up(delivery.connection, link, heard)
            else:
                self._out.append(Answer(link.others.popleft(), heard))

    def _hang_up(self, number: int, link: _Link, heard: Reception) -> None:
        if link.others:
            self._out.append(Answer(link.others.popleft(), heard))
        else:
            self._out.append(Push(link.sender, heard, "connections closed"))
        self._unlink(number)

    def _unlink(self, number: int) -> None:
        link = self._links.pop(number)
        self._out += [Forgotten(token) for token in (*link.calls.values(), *link.others)]

    # ------------------------------------------------------------------ causes

    def _see(self, transaction: Transaction) -> None:
        """A change was decided: groups that rebalance because of it are told why."""
        for change in transaction.changes:
            self._out.append(_noted(change))
            above, name = parent_of(change.path), change.path.rsplit("/", 1)[1]
            if above == BROKER_TOPICS:
                self._topic_changed(change, name)
            for group in self._groups:
                if above == ids_path(group.name):
                    come = change.api is Api.CREATE
                    shown = name.removeprefix(f"{group.name}_").rsplit("-", 2)[0]
                    cause = f"{shown} registered" if come else f"the node of {shown} is gone"
                    self._out.append(Began(group.name, cause))

    def _topic_changed(self, change: Change, topic: str) -> None:
        partitions = count_partitions(change.data)
        for group in self._groups:
            if self._somebody(group) and reads(group, topic):
                cause = f"{topic} has {counted(partitions, 'partition')}"
                if change.api is Api.CREATE:
                    cause = f"topic {topic} appeared"
                self._out.append(Began(group.name, cause))

    def _see_notice(self, sender: str, notice: protocol.Notice) -> None:
        """Brokers are watched by consumers that found none, by nobody else."""
        group = sender.split("/", 1)[0]
        if notice.event.path == BROKER_IDS and (group, notice.zxid) not in self._told:
            self._told.add((group, notice.zxid))
            self._out.append(Began(group, "brokers came or went"))

    def _somebody(self, group: GroupPlan) -> bool:
        node = self._ensemble.tree_of().node(ids_path(group.name))
        return node is not None and bool(node.children)
