"""The short way of heartbeats and commits that change nothing, which are most of what happens.

The same times and checks as on the way of all requests, without outputs to take and tokens to
keep. Whoever on it sees that there is more to it hands it over.
"""

from collections.abc import Mapping
from functools import partial

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.engine.network import Network
from kgroups.core.simulation.world.actors import Ask
from kgroups.core.simulation.world.process import Process


class ShortWay(Network):
    """A network with it; arguments and attributes as `Network`'s."""

    def beat(self, process: Process) -> bool:
        """Send the heartbeat of a settled member, if that is all that its consumer wants."""
        if self.refused or not process.whole or process.group.whole_since_ms is None:
            return False
        ask = process.consumer.beat(self.agenda.now_ms)
        if ask is None:
            return False
        self.send(process, ask, self._beat_arrives)
        return True

    def commit(self, process: Process, offsets: Mapping[TopicPartition, int]) -> bool:
        """Send the commit of a settled member's poll, if that is all that comes of the poll."""
        if self.refused or not process.whole or process.group.whole_since_ms is None:
            return False
        if process.consumer.outputs:
            return False
        ask = process.consumer.commit_alone(self.agenda.now_ms, offsets)
        if ask is None:
            return False
        self.send(process, ask, partial(self._commit_arrives, offsets))
        return True

    def _beat_arrives(self, process: Process, ask: Ask, connection: int) -> None:
        to, now_ms = ask.to, self.agenda.now_ms
        if connection == process.link.number and to in self.brokers.up:
            response = self.services[to].answer_at_once(now_ms, ask.request)
            if response is not None:
                # A session was put off: nothing is due earlier than the service will be woken for.
                self.invariants.checks += 1
                self._reply(process, ask.token, ask.kind, response, self._beat_answered)
                return
        self._arrive(process, ask, connection)

    def _beat_answered(
        self, process: Process, connection: int, token: int, kind: str, response: object
    ) -> None:
        quiet = self._hears_quietly(process, connection)
        if not quiet or not process.consumer.beat_answered(self.agenda.now_ms, token, response):
            self._deliver(process, connection, token, kind, response)

    def _commit_arrives(
        self, offsets: Mapping[TopicPartition, int], process: Process, ask: Ask, connection: int
    ) -> None:
        to, now_ms = ask.to, self.agenda.now_ms
        if connection == process.link.number and to in self.brokers.up:
            response = self.services[to].commit_at_once(now_ms, ask.request)
            if response is not None:
                self.invariants.checks += 1
                state = process.group
                backwards = state.ledger.store(offsets)
                self.invariants.stored(state.plan.name, backwards, now_ms)
                self._reply(process, ask.token, ask.kind, response, self._commit_answered)
                return
        self._arrive(process, ask, connection)

    def _commit_answered(
        self, process: Process, connection: int, token: int, kind: str, response: object
    ) -> None:
        quiet = self._hears_quietly(process, connection)
        if not quiet or not process.consumer.commit_answered(self.agenda.now_ms, token, response):
            self._deliver(process, connection, token, kind, response)

    def _hears_quietly(self, process: Process, connection: int) -> bool:
        """Whether an answer that changes nothing for its consumer changes nothing at all."""
        return (
            process.whole
            and process.alive
            and process.wake_ms is not None
            and process.frozen_ms <= self.agenda.now_ms
            and process.group.whole_since_ms is not None
            and connection == process.link.number
            and not self.recorder.tells_all
        )
