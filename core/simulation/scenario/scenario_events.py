"""Events of a simulated cluster, as data: one class an event.

Members are named by their plan's name, or `NAME-3` for the third of a plan that has several;
a tuple of names that is empty stands for every member of the group.

An application calls its consumer between two polls, so each of its events waits until the member
polls. A process that is started again begins as its entry of the scenario says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from kgroups.core.simulation.kubernetes.deploy_event import Deploy

# Whose packets a cut loses.
Lost = Literal["both", "requests", "answers"]
LOST: Final[tuple[Lost, ...]] = ("both", "requests", "answers")
FailingApi = Literal["SyncGroup", "JoinGroup", "Heartbeat", "LeaveGroup", "ConsumerGroupHeartbeat"]
FAILING_APIS: Final[tuple[FailingApi, ...]] = get_args(FailingApi)
BROKEN: Final = "NETWORK_EXCEPTION"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens."""


@dataclass(frozen=True, slots=True)
class GroupEvent(Event):
    """It happens to a group."""

    group: str


@dataclass(frozen=True, slots=True)
class MemberEvent(GroupEvent):
    """It happens to a member of a group; None: to a random one that runs, unless it says more."""

    member: str | None = None


@dataclass(frozen=True, slots=True)
class RollingRestart(GroupEvent):
    """Members are stopped and started one after the other.

    Args:
        members: in this order.
        down_ms: from the stop (closed or killed) to the new process.
        pause_ms: from one member's start to the next one's stop.
        graceful: whether the consumer is closed; else the process just ends.
    """

    members: tuple[str, ...] = ()
    down_ms: int = 10_000
    pause_ms: int = 30_000
    graceful: bool = True


@dataclass(frozen=True, slots=True)
class ScaleOut(GroupEvent):
    """So many more members, like a member of the scenario; None: like the group's first."""

    count: int = 1
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ScaleIn(GroupEvent):
    """Members are closed: the named ones, else the `count` that came last."""

    count: int = 1
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crash(MemberEvent):
    """A process ends without a word; None for the member: a random one that runs.

    Args:
        restart_after_ms: when it is started again; None for never.
    """

    restart_after_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(MemberEvent):
    """A process stands still as a whole, heartbeats included: a long garbage collection."""

    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison(MemberEvent):
    """The next record of a member takes this long; heartbeats go on where a thread sends them."""

    for_ms: int


@dataclass(frozen=True, slots=True)
class ApplicationEvent(MemberEvent):
    """An application does something with its consumer; no member: all that run do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePartitions(ApplicationEvent):
    """An application pauses partitions and resumes them: `KafkaConsumer.pause` and `resume`.

    It polls on, and keeps what it owns. A partition that it is given meanwhile is not paused, but
    where its library keeps in mind what was paused (`LibraryTraits.keeps_pauses`).

    Args:
        for_ms: until it resumes them.
        topics: whose partitions; empty for all.
    """

    topics: tuple[str, ...] = ()
    for_ms: int


@dataclass(frozen=True, slots=True)
class ChangeSubscription(ApplicationEvent):
    """An application subscribes to these topics in the place of what it read before.

    Args:
        pattern: in the dialect of the member's protocol and library; None if not.
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe(ApplicationEvent):
    """An application unsubscribes: its consumer leaves the group, and its process goes on."""


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
class Seek(ApplicationEvent):
    """An application reads on from elsewhere: `KafkaConsumer.seek`, in what it is assigned.

    Args:
        to: the first record that is read next.
        topics: of their partitions only; empty for all.
        partitions: only those of these numbers; empty for all.
    """

    to: SeekTarget
    topics: tuple[str, ...] = ()
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSplit(MemberEvent):
    """A member's network does not reach the cluster.

    Args:
        stall: packets are kept and arrive when it is over; else they are lost, and sent again.
        lost: whose packets: the member's (`requests`), the cluster's (`answers`), or `both`.
    """

    for_ms: int
    stall: bool = False
    lost: Lost = "both"


