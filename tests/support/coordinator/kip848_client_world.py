"""Members of a consumer group (KIP-848) and one real coordinator, stepped by hand."""

from collections.abc import Iterable
from itertools import count
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import (
    Callback,
    CallbackDone,
    ClientEvent,
    Command,
    Poll,
    Send,
    Subscribe,
    TopicPartition,
    UpdateTopics,
)
from kgroups.core.coordinator.client.kip848.client import Kip848Client
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Reply
from kgroups.core.coordinator.kip848.messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.request import Request
from kgroups.core.protocol.errors import ErrorCode
from tests.support.coordinator.classic_client_world import START_MS, refusal, topology

STEP_MS = 100


class Member:
    """One member with its application, which polls at every step unless it is stalled.

    Attributes:
        sent: its requests in order; `answers` has their answers by position.
        callbacks: those that its listener finished.
    """

    def __init__(self, name: str, client: Kip848Client) -> None:
        self.name, self.client = name, client
        self.alive = self.polls = True
        self.sent: list[Request] = []
        self.callbacks: list[Callback] = []
        self.waiting: list[Callback] = []
        self.events: list[ClientEvent] = []
        self.positions: dict[TopicPartition, int] = {}

    def beats(self) -> list[ConsumerGroupHeartbeatRequest]:
        """Its heartbeats."""
        return [one for one in self.sent if isinstance(one, ConsumerGroupHeartbeatRequest)]


class World:
    """The coordinator, the members, and a network without delay.

    Attributes:
        faults: kind of request -> errors that the next ones are answered with, instead of by the
            coordinator; None: by a connection that breaks.
    """

    def __init__(self, **partitions: int) -> None:
        self.now_ms = START_MS
        self.topology = topology(**(partitions or {"t": 6}))
        ids = count(1)
        config = CoordinatorConfig(
            offsets_partitions=1,
            consumer_min_heartbeat_interval_ms=100,
            consumer_heartbeat_interval_ms=1_000,
            consumer_assignment_interval_ms=0,
        )
        self.coordinator = Coordinator(
            config,
            self.topology,
            lambda: UUID(int=next(ids)),
            now_ms=START_MS,
        )
        self.members: dict[str, Member] = {}
        self.faults: dict[type[Request], list[ErrorCode | None]] = {}

    def start(self, name: str, *topics: str, pattern: str | None = None, **settings: Any) -> Member:
        """A new process."""
        given: dict[str, Any] = {"max_poll_interval_ms": 30_000, "client_id": name, **settings}
        config = ClientConfig("g", **given)
        member: Member

        def positions(asked: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
            return {one: member.positions[one] for one in asked if one in member.positions}

        client = Kip848Client(config, f"id-{name}", now_ms=self.now_ms, positions=positions)
        member = self.members[name] = Member(name, client)
        self.tell(member, UpdateTopics(self.topology.topics))
        self.tell(member, Subscribe(topics or (() if pattern else ("t",)), pattern))
        return member

    def tell(self, member: Member, command: Command) -> None:
        """Give a member a command and carry out what follows."""
        member.client.submit(self.now_ms, command)
        self._carry_out(member)

    def run(self, ms: int) -> None:
        """Let time pass in steps; at each one applications poll."""
        for _ in range(ms // STEP_MS):
            self.now_ms += STEP_MS
            self.coordinator.advance(self.now_ms)
            for member in [one for one in self.members.values() if one.alive]:
                member.client.advance(self.now_ms)
                self._carry_out(member)
                if member.polls:
                    self._poll(member)

    def settle(self) -> None:
        """Long enough for every handover."""
        self.run(5_000)

    def shares(self) -> dict[str, list[int]]:
        """Partitions by living member, sorted."""
        return {
            one.name: sorted(found.partition for found in one.client.owned)
            for one in self.members.values()
            if one.alive
        }

    def _poll(self, member: Member) -> None:
        while member.waiting:
            callback = member.waiting.pop(0)
            member.callbacks.append(callback)
            if callback.kind == "assigned":
                member.positions.update(dict.fromkeys(callback.partitions, 0))
            else:
                for partition in callback.partitions:
                    member.positions.pop(partition, None)
            self.tell(member, CallbackDone(callback.number))
        for partition in member.positions:
            member.positions[partition] += 1
        self.tell(member, Poll())

    def _carry_out(self, member: Member) -> None:
        while effects := member.client.take():
            for effect in effects:
                if isinstance(effect, Send):
                    member.sent.append(effect.request)
                    self._serve(member, effect)
                elif isinstance(effect, Callback):
                    member.waiting.append(effect)
                else:
                    member.events.append(effect)

    def _serve(self, member: Member, send: Send) -> None:
        faults = self.faults.get(type(send.request))
        if faults:
            error = faults.pop(0)
            answer = None if error is None else refusal(send.request, error)
            member.client.response(self.now_ms, send.token, answer)
            return
        self.coordinator.submit(self.now_ms, send.token, send.request)
        for effect in self.coordinator.take():
            if isinstance(effect, Reply):
                member.client.response(self.now_ms, send.token, effect.response)
