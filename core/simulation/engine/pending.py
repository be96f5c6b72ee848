"""Parts of events that are still to come: a run is not over before them."""

from collections.abc import Callable

from kgroups.core.simulation.engine.world import World


def later(world: World, after_ms: int, what: Callable[[], None]) -> None:
    """Do something that belongs to an event after so long."""

    def now() -> None:
        world.pending -= 1
        world.last_ms = world.now_ms
        what()

    world.pending += 1
    world.agenda.at(world.now_ms + after_ms, now)
