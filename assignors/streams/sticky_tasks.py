"""`sticky`, the task assignor of streams groups, equal to Kafka 4.4's.

Active tasks stay where they are, then go to where their state is, then to the least loaded
process; no member gets more than its share. Standby tasks follow in the same way.

Source: org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor (Kafka 4.4).
"""

from collections.abc import Iterable, Sequence

from kgroups.assignors.order.java_order import hash_map_order, spread, string_hash, utf16_key
from kgroups.assignors.order.java_table import table_capacity
from kgroups.assignors.order.priority_queue import JavaPriorityQueue
from kgroups.assignors.spec import AssignorError
from kgroups.assignors.streams.process import Process
from kgroups.assignors.streams.tasks import (
    MemberTasks,
    Task,
    TaskMember,
    TaskSource,
    sorted_tasks,
    tasks_of,
)


def assign_tasks(
    members: Iterable[TaskMember], sources: Sequence[TaskSource], standby_replicas: int
) -> dict[str, MemberTasks]:
    """The tasks of each member, by its id.

    Args:
        members: in the order of the broker, which decides among ids of one hash.
        standby_replicas: copies of the state of each stateful task.
    Raises:
        AssignorError: there are tasks, and no member.
    """
    run = _Run(list(members), sources, standby_replicas)
    run.assign_active(tasks_of(sources))
    if standby_replicas > 0:
        run.assign_standby(tasks_of(source for source in sources if source.is_stateful))
    return {
        member: MemberTasks(
            tuple(sorted_tasks(process.active.get(member, ()))),
            tuple(sorted_tasks(process.standby.get(member, ()))),
        )
        for member, process in run.homes.items()
    }


