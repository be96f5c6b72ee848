"""How a consumer shares partitions with the others: by itself, out of what it reads.

Each routine asks in the order in which Kafka 0.8.2 asks, so that what happens between two of its
reads happens to it. Source: ZookeeperConsumerConnector.ZKRebalancerListener.
"""

from kgroups.assignors.java.zookeeper_threads import THREAD_STRATEGIES, group_view
from kgroups.assignors.spec import AssignorError
from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.zookeeper.effects import (
    Committed,
    ConsumerEffect,
    EventKind,
    Fetch,
    StopFetching,
    ZookeeperConsumerConfig,
    ZookeeperConsumerEvent,
    ZookeeperConsumerPorts,
)
from kgroups.core.zookeeper.lanes import (
    LaneName,
    Lanes,
    Lock,
    NodeExists,
    Routine,
    RoutineError,
    Sleep,
)
from kgroups.core.zookeeper.nodes import (
    BROKER_IDS,
    BROKER_TOPICS,
    Nodes,
    Subscription,
    count_partitions,
    ids_path,
    offset_path,
    owner_path,
    read_registration,
    topic_path,
    write_registration,
)

REBALANCE = "rebalance"


class Rebalancer:
    """One consumer's registration, ownership and offsets.

    Attributes:
        owned: partitions it owns by its own account -> thread.
        fetching: partitions that it reads; what it owns, but for the time of a rebalance.
        offsets: committed offsets as it read or wrote them last; None for none.
    """

    def __init__(
        self,
        config: ZookeeperConsumerConfig,
        ports: ZookeeperConsumerPorts,
        lanes: Lanes,
        nodes: Nodes,
    ) -> None:
        self.config, self.ports, self.lanes, self.nodes = config, ports, lanes, nodes
        self.effects: list[ConsumerEffect] = []
        self.owned: dict[TopicPartition, str] = {}
        self.fetching: tuple[TopicPartition, ...] = ()
        self.offsets: dict[TopicPartition, int | None] = {}
        self.shutting_down = False

    @property
    def subscription(self) -> Subscription:
        """The registration of the consumer."""
        config = self.config
        if config.pattern is not None:
            return Subscription(((config.pattern, config.streams),), white_list=True)
        return Subscription(tuple(sorted(config.topics.items())))

    def tell(
        self, kind: EventKind, reason: str = "", partitions: tuple[TopicPartition, ...] = ()
    ) -> None:
        """Add an event."""
        self.effects.append(ZookeeperConsumerEvent(self.lanes.now_ms, kind, reason, partitions))

    # ------------------------------------------------------------------ registration

    def register(self) -> Routine[None]:
        """Make the consumer's node; where one of an older session stands, wait until it is gone."""
        path = f"{ids_path(self.config.group_id)}/{self.config.id}"
        data = write_registration(self.subscription, self.lanes.now_ms)
        while True:
            try:
                yield from self.nodes.create_ephemeral(path, data)
            except NodeExists:
                if (yield from self.nodes.data_if_any(path)) is not None:
                    yield Sleep(self.config.zookeeper_session_timeout_ms)
            else:
                self.tell(EventKind.REGISTERED, self.config.id)
                return

    # ------------------------------------------------------------------ rebalance

    def synced_rebalance(self) -> Routine[None]:
        """Rebalance, with as many attempts as are allowed, while no other thread does.

        Raises:
            RoutineError: ConsumerRebalanceFailedException: no attempt succeeded.
        """
        config = self.config
        yield Lock()
        try:
            if self.shutting_down:
                return
            for attempt in range(config.rebalance_max_retries):
                self.tell(EventKind.REBALANCE, f"try #{attempt}")
                try:
                    yield from self._cluster()
                    done = yield from self._rebalance()
                except RoutineError as error:
                    done = False
                    self.tell(EventKind.ATTEMPT_FAILED, str(error))
                if done:
                    return
                yield from self._stop_and_commit()
                yield Sleep(config.rebalance_backoff_ms)
        finally:
            self.lanes.unlock()
        reason = f"{config.id} can't rebalance after {config.rebalance_max_retries} retries"
        self.tell(EventKind.REBALANCE_FAILED, reason)
        raise RoutineError(reason)

    def _find_leaders(self) -> Routine[None]:
        """Look the brokers up once more, to ask one of them who leads the partitions."""
        for broker in (yield from self.nodes.children_if_any(BROKER_IDS)):
            yield from self.nodes.data_if_any(f"{BROKER_IDS}/{broker}")

    def _cluster(self) -> Routine[None]:
        """Every broker's address; one that goes between two reads spoils the attempt."""
        for broker in (yield from self.nodes.children_if_any(BROKER_IDS)):
            yield from self.nodes.data(f"{BROKER_IDS}/{broker}")

    def _rebalance(self) -> Routine[bool]:
        """One attempt; False if a partition could not be claimed."""
        yield from self._threads_of(self.config.id)
        brokers = yield from self.nodes.children_if_any(BROKER_IDS)
        for broker in brokers:
            yield from self.nodes.data_if_any(f"{BROKER_IDS}/{broker}")
        if not brokers:
            self.tell(EventKind.NO_BROKERS, "waits for one to appear")
            yield from self.nodes.listen_to_children(BROKER_IDS, REBALANCE)
            return True
        yield from self._stop_and_commit()
        yield from self._release()
        decided = yield from self._decide()
        offsets: dict[TopicPartition, int | None] = {}
        for partition in decided:
            text = yield from self.nodes.data_if_any(offset_path(self.config.group_id, partition))
            offsets[partition] = None if text is None else int(text)
        if self.shutting_down:
            return False
        self.offsets.update(offsets)
        if not (yield from self._claim(decided)):
            return False
        self.owned = decided
        self.fetching = tuple(decided)
        self.effects.append(Fetch(offsets))
        if offsets:
            self.lanes.queue(LaneName.FINDER, self._find_leaders())
        self.tell(EventKind.REBALANCED, partitions=self.fetching)
        return True

    def _decide(self) -> Routine[dict[TopicPartition, str]]:
        """The partitions that are this consumer's by what it reads, with their threads."""
        config, nodes = self.config, self.nodes
        mine = yield from self._threads_of(config.id)
        partitions: dict[str, int] = {}
        for topic in mine:
            data = yield from nodes.data_if_any(topic_path(topic))
            partitions[topic] = 0 if data is None else count_partitions(data)
        threads: dict[str, list[str]] = {}
        for consumer in (yield from nodes.children_if_any(ids_path(config.group_id))):
            for topic, ids in (yield from self._threads_of(consumer)).items():
                threads.setdefault(topic, []).extend(ids)
        yield from nodes.children(ids_path(config.group_id))
        strategy = THREAD_STRATEGIES.get(
            config.partition_assignment_strategy, THREAD_STRATEGIES["range"]
        )
        own = {thread for ids in mine.values() for thread in ids}
        try:
            owners = strategy(group_view(threads, partitions))
        except AssignorError as error:
            raise RoutineError(f"{error.java}: {error.message}") from error
        decided = {TopicPartition(*key): thread for key, thread in owners.items() if thread in own}
        return dict(sorted(decided.items()))

    def _threads_of(self, consumer: str) -> Routine[dict[str, list[str]]]:
        """Thread ids by topic of a consumer that is registered; ZkFailure if it is not."""
        data = yield from self.nodes.data(f"{ids_path(self.config.group_id)}/{consumer}")
        subscription = read_registration(data)
        topics = dict(subscription.topics)
        if subscription.white_list:
            (streams,) = topics.values()
            there = yield from self.nodes.children_if_any(BROKER_TOPICS)
            topics = {topic: streams for topic in there if self.ports.matches(topic)}
        return {topic: [f"{consumer}-{n}" for n in range(count)] for topic, count in topics.items()}

    # ------------------------------------------------------------------ ownership

    def _release(self) -> Routine[None]:
        """Remove the nodes of every partition that it owns by its own account."""
        released, self.owned = self.owned, {}
        for partition in released:
            yield from self.nodes.delete(owner_path(self.config.group_id, partition))
        if released:
            self.tell(EventKind.RELEASED, partitions=tuple(released))

    def _claim(self, decided: dict[TopicPartition, str]) -> Routine[bool]:
        """Make the owner nodes: all of them or, where another's still stands, none."""
        claimed: list[TopicPartition] = []
        refused: list[TopicPartition] = []
        for partition, thread in decided.items():
            try:
                yield from self.nodes.create_ephemeral(
                    owner_path(self.config.group_id, partition), thread
                )
            except NodeExists:
                refused.append(partition)
                self.tell(
                    EventKind.CONFLICT, "the node of another thread still exists", (partition,)
                )
            else:
                claimed.append(partition)
                self.tell(EventKind.CLAIMED, thread, (partition,))
        if refused:
            for partition in reversed(claimed):
                yield from self.nodes.delete(owner_path(self.config.group_id, partition))
        return not refused

    # ------------------------------------------------------------------ reading and committing

    def _stop_and_commit(self) -> Routine[None]:
        """Read no more, and commit what was read of what it still owns."""
        self.stop_fetching()
        if self.config.auto_commit_enable:
            yield from self.commit()

    def stop_fetching(self) -> None:
        """Read no more."""
        self.lanes.cancel(LaneName.FINDER)
        if self.fetching:
            self.effects.append(StopFetching(self.fetching))
            self.fetching = ()

    def commit(self) -> Routine[None]:
        """Write the positions that have changed since they were written or read last."""
        written: dict[TopicPartition, int] = {}
        for partition, offset in sorted(self.ports.positions(tuple(self.owned)).items()):
            if self.offsets.get(partition) != offset:
                path = offset_path(self.config.group_id, partition)
                yield from self.nodes.write_persistent(path, str(offset))
                self.offsets[partition] = written[partition] = offset
        if written:
            self.effects.append(Committed(written))

    def forget(self) -> None:
        """The session is over: nothing is owned any more, though it is read until a rebalance."""
        self.owned = {}
