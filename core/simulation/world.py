"""The world of a run: virtual time, the network, processes and services, driven by one heap.

Everything that could be a race is drawn from the seed. The machines (`actors.py`) decide; the
world carries messages, lets applications poll, and writes down who owns what.
"""

from collections import Counter
from collections.abc import Callable
from itertools import count
from math import ceil
from random import Random
from typing import Any, Final
from uuid import UUID

from kgroups.core.coordinator.client_effects import TopicPartition
from kgroups.core.simulation.actors import (
    ANY_BROKER,
    Address,
    Answer,
    Ask,
    Committed,
    Forgotten,
    Hold,
    Push,
    Read,
    Refresh,
    Release,
    Service,
    Step,
    Stored,
    Told,
)
from kgroups.core.simulation.agenda import Agenda
from kgroups.core.simulation.application import Application
from kgroups.core.simulation.brokers import NOBODY, Brokers
from kgroups.core.simulation.invariants import Invariants
from kgroups.core.simulation.ledger import Ledger
from kgroups.core.simulation.logs import Logs
from kgroups.core.simulation.members import make_consumer
from kgroups.core.simulation.process import GroupState, Process, Seat
from kgroups.core.simulation.recorder import Line, Recorder
from kgroups.core.simulation.scenario import MemberPlan, Scenario

# Kafka's clock is never near 0, and the coordinator reads 0 as "never".
START_MS: Final = 1_000_000_000
# A lost packet is sent again after this, then after twice this, ... (TCP).
RESEND_MS: Final = 200
MAX_RESENDS: Final = 10


