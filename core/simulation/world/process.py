"""A seat in a group and the process in it now: consumer, application, its commits, connection."""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil

from kgroups.core.coordinator.client.default_assignors import known_assignor
from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.figures.deploy_window import DeployWindow
from kgroups.core.simulation.figures.ledger import Ledger, Stretch
from kgroups.core.simulation.figures.readers import Readers
from kgroups.core.simulation.kubernetes.scaling_rules import Scaling
from kgroups.core.simulation.scenario.member_settings import MemberSettings
from kgroups.core.simulation.scenario.scenario_model import (
    CommitPlan,
    GroupPlan,
    MemberPlan,
    next_name,
)
from kgroups.core.simulation.scenario.subscriptions import reads
from kgroups.core.simulation.world.actors import Consumer
from kgroups.core.simulation.world.application import Application
from kgroups.core.simulation.world.link import Link


class CommitState:
    """Of one life of a member.

    Attributes:
        tracked: whether the application looks at how its commits end: one that is configured by
            `commit` does.
        parts: of the last poll what is still to be processed: a partition, the offset after it,
            and the time that it takes in ms; the first one is being processed.
        awaits: number of the commit that it waits for; 0: it waits for none.
        asked: commits under way, by number.
        committed_ms: when it committed last.
        failed: its last commit failed: it polls before it commits again.
    """

    def __init__(self, plan: CommitPlan, now_ms: int, *, tracked: bool) -> None:
        self.plan, self.committed_ms, self.tracked = plan, now_ms, tracked
        self.parts: deque[tuple[TopicPartition, int, float]] = deque()
        self.asked: dict[int, dict[TopicPartition, int]] = {}
        self.awaits = self._number = 0
        self.failed = False

    def number(self, offsets: dict[TopicPartition, int]) -> int:
        """By which one more commit is told apart."""
        self._number += 1
        self.asked[self._number] = offsets
        return self._number


class Process:
    """One life of a member.

    Attributes:
        group: its group's state.
        life: its name, unique in the run: `GROUP/NAME#LIFE`.
        requests: of its group, counted by kind as they are sent.
        alive: until it ends in whatever way.
        frozen_ms: it stands still until then.
        link: its way to the cluster.
        wake_ms: for when it has been put on the agenda; None if it has not.
        poll_ms: for when a poll has been put on the agenda; None if none has.
        told_ms: of which poll its consumer was told last.
        by_hand: every poll that may give records is the world's, because its application commits
            what they give.
        commits: where it is with that; None where its application commits nothing.
        commit_due: its next poll commits.
        wishes: what its application asks of the consumer before its next poll, in order.
        fresh_ms: when it refreshed its metadata last.
        joined_ms: when it was assigned partitions last.
        sent_ms, received_ms: when the last message of its connection arrives: they keep order.
        lines: the same for a consumer with several connections, by number: there, and back.
        whole: settled and so counted.
        idle: settled, in no group, and so counted.
        record_ms: a timer waits for the end of this record; None if none does.
        beats_late: its timers wait until the record that is being processed is done.
        behind_fetches: its requests wait until a fetch of records is answered.
        idle_ms: a connection unused for so long is closed (`connections.max.idle.ms`); None where
            heartbeats never let it come to that.
    """

    def __init__(
        self,
        seat: "Seat",
        group: "GroupState",
        life: str,
        now_ms: int,
        requests: Counter[str],
    ) -> None:
        self.seat, self.group, self.life, self.requests = seat, group, life, requests
        self.consumer: Consumer
        self.app: Application
        self.alive = True
        self.closing = False
        self.then: Callable[[], None] | None = None
        self.frozen_ms = self.fresh_ms = self.joined_ms = now_ms
        self.link = Link(seat.plan.settings, now_ms)
        self.wake_ms: int | None = None
        self.poll_ms: int | None = None
        self.told_ms = now_ms
        self.commit_due = False
        self.wishes: list[Callable[[], None]] = []
        settings, plan = seat.plan.settings, seat.plan.commits
        self.by_hand = plan is not None
        self.commits: CommitState | None = None
        if plan is not None:
            tracked = seat.plan.commit is not None
            self.commits = CommitState(plan, now_ms, tracked=tracked)
        self.sent_ms = self.received_ms = now_ms
        self.lines: dict[int, int] = {}
        self.whole = self.idle = False
        traits = LIBRARIES[seat.plan.library]
        self.beats_late, self.behind_fetches = traits.beats_between_records, traits.behind_fetches
        self.record_ms: int | None = None
        idle_ms = settings.connections_max_idle_ms
        self.idle_ms = idle_ms if 0 < idle_ms <= group.interval_ms(settings) else None

    @property
    def steps(self) -> bool:
        """Of one `by_hand`: whether it may get records, or waits for a commit."""
        return bool(self.app.positions or (self.commits is not None and self.commits.awaits))

    def waits_for_record(self, now_ms: int) -> bool:
        """Whether a timer that is due must wait for a record; it waits for one, not for more.

        Until `record_ms`: the record in work is done, or the next one, or a fetch brought none.
        """
        if self.record_ms is not None:
            self.record_ms = None
            return False
        app, settings = self.app, self.seat.plan.settings
        app.run_to(now_ms)
        until_ms = app.free_ms
        if until_ms <= now_ms and self.whole and not app.is_cut_off(now_ms):
            # The fetch that is under way was sent when the timer was set.
            empty_ms = now_ms - self.group.interval_ms(settings) + settings.fetch_max_wait_ms
            until_ms = min(app.next_arrival(), empty_ms)
        if until_ms <= now_ms:
            return False
        self.record_ms = ceil(until_ms)
        self.consumer.put_off_beat(self.record_ms)
        return True

    def grant_wishes(self) -> None:
        """Let the application do what it is to do between its polls."""
        while self.wishes:
            self.wishes.pop(0)()

    def in_turn(self, line: int, arrives_ms: int) -> int:
        """When a message of one of several connections arrives, not before the one before it.

        Args:
            line: the connection's number; negated for the way back.
            arrives_ms: when it would arrive alone.
        """
        at_ms = self.lines[line] = max(arrives_ms, self.lines.get(line, 0))
        return at_ms


