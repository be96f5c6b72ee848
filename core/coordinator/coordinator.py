"""The group coordinator: requests and time in, effects out; the only door to everything here.

No I/O, clock, randomness, logging or threads. A driver (server, simulator, test) does

    coordinator.submit(now_ms, token, request)      # or advance(now_ms), replay(record), ...
    for effect in coordinator.take(): ...           # Reply, Write, Dropped, Event
    wake_at_ms = coordinator.next_deadline()
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from kgroups.core.coordinator.config import CoordinatorConfig, check_group_config
from kgroups.core.coordinator.effects import NO_PRODUCER_ID, Effect, Write
from kgroups.core.coordinator.groups import Group, GroupSnapshot
from kgroups.core.coordinator.log.records import Record
from kgroups.core.coordinator.offsets.commit import commit_at_once
from kgroups.core.coordinator.offsets.delete import expire_offsets, schedule_expiration
from kgroups.core.coordinator.offsets.messages import OffsetCommitRequest, OffsetCommitResponse
from kgroups.core.coordinator.ports import Ports
from kgroups.core.coordinator.protocols import (
    AT_ONCE,
    LIFECYCLE,
    OF_CONSUMER_GROUPS,
    ON_TOPOLOGY,
    REPLAY,
    ROUTES,
    TIMERS,
    GroupRoute,
    Handler,
)
from kgroups.core.coordinator.request import Request
from kgroups.core.coordinator.shard import ACTIVE, PartitionState, Shard, TimerKind
from kgroups.core.coordinator.topology import Topology
from kgroups.core.errors import UsageError, shorten
from kgroups.core.protocol.errors import ErrorCode


def refused(request: Request, error: ErrorCode) -> object:
    """The answer to a request about one group that says nothing but an error.

    Raises:
        UsageError: it is about more, so that its answer has no error at its top.
    """
    route = ROUTES.get(type(request))
    if not isinstance(route, GroupRoute):
        raise UsageError(f"`{type(request).__name__}` is no request about one group")
    return route.refuse(request, error)


class Coordinator:
    """Coordinator of the groups on some or all partitions of `__consumer_offsets`.

    Args:
        config: a broker's settings.
        topology: topics and brokers; change it with `update_topology`.
        new_id: makes a fresh random id whenever a member needs one.
        now_ms: epoch milliseconds; the clean-up of expired offsets counts from here.
        ports: server-side assignors, hash and patterns, in the place of `default_ports`; with
            `Ports()` consumer groups (KIP-848) are not served.
    Raises:
        UsageError: `consumer_assignors` names none, or one that the ports do not have.
    """

    def __init__(
        self,
        config: CoordinatorConfig,
        topology: Topology,
        new_id: Callable[[], UUID],
        *,
        now_ms: int,
        ports: Ports | None = None,
    ) -> None:
        if ports is None:
            from kgroups.core.coordinator.default_ports import coordinator_ports  # RE2, XXH3

            ports = coordinator_ports()
        if ports.assignors:
            config.check_assignors(ports.assignors)
        self._shard = Shard(config, topology, new_id, REPLAY, now_ms=now_ms, ports=ports)
        for partition in self._shard.partitions:
            schedule_expiration(self._shard, partition)

    # ------------------------------------------------------------------ requests and time

    def submit(self, now_ms: int, token: Hashable, request: Request) -> None:
        """Take in a request; its Reply, under `token`, comes now or with a later call.

        Timers that were due before `now_ms` fire first.

        Raises:
            UsageError: no request of the coordinator's, time went back, the token is None, or a
                request with it has no answer yet; nothing has happened.
        """
        shard = self._shard
        route = ROUTES.get(type(request))
        if route is None:
            raise UsageError(f"`{type(request).__name__}` is no request of the coordinator's")
        if token is None:
            raise UsageError("None is no token")
        if token in shard.waiting:
            raise UsageError(f"a request with the token `{token}` has no answer yet")
        self.advance(now_ms)
        shard.waiting.add(token)
        self._follow(route, token, request)
        self._fire(now_ms)

    def answer_at_once(self, now_ms: int, request: Request) -> object | None:
        """The answer to a heartbeat by which a session goes on and nothing else happens.

        None for any other request, and where something else is to be done first: `submit` it.
        For drivers with very many members: there is no effect to take, and no token to keep.
        """
        answer = AT_ONCE.get(type(request))
        if answer is None:
            return None
        group = self._undisturbed(now_ms, request.group_id)  # type: ignore[attr-defined] # it has one
        return None if group is None else answer(self._shard, request, group)

    def commit_at_once(
        self, now_ms: int, request: OffsetCommitRequest
    ) -> tuple[Write, OffsetCommitResponse] | None:
        """The same for commits: what is to be written, and the answer.

        None where more is to be done than that, and a session that goes on: `submit` it. For
        drivers whose log refuses nothing: the Write cannot be taken back.
        """
        group = self._undisturbed(now_ms, request.group_id or "")
        return None if group is None else commit_at_once(self._shard, request, group)

    def _undisturbed(self, now_ms: int, group_id: str) -> Group | None:
        """The group, where nothing else is to be done first; the step begins."""
        shard = self._shard
        group = shard.groups.get(group_id)
        if group is None or shard.effects or shard.background:
            return None
        if shard.partitions.get(group.partition) is not ACTIVE:
            return None
        if now_ms < shard.now_ms or not shard.timers.is_quiet(now_ms):
            return None
        shard.forget_undo()
        shard.now_ms = now_ms
        return group

    def advance(self, now_ms: int) -> None:
        """Let time pass: timers fire one by one, each at its own time. A step begins.

        Raises:
            UsageError: time went back.
        """
        shard = self._shard
        shard.check_time(now_ms)
        self._fire(now_ms)
        shard.now_ms = now_ms
        shard.begin_step()

    def next_deadline(self) -> int | None:
        """When `advance` must be called next, in epoch milliseconds; None for never."""
        return self._shard.timers.next_deadline()

    def next_look(self) -> int | None:
        """A time not later than `next_deadline`, for a driver that asks after every request."""
        return self._shard.timers.next_look()

    def take(self) -> list[Effect]:
        """The effects to carry out since the last call, in order."""
        effects, self._shard.effects = self._shard.effects, []
        return effects

    def _follow(self, route: GroupRoute | Handler, token: Hashable, request: Request) -> None:
        shard = self._shard
        if not isinstance(route, GroupRoute):
            route(shard, token, request)
            return
        group_id = request.group_id  # type: ignore[attr-defined] # a GroupRoute's request has one
        problem = route.check(shard.config, request)
        if not shard.active:
            problem = ErrorCode.COORDINATOR_NOT_AVAILABLE
        elif problem is ErrorCode.NONE and not shard.serves_all:
            problem = shard.check_place(group_id)
            if problem is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
                shard.reply(token, route.refuse(request, route.while_loading))
                return
        if problem is ErrorCode.NONE:
            group = shard.groups.get(group_id)
            handler = route.by_kind[None if group is None else group.kind]
            if not isinstance(handler, ErrorCode):
                handler(shard, token, request, group)
                return
            problem = handler
        if isinstance(problem, ErrorCode):
            problem = route.refuse(request, problem)
        shard.reply(token, problem)

    def _fire(self, now_ms: int) -> None:
        """Carry out, a step each, timers due by then and background tasks, until none is left."""
        shard = self._shard
        if not shard.effects:
            shard.forget_undo()
        while True:
            due = shard.timers.pop_due(now_ms)
            if due is not None:
                kind, group_id, member_id = due.key
                shard.now_ms = max(shard.now_ms, due.at_ms)
                shard.begin_step()
                TIMERS[kind](shard, group_id, member_id, due.payload)
            elif shard.background:
                task = shard.background.popleft()
                shard.begin_step()
                task()
            else:
                return

    # ------------------------------------------------------------------ the log

    def _check_partition(self, partition: int) -> None:
        if partition not in self._shard.partitions:
            count = len(self._shard.partitions)
            raise UsageError(f"`__consumer_offsets` has {count} partitions, and no {partition}")

    def _check_record(self, record: Record) -> None:
        """Only what was decoded to a kind that is known here can be played."""
        if not isinstance(record, Record) or type(record.key) not in REPLAY:
            raise UsageError(f"no record of `__consumer_offsets`: `{shorten(repr(record))}`")
        if type(record.key) in OF_CONSUMER_GROUPS and not self._shard.ports.assignors:
            raise UsageError("a record of a consumer group, and the ports have no assignors")

    def replay(self, record: Record, producer_id: int = NO_PRODUCER_ID) -> None:
        """Play a record of the log into the state; `finish_loading` ends a series of these.

        Raises:
            UsageError: it is no record, or one of a consumer group and the ports have no assignors.
        """
        self._check_record(record)
        self._shard.replay(record.key, record.value, producer_id)

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        """Play the end of a producer's transaction into the state."""
        self._shard.offsets.end_transaction(producer_id, committed=committed)

    def reload(
        self, now_ms: int, records: Iterable[Record | None], partition: int | None = None
    ) -> None:
        """Load a log in the place of what is held: `resign`, then `replay` of each record.

        Args:
            records: in the order of the log; None, what `decode_record` makes of a kind that it
                does not know, is passed over, as brokers do.
            partition: of `__consumer_offsets`; None: the records are of all of them.
        Raises:
            UsageError: time went back, there is no such partition, or something is no record; what
                was held stays.
        """
        self._shard.check_time(now_ms)
        valued = [record for record in records if record is not None]
        for record in valued:
            self._check_record(record)
        partitions = [*self._shard.partitions] if partition is None else [partition]
        for number in partitions:
            self.resign(now_ms, number)
            self.begin_loading(number)
        for record in valued:
            self._shard.replay(record.key, record.value, NO_PRODUCER_ID)
        for number in partitions:
            self.finish_loading(now_ms, number)

    def begin_loading(self, partition: int) -> None:
        """From now on answer for groups of this partition that it is being loaded.

        Raises:
            UsageError: there is no such partition.
        """
        self._check_partition(partition)
        self._shard.set_partition(partition, PartitionState.LOADING)

    def finish_loading(self, now_ms: int, partition: int) -> None:
        """The log of this partition was replayed: serve its groups.

        Raises:
            UsageError: time went back, or there is no such partition.
        """
        self._check_partition(partition)
        self._shard.check_time(now_ms)
        shard = self._shard
        shard.now_ms = now_ms
        shard.begin_step()
        shard.set_partition(partition, PartitionState.ACTIVE)
        for group in list(shard.groups.values()):
            if group.partition == partition:
                LIFECYCLE[group.kind][0](shard, group)
        schedule_expiration(shard, partition)
        self._fire(now_ms)

    def resign(self, now_ms: int, partition: int) -> None:
        """Another broker has this partition now: forget its groups, answer who waits with 16.

        Raises:
            UsageError: time went back, or there is no such partition.
        """
        self._check_partition(partition)
        shard = self._shard
        self.advance(now_ms)
        leaving = [group for group in shard.groups.values() if group.partition == partition]
        for group in leaving:
            LIFECYCLE[group.kind][1](shard, group)
            del shard.groups[group.group_id]
        for group_id in list(shard.stray_topics):
            if shard.partition_of(group_id) == partition:
                del shard.stray_topics[group_id]
        # Also what a group was armed for before it was converted.
        for kind, group_id, member_id in [timer.key for timer in shard.timers.armed()]:
            if kind is not TimerKind.EXPIRATION and shard.partition_of(group_id) == partition:
                shard.cancel(kind, group_id, member_id)
        shard.offsets.forget_groups(lambda group_id: shard.partition_of(group_id) == partition)
        shard.cancel(TimerKind.EXPIRATION, str(partition))
        shard.set_partition(partition, PartitionState.NOT_OURS)

    def shut_down(self, now_ms: int) -> None:
        """Give every partition up; from now on every request is answered with 15."""
        for partition in self._shard.partitions:
            self.resign(now_ms, partition)
        self._shard.active = False

    def write_failed(self, now_ms: int, write: Write, error: ErrorCode) -> None:
        """The log refused a Write of the effects taken last: take it back, answer otherwise.

        The driver must not have sent the replies that name the write, nor submitted anything
        since. Writes that came after it in the same series are taken back too.

        Raises:
            UsageError: it is too late, or time went back.
        """
        self._shard.take_back(now_ms, write.sequence, error)
        self._fire(now_ms)

    def expire_offsets(self, now_ms: int) -> None:
        """Look for expired offsets now; the next look is one check interval from here."""
        shard = self._shard
        self.advance(now_ms)
        for partition, state in shard.partitions.items():
            if state is PartitionState.ACTIVE:
                shard.begin_step()
                expire_offsets(shard, partition)
        self._fire(now_ms)

    # ------------------------------------------------------------------ cluster and settings

    def update_topology(self, now_ms: int, topology: Topology) -> None:
        """Take over new metadata of the cluster."""
        shard = self._shard
        self.advance(now_ms)
        before, shard.topology = shard.topology, topology
        for hook in ON_TOPOLOGY:
            shard.begin_step()
            hook(shard, before)
        self._fire(now_ms)

    def set_group_config(self, group_id: str, config: Mapping[str, str]) -> None:
        """Set a group's dynamic settings, in place of those it had.

        Raises:
            UsageError: a name or a value that brokers refuse; the settings stay as they were.
        """
        check_group_config(config, self._shard.config)
        self._shard.group_configs[group_id] = dict(config)

    # ------------------------------------------------------------------ looking in

    def partition_of(self, group_id: str) -> int:
        """Partition of `__consumer_offsets` that holds the group."""
        return self._shard.partition_of(group_id)

    def snapshot(self) -> tuple[GroupSnapshot, ...]:
        """Every group as a value, with its offsets, by group id."""
        shard = self._shard
        return tuple(
            replace(shard.groups[group_id].snapshot(), offsets=shard.offsets.values(group_id))
            for group_id in sorted(shard.groups)
        )

    def group_states(self) -> dict[str, tuple[str, str]]:
        """Group id -> (kind, state)."""
        groups = self._shard.groups.items()
        return {group_id: (group.kind.value, group.state_name()) for group_id, group in groups}

    def durable_records(self, group_ids: Iterable[str] | None = None) -> list[Record]:
        """The state as the log holds it, compacted: groups by id, then their offsets."""
        shard = self._shard
        records: list[Record] = []
        for group_id in sorted(shard.groups if group_ids is None else group_ids):
            records += shard.groups[group_id].durable_records()
            records += shard.offsets.records(group_id)
        return records
