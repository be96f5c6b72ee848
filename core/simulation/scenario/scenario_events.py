"""What happens to a simulated cluster, as data: one class an event.

Members are named by their plan's name, or `NAME-3` for the third of a plan that has several;
a tuple of names that is empty stands for every member of the group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from kgroups.core.simulation.kubernetes.deploy_event import Deploy
from kgroups.core.simulation.scenario.application_events import (
    ApplicationEvent,
    ChangeSubscription,
    PausePartitions,
    Seek,
    Unsubscribe,
)

# Whose packets a cut loses.
Lost = Literal["both", "requests", "answers"]
LOST: Final[tuple[Lost, ...]] = ("both", "requests", "answers")
FailingApi = Literal["SyncGroup", "JoinGroup", "Heartbeat", "LeaveGroup", "ConsumerGroupHeartbeat"]
FAILING_APIS: Final[tuple[FailingApi, ...]] = get_args(FailingApi)
BROKEN: Final = "NETWORK_EXCEPTION"


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Members are stopped and started one after the other.

    Args:
        members: in this order.
        down_ms: from the stop (closed or killed) to the new process.
        pause_ms: from one member's start to the next one's stop.
        graceful: whether the consumer is closed; else the process just ends.
    """

    group: str
    members: tuple[str, ...] = ()
    down_ms: int = 10_000
    pause_ms: int = 30_000
    graceful: bool = True


@dataclass(frozen=True, slots=True)
class ScaleOut:
    """So many more members, like a member of the scenario; None: like the group's first."""

    group: str
    count: int = 1
    like: str | None = None


@dataclass(frozen=True, slots=True)
class ScaleIn:
    """Members are closed: the named ones, else the `count` that came last."""

    group: str
    count: int = 1
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Crash:
    """A process ends without a word; None for the member: a random one that runs.

    Args:
        restart_after_ms: when it is started again; None for never.
    """

    group: str
    member: str | None = None
    restart_after_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """A process stands still as a whole, heartbeats included: a long garbage collection."""

    group: str
    member: str | None = None
    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Poison:
    """The next record of a member takes this long; heartbeats go on where a thread sends them."""

    group: str
    member: str | None = None
    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSplit:
    """A member's network does not reach the cluster.

    Args:
        stall: packets are kept and arrive when it is over; else they are lost, and sent again.
        lost: whose packets: the member's (`requests`), the cluster's (`answers`), or `both`.
    """

    group: str
    member: str | None = None
    for_ms: int
    stall: bool = False
    lost: Lost = "both"


@dataclass(frozen=True, slots=True)
class MoveCoordinator:
    """The partition of `__consumer_offsets` with this group gets another leader.

    Args:
        to: broker id; None for the next one that is up.
    """

    group: str
    to: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerDown:
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
class BrokerUp:
    """A broker is back."""

    broker: int


@dataclass(frozen=True, slots=True)
class AddPartitions:
    """A topic grows to this number of partitions; the rate is shared out anew."""

    topic: str
    partitions: int


@dataclass(frozen=True, slots=True)
class CreateTopic:
    """A topic is created; rate in records a second over all its partitions."""

    topic: str
    partitions: int
    rate: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """Another number of records comes to a topic.

    Args:
        rate: records a second over all its partitions.
        for_ms: after which the rate is what it was; None for good.
    """

    topic: str
    rate: float
    for_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneOutage:
    """A zone fails: processes of members in its rack die, and start anew after it."""

    rack: str
    brokers: tuple[int, ...] = ()
    for_ms: int


@dataclass(frozen=True, slots=True)
class SpotEviction:
    """The instances of some members are taken away: SIGTERM, and the end after a notice.

    Args:
        count: how many members, at random.
        rack: of those in this rack only; None for all.
        notice_ms: from SIGTERM until the process is killed.
        restart_after_ms: from its end until there is another one in its place; None for never.
    """

    group: str
    count: int = 1
    rack: str | None = None
    notice_ms: int = 120_000
    restart_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SlowBroker:
    """Every request to a broker takes longer for a while."""

    broker: int
    by_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestError:
    """Brokers answer requests with an error instead of doing what is asked.

    Args:
        error: Kafka's name; `NETWORK_EXCEPTION` breaks the connection instead.
        member: whose; None for all of the group.
    """

    group: str
    member: str | None = None
    api: FailingApi = "SyncGroup"
    error: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class RollBrokers:
    """Every broker is shut down in order and started again, one after the other: an upgrade.

    Args:
        down_ms: from its end to its start.
        pause_ms: from one broker's start to the next one's end.
    """

    down_ms: int = 30_000
    pause_ms: int = 60_000


ScenarioEvent = (
    RollingRestart
    | ScaleOut
    | ScaleIn
    | Crash
    | Pause
    | Poison
    | ApplicationEvent
    | NetworkSplit
    | MoveCoordinator
    | BrokerDown
    | BrokerUp
    | AddPartitions
    | CreateTopic
    | Deploy
    | Load
    | ZoneOutage
    | SpotEviction
    | SlowBroker
    | RequestError
    | RollBrokers
)

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