def _per_member(tasks: int, members: int) -> int:
    return -(-tasks // members) if members else 0


class _Quota:
    """The share of each member, which shrinks when others have had theirs."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self.share = _per_member(tasks, members)

    def took(self, count: int) -> None:
        """A member has so many tasks now."""
        if count == self.share:
            self._members -= 1
            self._tasks -= count
            self.share = _per_member(self._tasks, self._members)


class _Run:
    """One assignment."""

    def __init__(
        self, members: Sequence[TaskMember], sources: Sequence[TaskSource], standby_replicas: int
    ) -> None:
        self._replicas = standby_replicas
        active = sum(source.partitions for source in sources)
        stateful = sum(source.partitions for source in sources if source.is_stateful)
        self._active_quota = _Quota(active, len(members))
        self._quota = _Quota(active + stateful * standby_replicas, len(members))
        by_id = {member.member_id: member for member in members}
        ordered = [by_id[name] for name in hash_map_order(by_id)]
        processes = {member.process_id: Process() for member in ordered}
        self.homes = {member.member_id: processes[member.process_id] for member in ordered}
        for name, process in self.homes.items():
            process.counts[name] = 0
        self._processes = [processes[name] for name in _process_order(ordered)]
        self._was_active = {task: m.member_id for m in ordered for task in m.active}
        self._was_standby = _standby_holders(ordered)

    def assign_active(self, tasks: Sequence[Task]) -> None:
        """To the member that has it, to one that has its state, or to where there is least."""
        left = [
            task
            for task in sorted(tasks, key=_by_partition)
            if not self._keep(task, self._was_active.get(task), self._active_quota)
        ]
        left = [
            task
            for task in left
            if not self._keep(task, self._least_loaded(task), self._active_quota)
        ]
        queue = self._by_load()
        for task in sorted(left, key=_by_subtopology):
            if not queue:
                raise AssignorError("the group has no members", java="TaskAssignorException")
            process = queue.poll()
            self._took(process.give_to_least(task, is_active=True))
            queue.add(process.load, process)

    def _keep(
        self, task: Task, member: str | None, quota: _Quota, *, standby: bool = False
    ) -> bool:
        """Whether a member got a task, as it has not had its share yet."""
        if member is None or self.homes[member].counts[member] >= quota.share:
            return False
        count = self.homes[member].give(member, task, is_active=not standby)
        if standby:
            self._quota.took(count)
        else:
            self._took(count)
        return True

    def _took(self, count: int) -> None:
        self._active_quota.took(count)
        self._quota.took(count)

    def _least_loaded(self, task: Task, *, without: bool = False) -> str | None:
        """The member with the state of a task that has least to do, by process and by itself.

        Args:
            without: whose process does not have the task yet.
        """
        best, load, count = None, 0.0, 0
        for member in self._was_standby.get(task, ()):
            process = self.homes[member]
            if without and process.has(task):
                continue
            less = process.load < load and process.counts[member] < count
            if best is None or less:
                best, load, count = member, process.load, process.counts[member]
        return best

    def assign_standby(self, tasks: Sequence[Task]) -> None:
        """To the member that had it active, to one with its state, or to where there is least."""
        left: list[tuple[Task, int]] = []
        for task in sorted(tasks, key=_by_partition, reverse=True):
            for number in range(self._replicas):
                last = self._was_active.get(task)
                if last is not None and self.homes[last].has(task):
                    last = None
                if self._keep(task, last, self._quota, standby=True):
                    continue
                holder = self._least_loaded(task, without=True)
                if not self._keep(task, holder, self._quota, standby=True):
                    left.append((task, self._replicas - number))
                    break
        queue = self._by_load()
        for task, replicas in sorted(left, key=lambda row: _by_subtopology(row[0]), reverse=True):
            for _ in range(replicas):
                if not self._give_standby(queue, task):
                    break

    def _give_standby(self, queue: JavaPriorityQueue[Process], task: Task) -> bool:
        """Whether a process that does not have a task yet got it as a standby."""
        polled: list[Process] = []
        placed = False
        while queue and not placed:
            polled.append(queue.poll())
            if not polled[-1].has(task):
                self._quota.took(polled[-1].give_to_least(task, is_active=False))
                placed = True
        for process in reversed(polled):
            queue.add(process.load, process)
        return placed

    def _by_load(self) -> JavaPriorityQueue[Process]:
        queue: JavaPriorityQueue[Process] = JavaPriorityQueue()
        for process in self._processes:
            queue.add(process.load, process)
        return queue


def _by_partition(task: Task) -> tuple[int, bytes]:
    return task[1], utf16_key(task[0])


def _by_subtopology(task: Task) -> tuple[bytes, int]:
    return utf16_key(task[0]), task[1]


def _process_order(members: Sequence[TaskMember]) -> list[str]:
    """Ids of processes in the order of a HashMap that `computeIfAbsent` fills, member by member.

    Its first size is the number of members; unlike `put`, it grows before a call, not after one,
    and puts a key before those of its bucket.
    """
    capacity = table_capacity(len(members))
    codes: dict[str, int] = {}
    for member in members:
        if len(codes) > capacity * 3 // 4:
            capacity *= 2
        codes.setdefault(member.process_id, spread(string_hash(member.process_id)))
    newest_first = [*codes]
    newest_first.reverse()
    return sorted(newest_first, key=lambda name: codes[name] & capacity - 1)


def _standby_holders(members: Iterable[TaskMember]) -> dict[Task, list[str]]:
    """Members with the state of each task: those that keep it now first, the furthest first."""
    holders: dict[Task, list[tuple[int, int, str]]] = {}
    for member in members:
        for task in member.standby:
            row = (0, -member.offsets.get(task, 0), member.member_id)
            holders.setdefault(task, []).append(row)
        for task, offset in member.offsets.items():
            if task not in member.standby:
                holders.setdefault(task, []).append((1, -offset, member.member_id))
    return {
        task: [name for *_, name in sorted(rows, key=lambda row: row[:2])]
        for task, rows in holders.items()
    }
