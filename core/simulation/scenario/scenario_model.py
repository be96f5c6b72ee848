"""A scenario as values: brokers, topics, groups with their members, and what happens to them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.simulation.clients.libraries import classic_mode
from kgroups.core.simulation.kubernetes.scaling_rules import Autoscaler
from kgroups.core.simulation.scenario.key_load import KeyLoad
from kgroups.core.simulation.scenario.member_settings import (
    PROTOCOLS,
    Library,
    MemberSettings,
    Protocol,
)
from kgroups.core.simulation.scenario.scenario_events import Scheduled
from kgroups.core.simulation.scenario.spread import Spread

# How long a run may take that says no end and does not settle.
PATIENCE_MS: Final = 3_600_000
# What is assumed where nobody says how a group's members are configured.
DEFAULT_SETTINGS: Final = "timeouts and all other settings are the client library's defaults"
# Bytes of a record with its overhead, where a topic says nothing else.
RECORD_BYTES: Final = 1_000
# What an application takes for a record, and besides for a poll, where nobody says.
RECORD_TIME: Final = Spread(1.0)
NO_TIME: Final = Spread()
# Of a packet, one way.
LATENCY: Final = Spread(1.0)

CommitMode = Literal["sync", "async", "outside", "none"]
MODES: Final[tuple[CommitMode, ...]] = ("sync", "async", "outside", "none")
CommitUnit = Literal["poll", "partition"]
UNITS: Final[tuple[CommitUnit, ...]] = ("poll", "partition")


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """The commit policy in the place of auto-commit.

    Args:
        mode: `commitSync`, `commitAsync`; `outside`: offsets are stored with the results, and
            where a partition is assigned the application seeks to what it has stored; or nothing.
        per: after the records of a poll, or of each partition in it.
        every_ms: not before so long after the last time; a poll's end decides.
    """

    mode: CommitMode
    per: CommitUnit = "poll"
    every_ms: int = 0


@dataclass(frozen=True, slots=True)
class Network:
    """Between every client and every broker.

    Args:
        latency: one way.
        loss: share of packets that are lost; each is sent again after 200 ms, then 400 ms, ...
    """

    latency: Spread = LATENCY
    loss: float = 0.0


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic.

    Args:
        rate: records a second that are produced, over all partitions.
        backlog: records that are there at the start and nobody has read, over all partitions.
        racks: per partition the racks of its replicas; empty for none.
        transaction_ms: records are written in transactions that commit so often; 0: in none.
        weights: of the partitions in the rate; empty: all alike.
        hours: factors of the rate, one for each hour of a day that begins with the run; empty:
            it is steady.
        keys: of its records, which decide where they go; None: they have none.
        backlogs: of each partition, in the place of equal shares of `backlog`; empty: equal ones.
    """

    name: str
    partitions: int
    rate: float = 0.0
    backlog: int = 0
    racks: tuple[frozenset[str], ...] = ()
    record_bytes: int = RECORD_BYTES
    transaction_ms: int = 0
    weights: tuple[float, ...] = ()
    hours: tuple[float, ...] = ()
    backlogs: tuple[int, ...] = ()
    keys: KeyLoad | None = None

    def backlog_of(self, partition: int) -> int:
        """Records of the backlog that lie in one partition."""
        if self.backlogs:
            return self.backlogs[partition] if partition < len(self.backlogs) else 0
        share, rest = divmod(self.backlog, self.partitions)
        return share + (partition < rest)


