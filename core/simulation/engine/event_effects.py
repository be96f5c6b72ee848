"""What the events of a scenario do to its world: one function an event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.pending import later
from kgroups.core.simulation.engine.rollout import roll_out
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.figures.outcome import MAX_MOMENTS
from kgroups.core.simulation.kubernetes.deploy_event import Deploy
from kgroups.core.simulation.scenario.scenario_events import (
    SCENARIO_EVENT_NAMES,
    AddPartitions,
    BrokerDown,
    BrokerUp,
    Crash,
    CreateTopic,
    MoveCoordinator,
    NetworkSplit,
    Pause,
    Poison,
    RollingRestart,
    ScaleIn,
    ScaleOut,
    ScenarioEvent,
    Scheduled,
)
from kgroups.core.simulation.scenario.scenario_model import TopicPlan
from kgroups.core.simulation.scenario.seat_names import next_name
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.process import Process, Seat

# How long a coordinator reads the log of a partition that it takes over.
LOAD_MS: Final = 50
# How often a Java client hears of the topics and finds its coordinator in one call of `poll`.
SAME_POLL: Final = 0.5


def plan_events(world: World, until_ms: int) -> None:
    """Put every event of the scenario on the agenda; those at random as they come."""
    if world.scenario.auto_partitions:
        world.started = lambda process: _create_missing(world, process)
    for scheduled in world.scenario.events:
        if scheduled.at_ms is not None:
            _pend(world, START_MS + scheduled.at_ms, scheduled.event)
        else:
            _plan_next(world, scheduled, START_MS + scheduled.from_ms, until_ms)


def _plan_next(world: World, scheduled: Scheduled, after_ms: int, until_ms: int) -> None:
    assert scheduled.every_ms is not None
    at_ms = after_ms + max(1, round(world.chance.expovariate(1 / scheduled.every_ms)))
    last_ms = until_ms if scheduled.until_ms is None else START_MS + scheduled.until_ms
    if at_ms < min(last_ms, until_ms):
        world.pending += 1
        world.agenda.at(at_ms, _happen_again, world, scheduled, until_ms)


def _happen_again(world: World, scheduled: Scheduled, until_ms: int) -> None:
    world.pending -= 1
    happen(world, scheduled.event)
    _plan_next(world, scheduled, world.now_ms, until_ms)


def _pend(world: World, at_ms: int, event: ScenarioEvent) -> None:
    def now() -> None:
        world.pending -= 1
        happen(world, event)

    world.pending += 1
    world.agenda.at(at_ms, now)


def happen(world: World, event: ScenarioEvent) -> None:
    """Let it happen now."""
    name = SCENARIO_EVENT_NAMES[type(event)]
    given = [(one, getattr(event, one.name)) for one in fields(event)]
    told = [(one.name, value) for one, value in given if value not in (None, ())]
    shown = ", ".join(f"{key} {value}" for key, value in told if (key, value) != ("stall", False))
    world.recorder.line(world.now_ms, getattr(event, "group", ""), "event", name, shown)
    world.happened[name] += 1
    if len(world.moments) < MAX_MOMENTS:
        world.moments.append((world.now_ms - START_MS, name))
    world.last_ms = world.now_ms
    EVENT_EFFECTS[type(event)](world, event)


# ---------------------------------------------------------------------- members


def _running(world: World, group: str) -> list[Seat]:
    seats = world.groups[group].seats.values()
    return [seat for seat in seats if seat.process is not None and not seat.process.closing]


def _one(world: World, group: str, member: str | None) -> Seat | None:
    """The seat that is named, or a random one where somebody sits; None if there is none."""
    if member is not None:
        return world.groups[group].seats.get(member)
    running = _running(world, group)
    return world.chance.choice(running) if running else None


def _waits(world: World, event: RollingRestart | ScaleOut | ScaleIn) -> bool:
    """Whether it waits until no deploy of the group is under way."""
    state = world.groups[event.group]
    if state.rollouts:
        state.when_rolled.append(lambda: EVENT_EFFECTS[type(event)](world, event))
    return bool(state.rollouts)


def _rolling_restart(world: World, event: RollingRestart) -> None:
    if _waits(world, event):
        return
    seats = world.groups[event.group].seats
    names = event.members or tuple(seat.name for seat in _running(world, event.group))
    _restart_next(world, event, [seats[name] for name in names if name in seats])


def _restart_next(world: World, event: RollingRestart, waiting: Sequence[Seat]) -> None:
    if not waiting:
        return
    seat, rest = waiting[0], waiting[1:]

    def start() -> None:
        world.start(seat)
        later(world, event.pause_ms, lambda: _restart_next(world, event, rest))

    def gone() -> None:
        later(world, event.down_ms, start)

    if seat.process is None:
        gone()
    elif event.graceful:
        world.close(seat, gone)
    else:
        world.kill(seat)
        gone()


def _scale_out(world: World, event: ScaleOut) -> None:
    if _waits(world, event):
        return
    group = world.groups[event.group].plan
    seats = world.groups[event.group].seats
    seat = seats.get(event.like or "")
    like = group.like(event.like) if seat is None else seat.plan
    assert like is not None, "check_scenario has seen to that"
    for _ in range(event.count):
        name = next_name(like.name, seats)
        instance = None if like.instance_id is None else name
        plan = replace(like, name=name, instance_id=instance, start_ms=0)
        world.start(world.add_seat(group, plan))


def _scale_in(world: World, event: ScaleIn) -> None:
    if _waits(world, event):
        return
    running = _running(world, event.group)
    seats = world.groups[event.group].seats
    named = [seats[name] for name in event.members if name in seats]
    for seat in named or list(reversed(running))[: event.count]:
        world.close(seat)


def _crash(world: World, event: Crash) -> None:
    seat = _one(world, event.group, event.member)
    if seat is None:
        return
    world.kill(seat)
    if event.restart_after_ms is not None:
        seat.coming = True
        later(world, event.restart_after_ms, lambda: _sit_down(world, seat))


def _sit_down(world: World, seat: Seat) -> None:
    seat.coming = False
    world.start(seat)


def _pause(world: World, event: Pause) -> None:
    seat = _one(world, event.group, event.member)
    if seat is not None:
        world.freeze(seat, event.for_ms)
        later(world, event.for_ms, lambda: None)


def _poison(world: World, event: Poison) -> None:
    seat = _one(world, event.group, event.member)
    if seat is not None and seat.process is not None:
        seat.process.app.run_to(world.now_ms)
        seat.process.app.delay(event.for_ms)
        later(world, event.for_ms, lambda: None)


def _cut_off(world: World, event: NetworkSplit) -> None:
    seat = _one(world, event.group, event.member)
    if seat is not None and seat.process is not None:
        link = seat.process.link
        link.cut(world.now_ms, world.now_ms + event.for_ms, stalls=event.stall)
        seat.process.app.cut_off(world.now_ms, link.opens_ms)
        world.stop_reading(seat.process, link.opens_ms - world.now_ms)
        later(world, event.for_ms, lambda: None)


# ---------------------------------------------------------------------- brokers


def _move_coordinator(world: World, event: MoveCoordinator) -> None:
    brokers = world.brokers
    to = brokers.next_up(brokers.leader_of(event.group)) if event.to is None else event.to
    if to in brokers.up:
        _move(world, brokers.partition_of(event.group), to)


def _move(world: World, partition: int, to: int | None) -> None:
    brokers = world.brokers
    brokers.move(world.now_ms, partition, to)

    def loaded() -> None:
        brokers.finish_loading(world.now_ms, partition)
        _drain(world)

    if to is not None:
        later(world, LOAD_MS, loaded)
    _drain(world)


def _drain(world: World) -> None:
    for broker in world.brokers.up:
        world.drain(broker)


def _broker_down(world: World, event: BrokerDown) -> None:
    brokers = world.brokers
    if event.broker not in brokers.up:
        return
    partitions = brokers.led_by(event.broker)
    brokers.take_down(world.now_ms, event.broker)
    world.break_connections(event.broker)
    _drain(world)

    def fail_over() -> None:
        if event.broker not in brokers.up:
            for partition in partitions:
                _move(world, partition, brokers.next_up(event.broker))
            _tell_others(world)

    later(world, event.failover_ms, fail_over)
    if event.for_ms is not None:
        later(world, event.for_ms, lambda: _broker_up(world, BrokerUp(event.broker)))


def _broker_up(world: World, event: BrokerUp) -> None:
    brokers = world.brokers
    if event.broker in brokers.up:
        return
    nobody_was_up = not brokers.up
    brokers.bring_up(world.now_ms, event.broker)
    for partition in [*brokers.led_by(event.broker), *brokers.orphans()]:
        _move(world, partition, event.broker)
    _tell_others(world)
    _drain(world)
    if nobody_was_up:
        _learn_anew(world)


def _learn_anew(world: World) -> None:
    """Java clients that no broker answered have begun anew from their bootstrap addresses.

    They forgot all topics then (KIP-1102). A leader that finds its coordinator again in the same
    call of `poll` in which it hears of the topics takes them for gone, and asks for a rebalance;
    one that polls in between does not. Seen with Java 4.3: "cached metadata has changed from
    {t=[NO_RACKS, ...]} to {t=[]}" in three of four restarts of a single broker.
    """
    for process in list(world.processes.values()):
        plan = process.seat.plan
        if plan.library == "java" and plan.settings.metadata_recovery == "rebootstrap":
            if world.chance.random() < SAME_POLL:
                process.consumer.update_topics(world.now_ms, Topology())
            world.refresh(process)


def _tell_others(world: World) -> None:
    """Services that are no brokers learn of topics and brokers."""
    for address, service in world.services.items():
        if not isinstance(address, int):
            service.update_topology(world.now_ms, world.brokers.topology)
            world.drain(address)


# ---------------------------------------------------------------------- topics


def _add_partitions(world: World, event: AddPartitions) -> None:
    new = world.logs.grow(event.topic, event.partitions, world.now_ms)
    _topics_changed(world, event.topic, new)


def _create_topic(world: World, event: CreateTopic) -> None:
    topic = TopicPlan(event.topic, event.partitions, event.rate)
    world.logs.create(topic, world.now_ms)
    new = tuple(TopicPartition(event.topic, n) for n in range(event.partitions))
    _topics_changed(world, event.topic, new)


def _create_missing(world: World, process: Process) -> None:
    """A broker creates topics that a client asks for; the next metadata has them."""
    plan = process.seat.plan
    missing = [name for name in plan.topics if name not in world.logs.topics()]
    if not missing or not plan.settings.allow_auto_create_topics:
        return
    way_ms = world.delay_ms(process)

    def create() -> None:
        for name in missing:
            if name not in world.logs.topics():
                _create_topic(world, CreateTopic(name, world.scenario.auto_partitions))
        again_ms = 3 * way_ms + plan.settings.retry_backoff_ms
        later(world, again_ms, lambda: world.refresh(process))

    later(world, way_ms, create)


def _topics_changed(world: World, topic: str, new: Sequence[TopicPartition]) -> None:
    for state in world.groups.values():
        if reads(state.plan, topic):
            state.ledger.expect(new, world.now_ms, count=True)
            state.whole_since_ms = None
    world.brokers.set_topics(world.now_ms, world.logs.topics())
    _tell_others(world)
    _drain(world)
    world.refresh_all()


EVENT_EFFECTS: Final[Mapping[type[ScenarioEvent], Callable[[World, Any], None]]] = {
    RollingRestart: _rolling_restart,
    ScaleOut: _scale_out,
    ScaleIn: _scale_in,
    Crash: _crash,
    Pause: _pause,
    Poison: _poison,
    NetworkSplit: _cut_off,
    MoveCoordinator: _move_coordinator,
    BrokerDown: _broker_down,
    BrokerUp: _broker_up,
    AddPartitions: _add_partitions,
    CreateTopic: _create_topic,
    Deploy: roll_out,
}
