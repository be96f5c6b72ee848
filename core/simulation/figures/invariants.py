"""Invariants of every run, checked as it happens and never by looking through everything.

* A partition has one owner, unless the other one is no member any more, or its generation is over
  (a static member that did not join the next one), and it has not heard of it; within a
  generation, or where both are members by KIP-848, it never has two.
* A request that waits is answered once.
* Committed offsets never go backwards.
* Where every member is settled and the group Stable, every partition is owned.

Members of the ZooKeeper era promise none of these; there split brain is a figure, not a fault.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.coordinator.effects import Event, EventKind
from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.simulation.figures.ledger import BrokenInvariant
from kgroups.core.simulation.world.actors import Hold
from kgroups.core.simulation.world.process import GroupState, Process

T = TypeVar("T")

JOINED: Final = frozenset({EventKind.MEMBER_ADDED, EventKind.MEMBER_REPLACED})


class Invariants:
    """Looks on while a run goes, and raises `BrokenInvariant`.

    Args:
        seed: for the message.
        start_ms: virtual time of the run's start.

    Attributes:
        checks: how many were made.
    """

    def __init__(self, groups: Mapping[str, GroupState], seed: int, start_ms: int) -> None:
        self._groups, self._seed, self._start_ms = groups, seed, start_ms
        self._present: dict[str, set[str]] = {name: set() for name in groups}
        self._given: dict[str, dict[TopicPartition, tuple[int, str]]] = {n: {} for n in groups}
        self.checks = 0

    def fail(self, what: str, now_ms: int) -> BrokenInvariant:
        """The exception that says so."""
        return BrokenInvariant(what, seed=self._seed, at_ms=now_ms - self._start_ms)

    # ------------------------------------------------------------------ members

    def asks(self, event: Event) -> bool:
        """Whether `told` needs the group as its coordinator has it."""
        return event.kind is EventKind.GROUP_LOADED

    def told(self, event: Event, snapshot: GroupSnapshot | None) -> None:
        """A coordinator tells who is a member; after loading it is whoever it loaded."""
        present = self._present.get(event.group_id)
        if present is None:
            return
        if snapshot is not None:
            present.clear()
            present.update(member.member_id for member in snapshot.members)
        elif event.kind in JOINED and event.member_id is not None:
            present.add(event.member_id)
            present.difference_update(str(gone) for gone in event.detail if gone != event.member_id)
        elif event.kind is EventKind.MEMBER_REMOVED and event.member_id is not None:
            present.discard(event.member_id)

    def held(
        self,
        process: Process,
        hold: Hold,
        shared: Sequence[tuple[TopicPartition, frozenset[str]]],
        processes: Mapping[str, Process],
        now_ms: int,
    ) -> None:
        """A member owns partitions; `shared` are those that others own too."""
        group = process.seat.group
        present = self._present.get(group.name, set())
        if group.protocol == "zookeeper" or process.consumer.member_id not in present:
            return  # one that was thrown out and has not heard of it is told so next
        given, seat, consumer = self._given[group.name], process.seat.name, process.consumer
        for partition in hold.partitions:
            self.checks += 1
            epoch, before = given.get(partition, (-1, seat))
            if epoch == hold.epoch and before != seat:
                what = f"{partition} was given to {before} and to {seat} in generation {epoch}"
                raise self.fail(what, now_ms)
            given[partition] = (hold.epoch, seat)
        for partition, others in shared:
            for life in others:
                other = processes[life].consumer
                up_to_date = other.epoch == hold.epoch or group.protocol == "consumer"
                acknowledged = other.member_id in present and other.member_id != consumer.member_id
                if acknowledged and up_to_date and other.epoch > 0:
                    what = f"{process.life} and {life} own {partition}, and both are members"
                    raise self.fail(what, now_ms)

    # ------------------------------------------------------------------ requests and commits

    def answered(self, asked: T | None, now_ms: int) -> T:
        """The request that an answer is for: it waited, and waits no more."""
        self.checks += 1
        if asked is None:
            raise self.fail("a request was answered twice, or one that nobody sent", now_ms)
        return asked

    def stored(self, group: str, backwards: Sequence[TopicPartition], now_ms: int) -> None:
        """Commits were stored; `backwards` are lower than what was there."""
        self.checks += 1
        if backwards:
            raise self.fail(f"the commit of {backwards[0]} in {group} went backwards", now_ms)

    # ------------------------------------------------------------------ at rest

    def at_rest(self, state: GroupState, snapshot: GroupSnapshot | None, now_ms: int) -> None:
        """Every member is settled: a Stable group leaves no partition without an owner."""
        self.checks += 1
        if state.plan.protocol == "zookeeper" or snapshot is None or snapshot.state != "Stable":
            return
        if state.manual or state.broadcast:
            return  # whoever chooses partitions by hand may choose what a member has
        expected = sum(len(a.owners) == 1 for a in state.ledger.accounts.values())
        if state.whole_since_ms is not None and expected != len(state.ledger.accounts):
            raise self.fail(
                f"{state.plan.name} is Stable and not every partition has one owner", now_ms
            )

    def waiting(self, waiting: int, parked: int, now_ms: int) -> None:
        """At the end: every request that has no answer is parked in a group."""
        self.checks += 1
        if waiting != parked:
            what = f"{waiting} requests wait for an answer, {parked} are parked"
            raise self.fail(what, now_ms)
