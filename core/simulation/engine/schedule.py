"""Scheduled parts of events, before which a run is not over, and rates by the hour."""

from collections.abc import Callable
from typing import Final

from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.scenario.scenario_model import TopicPlan
from kgroups.core.simulation.world.process import Process


def later(world: World, after_ms: int, what: Callable[[], None]) -> None:
    """Do something that belongs to an event after so long."""

    def now() -> None:
        world.pending -= 1
        world.last_ms = world.now_ms
        what()

    world.pending += 1
    world.agenda.at(world.now_ms + after_ms, now)


def kill_after(world: World, process: Process, notice_ms: int) -> None:
    """Kill a process that has not ended by itself by then."""

    def kill() -> None:
        if process.alive:
            world.kill(process.seat)

    world.agenda.at(world.now_ms + notice_ms, kill)


HOUR_MS: Final = 3_600_000


def set_rate(world: World, topic: str, rate: float) -> None:
    """So many records a second come to the topic from now on; who reads has read until now."""
    for process in world.processes.values():
        process.app.run_to(world.now_ms)
    world.logs.set_rate(topic, rate, world.now_ms)


def plan_hours(world: World, topic: TopicPlan) -> None:
    """Let the rate follow the hours of a day that begins now."""

    def begin(hour: int) -> None:
        set_rate(world, topic.name, topic.rate * topic.hours[hour % len(topic.hours)])
        world.agenda.at(world.now_ms + HOUR_MS, begin, hour + 1)

    begin(0)