class Seat:
    """A member's place over all its lives, with its figures.

    Attributes:
        process: who sits there now; None while nobody does.
        lives: how many there were.
        stopped: time without anything to read, from giving everything up until the next
            assignment, whatever is in it.
        starting: time from the start of a process until its first assignment.
        failures: fatal errors.
        reads: its plan with what it subscribed to last, whether or not it still does.
        retired: its pod is gone: nobody sits down there any more.
        coming: its pod is being started.
    """

    def __init__(self, group: GroupPlan, plan: MemberPlan) -> None:
        self.group, self.plan, self.reads = group, plan, plan
        self.process: Process | None = None
        self.lives = 0
        self.stopped = Stretch()
        self.starting = Stretch()
        self.failures: list[str] = []
        self.retired = self.coming = False

    @property
    def name(self) -> str:
        """The plan's name."""
        return self.plan.name


class GroupState:
    """One group of the run.

    Attributes:
        seats: by name, in the order in which they came.
        restless: processes that are alive and not settled.
        alive: processes that are alive.
        idle: those of them that are in no group: unsubscribed, or with `assign`.
        manual: whether some are assigned their partitions by hand.
        broadcast: whether an assignor may give a partition to several of them.
        whole_since_ms: since when everybody is settled and everything owned; None if not.
        names: member id -> seat name, for texts.
        readers: who really reads what, of a group without a coordinator.
        deploys: those that began.
        scalings: what its autoscaler did.
        rollouts: entry -> what ends the rollout under way there, and gives back its version.
        when_rolled: what waits until no rollout is under way.
        when_whole: what waits until the group is whole.
    """

    def __init__(self, plan: GroupPlan, ledger: Ledger, beat_ms: int = 0) -> None:
        self.plan, self.ledger, self._beat_ms = plan, ledger, beat_ms
        self.readers = Readers(plan.name) if plan.protocol == "zookeeper" else None
        self.seats: dict[str, Seat] = {}
        self.restless = 0
        self.alive = self.idle = 0
        self.manual = self.broadcast = False
        self.whole_since_ms: int | None = None
        self.names: dict[str, str] = {}
        self.deploys: list[DeployWindow] = []
        self.scalings: list[Scaling] = []
        self.rollouts: dict[str, Callable[[], tuple[GroupPlan, tuple[MemberPlan, ...]]]] = {}
        self.when_rolled: list[Callable[[], None]] = []
        self.when_whole: list[Callable[[], None]] = []

    def add_seat(self, group: GroupPlan, plan: MemberPlan) -> Seat:
        """A place for a member; the group's plan as this member sees it."""
        seat = self.seats[plan.name] = Seat(group, plan)
        if plan.assign:
            self.manual = self.ledger.unordered = True
        if not all(known_assignor(n, plan.library).exclusive for n in plan.settings.assignors):
            self.broadcast = self.ledger.unordered = True
        return seat

    def add_like(self, group: GroupPlan, like: MemberPlan) -> Seat:
        """A place for one more member like this one, with a name of its own."""
        name = next_name(like.name, self.seats)
        instance = None if like.instance_id is None else name
        return self.add_seat(group, replace(like, name=name, instance_id=instance, start_ms=0))

    def running(self) -> list[Seat]:
        """Seats with a process that is not about to end, in the order in which they came."""
        seats = self.seats.values()
        return [seat for seat in seats if seat.process is not None and not seat.process.closing]

    def expect(
        self,
        group: GroupPlan,
        members: Iterable[MemberPlan],
        topology: Topology,
        now_ms: int,
        *,
        count: bool = False,
    ) -> None:
        """The group is to read what these members subscribe to; `count` as `Ledger.expect`'s."""
        read = replace(group, members=tuple(members), templates=())
        for name, topic in topology.topics.items():
            if reads(read, name):
                partitions = (TopicPartition(name, n) for n in range(topic.partitions))
                self.ledger.expect(partitions, now_ms, count=count)

    def interval_ms(self, settings: MemberSettings) -> int:
        """Between the heartbeats of a member."""
        given = self.plan.config.get("consumer.heartbeat.interval.ms", self._beat_ms)
        return int(given) if self.plan.protocol == "consumer" else settings.heartbeat_interval_ms


def both(
    before: Callable[[], None] | None, other: Callable[[], None] | None
) -> Callable[[], None] | None:
    """The action at the end of a process, of two that want something."""
    if before is None or other is None:
        return before or other
    first, second = before, other

    def then() -> None:
        first()
        second()

    return then
