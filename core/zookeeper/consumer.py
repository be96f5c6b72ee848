"""The high-level consumer of Kafka 0.8.2, without I/O: a member of a group that has no coordinator.

What Kafka called ZookeeperConsumerConnector. Messages and time go in, effects come out:

    consumer.start(now_ms)
    consumer.receive(now_ms, connection, message)
    consumer.advance(now_ms)
    for effect in consumer.take(): ...  # Dial, Transmit, Fetch, ZookeeperConsumerEvent, ...
    wake_at_ms = consumer.next_deadline()

It registers under `/consumers/GROUP/ids`, watches that node's children and its topics' data (the
brokers only while there are none), and rebalances whenever one of them changes.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.zookeeper.client_session import ClientSession, Entered, Fired, SessionState, Told
from kgroups.core.zookeeper.effects import (
    ConsumerEffect,
    EventKind,
    ZookeeperConsumerConfig,
    ZookeeperConsumerPorts,
)
from kgroups.core.zookeeper.lanes import LaneName, Lanes, Lock, Routine, ZkFailure
from kgroups.core.zookeeper.nodes import BROKER_TOPICS, Nodes, ids_path, topic_path
from kgroups.core.zookeeper.protocol import EventType, ToClient, WatchEvent
from kgroups.core.zookeeper.rebalancing import REBALANCE, Rebalancer

TOPICS = "topics"


class ZookeeperConsumer:
    """One consumer, from its start to its shutdown.

    Args:
        ports: chance, positions and its pattern.
        now_ms: milliseconds on whatever clock.
    """

    def __init__(
        self, config: ZookeeperConsumerConfig, ports: ZookeeperConsumerPorts, *, now_ms: int
    ) -> None:
        self.config = config
        self._session = ClientSession(
            config.zookeeper_session_timeout_ms, config.servers, ports.draw
        )
        self._lanes = Lanes(self._session, now_ms, self._task_failed)
        self._nodes = Nodes()
        self._rebalancer = Rebalancer(config, ports, self._lanes, self._nodes)
        self._topics: tuple[str, ...] = ()
        self._triggered = self._listens = False

    # ------------------------------------------------------------------ what comes in

    def start(self, now_ms: int) -> None:
        """Connect, register, watch and rebalance for the first time."""
        self.advance(now_ms)
        self._session.connect(now_ms)
        self._lanes.queue(LaneName.MAIN, self._begin())
        self._pursue()

    def receive(self, now_ms: int, connection: int, message: ToClient) -> None:
        """A server's message arrives; it is read before what is overdue is seen to be late."""
        self._lanes.now_ms = max(self._lanes.now_ms, now_ms)
        self._session.receive(now_ms, connection, message)
        self._pursue()

    def advance(self, now_ms: int) -> None:
        """Let time pass; to be called late only for a process that stood still."""
        self._lanes.now_ms = max(self._lanes.now_ms, now_ms)
        while (due_ms := self.next_deadline()) is not None and due_ms <= now_ms:
            self._session.advance(now_ms)
            self._pursue()
            self._lanes.advance(now_ms)
            self._pursue()

    def commit(self, now_ms: int) -> None:
        """Commit now, as the auto-commit thread does, unless a commit is under way."""
        self.advance(now_ms)
        if self._lanes.idle(LaneName.COMMITTER) and not self._rebalancer.shutting_down:
            self._lanes.queue(LaneName.COMMITTER, self._rebalancer.commit())
            self._pursue()

    def shutdown(self, now_ms: int) -> None:
        """Stop, commit and end the session, when no rebalance is under way any more."""
        self.advance(now_ms)
        if not self._rebalancer.shutting_down:
            self._rebalancer.shutting_down = True
            self._lanes.queue(LaneName.MAIN, self._shut_down())
            self._pursue()

    def next_deadline(self) -> int | None:
        """When `advance` must be called next; None for never."""
        due = [part.next_deadline() for part in (self._session, self._lanes)]
        return min((deadline for deadline in due if deadline is not None), default=None)

    def take(self) -> list[ConsumerEffect]:
        """The effects to carry out since the last call, in order."""
        effects, self._rebalancer.effects = self._rebalancer.effects, []
        return effects

    # ------------------------------------------------------------------ what it is like

    @property
    def state(self) -> SessionState:
        """Where the session is."""
        return self._session.state

    @property
    def fetching(self) -> tuple[TopicPartition, ...]:
        """Partitions that it reads now."""
        return self._rebalancer.fetching

    @property
    def closed(self) -> bool:
        """Whether `shutdown` is finished."""
        return self._rebalancer.shutting_down and self.state is SessionState.CLOSED

    @property
    def settled(self) -> bool:
        """Whether it is connected and no rebalance is under way or asked for."""
        busy = (LaneName.MAIN, LaneName.EVENTS, LaneName.WATCHER)
        return self.state is SessionState.CONNECTED and all(map(self._lanes.idle, busy))

    # ------------------------------------------------------------------ threads

    def _begin(self) -> Routine[None]:
        """createMessageStreams."""
        if self.config.pattern is not None:
            self._topics = yield from self._matching()
        yield from self._rebalancer.register()
        yield from self._reinitialize()
        if self.config.pattern is not None:
            yield from self._nodes.exists(BROKER_TOPICS)
            yield from self._listen_to_topics()
            yield from self._topics_changed()

    def _reinitialize(self) -> Routine[None]:
        """Listen to the group and to the topics, then rebalance."""
        topics: Iterable[str] = sorted(self.config.topics)
        if self.config.pattern is not None:
            topics = yield from self._matching()
        self._listens = True  # to sessions: before that, one that expires is not made good
        yield from self._nodes.listen_to_children(ids_path(self.config.group_id), REBALANCE)
        for topic in topics:
            yield from self._nodes.listen_to_data(topic_path(topic), REBALANCE)
        yield from self._rebalancer.synced_rebalance()

    def _listen_to_topics(self) -> Routine[None]:
        """Listen to which topics there are."""
        yield from self._nodes.listen_to_children(BROKER_TOPICS, TOPICS)

    def _matching(self) -> Routine[tuple[str, ...]]:
        """Topics that are there and on the white list."""
        there = yield from self._nodes.children_if_any(BROKER_TOPICS)
        return tuple(topic for topic in there if self._rebalancer.ports.matches(topic))

    def _topics_changed(self) -> Routine[None]:
        """Read the topics of a pattern again; where they are others, begin anew with them."""
        before, self._topics = self._topics, (yield from self._matching())
        if set(before) != set(self._topics):
            yield from self._reinitialize()

    def _watch_once(self) -> Routine[None]:
        """The watcher thread's answer to a trigger; what triggers meanwhile comes after it."""
        self._triggered = False
        yield from self._rebalancer.synced_rebalance()

    def _new_session(self) -> Routine[None]:
        """The session has expired and there is a new one: nothing is owned, nobody knows us."""
        self._rebalancer.forget()
        yield from self._rebalancer.register()
        yield from self._rebalancer.synced_rebalance()

    def _children_event(self, path: str) -> Routine[None]:
        """Watch a node's children again, then do what the listener does."""
        yield from self._nodes.exists(path)
        with suppress(ZkFailure):  # the watch of exists tells when the node appears
            yield from self._nodes.children(path)
        if self._nodes.child_listeners[path] == TOPICS:
            yield from self._topics_changed()
        else:
            self._trigger()

    def _data_event(self, path: str) -> Routine[None]:
        """Watch a node again; a change of its data, not its end, triggers a rebalance."""
        yield from self._nodes.exists(path)
        if (yield from self._nodes.data_if_any(path)) is not None:
            self._trigger()

    def _shut_down(self) -> Routine[None]:
        """Stop reading, commit, close the session: the nodes go with it."""
        yield Lock()
        self._rebalancer.stop_fetching()
        if self.config.auto_commit_enable:
            yield from self._rebalancer.commit()
        self._session.close(self._lanes.now_ms)
        self._lanes.stop()

    # ------------------------------------------------------------------ events

    def _trigger(self) -> None:
        """Let the watcher thread rebalance, once however often it was triggered before it does."""
        if not self._triggered:
            self._triggered = True
            self._lanes.queue(LaneName.WATCHER, self._watch_once())

    def _task_failed(self, name: LaneName, reason: str) -> None:
        self._rebalancer.tell(EventKind.ERROR, f"{name}: {reason}")

    def _pursue(self) -> None:
        """Carry out what the session told, let threads run, until nothing more comes of it."""
        while True:
            self._lanes.pump()
            effects = self._session.take()
            if not effects:
                return
            for effect in effects:
                if isinstance(effect, Told):
                    self._lanes.told(effect.token, effect.reply)
                elif isinstance(effect, Fired):
                    self._fired(effect.event)
                elif isinstance(effect, Entered):
                    self._entered(effect.state)
                else:
                    self._rebalancer.effects.append(effect)

    def _entered(self, state: SessionState) -> None:
        if state is SessionState.CLOSED:
            self._rebalancer.tell(EventKind.CLOSED)
            return
        self._rebalancer.tell(EventKind.SESSION, state)
        if state is SessionState.CONNECTED:
            self._lanes.connected()
        elif state is SessionState.EXPIRED:
            self._session.connect(self._lanes.now_ms)
            if self._listens:
                self._lanes.queue(LaneName.EVENTS, self._new_session())
            if BROKER_TOPICS in self._nodes.child_listeners:
                self._lanes.queue(LaneName.EVENTS, self._listen_to_topics())
            for path in self._nodes.child_listeners:
                self._lanes.queue(LaneName.EVENTS, self._children_event(path))
            for path in self._nodes.data_listeners:
                self._lanes.queue(LaneName.EVENTS, self._data_event(path))

    def _fired(self, event: WatchEvent) -> None:
        """The tasks that ZkClient makes of a watch: one for its event thread for each listener."""
        self._rebalancer.tell(EventKind.WATCH_FIRED, f"{event.kind} {event.path}")
        listened: list[tuple[dict[str, str], EventType, Callable[[str], Routine[None]]]] = [
            (self._nodes.child_listeners, EventType.CHILDREN_CHANGED, self._children_event),
            (self._nodes.data_listeners, EventType.DATA_CHANGED, self._data_event),
        ]
        for listeners, kind, task in listened:
            concerns = event.kind in (kind, EventType.CREATED, EventType.DELETED)
            if concerns and event.path in listeners:
                self._lanes.queue(LaneName.EVENTS, task(event.path))
