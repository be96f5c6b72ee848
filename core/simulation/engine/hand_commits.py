"""Commits of applications: what they name, and those that are made after each poll."""

from math import ceil

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.engine.network import Network
from kgroups.core.simulation.world.process import Process


def to_commit(process: Process) -> dict[TopicPartition, int]:
    """What is not committed already, of everything that a client names; one at least."""
    stored, positions = process.group.ledger.committed, process.app.positions
    changed = {one: at for one, at in positions.items() if stored.get(one) != at}
    return changed or dict([next(iter(positions.items()))])


def step_once(world: Network, process: Process) -> None:
    """One poll with records; the next one, which commits them, is the world's again."""
    app = process.app
    before = dict(app.positions)
    if process.consumer.gives_records:
        app.hold_up(world.now_ms, False)
        app.run_to(world.now_ms)
    app.uncommitted = {p: at for p, at in app.positions.items() if before.get(p) != at}
    app.hold_up(world.now_ms, True)
    at_ms = app.free_ms if app.uncommitted else max(app.next_arrival(), world.now_ms + 1)
    # It polls on without records too: its consumer must hear of it in time.
    patience_ms = process.seat.plan.settings.max_poll_interval_ms // 2
    world.poll_at(process, ceil(min(at_ms, max(app.free_ms, world.now_ms + patience_ms))))
