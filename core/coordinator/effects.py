"""Effects that a coordinator asks of its driver: answer, append, take note.

Effects come in the order in which they must be carried out. A `Reply` that waits for an append
names its `Write`; if the log refuses the records, the driver throws those replies away and calls
`Coordinator.write_failed`, which takes the change back and gives other answers.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from kgroups.core.coordinator.log.records import Record

NO_PRODUCER_ID = -1


class Reply(NamedTuple):
    """Answer for the request that was submitted under `token`.

    Args:
        response: the response dataclass of that request.
        after: `sequence` of the Write it waits for; 0 if it waits for none.
    """

    token: Hashable
    response: object
    after: int = 0

    @property
    def api(self) -> str:
        """Kafka's name of the request that this answers: `JoinGroup`."""
        return type(self.response).__name__.removesuffix("Response")


@dataclass(frozen=True, slots=True)
class Dropped:
    """The request parked under `token` will never be answered.

    Its member asked again and the new request took its place, or the member left while its
    SyncGroup was parked. A broker leaves such a client waiting as well.
    """

    token: Hashable
    group_id: str
    member_id: str


class Write(NamedTuple):
    """Records to append, all or none, to one partition of `__consumer_offsets`.

    Args:
        sequence: from 1, grows with each Write of a coordinator.
        producer_id, producer_epoch: of the transaction that the records belong to; -1 for none.
        marker: None for records; else the records are empty and the transaction ends here,
            committed or not.
    """

    sequence: int
    partition: int
    records: tuple[Record, ...]
    producer_id: int = NO_PRODUCER_ID
    producer_epoch: int = -1
    marker: bool | None = None


class EventKind(StrEnum):
    """The kind of an Event."""

    GROUP_CREATED = "group created"
    GROUP_REMOVED = "group removed"
    GROUP_LOADED = "group loaded"
    GROUP_UNLOADED = "group unloaded"
    GROUP_CONVERTED = "group converted"
    STATE_CHANGED = "state changed"
    MEMBER_ADDED = "member added"
    MEMBER_REMOVED = "member removed"
    MEMBER_REPLACED = "member replaced"
    LEADER_ELECTED = "leader elected"
    PROTOCOL_CHOSEN = "protocol chosen"
    ASSIGNMENT_STORED = "assignment stored"
    TARGET_COMPUTED = "target computed"
    OFFSETS_EXPIRED = "offsets expired"
    EPOCH_BUMPED = "group epoch bumped"
    MEMBER_RECONCILED = "member reconciled"


class Event(NamedTuple):
    """Something that happened, for explanations and logs.

    Args:
        at_ms: epoch milliseconds.
        reason: why, as a clause: `member m1 left`.
        detail: facts of that kind in order: (from, to) of a state change, (name, votes) ...
    """

    at_ms: int
    kind: EventKind
    group_id: str
    member_id: str | None = None
    reason: str = ""
    detail: tuple[object, ...] = ()


Effect = Reply | Dropped | Write | Event
