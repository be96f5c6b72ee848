"""A driver for one coordinator: sends, lets time pass, keeps the log, and can refuse to append.

It does what a broker does with the effects: appends in order, answers, and gives the answers of
a refused Write only as the coordinator says anew. A second coordinator follows the log.
"""

from collections.abc import Hashable, Mapping
from itertools import count
from typing import Any
from uuid import UUID

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.coordinator import Coordinator
from kgroups.core.coordinator.effects import Dropped, Effect, Event, Reply, Write
from kgroups.core.coordinator.log import record_codec
from kgroups.core.coordinator.log.records import Record
from kgroups.core.coordinator.ports import Ports
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.topology import TopicInfo, Topology
from kgroups.core.protocol.errors import ErrorCode

START_MS = 1_000_000
TOPICS = Topology.of([TopicInfo("t", UUID(int=11), 4), TopicInfo("u", UUID(int=12), 2)], version=1)


class Harness:
    """A coordinator with its log and clock.

    Args:
        follows: whether a second coordinator follows the log.
    Attributes:
        replies: token -> response, of every request answered so far.
        dropped: tokens that will never be answered.
        waiting: tokens that are still to be answered.
        refusal: the log refuses the next Write with this error.
    """

    def __init__(
        self,
        config: CoordinatorConfig | None = None,
        topology: Topology = TOPICS,
        ports: Ports | None = None,
        *,
        follows: bool = True,
    ) -> None:
        self.config = config or CoordinatorConfig(classic_initial_rebalance_delay_ms=0)
        self.now_ms = START_MS
        self._tokens, ids = count(1), count(1)
        self._new_id = lambda: UUID(int=next(ids))
        self.topology, self.ports, self._follows = topology, ports, follows
        self.coordinator = self._new()
        self.replica = self._new()
        self.replies: dict[Hashable, Any] = {}
        self.dropped: set[Hashable] = set()
        self.waiting: set[Hashable] = set()
        self.events: list[Event] = []
        self.log: list[tuple[int, bytes, bytes | None]] = []
        self.markers: list[Write] = []
        self.refusal: ErrorCode | None = None

    def _new(self) -> Coordinator:
        return Coordinator(
            self.config, self.topology, self._new_id, now_ms=self.now_ms, ports=self.ports
        )

    def send(self, request: Request) -> int:
        """Submit a request; gives back its token."""
        token = next(self._tokens)
        self.waiting.add(token)
        self.coordinator.submit(self.now_ms, token, request)
        self.collect()
        return token

    def ask(self, request: Request) -> Any:
        """The answer to a request that is answered at once."""
        return self.replies[self.send(request)]

    def advance(self, ms: int) -> None:
        """Let time pass."""
        self.now_ms += ms
        self.coordinator.advance(self.now_ms)
        self.collect()

    def collect(self) -> None:
        """Carry out the effects."""
        effects = self.coordinator.take()
        refused: int | None = None
        for effect in effects:
            if isinstance(effect, Write) and (refused is not None or self._refuses(effect)):
                refused = refused or effect.sequence
            elif isinstance(effect, Write):
                self._append(effect)
            elif not isinstance(effect, Reply) or refused is None or effect.after < refused:
                self._carry_out(effect)

    def _refuses(self, write: Write) -> bool:
        if self.refusal is None:
            return False
        error, self.refusal = self.refusal, None
        self.coordinator.write_failed(self.now_ms, write, error)
        for effect in self.coordinator.take():
            if isinstance(effect, Write):
                self._append(effect)
            else:
                self._carry_out(effect)
        return True

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Event):
            self.events.append(effect)
        elif isinstance(effect, Reply):
            assert effect.token in self.waiting, f"{effect.token} is answered twice"
            self.waiting.remove(effect.token)
            self.replies[effect.token] = effect.response
        elif isinstance(effect, Dropped):
            assert effect.token in self.waiting, f"{effect.token} is dropped after its answer"
            self.waiting.remove(effect.token)
            self.dropped.add(effect.token)

    def _append(self, write: Write) -> None:
        if not self._follows:
            return
        if write.marker is not None:
            self.markers.append(write)
            self.replica.replay_marker(write.producer_id, committed=write.marker)
        for record in write.records:
            key, value = record_codec.encode_key(record.key), record_codec.encode_value(record)
            self.log.append((write.producer_id, key, value))
            read = record_codec.decode_record(key, value)
            assert read is not None
            self.replica.replay(read, write.producer_id)

    def state_of(self, group_id: str) -> str | None:
        """State of a group; None if there is none."""
        kind_and_state = self.coordinator.group_states().get(group_id)
        return None if kind_and_state is None else kind_and_state[1]

    def assert_replica_is_equal(self) -> None:
        """What the log holds is what the coordinator has written down, byte for byte."""
        assert encoded(self.coordinator.durable_records()) == encoded(
            self.replica.durable_records()
        )


def encoded(records: list[Record]) -> Mapping[bytes, bytes | None]:
    """Records as bytes, by key."""
    return {
        record_codec.encode_key(record.key): record_codec.encode_value(record) for record in records
    }
