"""Actors of the world: consumers and services, both without I/O, clock and randomness.

The world (`world.py`) owns the virtual clock, the network and the applications. It calls a
machine's methods with the time, then takes what the machine wants done, and calls `advance` no
later than `next_deadline`. Both kinds are driven alike:

    consumer.start(now_ms); for output in consumer.take(): ...      # Ask, Hold, Read, ...
    service.submit(now_ms, token, sender, request)                   # after the network's delay
    for output in service.take(): ...                                # Answer, Push, Step
    consumer.answer(now_ms, token, response)                         # after the network's delay

A consumer knows the protocol of its group; which partitions it may read follows from its `Hold`
and `Release` outputs alone, and the figures of a run (owners, moves, lag, records read twice) are
counted from them, whatever the protocol. Reading and processing records is the world's part.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.client.ports import Offsets, Positions
from kgroups.core.coordinator.effects import Event, Reply
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan

# Where a request goes: a broker by its id, any broker that is up, or the ZooKeeper ensemble.
Address = int | str
ANY_BROKER: Final = "any broker"
ZOOKEEPER: Final = "zookeeper"


# ---------------------------------------------------------------------- outputs of a consumer


class Ask(NamedTuple):
    """Send this request; its answer comes back under `token`, None if the connection broke.

    Args:
        kind: what requests are counted and shown by: `JoinGroup`, `getChildren`, ...
    """

    token: int
    to: Address
    kind: str
    request: object


class Hold(NamedTuple):
    """From now on the member owns these partitions too; without any, it has none to wait for.

    Args:
        epoch: the generation, or epoch, that gave them.
    """

    partitions: Sequence[TopicPartition]
    epoch: int


class Read(NamedTuple):
    """Read partitions that it owns from these offsets on; a None: `auto.offset.reset` decides."""

    positions: Mapping[TopicPartition, int | None]


class Release(NamedTuple):
    """Read these partitions no more; `lost`: it may be that another member reads them already."""

    partitions: Sequence[TopicPartition]
    lost: bool = False


class Refresh(NamedTuple):
    """Ask any broker for the topics' metadata now; `update_topics` brings it."""


class Reconnect(NamedTuple):
    """Close the connection and open another: what is under way on it is lost."""


class Committed(NamedTuple):
    """These offsets are committed now: the answer to the commit was good."""

    offsets: Offsets


class CommitAnswered(NamedTuple):
    """A commit that was given a number is over.

    Args:
        problem: why it failed; None if it did not.
    """

    number: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class Step:
    """Something for the timeline, in the field's words.

    Args:
        kind: `JoinGroup`, `leader chosen`, `REBALANCE_IN_PROGRESS`, `watch fired`, ...
        text: the rest of the line.
        counts: figures that the step adds to, by name: the herd effect, failed rebalances, ...
    """

    kind: str
    text: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


ConsumerOutput = (
    Ask | Hold | Read | Release | Refresh | Reconnect | Committed | CommitAnswered | Step
)


