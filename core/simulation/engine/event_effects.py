"""Effects of the events of a scenario on its world: one function an event."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.engine.application_effects import APPLICATION_EFFECTS
from kgroups.core.simulation.engine.broker_effects import (
    BROKER_EFFECTS,
    drain,
    learn_anew,
    restart_later,
    tell_others,
)
from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.rollout import roll_out
from kgroups.core.simulation.engine.schedule import later, plan_hours, set_rate
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.figures.outcome import MAX_MOMENTS
from kgroups.core.simulation.kubernetes.deploy_event import Deploy
from kgroups.core.simulation.scenario.event_file import event_text
from kgroups.core.simulation.scenario.scenario_events import (
    SCENARIO_EVENT_NAMES,
    AddPartitions,
    Crash,
    CreateTopic,
    Load,
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
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.listener import FAILED
from kgroups.core.simulation.world.process import GroupState, Process, Seat


def plan_events(world: World, until_ms: int) -> None:
    """Put every event of the scenario on the agenda; those at random as they come."""
    world.failed = lambda seat: _start_again(world, seat)
    for topic in world.scenario.topics:
        if topic.hours:
            plan_hours(world, topic)
    if world.scenario.auto_partitions:
        world.started = lambda process: _create_missing(world, process)
    for scheduled in world.scenario.events:
        if scheduled.at_ms is not None:
            later(world, scheduled.at_ms, partial(happen, world, scheduled.event))
        else:
            _plan_next(world, scheduled, START_MS + scheduled.from_ms, until_ms)


def _plan_next(world: World, scheduled: Scheduled, after_ms: int, until_ms: int) -> None:
    assert scheduled.every_ms is not None
    at_ms = after_ms + max(1, round(world.chance.expovariate(1 / scheduled.every_ms)))
    last_ms = until_ms if scheduled.until_ms is None else START_MS + scheduled.until_ms

    def again() -> None:
        happen(world, scheduled.event)
        _plan_next(world, scheduled, world.now_ms, until_ms)

    if at_ms < min(last_ms, until_ms):
        later(world, at_ms - world.now_ms, again)


def happen(world: World, event: ScenarioEvent) -> None:
    """Let it happen now."""
    name = SCENARIO_EVENT_NAMES[type(event)]
    group = getattr(event, "group", "")
    world.recorder.line(world.now_ms, group, "event", name, event_text(event))
    world.happened[name] += 1
    if len(world.moments) < MAX_MOMENTS:
        world.moments.append((world.now_ms - START_MS, name))
    EVENT_EFFECTS[type(event)](world, event)


# ---------------------------------------------------------------------- members


def _one(world: World, group: str, member: str | None) -> Seat | None:
    """The seat that is named, or a random one where somebody sits; None if there is none."""
    if member is not None:
        return world.groups[group].seats.get(member)
    running = world.groups[group].running()
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
    names = event.members or tuple(seat.name for seat in world.groups[event.group].running())
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
    state = world.groups[event.group]
    seat = state.seats.get(event.like or "")
    like = state.plan.like(event.like) if seat is None else seat.plan
    assert like is not None, "check_scenario has seen to that"
    for _ in range(event.count):
        world.start(state.add_like(state.plan, like))


def _scale_in(world: World, event: ScaleIn) -> None:
    if _waits(world, event):
        return
    group = world.groups[event.group]
    named = [group.seats[name] for name in event.members if name in group.seats]
    for seat in named or group.running()[::-1][: event.count]:
        world.close(seat)


def _crash(world: World, event: Crash) -> None:
    seat = _one(world, event.group, event.member)
    if seat is None:
        return
    world.kill(seat)
    if event.restart_after_ms is not None:
        restart_later(world, seat, event.restart_after_ms)


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
        until_ms = world.now_ms + event.for_ms
        apart = None
        traits = LIBRARIES[seat.plan.library]
        if not traits.one_connection and seat.group.protocol != "zookeeper":
            apart = Random(f"{world.seed} {seat.process.life} {world.now_ms} fetches")
        app = seat.process.app
        link.cut(
            world.now_ms,
            until_ms,
            stalls=event.stall,
            lost=event.lost,
            apart=apart,
            waited_ms=app.longest_wait_ms,
            finds=traits.finds_over_fetches,
            bootstraps=traits.bootstraps and seat.plan.settings.metadata_recovery == "rebootstrap",
        )
        app.cut_off(world.now_ms, link.reads_ms)
        world.stop_reading(seat.process, link.reads_ms - world.now_ms)
        if link.bootstraps:
            learned = partial(learn_anew, world, seat.process)
            later(world, link.finds_ms - world.now_ms, learned)
        later(world, event.for_ms, lambda: None)


# ---------------------------------------------------------------------- topics


def _add_partitions(world: World, event: AddPartitions) -> None:
    new = world.logs.grow(event.topic, event.partitions, world.now_ms)
    _topics_changed(world, event.topic, new)


def _create_topic(world: World, event: CreateTopic) -> None:
    topic = TopicPlan(event.topic, event.partitions, event.rate)
    world.logs.create(topic, world.now_ms)
    new = tuple(TopicPartition(event.topic, n) for n in range(event.partitions))
    _topics_changed(world, event.topic, new)


def _start_again(world: World, seat: Seat) -> None:
    """The application ended because its listener failed: its supervisor starts it again."""
    listener = seat.plan.listener
    after_ms = None if listener is None else listener.restart_after_ms
    if after_ms is not None and seat.failures[-1] == FAILED:
        later(world, after_ms, lambda: world.start(seat))


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
        if _read_by(state, topic):
            state.ledger.expect(new, world.now_ms, count=True)
            state.whole_since_ms = None
    world.brokers.set_topics(world.now_ms, world.logs.topics())
    tell_others(world)
    drain(world)
    _refresh_later(world)


def _read_by(state: GroupState, topic: str) -> bool:
    """Whether a group reads a topic: by its plan, or by what members have subscribed to since."""
    if all(seat.reads is seat.plan for seat in state.seats.values()):
        return reads(state.plan, topic)
    members = tuple(seat.reads for seat in state.seats.values() if not seat.retired)
    return reads(replace(state.plan, members=members, templates=()), topic)


def _refresh_later(world: World) -> None:
    """Members hear of new partitions when they refresh their metadata next.

    That counts from their last refresh. Where the leader looks by a timer of its own, which begins
    with each generation, that is as long, and comes on top.
    """
    for process in world.processes.values():
        plan, since_ms = process.seat.plan, process.fresh_ms
        traits, age_ms = LIBRARIES[plan.library], max(1, plan.settings.metadata_max_age_ms)
        if traits.refreshes_to_assign:
            since_ms = max(since_ms, process.joined_ms)
        at_ms = _next_time(since_ms, age_ms, world.now_ms)
        if traits.looks_by_timer:
            at_ms = _next_time(process.joined_ms, age_ms, at_ms)
        world.agenda.at(at_ms, world.refresh, process)


def _next_time(since_ms: int, every_ms: int, from_ms: int) -> int:
    """The first time at or after `from_ms` of what is done every so often since then."""
    return since_ms + -(-(from_ms - since_ms) // every_ms) * every_ms


def _load(world: World, event: Load) -> None:
    before = world.logs.rate_of(event.topic)
    set_rate(world, event.topic, event.rate)
    if event.for_ms is not None:
        later(world, event.for_ms, lambda: set_rate(world, event.topic, before))


EVENT_EFFECTS: Final[Mapping[type[ScenarioEvent], Callable[[World, Any], None]]] = {
    RollingRestart: _rolling_restart,
    ScaleOut: _scale_out,
    ScaleIn: _scale_in,
    Crash: _crash,
    Pause: _pause,
    Poison: _poison,
    NetworkSplit: _cut_off,
    AddPartitions: _add_partitions,
    CreateTopic: _create_topic,
    Deploy: roll_out,
    Load: _load,
    **APPLICATION_EFFECTS,
    **BROKER_EFFECTS,
}
