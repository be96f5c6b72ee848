"""The world of a run: virtual time, the network, processes and services, driven by one heap.

Everything that could be a race is drawn from the seed. The machines (`actors.py`) decide; the
world carries messages, lets applications poll, and writes down who owns what.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import ceil
from random import Random
from typing import Any, Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.errors import counted
from kgroups.core.simulation.engine.hand_commits import (
    commit_answered,
    commits_done,
    step_once,
    to_commit,
)
from kgroups.core.simulation.engine.short_way import ShortWay
from kgroups.core.simulation.figures.readers import Readers
from kgroups.core.simulation.world.actors import (
    ZOOKEEPER,
    Ask,
    CommitAnswered,
    Committed,
    Hold,
    Read,
    Reconnect,
    Refresh,
    Release,
    Step,
)
from kgroups.core.simulation.world.application import Application
from kgroups.core.simulation.world.member_kinds import make_consumer
from kgroups.core.simulation.world.process import GroupState, Process, Seat, both
from kgroups.core.simulation.world.zookeeper_service import ZookeeperService
from kgroups.core.times import show_ms

# Java throws NoOffsetForPartitionException, or OffsetOutOfRangeException after a seek.
NO_OFFSET: Final = "no offset to read {0.topic}-{0.partition} from: `auto.offset.reset` is none"


class World(ShortWay):
    """One run of a scenario; arguments and attributes as `Network`'s."""

    # ------------------------------------------------------------------ lives

    def start(self, seat: Seat) -> None:
        """A new process sits down, if nobody sits there."""
        if seat.process is not None or seat.retired:
            return
        now_ms, plan, group = self.now_ms, seat.plan, seat.group
        seat.lives += 1
        state = self.groups[group.name]
        life, records = f"{group.name}/{plan.name}#{seat.lives}", self.recorder.told
        process = Process(seat, state, life, now_ms, records[group.name].requests)
        process.app = Application(
            plan,
            self.logs,
            state.ledger.highest,
            Random(f"{self.seed} {process.life}"),
            now_ms=now_ms,
            fetch_ms=self.scenario.network.latency.mean_ms,
            brokers=self.scenario.brokers,
        )
        process.consumer = make_consumer(
            group, plan, process.life, partial(self._positions, process), self.new_id
        )
        seat.reads = plan
        seat.process = self.processes[process.life] = process
        state.alive += 1
        state.restless += 1
        state.whole_since_ms = None
        seat.starting.begin(now_ms)
        self.recorder.line(now_ms, group.name, plan.name, "started", f"life {seat.lives}")
        if plan.listener is not None:
            process.consumer.listen(Random(f"{self.seed} {process.life} listener"))
        process.consumer.start(now_ms, self.brokers.topology)
        self.started(process)
        if plan.commit is not None and plan.commit.mode == "outside":
            process.consumer.outside = state.ledger.outside
        if plan.auto_commits:
            every_ms = max(1, plan.settings.auto_commit_interval_ms)
            self.agenda.at(now_ms + every_ms, self._commit_due, process)
        self.carry_out(process)

    def close(self, seat: Seat, then: Callable[[], None] | None = None) -> None:
        """The application closes its consumer at its next poll; then the process ends."""
        process = seat.process
        if process is None or process.closing:
            return
        process.closing = True
        process.then = both(process.then, then)
        self.arrange_poll(process)

    def kill(self, seat: Seat) -> None:
        """The process ends without a word."""
        if seat.process is not None:
            self.recorder.line(self.now_ms, seat.group.name, seat.name, "killed")
            seat.process.app.kill(self.now_ms)
            self._end(seat.process)

    def freeze(self, seat: Seat, for_ms: int) -> None:
        """The whole process stands still for so long."""
        process = seat.process
        if process is not None:
            fetch_ms = self.delay_ms(process) + self.delay_ms(process)
            process.app.freeze(self.now_ms, for_ms, fetch_ms)
            process.frozen_ms = self.now_ms + for_ms
            self.stop_reading(process, for_ms)
            text = f"for {show_ms(for_ms)}"
            self.recorder.line(self.now_ms, seat.group.name, seat.name, "paused", text)

    def stop_reading(self, process: Process, for_ms: int) -> None:
        """The process can read nothing for so long, whatever it owns."""
        readers = self.groups[process.seat.group.name].readers
        if readers is not None:
            readers.stop(process.life, self.now_ms)
            self.agenda.at(self.now_ms + for_ms, self._read_on, readers, process.life)

    def _read_on(self, readers: Readers, life: str) -> None:
        readers.go_on(life, self.now_ms)

    def _end(self, process: Process) -> None:
        now_ms, seat = self.now_ms, process.seat
        state = self.groups[seat.group.name]
        process.alive = False
        seat.process = None
        del self.processes[process.life]
        process.app.run_to(now_ms)
        state.ledger.release(list(state.ledger.accounts), process.life, now_ms)
        if state.readers is not None:
            state.readers.leave(process.life, now_ms)
        state.alive -= 1
        state.idle -= process.idle
        self.pending -= len(process.wishes)
        if not process.whole:
            state.restless -= 1
        seat.stopped.end(now_ms)
        seat.starting.end(now_ms)
        for address, service in self.services.items():
            service.disconnect(now_ms, process.life)
            if address == ZOOKEEPER:
                self.drain(address)
        state.whole_since_ms = None
        self.judge(state)
        if process.then is not None:
            process.then()

    # ------------------------------------------------------------------ a process and its time

    def _wake(self, process: Process, at_ms: int) -> None:
        """A timer of the consumer may be due."""
        if not process.alive or process.wake_ms != at_ms:
            return
        process.wake_ms = None
        now_ms = self.agenda.now_ms
        if process.frozen_ms > now_ms:
            self._wake_at(process, process.frozen_ms)
            return
        if process.beats_late and process.waits_for_record(now_ms):
            self._wake_at(process, process.record_ms or now_ms)
            return
        if now_ms - process.told_ms > process.seat.plan.settings.max_poll_interval_ms // 2:
            process.app.run_to(now_ms)
            process.told_ms = int(process.app.polled_ms)
            process.consumer.polled(now_ms, process.told_ms)
        if self.beat(process):
            self._see_to_wake(process)
            return
        process.consumer.advance(now_ms)
        self.carry_out(process)

    def _see_to_wake(self, process: Process) -> None:
        """Be woken when the consumer's next timer is due, if not before."""
        due_ms, wake_ms = process.consumer.next_deadline(), process.wake_ms
        if due_ms is not None and (wake_ms is None or due_ms < wake_ms):
            self._wake_at(process, due_ms)

    def _wake_at(self, process: Process, at_ms: int) -> None:
        process.wake_ms = at_ms
        self.agenda.at(at_ms, self._wake, process, at_ms)

    def _commit_due(self, process: Process) -> None:
        if process.alive:
            process.commit_due = True
            self.arrange_poll(process)

    def arrange_poll(self, process: Process) -> None:
        now_ms, app = self.agenda.now_ms, process.app
        app.hold_up(now_ms, True)
        if process.commits is not None and process.commits.awaits:
            return  # the answer lets it go on
        busy_ms = process.consumer.busy_ms
        self.poll_at(process, max(now_ms, ceil(app.free_ms), process.frozen_ms, busy_ms))

    def poll_at(self, process: Process, at_ms: int) -> None:
        if process.poll_ms is None or at_ms < process.poll_ms:
            process.poll_ms = at_ms
            self.agenda.at(at_ms, self._poll, process, at_ms)

    def _poll(self, process: Process, at_ms: int) -> None:
        """The application is at its poll."""
        if process.poll_ms != at_ms:
            return
        process.poll_ms = None
        if not process.alive:
            return
        now_ms, app, consumer = self.agenda.now_ms, process.app, process.consumer
        if process.frozen_ms > now_ms or app.free_ms > now_ms or consumer.busy_ms > now_ms:
            self.arrange_poll(process)
            return
        if process.by_hand and not commits_done(self, process):
            self.carry_out(process)
            return
        app.polled_ms = process.told_ms = now_ms
        if process.closing:
            consumer.close(now_ms)
            self.carry_out(process)
            return
        process.grant_wishes()
        if process.commit_due:
            process.commit_due = False
            every_ms = max(1, process.seat.plan.settings.auto_commit_interval_ms)
            self.agenda.at(now_ms + every_ms, self._commit_due, process)
            if app.positions:
                offsets = to_commit(process)
                if self.commit(process, offsets):
                    self.carry_out(process)
                    return
                consumer.commit(now_ms, offsets)
        consumer.poll(now_ms)
        self.carry_out(process)
        if process.by_hand and app.positions and process.alive:
            step_once(self, process)

    # ------------------------------------------------------------------ what a consumer wants done

    def carry_out(self, process: Process) -> None:
        consumer = process.consumer
        if consumer.outputs:
            for output in consumer.take():
                if type(output) is Ask:
                    self.send(process, output)
                else:
                    self._take_note(process, output)
        # A settled consumer neither closes nor fails nor wants a poll: most events end here.
        settled = consumer.settled
        if not settled and not self._see_to(process):
            return
        self._see_to_wake(process)
        held = process.poll_ms is not None or (process.by_hand and process.steps)
        held = held or (not settled and not consumer.gives_records)
        if held is not process.app.held:
            process.app.hold_up(self.agenda.now_ms, held)
        if settled is not process.whole or process.group.whole_since_ms is None:
            self._settle(process, settled)

    def _see_to(self, process: Process) -> bool:
        """Let a consumer that is not settled end, fail or poll; False if its process is over."""
        consumer = process.consumer
        if consumer.closed:
            self.recorder.line(self.now_ms, process.seat.group.name, process.seat.name, "closed")
            self._end(process)
            return False
        if not process.alive:
            return False
        if consumer.failure is not None and not process.closing:
            self._fail(process, consumer.failure)
        elif consumer.wants_poll:
            self.arrange_poll(process)
        return True

    def _fail(self, process: Process, failure: str) -> None:
        """Its application gets an error from the consumer, and closes it."""
        process.seat.failures.append(failure)
        process.closing = True
        process.then = process.then or partial(self.failed, process.seat)
        self.arrange_poll(process)

    def _take_note(self, process: Process, output: object) -> None:
        now_ms, seat = self.now_ms, process.seat
        state = self.groups[seat.group.name]
        if type(output) is Hold:
            process.joined_ms = now_ms
            seat.stopped.end(now_ms)
            seat.starting.end(now_ms)
            shared = state.ledger.hold(output.partitions, seat.name, process.life, now_ms)
            if not state.broadcast:
                self.invariants.held(process, output, shared, self.processes, now_ms)
            if state.readers is not None:
                state.readers.begin(process.life, output.partitions, now_ms)
            if output.partitions:
                state.whole_since_ms = None
            self._tell_share(process, "assigned", output.partitions)
        elif type(output) is Release:
            process.app.run_to(now_ms)
            process.app.stop(output.partitions)
            state.ledger.release(output.partitions, process.life, now_ms)
            if state.readers is not None:
                state.readers.end(process.life, output.partitions, now_ms)
            if output.partitions and not process.closing:
                state.whole_since_ms = None
                if not process.app.positions and process.consumer.plan.subscribes:
                    seat.stopped.begin(now_ms)
            self._tell_share(process, "lost" if output.lost else "revoked", output.partitions)
        elif type(output) is Read:
            self.begin_reading(process, output.positions)
        elif type(output) is Refresh:
            there_and_back_ms = 2 * self.delay_ms(process)
            self.agenda.at(now_ms + there_and_back_ms, self.refresh, process)
        elif type(output) is Reconnect:
            self.reconnect(process)
        elif type(output) is Committed:
            state.ledger.store(output.offsets)
        elif type(output) is CommitAnswered:
            commit_answered(self, process, output)
        elif type(output) is Step:
            self.recorder.step(now_ms, process, output)

    def _tell_share(self, process: Process, kind: str, partitions: Any) -> None:
        text = counted(len(partitions), "partition")
        self.recorder.line(self.now_ms, process.seat.group.name, process.seat.name, kind, text)

    def begin_reading(
        self, process: Process, positions: Mapping[TopicPartition, int | None]
    ) -> None:
        """Read these from here on; a None: `auto.offset.reset` decides."""
        now_ms, settings = self.now_ms, process.seat.plan.settings
        offsets: dict[TopicPartition, int] = {}
        for partition, offset in positions.items():
            if offset is None and settings.auto_offset_reset == "none":
                if not process.closing:
                    self._fail(process, NO_OFFSET.format(partition))
                return
            if offset is None:
                offset = self.logs.reset_to(partition, settings, now_ms)
            offsets[partition] = offset
        process.app.run_to(now_ms)
        process.app.held |= process.by_hand  # what it gets now is the next poll's
        process.app.begin(offsets)
        if process.by_hand:
            self.arrange_poll(process)

    # ------------------------------------------------------------------ settled or not

    def _settle(self, process: Process, whole: bool) -> None:
        state = process.group
        idle = whole and process.consumer.idle
        state.idle += idle - process.idle
        process.idle = idle
        if whole is process.whole:
            if whole and state.whole_since_ms is None:
                self.judge(state)
            return
        process.whole = whole
        state.restless += -1 if whole else 1
        if whole:
            self.judge(state)
        else:
            state.whole_since_ms = None

    def judge(self, state: GroupState) -> None:
        """Whether the group is whole now, if it was not."""
        if state.whole_since_ms is None and not state.restless and state.alive:
            protocol = state.plan.protocol
            if protocol == "zookeeper" and self._mourned(state):
                return
            ledger, all_idle = state.ledger, state.idle == state.alive
            unowned = ledger.free and not all_idle
            shared = ledger.shared and not (state.manual or state.broadcast)
            if protocol != "zookeeper" and (unowned or shared):
                return
            mixed = protocol == "consumer" or bool(state.rollouts)
            if mixed and not all_idle and self.brokers.state_of(state.plan.name) != "Stable":
                return  # settled members of a consumer group do not know of a new target
            state.whole_since_ms = self.now_ms
            self.recorder.whole(self.now_ms, state.plan.name)
            waiting, state.when_whole = state.when_whole, []
            for then in waiting:
                then()

    def _mourned(self, state: GroupState) -> bool:
        """Whether ZooKeeper still holds a session of a process that is gone."""
        service = self.services[ZOOKEEPER]
        assert isinstance(service, ZookeeperService)
        processes = (seat.process for seat in state.seats.values())
        alive = (process.consumer.member_id for process in processes if process is not None)
        return service.mourns(state.plan.name, alive)

    def _positions(
        self, process: Process, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Next offsets of the application as it is now."""
        process.app.run_to(self.now_ms)
        return process.app.known(partitions)
