"""What applications do with their consumers while they run, as data: one class an event.

An application calls its consumer between two polls, so each of these waits until the member polls.
A process that is started again begins as its entry of the scenario says.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePartitions:
    """An application pauses partitions and resumes them: `KafkaConsumer.pause` and `resume`.

    It polls on, and keeps what it owns. A partition that it is given meanwhile is not paused, but
    where its library keeps in mind what was paused (`LibraryTraits.keeps_pauses`).

    Args:
        for_ms: until it resumes them.
        member: None for every member that runs.
        topics: whose partitions; empty for all.
    """

    group: str
    member: str | None = None
    topics: tuple[str, ...] = ()
    for_ms: int


@dataclass(frozen=True, slots=True)
class ChangeSubscription:
    """An application subscribes to these topics in the place of what it read before.

    Args:
        member: None for every member that runs.
        pattern: in the dialect of the member's protocol and library; None if not.
    """

    group: str
    member: str | None = None
    topics: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """An application unsubscribes: its consumer leaves the group, and its process goes on.

    Args:
        member: None for every member that runs.
    """

    group: str
    member: str | None = None


SeekKind = Literal["beginning", "end", "offset", "timestamp"]


@dataclass(frozen=True, slots=True)
class SeekTarget:
    """Where to: the beginning or end of the log, an offset, or a time of the run in ms."""

    kind: SeekKind
    value: int = 0

    def __str__(self) -> str:
        if self.kind == "timestamp":
            return f"timestamp:{self.value}ms"
        return str(self.value) if self.kind == "offset" else self.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Seek:
    """An application reads on from elsewhere: `KafkaConsumer.seek`, in what it is assigned.

    Args:
        to: the first record that is read next.
        member: None for every member that runs.
        topics: of their partitions only; empty for all.
        partitions: only those of these numbers; empty for all.
    """

    group: str
    member: str | None = None
    to: SeekTarget
    topics: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()


ApplicationEvent = PausePartitions | ChangeSubscription | Unsubscribe | Seek