@dataclass(frozen=True, slots=True)
class ListenerPlan:
    """The work of an application when partitions come and go: commit, flush, restore state.

    Args:
        on_assigned, on_revoked, on_lost: how long it takes; none where there are no partitions.
        commits: before it gives partitions up it commits what was processed of them, and waits.
        fails: share of its calls that fail: the poll throws, and the consumer is closed.
        restart_after_ms: when the process is started again after that; None for never.
    """

    on_assigned: Spread = NO_TIME
    on_revoked: Spread = NO_TIME
    on_lost: Spread = NO_TIME
    commits: bool = False
    fails: float = 0.0
    restart_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """One member, which may be restarted: a process with a consumer in it.

    Args:
        name: unique in its group; what events and reports call it.
        topics: subscribed by name.
        pattern: subscribed by pattern, in the dialect of its protocol and library; None if not.
        instance_id: `group.instance.id` of a static member; None of a dynamic one.
        start_ms: when the process is started first.
        record: time to process one record.
        poll: time that each poll with records takes besides.
        entry: key of the scenario's entry that it is one of the members of.
        gap_ms: time between the starts of that entry's members.
        idle: properties that it was given and that have no effect here.
        workers: threads that share the records of a poll, which ends when all are done.
        polls_on: it polls on while its workers have records in work; commits are of what they were
            handed, done or not.
        listener: its rebalance listener; None: it has none, or one that takes no time.
        assign: topics with the numbers of partitions that it assigns itself, none for all of a
            topic, in the place of a subscription; empty: it subscribes.
        skip_older_ms: records older than this are passed over; None: none are.
        commit: how the application commits; None: as `enable.auto.commit` has it.
    """

    name: str
    library: Library = "java"
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    instance_id: str | None = None
    client_id: str = "consumer"
    rack: str | None = None
    start_ms: int = 0
    record: Spread = RECORD_TIME
    poll: Spread = NO_TIME
    settings: MemberSettings = field(default_factory=MemberSettings)
    entry: str = ""
    gap_ms: int = 0
    idle: frozenset[str] = frozenset()
    workers: int = 1
    polls_on: bool = False
    skip_older_ms: int | None = None
    listener: ListenerPlan | None = None
    commit: CommitPlan | None = None
    assign: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def auto_commits(self) -> bool:
        """Whether its consumer commits by itself."""
        return self.settings.enable_auto_commit and self.commit is None

    @property
    def commits(self) -> CommitPlan | None:
        """How its application commits; None if it does not."""
        if self.commit is not None:
            return None if self.commit.mode == "none" else self.commit
        if self.settings.enable_auto_commit or not self.settings.commit_each_poll:
            return None
        return CommitPlan("async")

    @property
    def subscribes(self) -> bool:
        """Whether it has a subscription."""
        return bool(self.topics) or self.pattern is not None

    def numbered(self, number: int) -> "MemberPlan":
        """The member of this number of the entry that this one is the template of."""
        name = f"{self.entry or self.name}-{number}"
        instance = None if self.instance_id is None else name
        start_ms = self.start_ms + (number - 1) * self.gap_ms
        return replace(self, name=name, instance_id=instance, start_ms=start_ms)


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A group and its members, in the order in which they were written.

    Args:
        committed: topic -> partition -> offset that is committed at the start; a partition that
            is not named has no commit.
        config: the group's dynamic settings (`consumer.session.timeout.ms`, ...), KIP-848 only.
        templates: what further members of each entry are like, also of one without members.
        autoscaler: what scales it; None: nothing does.
        long_running: its members have been there for long, so what they do again and again they do
            at times of their own; else as they were started in the run.
    """

    name: str
    protocol: Protocol
    members: tuple[MemberPlan, ...]
    committed: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    config: Mapping[str, str] = field(default_factory=dict)
    templates: tuple[MemberPlan, ...] = ()
    autoscaler: Autoscaler | None = None
    long_running: bool = False

    def like(self, name: str | None) -> MemberPlan | None:
        """The model of a further member: a member's or an entry's name, None for the first."""
        members = (*self.members, *self.templates)
        return next((member for member in members if name is None or member.name == name), None)

    def spoken(self, word: str) -> Protocol:
        """The protocol that a word stands for: `classic` as its clients speak it by themselves."""
        if word == "classic" and self.protocol not in ("eager", "cooperative"):
            return classic_mode(plan.library for plan in (*self.members, *self.templates))
        return next((protocol for protocol in PROTOCOLS if protocol == word), self.protocol)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Everything that a run is a function of, besides the seed.

    Args:
        name: for people.
        brokers: how many; their ids count from 0.
        cluster: the brokers' settings about groups.
        until_ms: how long the run lasts, settled or not; None: until it has settled after the last
            event, at most `PATIENCE_MS`.
        assumed: what was not known and was assumed, a sentence each.
        measured: what was taken from a live group or from captures of it, a sentence each.
        auto_partitions: of topics that brokers create because a consumer asks for them
            (`auto.create.topics.enable`); 0: they create none.
    """

    name: str = ""
    topics: tuple[TopicPlan, ...] = ()
    groups: tuple[GroupPlan, ...] = ()
    events: tuple[Scheduled, ...] = ()
    brokers: int = 1
    cluster: CoordinatorConfig = field(default_factory=CoordinatorConfig)
    network: Network = field(default_factory=Network)
    seed: int = 1
    until_ms: int | None = None
    assumed: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    auto_partitions: int = 0

    @property
    def idle(self) -> tuple[str, ...]:
        """Properties that members were given and that have no effect in a simulation."""
        plans = (plan for group in self.groups for plan in (*group.members, *group.templates))
        return tuple(sorted(frozenset[str]().union(*(plan.idle for plan in plans))))

    def group(self, name: str) -> GroupPlan | None:
        """The group of this name, or None."""
        return next((group for group in self.groups if group.name == name), None)

    def with_members(self, change: Callable[[GroupPlan, MemberPlan], MemberPlan]) -> "Scenario":
        """The same with every member, and what further members are like, changed."""
        groups = (
            replace(
                group,
                members=tuple(change(group, plan) for plan in group.members),
                templates=tuple(change(group, plan) for plan in group.templates),
            )
            for group in self.groups
        )
        return replace(self, groups=tuple(groups))

    def needed(self, name: str) -> GroupPlan:
        """The group of this name, which is there."""
        return next(group for group in self.groups if group.name == name)


def next_name(like: str, taken: Collection[str]) -> str:
    """The name of one more member like this one."""
    label, dash, number = like.rpartition("-")
    label = label if dash and number.isdigit() else like
    place = len(taken) + 1
    while f"{label}-{place}" in taken:
        place += 1
    return f"{label}-{place}"
