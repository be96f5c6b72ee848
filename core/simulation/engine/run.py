"""One run of a scenario with a seed: the only door to the world.

    outcome = simulate(scenario, seed=7)

The same scenario and seed give the same outcome and the same timeline, line by line.
"""

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Final

from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.engine.autoscaling import Scaler
from kgroups.core.simulation.engine.event_effects import plan_events
from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.world import World
from kgroups.core.simulation.figures.lag_watch import LagWatch
from kgroups.core.simulation.figures.ledger import Ledger
from kgroups.core.simulation.figures.outcome import (
    GroupOutcome,
    MemberOutcome,
    Outcome,
    PartitionOutcome,
)
from kgroups.core.simulation.figures.readers import NOBODY_READS, SPLIT_BRAIN
from kgroups.core.simulation.figures.recorder import Line
from kgroups.core.simulation.scenario.scenario_model import PATIENCE_MS, Scenario
from kgroups.core.simulation.world.brokers import Brokers
from kgroups.core.simulation.world.process import GroupState, Seat
from kgroups.core.simulation.world.zookeeper_service import ZookeeperService

# A run that says no end is over when nothing has happened for so long.
REST_MS: Final = 10_000
SAMPLE_MS: Final = 1_000
SAMPLES_A_RUN: Final = 300
# A sample looks at every partition: where there are more than so many, samples are rarer.
PARTITIONS_A_MS: Final = 3
LINES_AT_ONCE: Final = 256
OBJECTS_A_COLLECTION: Final = 50_000


def simulate(
    scenario: Scenario,
    *,
    seed: int | None = None,
    watch: Callable[[], None] | None = None,
) -> Outcome:
    """Run a scenario in virtual time.

    Args:
        watch: called every few virtual seconds; what it raises ends the run.

    Raises:
        BrokenInvariant: a bug; names the seed.
    """
    return Run(scenario, scenario.seed if seed is None else seed, watch).carry_out()


