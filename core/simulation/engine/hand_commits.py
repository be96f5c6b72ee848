"""Commits of applications: what they name, when they are made, and what is waited for."""

from math import ceil
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.engine.network import Network
from kgroups.core.simulation.world.actors import CommitAnswered
from kgroups.core.simulation.world.process import CommitState, Process

# An application that has something to commit polls no longer than this, as most do.
POLL_MS: Final = 100


def to_commit(process: Process) -> dict[TopicPartition, int]:
    """The commits of a client that are not committed already; one at least."""
    stored, positions = process.group.ledger.committed, process.app.positions
    changed = {partition: at for partition, at in positions.items() if stored.get(partition) != at}
    return changed or dict([next(iter(positions.items()))])


def commits_done(world: Network, process: Process) -> bool:
    """Let the application commit what it has processed; False: it does not poll now.

    It waits for an answer then, or has not processed all that the last poll gave.
    """
    state, app, now_ms = process.commits, process.app, world.now_ms
    if state is None:
        return True
    if process.closing and not (state.tracked and process.consumer.failure is None):
        return True
    if state.awaits:
        return False
    if state.parts:
        partition, offset, _ = state.parts.popleft()
        if app.uncommitted.get(partition) == offset:
            del app.uncommitted[partition]
            _commit(process, state, {partition: offset}, now_ms)
        if state.parts and not state.awaits:
            _begin_part(world, process, state)
        return not state.parts and not state.awaits
    due = process.closing or now_ms - state.committed_ms >= state.plan.every_ms
    if app.uncommitted and due and not state.failed:
        offsets, app.uncommitted = app.uncommitted, {}
        _commit(process, state, offsets, now_ms)
    return not state.awaits


def _begin_part(world: Network, process: Process, state: CommitState) -> None:
    app = process.app
    app.free_ms = world.now_ms + state.parts[0][2]
    world.poll_at(process, ceil(app.free_ms))


def _commit(
    process: Process, state: CommitState, offsets: dict[TopicPartition, int], now_ms: int
) -> None:
    state.committed_ms = now_ms
    if state.plan.mode == "outside":
        process.group.ledger.outside.update(offsets)
    elif not state.tracked:
        process.consumer.commit(now_ms, offsets)
    else:
        number, sync = state.number(offsets), state.plan.mode == "sync"
        if sync:
            state.awaits = number
        process.consumer.commit(now_ms, offsets, number=number, sync=sync)


def commit_answered(world: Network, process: Process, answered: CommitAnswered) -> None:
    """A commit is over; an application that waited for it goes on."""
    state, app = process.commits, process.app
    if state is None:
        return
    offsets = state.asked.pop(answered.number, {})
    if answered.problem is not None:
        state.failed = True
        newer = {partition for asked in state.asked.values() for partition in asked}
        for partition, offset in offsets.items():
            if partition in app.positions and partition not in newer:
                app.uncommitted.setdefault(partition, offset)
        world.poll_at(process, ceil(max(app.free_ms, world.now_ms + POLL_MS)))
    if state.awaits == answered.number:
        state.awaits = 0
        app.free_ms = max(app.free_ms, world.now_ms)
        if state.parts:
            _begin_part(world, process, state)
        else:
            world.poll_at(process, ceil(app.free_ms))


def step_once(world: Network, process: Process) -> None:
    """One poll with records; the next one, which commits them, is the world's again."""
    app, state, now_ms = process.app, process.commits, world.now_ms
    assert state is not None, "its polls are the world's"
    before = dict(app.positions)
    if process.consumer.gives_records:
        app.hold_up(now_ms, False)
        app.run_to(now_ms)
    came = {p: at for p, at in app.positions.items() if before.get(p) != at}
    waiting = bool(app.uncommitted)
    app.uncommitted.update(came)
    app.hold_up(now_ms, True)
    state.failed = False
    if came and state.plan.per == "partition":
        _divide(process, state, {p: at - before.get(p, 0) for p, at in came.items()})
    at_ms = app.free_ms if came else max(app.next_arrival(), now_ms + 1)
    if waiting and not came:
        at_ms = min(at_ms, now_ms + POLL_MS)
    # It polls on without records too: its consumer must hear of it in time.
    patience_ms = process.seat.plan.settings.max_poll_interval_ms // 2
    world.poll_at(process, ceil(min(at_ms, max(app.free_ms, now_ms + patience_ms))))


def _divide(process: Process, state: CommitState, counts: dict[TopicPartition, int]) -> None:
    """The records of a poll are processed partition by partition, each in its share of the time."""
    app = process.app
    total, takes_ms = sum(counts.values()), app.free_ms - app.polled_ms
    for partition, count in counts.items():
        state.parts.append((partition, app.positions[partition], takes_ms * count / total))
    app.free_ms = app.polled_ms + state.parts[0][2]
