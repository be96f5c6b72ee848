"""Events of applications: pause and resume partitions, change and end subscriptions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.errors import counted
from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.schedule import later
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.scenario.scenario_events import (
    ChangeSubscription,
    PausePartitions,
    Seek,
    SeekTarget,
    Unsubscribe,
)
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.process import GroupState, Process


def _running(world: World, group: str, member: str | None) -> Iterator[Process]:
    """Processes of a group that run: of one member, or of all."""
    for seat in world.groups[group].running():
        if seat.process is not None and member in (None, seat.name):
            yield seat.process


def between_polls(world: World, process: Process, wish: Callable[[], None]) -> None:
    """The application does something with its consumer before it polls again."""

    def grant() -> None:
        world.pending -= 1
        world.last_ms = world.now_ms
        wish()

    world.pending += 1
    process.wishes.append(grant)
    world.arrange_poll(process)


# ---------------------------------------------------------------------- pause, resume


def pause_partitions(world: World, event: PausePartitions) -> None:
    """Members get no records of some topics for a while."""

    def pause(process: Process) -> None:
        process.app.pause(world.now_ms, event.topics)
        seat = process.seat
        world.recorder.line(world.now_ms, event.group, seat.name, "partitions paused")

    def resume(process: Process) -> None:
        process.app.resume(world.now_ms, event.topics)
        seat = process.seat
        world.recorder.line(world.now_ms, event.group, seat.name, "partitions resumed")

    def over(process: Process) -> None:
        if process.alive:
            between_polls(world, process, partial(resume, process))

    for process in _running(world, event.group, event.member):
        between_polls(world, process, partial(pause, process))
        later(world, event.for_ms, partial(over, process))


# ---------------------------------------------------------------------- subscriptions


def change_subscription(world: World, event: ChangeSubscription) -> None:
    """Members read other topics."""
    state = world.groups[event.group]

    def change(process: Process) -> None:
        seat, topology = process.seat, world.brokers.topology
        seat.reads = replace(seat.reads, topics=event.topics, pattern=event.pattern)
        text = ", ".join(event.topics) or str(event.pattern)
        world.recorder.line(world.now_ms, event.group, seat.name, "subscribed", text)
        state.expect(seat.group, (seat.reads,), topology, world.now_ms, count=True)
        _retire(world, state)
        state.whole_since_ms = None
        process.consumer.subscribe(world.now_ms, event.topics, event.pattern, topology)

    for process in _running(world, event.group, event.member):
        between_polls(world, process, partial(change, process))


def _retire(world: World, state: GroupState) -> None:
    """Partitions that no member reads any more need no owner."""
    members = tuple(seat.reads for seat in state.seats.values() if not seat.retired)
    group = replace(state.plan, members=members, templates=())
    read = [name for name in world.brokers.topology.topics if reads(group, name)]
    state.ledger.retire(read, world.now_ms)


def unsubscribe(world: World, event: Unsubscribe) -> None:
    """Members leave the group, and their processes go on."""

    def leave(process: Process) -> None:
        world.recorder.line(world.now_ms, event.group, process.seat.name, "unsubscribed")
        world.groups[event.group].whole_since_ms = None
        process.consumer.unsubscribe(world.now_ms)

    for process in _running(world, event.group, event.member):
        between_polls(world, process, partial(leave, process))


# ---------------------------------------------------------------------- seek


def seek(world: World, event: Seek) -> None:
    """Members read on from elsewhere."""
    for process in _running(world, event.group, event.member):
        between_polls(world, process, partial(_seek, world, event, process))


def _seek(world: World, event: Seek, process: Process) -> None:
    """An offset is known; the ends of a log and offsets by time are asked for first."""
    app, now_ms = process.app, world.now_ms
    app.run_to(now_ms)
    chosen = [
        partition
        for partition in app.positions
        if (not event.topics or partition.topic in event.topics)
        and (not event.partitions or partition.partition in event.partitions)
    ]
    text = f"{event.to}, {counted(len(chosen), 'partition')}"
    world.recorder.line(now_ms, event.group, process.seat.name, "sought", text)
    app.let_go(now_ms, chosen)
    if event.to.kind == "offset":
        _read_on(world, event.to, process, chosen)
    else:
        there_and_back_ms = 2 * world.delay_ms(process)
        later(world, there_and_back_ms, partial(_read_on, world, event.to, process, chosen))


def _read_on(
    world: World, to: SeekTarget, process: Process, chosen: Sequence[TopicPartition]
) -> None:
    """Read what is still its own from there; a place that is not in the log is reset."""
    ledger, settings = process.group.ledger, process.seat.plan.settings
    committed = settings.isolation_level == "read_committed"
    offsets: dict[TopicPartition, int | None] = {}
    for partition in chosen:
        account = ledger.accounts.get(partition)
        if account is None or process.life not in account.owners:
            continue
        records = world.logs.seen(partition, committed=committed)
        end = records.end(world.now_ms)
        place = {
            "beginning": 0,
            "end": end,
            "offset": to.value,
            "timestamp": max(0, records.end(START_MS + to.value)),
        }[to.kind]
        offsets[partition] = place if place <= end else None
    world.begin_reading(process, offsets)
    reads = {p: process.app.positions[p] for p in offsets if p in process.app.positions}
    ledger.seek(reads)
    if process.by_hand:
        process.app.uncommitted.update(reads)


APPLICATION_EFFECTS: Final[Mapping[type, Callable[[World, Any], None]]] = {
    PausePartitions: pause_partitions,
    ChangeSubscription: change_subscription,
    Unsubscribe: unsubscribe,
    Seek: seek,
}
