"""Faults of more than one member or broker: a zone, spot instances, a slow broker, an upgrade."""

from collections.abc import Sequence

from kgroups.core.simulation.engine.broker_effects import broker_down
from kgroups.core.simulation.engine.schedule import later
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.scenario.scenario_events import (
    BrokerDown,
    RollBrokers,
    SlowBroker,
    SpotEviction,
    ZoneOutage,
)
from kgroups.core.simulation.world.process import Process, Seat


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
    there = [
        seat
        for seat in world.groups[event.group].seats.values()
        if seat.process is not None and not seat.process.closing
        if event.rack in (None, seat.plan.rack)
    ]
    for seat in world.chance.sample(there, min(event.count, len(there))):
        _evict(world, seat, event)


def _evict(world: World, seat: Seat, event: SpotEviction) -> None:
    process = seat.process
    assert process is not None

    def gone() -> None:
        if event.restart_after_ms is not None:
            restart_later(world, seat, event.restart_after_ms)

    def kill(process: Process) -> None:
        if process.alive:
            world.kill(process.seat)

    world.close(seat, gone)
    world.agenda.at(world.now_ms + event.notice_ms, kill, process)


def slow_broker(world: World, event: SlowBroker) -> None:
    """Requests to a broker take longer for a while."""
    world.slow[event.broker] = world.slow.get(event.broker, 0) + event.by_ms

    def over() -> None:
        world.slow[event.broker] -= event.by_ms
        if not world.slow[event.broker]:
            del world.slow[event.broker]

    later(world, event.for_ms, over)


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
