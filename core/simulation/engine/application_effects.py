"""What applications do by events: they pause partitions, and resume them."""

from collections.abc import Callable

from kgroups.core.simulation.engine.pending import later
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.scenario.scenario_events import PausePartitions
from kgroups.core.simulation.world.process import Process


def pause_partitions(world: World, event: PausePartitions) -> None:
    """Members get no records of some topics for a while."""
    for seat in world.groups[event.group].seats.values():
        process = seat.process
        if process is None or event.member not in (None, seat.name):
            continue
        process.app.pause(world.now_ms, event.topics)
        world.recorder.line(world.now_ms, event.group, seat.name, "partitions paused")
        later(world, event.for_ms, _resuming(world, event, process))


def _resuming(world: World, event: PausePartitions, process: Process) -> Callable[[], None]:
    def resume() -> None:
        if not process.alive:
            return
        process.app.resume(world.now_ms, event.topics)
        world.recorder.line(world.now_ms, event.group, process.seat.name, "partitions resumed")
        if process.by_hand:
            world.arrange_poll(process)

    return resume