class Consumer(ABC):
    """One life of a member, from the start of its process to its end; a restart makes a new one.

    Args:
        sender: its name for services and reports, unique in the run: `GROUP/NAME#LIFE`.
        positions: the next offset to read of each of these partitions, all that was delivered
            before being processed; to be asked in `poll`, `commit` and `close` only.

    Attributes:
        outputs: what `take` gives next; implementations append to it.
        outside: offsets that its application has stored outside Kafka; None: it stores none.
        busy_ms: the application is in a poll until then, and does not poll again before.
    """

    def __init__(
        self, group: GroupPlan, plan: MemberPlan, sender: str, positions: Positions
    ) -> None:
        self.group, self.plan, self.sender, self.positions = group, plan, sender, positions
        self.outputs: list[ConsumerOutput] = []
        self.outside: Offsets | None = None
        self.busy_ms = 0

    def take(self) -> list[ConsumerOutput]:
        """The effects to carry out since the last call, in order."""
        outputs, self.outputs = self.outputs, []
        return outputs

    def subscribe(
        self, now_ms: int, topics: tuple[str, ...], pattern: str | None, topology: Topology
    ) -> None:
        """Read these in the place of what it read; called between two polls."""
        raise NotImplementedError

    def unsubscribe(self, now_ms: int) -> None:
        """Read nothing, and leave the group; called between two polls."""
        raise NotImplementedError

    def listen(self, random: Random) -> None:  # noqa: B027 # a ZooKeeper one takes no time
        """Its application has a rebalance listener; told before `start`."""

    @abstractmethod
    def start(self, now_ms: int, topology: Topology) -> None:
        """The process has started and knows these topics; it may ask for the first time."""

    def poll(self, now_ms: int) -> None:
        """The application asks for records, having processed all that it was given.

        The world calls it when `wants_poll` is true and the application is free.
        """
        return

    def polled(self, now_ms: int, at_ms: int) -> None:
        """The application polled last at `at_ms`; told before `advance`, where it may matter."""
        return

    @abstractmethod
    def commit(self, now_ms: int, offsets: Offsets, *, number: int = 0, sync: bool = False) -> None:
        """Commit these offsets of partitions that it holds.

        Args:
            number: by which `CommitAnswered` tells how it went; 0: nobody wants to know.
            sync: the application waits: errors that may pass are tried again.
        """

    @abstractmethod
    def close(self, now_ms: int) -> None:
        """Close properly, committing where it auto-commits; `closed` says when that is done."""

    @abstractmethod
    def answer(self, now_ms: int, token: int, response: object | None) -> None:
        """The answer to an Ask; None: the connection broke, nobody knows what became of it."""

    def beat(self, now_ms: int) -> Ask | None:
        """The request of `advance`, where it is a mere heartbeat and all that is due; else None.

        The world calls it first where the consumer is settled, and `beat_answered` with the answer.
        """
        return None

    def commit_alone(self, now_ms: int, offsets: Offsets) -> Ask | None:
        """The request of `commit` and then `poll`, where they do nothing else; None: call them.

        The world calls it first where the consumer is settled.
        """
        return None

    def put_off_beat(self, until_ms: int) -> None:
        """Send no heartbeat before then; the next one comes so much later too."""
        return

    def hasten_beat(self, now_ms: int, share: float) -> None:
        """Send the next heartbeat after this share of the time until it is due."""
        return

    def beat_answered(self, now_ms: int, token: int, response: object) -> bool:
        """Take in an answer by which nothing changes; False, nothing done: `answer` must."""
        return False

    def commit_answered(self, now_ms: int, token: int, response: object) -> bool:
        """Take in that a commit of `commit_alone` went well; False, nothing done: `answer` must."""
        return False

    def notify(self, now_ms: int, message: object) -> None:
        """A Push of a service has arrived (a watch that fired, a session that is over)."""
        return

    def update_topics(self, now_ms: int, topology: Topology) -> None:
        """Metadata was refreshed; a consumer that learns of topics otherwise ignores it."""
        return

    @abstractmethod
    def advance(self, now_ms: int) -> None:
        """Let time pass: fire timers due by now. After a pause of the process it is called late."""

    @abstractmethod
    def next_deadline(self) -> int | None:
        """When `advance` must be called next; None for never."""

    @property
    @abstractmethod
    def member_id(self) -> str:
        """By what the service knows it; empty before that."""

    @property
    def epoch(self) -> int:
        """The generation, or member epoch, in which it believes to be; 0 or less for none."""
        return 0

    @property
    def wants_poll(self) -> bool:
        """Whether the next poll does more than fetch records: then it is made at once."""
        return False

    @property
    def gives_records(self) -> bool:
        """Whether a poll gives records of the partitions that it reads; else it waits."""
        return True

    @property
    @abstractmethod
    def settled(self) -> bool:
        """Whether it is in its group, holds what it should, and plans nothing else.

        Or it is `idle`. Then it has no failure, is not closed and wants no poll; one that is not
        idle gives records.
        """

    @property
    def idle(self) -> bool:
        """Whether it is in no group, and wants to be in none: unsubscribed, or with `assign`."""
        return False

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether `close` is finished and the process may end."""

    @property
    def failure(self) -> str | None:
        """Why it gave up for good (the application would see an exception); None if it has not."""
        return None


# ---------------------------------------------------------------------- outputs of a service


# The response to the request that was submitted under `token`: a coordinator's own effect.
Answer = Reply


class Forgotten(NamedTuple):
    """The request that was submitted under `token` will never be answered."""

    token: Hashable


class Push(NamedTuple):
    """A message to a member that it did not ask for: a watch that fired, a session's end."""

    to: str
    message: object
    kind: str = "notification"


class Stored(NamedTuple):
    """Commits that the service has stored."""

    group: str
    offsets: Offsets


class Told(NamedTuple):
    """An event of a coordinator."""

    event: Event


class Began(NamedTuple):
    """A rebalance of a group that has no coordinator begins; `cause` is a clause."""

    group: str
    cause: str


class Noted(NamedTuple):
    """A line of the timeline, of what a service holds.

    Args:
        group: empty for what is of no group.
        is_routine: shown only where every request is.
    """

    group: str
    kind: str
    text: str
    is_routine: bool


ServiceOutput = Answer | Forgotten | Push | Stored | Told | Began | Noted


class Service(ABC):
    """A server in the cluster: a broker's coordinator, or the ZooKeeper ensemble."""

    @abstractmethod
    def submit(self, now_ms: int, token: Hashable, sender: str, request: object) -> None:
        """Take in a request of the member `sender` (`GROUP/NAME#LIFE`); answer now or later."""

    def answer_at_once(self, now_ms: int, request: object) -> object | None:
        """The answer to a request by which nothing changes, with nothing to take; else None."""
        return None

    def commit_at_once(self, now_ms: int, request: object) -> object | None:
        """The answer to a commit that was stored whole, with nothing to take; else None."""
        return None

    @abstractmethod
    def disconnect(self, now_ms: int, sender: str) -> None:
        """The sender's process is gone and its connections with it (a session may live on)."""

    @abstractmethod
    def update_topology(self, now_ms: int, topology: Topology) -> None:
        """Topics, partitions or brokers that are up have changed."""

    @abstractmethod
    def advance(self, now_ms: int) -> None:
        """Let time pass: fire timers due by now."""

    @abstractmethod
    def next_deadline(self) -> int | None:
        """When `advance` must be called next; None for never."""

    @abstractmethod
    def take(self) -> list[ServiceOutput]:
        """The effects to carry out since the last call, in order."""