@dataclass(frozen=True, slots=True)
class MoveCoordinator(GroupEvent):
    """The partition of `__consumer_offsets` with this group gets another leader.

    Args:
        to: broker id; None for the next one that is up.
    """

    to: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerDown(Event):
    """A broker is gone.

    Args:
        for_ms: None: for good, or until a `broker_up`.
        failover_ms: until others lead what it led; 0 of a broker that was shut down in order.
            The default is `broker.session.timeout.ms`, after which a crash is noticed.
    """

    broker: int
    for_ms: int | None = None
    failover_ms: int = 9_000


@dataclass(frozen=True, slots=True)
class BrokerUp(Event):
    """A broker is back."""

    broker: int


@dataclass(frozen=True, slots=True)
class AddPartitions(Event):
    """A topic grows to this number of partitions; the rate is shared out anew."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class CreateTopic(Event):
    """A topic is created; rate in records a second over all its partitions."""

    topic: str
    partitions: int
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Load(Event):
    """Another number of records comes to a topic.

    Args:
        rate: records a second over all its partitions.
        for_ms: after which the rate is what it was; None for good.
    """

    topic: str
    rate: float
    for_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneOutage(Event):
    """A zone fails: processes of members in its rack die, and start anew after it."""

    rack: str
    brokers: tuple[int, ...] = ()
    for_ms: int


@dataclass(frozen=True, slots=True)
class SpotEviction(GroupEvent):
    """The instances of some members are taken away: SIGTERM, and the end after a notice.

    Args:
        count: how many members, at random.
        rack: of those in this rack only; None for all.
        notice_ms: from SIGTERM until the process is killed.
        restart_after_ms: from its end until there is another one in its place; None for never.
    """

    count: int = 1
    rack: str | None = None
    notice_ms: int = 120_000
    restart_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SlowBroker(Event):
    """Every request to a broker takes longer for a while."""

    broker: int
    by_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestError(MemberEvent):
    """Brokers answer requests with an error instead of doing what is asked.

    Args:
        error: Kafka's name; `NETWORK_EXCEPTION` breaks the connection instead.
        member: whose; None for all of the group.
    """

    api: FailingApi = "SyncGroup"
    error: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class RollBrokers(Event):
    """Every broker is shut down in order and started again, one after the other: an upgrade.

    Args:
        down_ms: from its end to its start.
        pause_ms: from one broker's start to the next one's end.
    """

    down_ms: int = 30_000
    pause_ms: int = 60_000


ScenarioEvent = Event | Deploy

# The key that a scenario file, a timeline and an answer call each of them by.
SCENARIO_EVENTS: Final[Mapping[str, type[ScenarioEvent]]] = {
    "rolling_restart": RollingRestart,
    "scale_out": ScaleOut,
    "scale_in": ScaleIn,
    "crash": Crash,
    "gc_pause": Pause,
    "poison_record": Poison,
    "pause": PausePartitions,
    "subscribe": ChangeSubscription,
    "unsubscribe": Unsubscribe,
    "seek": Seek,
    "network_partition": NetworkSplit,
    "move_coordinator": MoveCoordinator,
    "broker_down": BrokerDown,
    "broker_up": BrokerUp,
    "add_partitions": AddPartitions,
    "create_topic": CreateTopic,
    "deploy": Deploy,
    "load": Load,
    "zone_outage": ZoneOutage,
    "spot_eviction": SpotEviction,
    "slow_broker": SlowBroker,
    "request_error": RequestError,
    "roll_brokers": RollBrokers,
}
SCENARIO_EVENT_NAMES: Final[Mapping[type[ScenarioEvent], str]] = {
    cls: name for name, cls in SCENARIO_EVENTS.items()
}


@dataclass(frozen=True, slots=True)
class Scheduled:
    """An event with its time.

    Args:
        at_ms: once, at this virtual time; None for at random.
        every_ms: at random, on average once in so long (exponential gaps), from `from_ms` on.
        until_ms: no more from here on; None for the end of the run.
    """

    event: ScenarioEvent
    at_ms: int | None = None
    every_ms: int | None = None
    from_ms: int = 0
    until_ms: int | None = None

    @property
    def name(self) -> str:
        """The event's key."""
        return SCENARIO_EVENT_NAMES[type(self.event)]