class World:
    """One run of a scenario.

    Args:
        timeline: takes the lines of the timeline; None: nobody looks.
        every_request: heartbeats and commits answered well are in the timeline too.

    Attributes:
        agenda: virtual time and what is to come.
        services: by address.
        groups: by name.
        pending: events, and parts of events, that are still to come.
        last_ms: when the last event happened.
        happened: events so far, by name.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        *,
        timeline: Callable[[Line], None] | None = None,
        every_request: bool = False,
    ) -> None:
        self.scenario, self.seed = scenario, seed
        self.agenda = Agenda(START_MS)
        # Streams of their own: what one draws does not shift what the other draws.
        self.network, self.chance = Random(f"{seed} network"), Random(f"{seed} events")
        ids = Random(f"{seed} ids")
        self.new_id: Callable[[], UUID] = lambda: UUID(int=ids.getrandbits(128), version=4)
        self.logs = Logs(scenario.topics, START_MS)
        self.brokers = Brokers(scenario, self.logs.topics(), self.new_id, START_MS)
        self.services: dict[Address, Service] = {}
        self.services.update(self.brokers.services.items())
        self._service_wake: dict[Address, int | None] = {}
        self.groups = {
            plan.name: GroupState(plan, Ledger(plan.name, plan.committed))
            for plan in scenario.groups
        }
        self.recorder = Recorder(self.groups, START_MS, timeline, every_request=every_request)
        self.invariants = Invariants(self.groups, seed, START_MS)
        self.processes: dict[str, Process] = {}
        self.pending = 0
        self.last_ms = START_MS
        self.happened: Counter[str] = Counter()
        self._tokens = count(1)
        self._asked: dict[int, tuple[Process, int, str, Address]] = {}
        self._asking: Process | None = None

    @property
    def now_ms(self) -> int:
        """The virtual time."""
        return self.agenda.now_ms

    # ------------------------------------------------------------------ lives

    def add_seat(self, group: str, plan: MemberPlan) -> Seat:
        """A place for a member."""
        state = self.groups[group]
        seat = state.seats[plan.name] = Seat(state.plan, plan)
        return seat

    def start(self, seat: Seat) -> None:
        """A new process sits down, if nobody sits there."""
        if seat.process is not None:
            return
        now_ms, plan, group = self.now_ms, seat.plan, seat.group
        seat.lives += 1
        process = Process(seat, f"{group.name}/{plan.name}#{seat.lives}", now_ms)
        process.app = Application(
            plan,
            self.logs,
            self.groups[group.name].ledger.highest,
            Random(f"{self.seed} {process.life}"),
            now_ms=now_ms,
            fetch_ms=self.scenario.network.latency.mean_ms,
        )
        process.consumer = make_consumer(
            group, plan, process.life, process.app.known, self.new_id, self.services
        )
        seat.process = self.processes[process.life] = process
        state = self.groups[group.name]
        state.alive += 1
        state.restless += 1
        self._unsettle(state)
        seat.starting.begin(now_ms)
        self.recorder.line(now_ms, group.name, plan.name, "started", f"life {seat.lives}")
        process.consumer.start(now_ms, self.brokers.topology)
        settings = plan.settings
        if settings.enable_auto_commit:
            self.agenda.at(now_ms + settings.auto_commit_interval_ms, self._commit_due, process)
        self._carry_out(process)

    def close(self, seat: Seat, then: Callable[[], None] | None = None) -> None:
        """The application closes its consumer at its next poll; then the process ends."""
        process = seat.process
        if process is None or process.closing:
            return
        process.closing = True
        process.then = then
        self._arrange_poll(process)

    def kill(self, seat: Seat) -> None:
        """The process ends without a word."""
        if seat.process is not None:
            self.recorder.line(self.now_ms, seat.group.name, seat.name, "killed")
            self._end(seat.process)

    def freeze(self, seat: Seat, for_ms: int) -> None:
        """The whole process stands still for so long."""
        process = seat.process
        if process is not None:
            process.app.freeze(self.now_ms, for_ms)
            process.frozen_ms = self.now_ms + for_ms
            self.recorder.line(
                self.now_ms, seat.group.name, seat.name, "paused", f"for {for_ms} ms"
            )

    def _end(self, process: Process) -> None:
        now_ms, seat = self.now_ms, process.seat
        state = self.groups[seat.group.name]
        process.alive = False
        seat.process = None
        del self.processes[process.life]
        process.app.run_to(now_ms)
        state.ledger.release(list(state.ledger.accounts), process.life, now_ms)
        state.alive -= 1
        if not process.whole:
            state.restless -= 1
        seat.stopped.end(now_ms)
        seat.starting.end(now_ms)
        for service in self.services.values():
            service.disconnect(now_ms, process.life)
        self._unsettle(state)
        self._judge(state)
        if process.then is not None:
            process.then()

    # ------------------------------------------------------------------ a process and its time

    def _wake(self, process: Process, at_ms: int) -> None:
        """A timer of the consumer may be due."""
        if not process.alive or process.wake_ms != at_ms:
            return
        process.wake_ms = None
        now_ms = self.now_ms
        if process.frozen_ms > now_ms:
            self._wake_at(process, process.frozen_ms)
            return
        if now_ms - process.told_ms > process.seat.plan.settings.max_poll_interval_ms // 2:
            process.app.run_to(now_ms)
            process.told_ms = int(process.app.polled_ms)
            process.consumer.polled(now_ms, process.told_ms)
        process.consumer.advance(now_ms)
        self._carry_out(process)

    def _wake_at(self, process: Process, at_ms: int) -> None:
        process.wake_ms = at_ms
        self.agenda.at(at_ms, self._wake, process, at_ms)

    def _commit_due(self, process: Process) -> None:
        if process.alive:
            process.commit_due = True
            self._arrange_poll(process)

    def _arrange_poll(self, process: Process) -> None:
        """Let the application poll, as soon as it is free, with the world looking on."""
        now_ms = self.now_ms
        if process.poll_ms is not None:
            return
        app = process.app
        app.run_to(now_ms)
        app.held = True
        process.poll_ms = max(now_ms, ceil(app.free_ms), process.frozen_ms)
        self.agenda.at(process.poll_ms, self._poll, process)

    def _poll(self, process: Process) -> None:
        """The application is at its poll."""
        process.poll_ms = None
        if not process.alive:
            return
        now_ms, app, consumer = self.now_ms, process.app, process.consumer
        if process.frozen_ms > now_ms or app.free_ms > now_ms:
            self._arrange_poll(process)
            return
        app.polled_ms = process.told_ms = now_ms
        settings = process.seat.plan.settings
        if process.closing:
            consumer.close(now_ms)
            self._carry_out(process)
            return
        if process.commit_due:
            process.commit_due = False
            self.agenda.at(now_ms + settings.auto_commit_interval_ms, self._commit_due, process)
            if app.positions:
                consumer.commit(now_ms, dict(app.positions))
        elif app.uncommitted and not settings.enable_auto_commit and settings.commit_each_poll:
            consumer.commit(now_ms, dict(app.uncommitted))
            app.uncommitted = {}
        consumer.poll(now_ms)
        app.held = False
        self._carry_out(process)
        if not settings.enable_auto_commit and settings.commit_each_poll and app.positions:
            self._step_once(process)

    def _step_once(self, process: Process) -> None:
        """One poll with records; the next one, which commits them, is the world's again."""
        app = process.app
        before = dict(app.positions)
        app.run_to(self.now_ms)
        app.uncommitted = {p: at for p, at in app.positions.items() if before.get(p) != at}
        app.held = True
        if process.poll_ms is None:
            at_ms = app.free_ms if app.uncommitted else max(app.next_arrival(), self.now_ms + 1)
            if at_ms < float("inf"):
                process.poll_ms = ceil(at_ms)
                self.agenda.at(process.poll_ms, self._poll, process)

    # ------------------------------------------------------------------ what a consumer wants done

    def _carry_out(self, process: Process) -> None:
        consumer = process.consumer
        for output in consumer.take():
            if type(output) is Ask:
                self._send(process, output)
            else:
                self._take_note(process, output)
        if consumer.closed:
            self.recorder.line(self.now_ms, process.seat.group.name, process.seat.name, "closed")
            self._end(process)
            return
        if not process.alive:
            return
        if consumer.failure is not None and not process.closing:
            process.seat.failures.append(consumer.failure)
            process.closing = True
            self._arrange_poll(process)
        elif consumer.wants_poll and process.poll_ms is None:
            self._arrange_poll(process)
        due_ms = consumer.next_deadline()
        if due_ms is not None and (process.wake_ms is None or due_ms < process.wake_ms):
            self._wake_at(process, due_ms)
        self._settle(process, consumer.settled)

    def _take_note(self, process: Process, output: object) -> None:
        now_ms, seat = self.now_ms, process.seat
        state = self.groups[seat.group.name]
        if type(output) is Hold:
            seat.stopped.end(now_ms)
            seat.starting.end(now_ms)
            shared = state.ledger.hold(output.partitions, seat.name, process.life, now_ms)
            self.invariants.held(process, output, shared, self.processes, now_ms)
            if output.partitions:
                self._unsettle(state)
            self._tell_share(process, "assigned", output.partitions)
        elif type(output) is Release:
            process.app.run_to(now_ms)
            process.app.stop(output.partitions)
            state.ledger.release(output.partitions, process.life, now_ms)
            if output.partitions and not process.closing:
                self._unsettle(state)
                if not process.app.positions:
                    seat.stopped.begin(now_ms)
            self._tell_share(process, "lost" if output.lost else "revoked", output.partitions)
        elif type(output) is Read:
            self._begin_reading(process, output)
        elif type(output) is Refresh:
            there_and_back_ms = 2 * self._delay_ms(process)
            self.agenda.at(now_ms + there_and_back_ms, self.refresh, process)
        elif type(output) is Committed:
            state.ledger.store(output.offsets)
        elif type(output) is Step:
            self.recorder.step(now_ms, process, output)

    def _tell_share(self, process: Process, kind: str, partitions: Any) -> None:
        text = f"{len(partitions)} partitions"
        self.recorder.line(self.now_ms, process.seat.group.name, process.seat.name, kind, text)

    def _begin_reading(self, process: Process, read: Read) -> None:
        now_ms, reset = self.now_ms, process.seat.plan.settings.auto_offset_reset
        found: dict[TopicPartition, int] = {}
        for partition, offset in read.positions.items():
            if offset is None and reset == "none":
                self.recorder.told[process.seat.group.name].errors["no committed offset"] += 1
                continue
            end = self.logs.partitions[partition].end(now_ms) if reset == "latest" else 0
            found[partition] = end if offset is None else offset
        process.app.run_to(now_ms)
        process.app.begin(found)
        settings = process.seat.plan.settings
        if not settings.enable_auto_commit and settings.commit_each_poll:
            self._arrange_poll(process)

    # ------------------------------------------------------------------ settled or not

    def _settle(self, process: Process, whole: bool) -> None:
        if whole is process.whole:
            return
        process.whole = whole
        state = self.groups[process.seat.group.name]
        state.restless += -1 if whole else 1
        if whole:
            self._judge(state)
        else:
            self._unsettle(state)

    def _judge(self, state: GroupState) -> None:
        """Whether the group is whole now, if it was not."""
        if state.whole_since_ms is None and not state.restless and state.alive:
            if state.ledger.free and state.plan.protocol != "zookeeper":
                return
            state.whole_since_ms = self.now_ms
            self.recorder.whole(self.now_ms, state.plan.name)

    def refresh_all(self) -> None:
        """Topics have changed: every process hears of it at its next refresh of the metadata."""
        for process in self.processes.values():
            age_ms = process.seat.plan.settings.metadata_max_age_ms
            self.agenda.at(self.now_ms + self.chance.randrange(age_ms + 1), self.refresh, process)

    @property
    def waiting(self) -> int:
        """Requests that have arrived and are not answered."""
        return len(self._asked)

    def _unsettle(self, state: GroupState) -> None:
        state.whole_since_ms = None

    # ------------------------------------------------------------------ the network

    def _delay_ms(self, process: Process) -> int:
        """One way, packets that were lost included."""
        network, random = self.scenario.network, self.network
        delay_ms = network.latency.draw(random)
        if network.loss:
            resend_ms = RESEND_MS
            for _ in range(MAX_RESENDS):
                if random.random() >= network.loss:
                    break
                delay_ms += resend_ms
                resend_ms *= 2
        delay = max(1, round(delay_ms))
        cut_ms = process.cut_ms - self.now_ms
        if cut_ms > 0:
            # Sent again and again at growing distances; the first that gets through counts.
            resend_ms = RESEND_MS
            while resend_ms < cut_ms:
                resend_ms *= 2
            delay += resend_ms
        return delay

    def _send(self, process: Process, ask: Ask) -> None:
        now_ms = self.now_ms
        self.recorder.asked(now_ms, process, ask.kind)
        arrives_ms = max(now_ms + self._delay_ms(process), process.sent_ms)
        process.sent_ms = arrives_ms
        self.agenda.at(arrives_ms, self._arrive, process, ask)

    def _arrive(self, process: Process, ask: Ask) -> None:
        to = ask.to
        if to == ANY_BROKER:
            to = self.brokers.up[0] if self.brokers.up else -1
        if isinstance(to, int) and to not in self.brokers.up:
            self._reply(process, ask.token, ask.kind, None)
            return
        token = next(self._tokens)
        self._asked[token] = (process, ask.token, ask.kind, to)
        self._asking = process
        self.services[to].submit(self.now_ms, token, process.life, ask.request)
        self.drain(to)
        self._asking = None

    def drain(self, address: Address) -> None:
        """Carry out what a service wants done, and see to its next deadline."""
        service, now_ms = self.services[address], self.now_ms
        for output in service.take():
            if type(output) is Answer:
                if output.token is NOBODY:
                    continue
                process, token, kind, _ = self.invariants.answered(
                    self._asked.pop(int(str(output.token)), None), now_ms
                )
                self._reply(process, token, kind, output.response)
            elif type(output) is Forgotten:
                self._asked.pop(int(str(output.token)), None)
            elif type(output) is Stored:
                self._store(output)
            elif type(output) is Told:
                self._told(output)
            elif type(output) is Push:
                self._push(output)
        due_ms = service.next_deadline()
        wake_ms = self._service_wake.get(address)
        if due_ms is not None and (wake_ms is None or due_ms < wake_ms):
            self._service_wake[address] = due_ms
            self.agenda.at(due_ms, self._wake_service, address, due_ms)

    def _wake_service(self, address: Address, at_ms: int) -> None:
        if self._service_wake.get(address) == at_ms:
            self._service_wake[address] = None
            self.services[address].advance(self.now_ms)
            self.drain(address)

    def _store(self, stored: Stored) -> None:
        state = self.groups.get(stored.group)
        if state is not None:
            backwards = state.ledger.store(stored.offsets)
            self.invariants.stored(stored.group, backwards, self.now_ms)

    def _told(self, told: Told) -> None:
        event, asking = told.event, self._asking
        state = self.groups.get(event.group_id)
        if state is not None and event.member_id and asking is not None:
            name = asking.consumer.member_id
            if name in ("", event.member_id) and asking.seat.group is state.plan:
                state.names.setdefault(event.member_id, asking.seat.name)
        found = self.brokers.snapshot_of(event.group_id) if self.invariants.asks(event) else None
        self.invariants.told(event, found)
        self.recorder.event(self.now_ms, event)

    def _reply(self, process: Process, token: int, kind: str, response: object) -> None:
        arrives_ms = max(self.now_ms + self._delay_ms(process), process.received_ms)
        process.received_ms = arrives_ms
        self.agenda.at(arrives_ms, self._deliver, process, token, kind, response)

    def _deliver(self, process: Process, token: int, kind: str, response: object) -> None:
        if not process.alive:
            return
        now_ms = self.now_ms
        if process.frozen_ms > now_ms:
            self.agenda.at(process.frozen_ms, self._deliver, process, token, kind, response)
            return
        self.recorder.answered(now_ms, process, kind, response)
        process.consumer.answer(now_ms, token, response)
        self._carry_out(process)

    def _push(self, push: Push) -> None:
        process = self.processes.get(push.to)
        if process is not None:
            arrives_ms = max(self.now_ms + self._delay_ms(process), process.received_ms)
            process.received_ms = arrives_ms
            self.agenda.at(arrives_ms, self._notify, process, push)

    def _notify(self, process: Process, push: Push) -> None:
        if not process.alive:
            return
        if process.frozen_ms > self.now_ms:
            self.agenda.at(process.frozen_ms, self._notify, process, push)
            return
        told = self.recorder.told[process.seat.group.name]
        told.counts[push.kind] += 1
        process.consumer.notify(self.now_ms, push.message)
        self._carry_out(process)

    def break_connections(self, broker: int) -> None:
        """The broker is gone: who waits for its answer hears that the connection broke."""
        broken = [token for token, asked in self._asked.items() if asked[3] == broker]
        for number in broken:
            process, token, kind, _ = self._asked.pop(number)
            self._reply(process, token, kind, None)

    def refresh(self, process: Process) -> None:
        """The process has fetched the metadata of the topics."""
        if process.alive:
            process.consumer.update_topics(self.now_ms, self.brokers.topology)
            self._carry_out(process)
