"""The network of a run: it carries requests, answers and pushes between processes and services.

What takes how long is drawn from the seed; messages of one connection keep their order.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable
from itertools import count
from random import Random
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.coordinator import refused
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.simulation.engine.agenda import Agenda
from kgroups.core.simulation.figures.invariants import Invariants
from kgroups.core.simulation.figures.ledger import Ledger
from kgroups.core.simulation.figures.recorder import Recorder
from kgroups.core.simulation.scenario.scenario_events import BROKEN, Lost, RequestError
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.subscriptions import all_topics
from kgroups.core.simulation.world.actors import (
    ANY_BROKER,
    ZOOKEEPER,
    Address,
    Answer,
    Ask,
    Began,
    Forgotten,
    Noted,
    Push,
    Service,
    Stored,
    Told,
)
from kgroups.core.simulation.world.brokers import NOBODY, Brokers
from kgroups.core.simulation.world.link import RESEND_MS
from kgroups.core.simulation.world.partition_logs import Logs
from kgroups.core.simulation.world.process import GroupState, Process, Seat
from kgroups.core.simulation.world.zookeeper_service import Frame, Reception, ZookeeperService

# Kafka's clock is never near 0, and the coordinator reads 0 as "never".
START_MS: Final = 1_000_000_000
MAX_RESENDS: Final = 10


class Network(ABC):
    """The state of a run, and the messages in it.

    Attributes:
        agenda: virtual time and what is to come.
        services: by address.
        groups: by name.
        slow: broker -> ms that each request to it takes more.
        refused: requests that are to fail, one each.
        pending: events, and parts of events, that are still to come.
        last_ms: when the last event happened.
        happened: events so far, by name; `moments` when the first of them did.
        started, failed: told of every process that has started, or ended with a failure.
    """

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario, self.seed = scenario, seed
        self.agenda = Agenda(START_MS)
        # Streams of their own: what one draws does not shift what the other draws.
        self.network, self.chance = Random(f"{seed} network"), Random(f"{seed} events")
        ids = Random(f"{seed} ids")
        self.new_id: Callable[[], UUID] = lambda: UUID(int=ids.getrandbits(128), version=4)
        self.logs = Logs(all_topics(scenario), START_MS)
        self.brokers = Brokers(scenario, self.logs.topics(), self.new_id, START_MS)
        self.services: dict[Address, Service] = {}
        self.services.update(self.brokers.services.items())
        if any(plan.protocol == "zookeeper" for plan in scenario.groups):
            self.services[ZOOKEEPER] = ZookeeperService(
                scenario, Random(f"{seed} zookeeper"), self.brokers.topology, now_ms=START_MS
            )
        self._service_wake: dict[Address, int | None] = {}
        self.groups = {
            plan.name: GroupState(
                plan,
                Ledger(plan.name, plan.committed),
                scenario.cluster.consumer_heartbeat_interval_ms,
            )
            for plan in scenario.groups
        }
        self.recorder = Recorder(self.groups, START_MS)
        self.invariants = Invariants(self.groups, seed, START_MS)
        self.processes: dict[str, Process] = {}
        self.slow: dict[int, int] = {}
        self.refused: list[RequestError] = []
        self.pending = 0
        self.last_ms = START_MS
        self.happened: Counter[str] = Counter()
        self.moments: list[tuple[int, str]] = []
        self.started: Callable[[Process], None] = lambda process: None
        self.failed: Callable[[Seat], None] = lambda seat: None
        latency, loss = scenario.network.latency, scenario.network.loss
        steady = latency.shape == "fixed" and not loss
        self._steady_ms = max(1, round(latency.mean_ms)) if steady else None
        self._tokens = count(1)
        self._asked: dict[Hashable, tuple[Process, int, str, Address]] = {}
        self._asking: Process | None = None

    @property
    def now_ms(self) -> int:
        """The virtual time."""
        return self.agenda.now_ms

    @abstractmethod
    def carry_out(self, process: Process) -> None:
        """See to what the process's consumer wants done."""

    @abstractmethod
    def arrange_poll(self, process: Process) -> None:
        """Let the application poll, as soon as it is free, with the world looking on."""

    @abstractmethod
    def poll_at(self, process: Process, at_ms: int) -> None:
        """Let it poll then, unless it does so earlier."""

    @property
    def waiting(self) -> int:
        """Requests that have arrived and are not answered."""
        return len(self._asked)

    # ------------------------------------------------------------------ requests

    def delay_ms(self, process: Process, sender: Lost = "both") -> int:
        """One way, packets that were lost included; of a request, an answer, or both."""
        link, now_ms = process.link, self.agenda.now_ms
        blocked_ms = 0 if link.opens_ms <= now_ms else link.blocked_ms(now_ms, sender)
        if self._steady_ms is not None:
            return self._steady_ms + blocked_ms if blocked_ms > 0 else self._steady_ms
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
        return delay + blocked_ms if blocked_ms > 0 else delay

    def send(
        self, process: Process, ask: Ask, arrive: Callable[[Process, Ask, int], None] | None = None
    ) -> None:
        """Put a request on its way.

        Args:
            arrive: what is to be done with it then; None: what is done with every request.
        """
        agenda = self.agenda
        process.requests[ask.kind] += 1
        arrives_ms = agenda.now_ms + self.delay_ms(process, "requests")
        if self.slow:
            arrives_ms += self.slow.get(ask.to, 0) if type(ask.to) is int else 0
        if process.behind_fetches:
            arrives_ms = max(arrives_ms, self._after_fetch(process, ask.to))
        if process.idle_ms is not None:
            arrives_ms += self._set_up(process, process.idle_ms)
        if ask.to is ANY_BROKER and arrives_ms < process.link.finds_ms:
            arrives_ms = process.link.finds_ms
        if type(ask.request) is Frame:
            arrives_ms = process.in_turn(ask.request.connection, arrives_ms)
        elif arrives_ms < process.sent_ms:
            arrives_ms = process.sent_ms
        else:
            process.sent_ms = arrives_ms
        agenda.at(arrives_ms, arrive or self._arrive, process, ask, process.link.number)

    def _after_fetch(self, process: Process, broker: Address) -> int:
        """When a fetch from this broker is answered: with a record, or when it waited for long."""
        now_ms, app, brokers = self.agenda.now_ms, process.app, self.scenario.brokers
        if broker not in self.brokers.up or app.is_cut_off(now_ms):
            return now_ms
        if not any(partition.partition % brokers == broker for partition in app.fetched()):
            return now_ms
        app.run_to(now_ms)
        wait_ms = process.seat.plan.settings.fetch_max_wait_ms
        return round(min(app.next_arrival(), now_ms + wait_ms))

    def _set_up(self, process: Process, idle_ms: int) -> int:
        """The wait of a request for a connection that was closed because it was idle.

        TCP's handshake and ApiVersions go there and back first.
        """
        now_ms, used_ms = self.agenda.now_ms, max(process.sent_ms, process.received_ms)
        if now_ms - used_ms < idle_ms:
            return 0
        return 4 * self.delay_ms(process)

    def _arrive(self, process: Process, ask: Ask, connection: int) -> None:
        if connection != process.link.number:
            return
        number, to, kind, request = ask
        up = self.brokers.up
        if to == ANY_BROKER:
            to = up[0] if up else -1
            asked = f"asks broker {to}" if up else "finds no broker"
            seat = process.seat
            self.recorder.line(self.agenda.now_ms, seat.group.name, seat.name, kind, asked)
        if to is not ZOOKEEPER and to not in up:
            self._reply(process, number, kind, None)
            return
        failing = self._failing(process, kind) if self.refused else None
        if failing is not None:
            self.refused.remove(failing)
            is_answered = failing.error != BROKEN
            answer = refused(request, ErrorCode[failing.error]) if is_answered else None  # type: ignore[arg-type] # a client half's
            self._reply(process, number, kind, answer)
            return
        token = next(self._tokens)
        self._asked[token] = (process, number, kind, to)
        self._asking = process
        self.services[to].submit(self.agenda.now_ms, token, process.life, request)
        self.drain(to)
        self._asking = None

    def _failing(self, process: Process, kind: str) -> RequestError | None:
        """The error that an event has in store for a request of this process."""
        group, member = process.seat.group.name, process.seat.name
        refusals = (r for r in self.refused if (r.group, r.api) == (group, kind))
        return next((refusal for refusal in refusals if refusal.member in (None, member)), None)

    def drain(self, address: Address) -> None:
        """Carry out what a service wants done, and see to its next deadline."""
        service, now_ms = self.services[address], self.agenda.now_ms
        for output in service.take():
            if type(output) is Answer:
                if output.token is NOBODY:
                    continue
                process, token, kind, _ = self.invariants.answered(
                    self._asked.pop(output.token, None), now_ms
                )
                self._reply(process, token, kind, output.response)
            elif type(output) is Forgotten:
                self._asked.pop(output.token, None)
            elif type(output) is Stored:
                self._store(output)
            elif type(output) is Told:
                self._told(output)
            elif type(output) is Began:
                self.groups[output.group].whole_since_ms = None
                self.recorder.begin_rebalance(now_ms, output.group, output.cause)
            elif type(output) is Push:
                self._push(output)
            elif type(output) is Noted and (self.recorder.tells_all or not output.is_routine):
                self.recorder.line(now_ms, output.group, "zookeeper", output.kind, output.text)
        self._look_after(address)

    def _look_after(self, address: Address) -> None:
        """See to it that the service is woken when its next timer is due."""
        due_ms, wake_ms = self.services[address].next_deadline(), self._service_wake.get(address)
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

    def _told(self, report: Told) -> None:
        event, asking = report.event, self._asking
        state = self.groups.get(event.group_id)
        if state is not None and event.member_id and asking is not None:
            name = asking.consumer.member_id
            if name in ("", event.member_id) and asking.seat.group.name == event.group_id:
                state.names.setdefault(event.member_id, asking.seat.name)
        snapshot = self.brokers.snapshot_of(event.group_id) if self.invariants.asks(event) else None
        self.invariants.told(event, snapshot)
        self.recorder.event(self.now_ms, event)

    def _reply(
        self,
        process: Process,
        token: int,
        kind: str,
        response: object,
        deliver: Callable[[Process, int, int, str, object], None] | None = None,
    ) -> None:
        """Put an answer on its way; `deliver` is what is done with it then, if not the usual."""
        agenda = self.agenda
        arrives_ms = agenda.now_ms + self.delay_ms(process, "answers")
        if type(response) is Reception:
            arrives_ms = process.in_turn(-response.connection, arrives_ms)
        elif arrives_ms < process.received_ms:
            arrives_ms = process.received_ms
        else:
            process.received_ms = arrives_ms
        number = process.link.number
        agenda.at(arrives_ms, deliver or self._deliver, process, number, token, kind, response)

    def _deliver(
        self, process: Process, connection: int, token: int, kind: str, response: object
    ) -> None:
        if not process.alive or connection != process.link.number:
            return
        now_ms = self.agenda.now_ms
        if process.frozen_ms > now_ms:
            again = (process, connection, token, kind, response)
            self.agenda.at(process.frozen_ms, self._deliver, *again)
            return
        self.recorder.answered(now_ms, process, kind, response)
        process.consumer.answer(now_ms, token, response)
        self.carry_out(process)

    def _push(self, push: Push) -> None:
        process = self.processes.get(push.to)
        if process is not None:
            arrives_ms = self.now_ms + self.delay_ms(process)
            if type(push.message) is Reception:
                arrives_ms = process.in_turn(-push.message.connection, arrives_ms)
            else:
                process.received_ms = arrives_ms = max(arrives_ms, process.received_ms)
            self.agenda.at(arrives_ms, self._notify, process, push)

    def _notify(self, process: Process, push: Push) -> None:
        if not process.alive:
            return
        if process.frozen_ms > self.now_ms:
            self.agenda.at(process.frozen_ms, self._notify, process, push)
            return
        record = self.recorder.told[process.seat.group.name]
        record.counts[push.kind] += 1
        process.consumer.notify(self.now_ms, push.message)
        self.carry_out(process)

    def reconnect(self, process: Process) -> None:
        """The client gives its connection up: what is under way on it is lost."""
        process.link.close(self.now_ms)
        process.sent_ms = process.received_ms = self.now_ms
        process.app.cut_off(self.now_ms, process.link.reads_ms)

    def refresh(self, process: Process) -> None:
        """The process has fetched the metadata of the topics."""
        if process.alive:
            process.fresh_ms = self.now_ms
            process.consumer.update_topics(self.now_ms, self.brokers.topology)
            self.carry_out(process)

    def break_connections(self, broker: int) -> None:
        """The broker is gone: who waits for its answer hears that the connection broke."""
        broken = [token for token, asked in self._asked.items() if asked[3] == broker]
        for number in broken:
            process, token, kind, _ = self._asked.pop(number)
            self._reply(process, token, kind, None)
