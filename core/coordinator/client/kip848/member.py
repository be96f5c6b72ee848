"""The state of a member of a consumer group (KIP-848), and what errors mean to it.

Source: `MemberState`, `ConsumerMembershipManager`, `ConsumerHeartbeatRequestManager`.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from kgroups.core.coordinator.client.client_half import ClientHalf
from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.client.effects import ClientEventKind, TopicPartition
from kgroups.core.coordinator.client.ports import Positions, no_positions
from kgroups.core.coordinator.client.reactions import Reaction
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from kgroups.core.coordinator.topology import TopicInfo
from kgroups.core.protocol.errors import ErrorCode


class MemberState(StrEnum):
    """Where a member is."""

    UNSUBSCRIBED = "Unsubscribed"
    JOINING = "Joining"
    RECONCILING = "Reconciling"
    ACKNOWLEDGING = "Acknowledging"
    STABLE = "Stable"
    FENCED = "Fenced"
    STALE = "Stale"
    PREPARE_LEAVING = "PrepareLeaving"
    LEAVING = "Leaving"
    CLOSED = "Closed"
    FATAL = "Fatal"


S = MemberState
STABLE: Final = S.STABLE
MOVES: Final[Mapping[MemberState, frozenset[MemberState]]] = {
    S.UNSUBSCRIBED: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.JOINING: frozenset({S.STABLE, S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}),
    S.RECONCILING: frozenset(
        {S.ACKNOWLEDGING, S.STABLE, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}
    ),
    S.ACKNOWLEDGING: frozenset(
        {S.STABLE, S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}
    ),
    S.STABLE: frozenset({S.RECONCILING, S.FENCED, S.STALE, S.PREPARE_LEAVING, S.FATAL}),
    S.FENCED: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.STALE: frozenset({S.JOINING, S.PREPARE_LEAVING}),
    S.PREPARE_LEAVING: frozenset({S.LEAVING}),
    S.LEAVING: frozenset({S.UNSUBSCRIBED, S.CLOSED}),
    S.CLOSED: frozenset(),
    S.FATAL: frozenset({S.PREPARE_LEAVING}),
}

BEATING: Final = frozenset({S.JOINING, S.RECONCILING, S.ACKNOWLEDGING, S.STABLE})
# The next heartbeat waits for no interval.
HASTY: Final = frozenset({S.JOINING, S.ACKNOWLEDGING})
LEAVING: Final = frozenset({S.PREPARE_LEAVING, S.LEAVING, S.CLOSED})
# What it owned, if anything, is lost; it joins again once the listener knows and it polls.
THROWN_OUT: Final = frozenset({S.FENCED, S.STALE})


# The reactions to the answer to a heartbeat; any other error is fatal.
BEAT_REACTIONS: Final[Mapping[ErrorCode, Reaction]] = {
    ErrorCode.NONE: Reaction.PROCEED,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: Reaction.RETRY,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: Reaction.FIND,
    ErrorCode.NOT_COORDINATOR: Reaction.FIND,
    ErrorCode.NETWORK_EXCEPTION: Reaction.FIND,
    ErrorCode.UNKNOWN_MEMBER_ID: Reaction.FORGET_GENERATION,
    ErrorCode.FENCED_MEMBER_EPOCH: Reaction.FORGET_GENERATION,
}


JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH = 0, -1, -2
HEARTBEAT_API = "ConsumerGroupHeartbeat"
HEARTBEAT_VERSION = 1
Target = Mapping[UUID, frozenset[int]]


class Beat(NamedTuple):
    """Everything that a full heartbeat tells.

    Args:
        pattern: subscribed by an RE2 pattern; None if not.
        owned: partitions by topic id.
    """

    rebalance_timeout_ms: int
    names: tuple[str, ...]
    pattern: str | None
    assignor: str | None
    owned: tuple[TopicPartitions, ...]


class Kip848ClientMember(ClientHalf):
    """A member's state; `Kip848Client` is its door.

    Args:
        config: its settings; session and heartbeat are the coordinator's, not its own.
        member_id: a random id that it makes for itself and keeps for life (KIP-1082).
        assignor: `group.remote.assignor`; None: the group's.
        positions: the next offset to read of each of these partitions that has one.

    Attributes:
        state: where it is.
        epoch: its member epoch.
        failure: why it failed; None if it has not.
    """

    # A simulation has thousands of these.
    __slots__ = (
        "_assignor",
        "_beat_of",
        "_commit_token",
        "_interval_ms",
        "_leaves_to",
        "_names",
        "_pattern",
        "_quiet",
        "_sent",
        "_steps",
        "_target",
        "_told",
        "_topic_names",
        "_topics",
        "epoch",
        "failure",
        "member_id",
        "state",
    )

    def __init__(
        self,
        config: ClientConfig,
        member_id: str,
        *,
        now_ms: int,
        assignor: str | None = None,
        positions: Positions = no_positions,
    ) -> None:
        super().__init__(config, now_ms, positions)
        self.member_id, self._assignor = member_id, assignor
        self.state = MemberState.UNSUBSCRIBED
        self.epoch = JOIN_EPOCH
        self.failure: str | None = None
        self._commit_token = -1
        self._names: tuple[str, ...] = ()
        self._pattern: str | None = None
        self._topics: dict[str, TopicInfo] = {}
        self._topic_names: dict[UUID, str] = {}
        self._target: Target = {}
        self._sent: Beat | None = None
        self._beat_of: tuple[object, ...] = ()
        self._told: Beat | None = None
        # The heartbeat that says that nothing has changed: most of them are that one.
        self._quiet: ConsumerGroupHeartbeatRequest | None = None
        self._interval_ms = 0
        # What it is once it has left.
        self._leaves_to = MemberState.CLOSED
        self._steps: list[Callable[[], bool]] = []

    @property
    def subscribed(self) -> bool:
        """Whether it is to be a member."""
        return bool(self._names) or self._pattern is not None

    def _resolved(self) -> tuple[TopicPartition, ...]:
        """The target, as far as the names of its topics are known."""
        names = self._topic_names
        by_name = [(names[topic], p) for topic, p in self._target.items() if topic in names]
        return tuple(TopicPartition(name, n) for name, p in sorted(by_name) for n in sorted(p))

    def _whole_beat(self) -> Beat:
        """All that a heartbeat can tell; the same object as long as it is the same."""
        beat = self._told
        if beat is not None:
            owned, topics, names, pattern = self._beat_of
            same = owned is self.owned and topics is self._topics
            if same and names is self._names and pattern is self._pattern:
                return beat
        beat = self._told = self._make_beat()
        self._beat_of = (self.owned, self._topics, self._names, self._pattern)
        return beat

    def _make_beat(self) -> Beat:
        owned: dict[UUID, list[int]] = {}
        for name, partition in self.owned:
            topic = self._topics.get(name)
            if topic is not None:
                owned.setdefault(topic.topic_id, []).append(partition)
        shown = tuple(
            TopicPartitions(topic, tuple(partitions)) for topic, partitions in owned.items()
        )
        return Beat(self.config.rebalance_ms, self._names, self._pattern, self._assignor, shown)

    def _heartbeat(self, beat: Beat, sent: Beat | None) -> ConsumerGroupHeartbeatRequest:
        """A heartbeat with what changed since the last one; with everything where `sent` is None.

        One that says good-bye (a negative epoch) tells nothing.
        """
        config = self.config
        base: dict[str, Any] = {
            "version": HEARTBEAT_VERSION,
            "client_id": config.client_id,
            "client_host": config.client_host,
            "group_id": config.group_id,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "instance_id": config.group_instance_id,
        }
        if self.epoch >= 0:
            if sent is None:
                base["rack_id"] = config.client_rack or None  # brokers refuse an empty one
            if sent is None or sent.rebalance_timeout_ms != beat.rebalance_timeout_ms:
                base["rebalance_timeout_ms"] = beat.rebalance_timeout_ms
            if sent is None or sent.names != beat.names:
                base["subscribed_topic_names"] = beat.names
            if (sent is None and beat.pattern is not None) or (
                sent and sent.pattern != beat.pattern
            ):
                base["subscribed_topic_regex"] = beat.pattern or ""
            if sent is None or sent.assignor != beat.assignor:
                base["server_assignor"] = beat.assignor
            if sent is None or sent.owned != beat.owned:
                base["topic_partitions"] = beat.owned if self.epoch else ()
        return ConsumerGroupHeartbeatRequest(**base)

    # ------------------------------------------------------------------ effects and timers

    def _enter(self, state: MemberState, reason: str) -> None:
        if state is not self.state:
            assert state in MOVES[self.state], f"{self.state} -> {state}"
            self.tell(ClientEventKind.STATE_CHANGED, reason, self.state, state)
            self.state = state
