"""Members of a group that changes its protocol, each as its client talks to the coordinator.

A KIP-848 member heartbeats and gives back at once what it is told to. A classic member in a
consumer group heartbeats; where it is told to join again, it gives up what its assignor's protocol
says, joins, and syncs.

Source: KIP-848; ConsumerCoordinator.onJoinPrepare; AbstractCoordinator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kgroups.assignors.wire import decode_assignment
from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupProtocol,
    JoinGroupRequest,
    LeaveGroupRequest,
    MemberIdentity,
    SyncGroupRequest,
)
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import Topology
from kgroups.core.planning.leaders.strategies import COOPERATIVE
from kgroups.core.planning.migration.stored_group import (
    REBALANCE_TIMEOUT_MS,
    SESSION_TIMEOUT_MS,
    subscription_bytes,
)
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.snapshot import Member

# Sends a request; None where it is not answered at once.
Ask = Callable[[Request], Any]
Shares = Mapping[str, tuple[int, ...]]

JOIN_VERSION: Final = 9
SYNC_VERSION: Final = 5
HEARTBEAT_VERSION: Final = 4
LEAVE_VERSION: Final = 5
KIP848_VERSION: Final = 1
LEAVE_EPOCH: Final = -1
LEAVE_STATIC_EPOCH: Final = -2


class Refused(Exception):
    """The coordinator does not let a member in.

    Args:
        message: what it says; empty where it says nothing.
    """

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message or error.name)
        self.error, self.message = error, message


@dataclass(slots=True)
class Kip848Speaker:
    """A member that speaks KIP-848.

    Args:
        epoch: 0 before it joined.
        asks_for: the server-side assignor that it wants; None: the brokers' default.
    """

    facts: Member
    group_id: str
    epoch: int = 0
    owned: Shares = field(default_factory=dict)
    asks_for: str | None = None

    @property
    def member_id(self) -> str:
        """The id that it has made for itself."""
        return self.facts.member_id

    def beat(self, ask: Ask, topology: Topology) -> None:
        """One heartbeat; the first one joins.

        Raises:
            Refused: the coordinator answers with an error.
        """
        facts = self.facts
        said: dict[str, Any] = {"topic_partitions": _by_id(self.owned, topology)}
        if self.epoch == 0:
            said = {
                "rack_id": facts.rack or None,
                "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS,
                "subscribed_topic_names": facts.subscription
                or (None if facts.subscription_regex else ()),
                "subscribed_topic_regex": facts.subscription_regex,
                "server_assignor": self.asks_for,
                "topic_partitions": (),
            }
        answer = self._send(ask, self.epoch, **said)
        if answer.error_code is not ErrorCode.NONE:
            raise Refused(answer.error_code, answer.error_message or "")
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = _by_name(answer.assignment, topology)

    def leave(self, ask: Ask) -> None:
        """The last heartbeat: a static member says that it will be back."""
        self._send(ask, LEAVE_EPOCH if self.facts.instance_id is None else LEAVE_STATIC_EPOCH)

    def _send(self, ask: Ask, epoch: int, **said: Any) -> Any:
        """The answer to a heartbeat that says this besides who sends it."""
        return ask(
            ConsumerGroupHeartbeatRequest(
                version=KIP848_VERSION,
                client_id=self.facts.client_id,
                client_host=self.facts.host,
                group_id=self.group_id,
                member_id=self.facts.member_id,
                member_epoch=epoch,
                instance_id=self.facts.instance_id,
                **said,
            )
        )


@dataclass(slots=True)
class ClassicSpeaker:
    """A member that speaks the classic protocol.

    Args:
        facts: with an empty member id before a static member joined.
        generation: -1 before it joined.
    """

    facts: Member
    group_id: str
    strategy: str
    member_id: str
    generation: int = -1
    owned: Shares = field(default_factory=dict)
    synced: bool = True

    def beat(self, ask: Ask, topology: Topology) -> None:
        """One heartbeat, or the next step of joining.

        Raises:
            Refused: the coordinator answers with an error.
        """
        if self.generation < 0:
            self._join(ask)
        elif not self.synced:
            self._sync(ask)
        else:
            self._goes_on(ask, HeartbeatRequest, HEARTBEAT_VERSION, generation_id=self.generation)

    def leave(self, ask: Ask) -> None:
        """LeaveGroup; no member of a consumer says so that is static."""
        ask(
            LeaveGroupRequest(
                version=LEAVE_VERSION,
                client_id=self.facts.client_id,
                group_id=self.group_id,
                members=(MemberIdentity(self.member_id),),
            )
        )

    def _join(self, ask: Ask) -> None:
        """JoinGroup, and SyncGroup after it; an eager member gives up everything before."""
        if self.strategy not in COOPERATIVE:
            self.owned = {}
        offer = subscription_bytes(self.facts, self.owned, self.generation)
        answer = self._goes_on(
            ask,
            JoinGroupRequest,
            JOIN_VERSION,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            protocol_type="consumer",
            protocols=(JoinGroupProtocol(self.strategy, offer),),
        )
        if answer is not None:
            self.member_id, self.generation = answer.member_id, answer.generation_id
            self.synced = False
            self._sync(ask)

    def _sync(self, ask: Ask) -> None:
        answer = self._goes_on(
            ask,
            SyncGroupRequest,
            SYNC_VERSION,
            generation_id=self.generation,
            protocol_type="consumer",
            protocol_name=self.strategy,
        )
        if answer is not None:
            self.synced = True
            given = decode_assignment(answer.assignment).partitions
            self.owned = {topic: tuple(numbers) for topic, numbers in given}

    def _goes_on(self, ask: Ask, kind: Callable[..., Request], version: int, **said: Any) -> Any:
        """The answer to a request; None where it is parked, or makes the member join again.

        Raises:
            Refused: the coordinator answers with an error.
        """
        answer = ask(
            kind(
                version=version,
                client_id=self.facts.client_id,
                client_host=self.facts.host,
                group_id=self.group_id,
                member_id=self.member_id,
                group_instance_id=self.facts.instance_id,
                **said,
            )
        )
        if answer is None or answer.error_code is ErrorCode.NONE:
            return answer
        if answer.error_code is not ErrorCode.REBALANCE_IN_PROGRESS or kind is JoinGroupRequest:
            raise Refused(answer.error_code, "")
        self._join(ask)
        return None


Speaker = Kip848Speaker | ClassicSpeaker


def _by_id(owned: Shares, topology: Topology) -> tuple[TopicPartitions, ...]:
    return tuple(
        TopicPartitions(topology.topics[topic].topic_id, numbers)
        for topic, numbers in owned.items()
        if numbers and topic in topology.topics
    )


def _by_name(given: tuple[TopicPartitions, ...], topology: Topology) -> Shares:
    held = {}
    for entry in given:
        topic = topology.topic_by_id(entry.topic_id)
        if topic is not None and entry.partitions:
            held[topic.name] = tuple(sorted(entry.partitions))
    return held