class Run:
    """A run that can be carried out once.

    Attributes:
        world: to be looked at by tests.
    """

    def __init__(
        self, scenario: Scenario, seed: int, watch: Callable[[], None] | None = None
    ) -> None:
        self.scenario, self._watch, self.world = scenario, watch, World(scenario, seed)
        length_ms = PATIENCE_MS if scenario.until_ms is None else scenario.until_ms
        self._end_ms = START_MS + length_ms
        self._sample_ms = SAMPLE_MS
        if scenario.until_ms is not None:
            self._sample_ms = max(SAMPLE_MS, length_ms // SAMPLES_A_RUN)
        partitions = sum(topic.partitions for topic in scenario.topics)
        self._sample_ms = max(self._sample_ms, partitions // PARTITIONS_A_MS)
        self._over = False
        self._watches = {
            name: LagWatch(state.ledger, self.world.logs)
            for name, state in self.world.groups.items()
        }

    def carry_out(self) -> Outcome:
        """Run to the end."""
        self._begin()
        with rare_collections():
            self.world.agenda.run(self._end_ms)
        return self._finish()

    def lines(self, every_request: bool = False) -> Generator[Line, None, Outcome]:
        """The timeline, a line at a time and none kept; the outcome is what it returns.

        Args:
            every_request: heartbeats and commits answered well are in it too.
        """
        waiting: list[Line] = []
        agenda = self.world.agenda

        def keep(line: Line) -> None:
            waiting.append(line)
            agenda.halted = agenda.halted or len(waiting) >= LINES_AT_ONCE

        self.world.recorder.tell(keep, every_request=every_request)
        self._begin()
        while not self._over and agenda.has(self._end_ms):
            agenda.run(self._end_ms)
            yield from waiting
            waiting.clear()
        outcome = self._finish()
        yield from waiting
        return outcome

    def _begin(self) -> None:
        world = self.world
        for group in self.scenario.groups:
            if group.protocol != "zookeeper":
                world.brokers.commit(world.now_ms, group.name, group.committed)
            members = (*group.members, *group.templates)
            world.groups[group.name].expect(group, members, world.brokers.topology, world.now_ms)
            for plan in group.members:
                seat = world.groups[group.name].add_seat(group, plan)
                world.pending += 1
                world.agenda.at(START_MS + plan.start_ms, self._start, seat)
            if group.long_running:
                state = world.groups[group.name]
                state.when_whole.append(partial(spread_phases, world, state))
        for address in world.services:
            world.drain(address)
        for group in self.scenario.groups:
            if group.autoscaler is not None:
                scaler = Scaler(world, group.name, group.autoscaler)
                world.agenda.at(world.now_ms, scaler.begin)
        plan_events(world, self._end_ms)
        world.agenda.at(START_MS + self._sample_ms, self._sample)

    def _start(self, seat: Seat) -> None:
        self.world.pending -= 1
        self.world.start(seat)

    # ------------------------------------------------------------------ on the way

    def _sample(self) -> None:
        world, now_ms = self.world, self.world.now_ms
        if self._watch is not None:
            self._watch()
        for process in world.processes.values():
            process.app.run_to(now_ms)
        for watch in self._watches.values():
            watch.look(now_ms, START_MS)
        if self.scenario.until_ms is None and self._at_rest():
            self._over = world.agenda.halted = True
        else:
            world.agenda.at(now_ms + self._sample_ms, self._sample)

    def _at_rest(self) -> bool:
        if self.world.pending or any(w.behind.since_ms is not None for w in self._watches.values()):
            return False
        now_ms = self.world.now_ms
        if any(process.link.opens_ms > now_ms for process in self.world.processes.values()):
            return False
        return all(
            state.whole_since_ms is not None
            and now_ms - max(state.whole_since_ms, self.world.last_ms) >= REST_MS
            for state in self.world.groups.values()
            if state.alive
        )

    # ------------------------------------------------------------------ at the end

    def _finish(self) -> Outcome:
        world, scenario = self.world, self.scenario
        if not self._over:
            world.agenda.now_ms = max(world.now_ms, self._end_ms)
        now_ms = world.now_ms
        for process in world.processes.values():
            process.app.run_to(now_ms)
        groups = tuple(self._group(state) for state in world.groups.values())
        kept = parked(world.brokers, world.groups)
        kept += sum(s.waiting for s in world.services.values() if isinstance(s, ZookeeperService))
        world.invariants.waiting(world.waiting, kept, now_ms)
        return Outcome(
            scenario=scenario.name,
            seed=world.seed,
            end_ms=now_ms - START_MS,
            settled=all(group.settled for group in groups) and not world.pending,
            events=dict(world.happened),
            groups=groups,
            steps=world.agenda.done,
            checks=world.invariants.checks,
            assumed=scenario.assumed,
            moments=tuple(world.moments),
        )

    def _group(self, state: GroupState) -> GroupOutcome:
        world, now_ms, name = self.world, self.world.now_ms, state.plan.name
        ledger, record, watch = state.ledger, world.recorder.told[name], self._watches[name]
        if state.readers is not None:
            split_ms, nobody_ms = state.readers.totals(now_ms)
            record.counts.update({SPLIT_BRAIN: split_ms, NOBODY_READS: nobody_ms})
        snapshot = world.brokers.snapshot_of(name)
        world.invariants.at_rest(state, snapshot, now_ms)
        last = watch.look(now_ms, START_MS)
        owned = dict.fromkeys(world.processes, 0)
        for account in ledger.accounts.values():
            for life in account.owners:
                owned[life] += 1
        members = tuple(member_outcome(seat, owned, now_ms) for seat in state.seats.values())
        ledger.finish(now_ms)
        watch.behind.end(now_ms)
        accounts = (*ledger.accounts.values(), *ledger.retired)
        unowned_ms, doubled_ms = ledger.totals(now_ms)
        whole_ms = state.whole_since_ms
        return GroupOutcome(
            group=name,
            protocol=state.plan.protocol,
            settled=whole_ms is not None or not (state.alive or any(m.failures for m in members)),
            settled_ms=None if whole_ms is None else whole_ms - START_MS,
            epoch=snapshot.epoch if snapshot is not None else record.epoch,
            state=None if snapshot is None else snapshot.state,
            rebalances=tuple(record.rebalances),
            rebalance_count=record.count,
            causes=dict(record.causes),
            first_owned_ms=None
            if ledger.first_owned_ms is None
            else ledger.first_owned_ms - START_MS,
            unowned_ms=unowned_ms,
            longest_unowned_ms=max((a.unowned.longest_ms for a in accounts), default=0),
            doubled_ms=doubled_ms,
            never_owned=sum(a.last is None for a in accounts),
            moved=ledger.moved,
            records=ledger.highest.read,
            read_again=ledger.highest.read_again,
            lost=ledger.highest.lost,
            out_of_order=ledger.highest.out_of_order,
            skipped=ledger.highest.skipped,
            unread=last.unread,
            lag=last.lag,
            peak_unread=watch.peak,
            behind_ms=watch.behind.total_ms,
            catch_up_ms=watch.behind.longest_ms,
            requests=dict(sorted(record.requests.items())),
            errors=dict(sorted(record.errors.items())),
            members=members,
            partitions=partition_outcomes(ledger),
            samples=watch.kept(),
            counts=dict(sorted(record.counts.items())),
            deploys=tuple(deploy.outcome(now_ms, START_MS) for deploy in state.deploys),
            scalings=tuple(state.scalings),
            owned=tuple(
                stretch._replace(from_ms=stretch.from_ms - START_MS, to_ms=stretch.to_ms - START_MS)
                for stretch in ledger.owned
            ),
        )


def spread_phases(world: World, state: GroupState) -> None:
    """Members of long standing do at times of their own what they do again and again.

    Heartbeats, and refreshing metadata, but that those of a pattern did when they joined.
    """
    chance = Random(f"{world.seed} {state.plan.name} phases")
    together = chance.random()
    for process in [seat.process for seat in state.seats.values() if seat.process is not None]:
        plan, phase, look = process.seat.plan, chance.random(), chance.random()
        age_ms = plan.settings.metadata_max_age_ms
        phase = phase if plan.pattern is None else together
        process.fresh_ms = process.joined_ms = world.now_ms - round(phase * age_ms)
        if LIBRARIES[plan.library].looks_by_timer:
            process.joined_ms = world.now_ms - round(look * age_ms)
        process.consumer.hasten_beat(world.now_ms, chance.random())
        world.carry_out(process)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector of cycles look rarely: a run makes few, and much else."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], OBJECTS_A_COLLECTION), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def member_outcome(seat: Seat, owned: dict[str, int], now_ms: int) -> MemberOutcome:
    """The figures of a seat; what still goes on ends now."""
    seat.stopped.end(now_ms)
    seat.starting.end(now_ms)
    process = seat.process
    return MemberOutcome(
        name=seat.name,
        lives=seat.lives,
        stopped_ms=seat.stopped.total_ms,
        longest_stop_ms=seat.stopped.longest_ms,
        starting_ms=seat.starting.total_ms,
        partitions=0 if process is None else owned[process.life],
        running=process is not None,
        failures=tuple(seat.failures),
    )


def partition_outcomes(ledger: Ledger) -> tuple[PartitionOutcome, ...]:
    """The figures of every partition, by topic and number; stretches must have ended."""
    return tuple(
        PartitionOutcome(
            *partition,
            owner=account.last if account.owners else None,
            unowned_ms=account.unowned.total_ms,
            longest_unowned_ms=account.unowned.longest_ms,
            doubled_ms=account.doubled.total_ms,
        )
        for partition, account in sorted(ledger.accounts.items(), key=lambda item: item[0])
    )


def parked(brokers: Brokers, groups: dict[str, GroupState]) -> int:
    """Requests that coordinators keep until later."""
    snapshots = (brokers.snapshot_of(name) for name in groups)
    return sum(
        member.waiting_for is not None
        for group in snapshots
        if group is not None
        for member in group.members
    )
