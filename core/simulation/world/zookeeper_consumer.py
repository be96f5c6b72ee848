"""A member of the ZooKeeper era in the world: its frames, what it reads, what it tells."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.client.ports import Offsets, Positions
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.scenario.subscriptions import pattern_matches
from kgroups.core.simulation.world.actors import (
    ZOOKEEPER,
    Ask,
    Committed,
    Consumer,
    Hold,
    Read,
    Release,
    Step,
)
from kgroups.core.simulation.world.zookeeper_service import SERVERS, Frame, Reception, kind_of
from kgroups.core.zookeeper import effects
from kgroups.core.zookeeper.client_session import Dial, SessionState
from kgroups.core.zookeeper.consumer import ZookeeperConsumer
from kgroups.core.zookeeper.effects import (
    EventKind,
    ZookeeperConsumerConfig,
    ZookeeperConsumerPorts,
)

# Event -> what it adds to the run's figures.
COUNTED: Final[Mapping[EventKind, str]] = {
    EventKind.REBALANCE: "rebalance attempts",
    EventKind.ATTEMPT_FAILED: "attempts spoiled by a change",
    EventKind.CONFLICT: "claims refused",
    EventKind.REBALANCE_FAILED: "failed rebalances",
    EventKind.NO_BROKERS: "rebalances without brokers",
}


class ZookeeperMember(Consumer):
    """One life of a consumer of Kafka 0.8.2: its threads do all the work, its watches tell it."""

    _machine: ZookeeperConsumer

    def __init__(
        self,
        group: GroupPlan,
        plan: MemberPlan,
        sender: str,
        positions: Positions,
        new_id: Callable[[], UUID],
    ) -> None:
        super().__init__(group, plan, sender, positions)
        self._new_id = new_id
        self._servers: dict[int, int] = {}
        self._tokens = 0
        self._id = ""

    def start(self, now_ms: int, topology: Topology) -> None:
        """Connect; what there is to read it finds in ZooKeeper."""
        plan, given = self.plan, self.plan.settings
        config = ZookeeperConsumerConfig(
            self.group.name,
            f"{plan.name}-{now_ms}-{self._new_id().hex[:8]}",
            dict.fromkeys(plan.topics, 1) if plan.pattern is None else {},
            plan.pattern,
            zookeeper_session_timeout_ms=given.zookeeper_session_timeout_ms,
            rebalance_max_retries=given.rebalance_max_retries,
            rebalance_backoff_ms=given.zookeeper_sync_time_ms
            if given.rebalance_backoff_ms is None
            else given.rebalance_backoff_ms,
            partition_assignment_strategy=given.assignors[0] if given.assignors else "range",
            auto_commit_enable=given.enable_auto_commit,
            servers=SERVERS,
        )
        matches = pattern_matches(self.group, plan) or effects.every_topic
        ports = ZookeeperConsumerPorts(
            lambda below: self._new_id().int % below, self.positions, matches
        )
        self._id = config.id
        self._machine = ZookeeperConsumer(config, ports, now_ms=now_ms)
        self._machine.start(now_ms)
        self._carry_out()

    def commit(self, now_ms: int, offsets: Offsets, *, number: int = 0, sync: bool = False) -> None:
        """Write the offsets of everything that it owns."""
        self._machine.commit(now_ms)
        self._carry_out()

    def close(self, now_ms: int) -> None:
        """Shut down: at once, or when the rebalance that is under way is over."""
        self._machine.shutdown(now_ms)
        self._carry_out()

    def answer(self, now_ms: int, token: int, response: object | None) -> None:
        if response is not None:
            self.notify(now_ms, response)

    def notify(self, now_ms: int, message: object) -> None:
        assert isinstance(message, Reception), "the ensemble sends receptions"
        self._machine.receive(now_ms, message.connection, message.message)
        self._machine.advance(now_ms)
        self._carry_out()

    def advance(self, now_ms: int) -> None:
        self._machine.advance(now_ms)
        self._carry_out()

    def next_deadline(self) -> int | None:
        return self._machine.next_deadline()

    @property
    def member_id(self) -> str:
        """The name of its node."""
        return self._id

    @property
    def settled(self) -> bool:
        return self._machine.settled

    @property
    def closed(self) -> bool:
        return self._machine.closed

    # ------------------------------------------------------------------ outputs

    def _carry_out(self) -> None:
        for effect in self._machine.take():
            if isinstance(effect, Dial):
                self._servers[effect.connection] = effect.server
            elif isinstance(effect, effects.Fetch):
                self.outputs.append(Hold(tuple(effect.positions), 0))
                self.outputs.append(Read(effect.positions))
            elif isinstance(effect, effects.StopFetching):
                self.outputs.append(Release(effect.partitions))
            elif isinstance(effect, effects.Committed):
                self.outputs.append(Committed(effect.offsets))
            elif isinstance(effect, effects.ZookeeperConsumerEvent):
                self._tell(effect)
            else:
                self._tokens += 1
                server = self._servers[effect.connection]
                frame = Frame(effect.connection, server, effect.message)
                self.outputs.append(Ask(self._tokens, ZOOKEEPER, kind_of(effect.message), frame))

    def _tell(self, event: effects.ZookeeperConsumerEvent) -> None:
        """An event as a line of the timeline."""
        text = event.reason
        if event.partitions:
            shown = ", ".join(f"{p.topic}-{p.partition}" for p in event.partitions)
            text = f"{shown}: {text}" if text else shown
        counts: dict[str, int] = {}
        if event.kind in COUNTED:
            counts[COUNTED[event.kind]] = 1
        elif event.kind is EventKind.SESSION and event.reason == SessionState.EXPIRED:
            counts["sessions expired"] = 1
        self.outputs.append(Step(event.kind, text, counts=counts))
