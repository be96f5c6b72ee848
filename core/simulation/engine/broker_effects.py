"""Events of brokers in a run, of a whole zone, and of the spot instances of a group."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.engine.schedule import kill_after, later
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.scenario.scenario_events import (
    BrokerDown,
    BrokerUp,
    MoveCoordinator,
    RequestError,
    RollBrokers,
    SlowBroker,
    SpotEviction,
    ZoneOutage,
)
from kgroups.core.simulation.world.partition_logs import NEVER
from kgroups.core.simulation.world.process import Process, Seat

# How long a coordinator reads the log of a partition that it takes over.
LOAD_MS: Final = 50
# How often a Java client hears of the topics and finds its coordinator in one call of `poll`.
SAME_POLL: Final = 0.5


def move_coordinator(world: World, event: MoveCoordinator) -> None:
    """Another broker coordinates the group."""
    brokers = world.brokers
    to = brokers.next_up(brokers.leader_of(event.group)) if event.to is None else event.to
    if to in brokers.up:
        _move(world, brokers.partition_of(event.group), to)


def _move(world: World, partition: int, to: int | None) -> None:
    brokers = world.brokers
    brokers.move(world.now_ms, partition, to)

    def loaded() -> None:
        brokers.finish_loading(world.now_ms, partition)
        drain(world)

    if to is not None:
        later(world, LOAD_MS, loaded)
    drain(world)


def drain(world: World) -> None:
    """Every broker's outputs are seen to."""
    for broker in world.brokers.up:
        world.drain(broker)


def broker_down(world: World, event: BrokerDown) -> None:
    """A broker is gone, and its partitions of the log move."""
    brokers = world.brokers
    if event.broker not in brokers.up:
        return
    partitions = brokers.led_by(event.broker)
    brokers.take_down(world.now_ms, event.broker)
    world.break_connections(event.broker)
    drain(world)
    if not brokers.up:
        _let_read(world, NEVER)

    def fail_over() -> None:
        if event.broker not in brokers.up:
            for partition in partitions:
                _move(world, partition, brokers.next_up(event.broker))
            tell_others(world)

    later(world, event.failover_ms, fail_over)
    if event.for_ms is not None:
        later(world, event.for_ms, lambda: broker_up(world, BrokerUp(event.broker)))


def broker_up(world: World, event: BrokerUp) -> None:
    """A broker is back."""
    brokers = world.brokers
    if event.broker in brokers.up:
        return
    nobody_was_up = not brokers.up
    brokers.bring_up(world.now_ms, event.broker)
    for partition in [*brokers.led_by(event.broker), *brokers.orphans()]:
        _move(world, partition, event.broker)
    tell_others(world)
    drain(world)
    if nobody_was_up:
        _let_read(world, world.now_ms)
        for process in list(world.processes.values()):
            learn_anew(world, process)


def _let_read(world: World, from_ms: float) -> None:
    """No fetch of a group with a coordinator is answered before then."""
    for process in world.processes.values():
        if process.seat.group.protocol == "zookeeper":
            continue
        process.app.cut_off(world.now_ms, max(from_ms, process.link.reads_ms))


def learn_anew(world: World, process: Process) -> None:
    """A Java client that no broker answered has begun anew from its bootstrap addresses.

    It forgot all topics then (KIP-1102). A leader that finds its coordinator again in the same
    call of `poll` in which it hears of the topics takes them for gone, and asks for a rebalance;
    one that polls in between does not. Seen with Java 4.3: "cached metadata has changed from
    {t=[NO_RACKS, ...]} to {t=[]}" in three of four restarts of a single broker.
    """
    plan = process.seat.plan
    forgets = LIBRARIES[plan.library].forgets_topics
    if process.alive and forgets and plan.settings.metadata_recovery == "rebootstrap":
        if world.chance.random() < SAME_POLL:
            process.consumer.update_topics(world.now_ms, Topology())
        world.refresh(process)


def tell_others(world: World) -> None:
    """Services that are no brokers learn of topics and brokers."""
    for address, service in world.services.items():
        if not isinstance(address, int):
            service.update_topology(world.now_ms, world.brokers.topology)
            world.drain(address)


def restart_later(world: World, seat: Seat, after_ms: int) -> None:
    """A new process sits down there after so long."""

    def sit_down() -> None:
        seat.coming = False
        world.start(seat)

    seat.coming = True
    later(world, after_ms, sit_down)


def zone_outage(world: World, event: ZoneOutage) -> None:
    """Every process and broker of a zone ends at once, and comes back with it."""
    for broker in event.brokers:
        broker_down(world, BrokerDown(broker, event.for_ms))
    for process in list(world.processes.values()):
        seat = process.seat
        if seat.plan.rack == event.rack:
            world.kill(seat)
            restart_later(world, seat, event.for_ms)


def spot_eviction(world: World, event: SpotEviction) -> None:
    """Some members are told to end, and are killed when the notice is over."""
    running = world.groups[event.group].running()
    there = [seat for seat in running if event.rack in (None, seat.plan.rack)]
    for seat in world.chance.sample(there, min(event.count, len(there))):
        _evict(world, seat, event)


def _evict(world: World, seat: Seat, event: SpotEviction) -> None:
    process = seat.process
    assert process is not None

    def gone() -> None:
        if event.restart_after_ms is not None:
            restart_later(world, seat, event.restart_after_ms)

    world.close(seat, gone)
    kill_after(world, process, event.notice_ms)


def slow_broker(world: World, event: SlowBroker) -> None:
    """Requests to a broker take longer for a while."""
    world.slow[event.broker] = world.slow.get(event.broker, 0) + event.by_ms

    def over() -> None:
        world.slow[event.broker] -= event.by_ms
        if not world.slow[event.broker]:
            del world.slow[event.broker]

    later(world, event.for_ms, over)


def request_error(world: World, event: RequestError) -> None:
    """The next requests of that kind get an error."""
    world.refused += [event] * event.times


def roll_brokers(world: World, event: RollBrokers) -> None:
    """Brokers are shut down in order and come back, one after the other."""
    _roll_next(world, event, sorted(world.brokers.services))


def _roll_next(world: World, event: RollBrokers, waiting: Sequence[int]) -> None:
    if not waiting:
        return
    # A broker that shuts down in order hands its partitions over at once.
    broker_down(world, BrokerDown(waiting[0], event.down_ms, failover_ms=0))
    after_ms = event.down_ms + event.pause_ms
    later(world, after_ms, lambda: _roll_next(world, event, waiting[1:]))


BROKER_EFFECTS: Final[Mapping[type, Callable[[World, Any], None]]] = {
    MoveCoordinator: move_coordinator,
    BrokerDown: broker_down,
    BrokerUp: broker_up,
    ZoneOutage: zone_outage,
    SpotEviction: spot_eviction,
    SlowBroker: slow_broker,
    RequestError: request_error,
    RollBrokers: roll_brokers,
}
