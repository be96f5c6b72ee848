"""Equal subscriptions: everybody keeps what fits the quota, the rest is dealt in a circle.

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder (KAFKA-9987, KAFKA-12464, KAFKA-16277).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kgroups.assignors.compact import CompactAssignment, TopicTable
from kgroups.assignors.java.claims import Claims
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.quotas import fill_order, share_out
from kgroups.assignors.java.sticky_racks import RackInfo
from kgroups.assignors.order.java_order import copied_map_capacity
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription


@dataclass(frozen=True, slots=True)
class Dealt:
    """The assignment of all members.

    Args:
        lists: partition numbers per member.
        moving: partition -> new owner of those in transfer: what another member had to give up in
            this very round, or what several claim.
        by_hash: members of which the order in hash tables has decided it; None: any may have.
    """

    lists: list[list[int]]
    moving: dict[int, int]
    by_hash: list[int] | None


def constrained_copies(members: int) -> tuple[int, ...]:
    """Table sizes of the maps through which Java passes the members to the answer."""
    return (16, 16, copied_map_capacity(members), 16)


def hash_ordered(ids: Sequence[str]) -> list[str]:
    """Members in the order in which they are met, by their ids in JoinGroup order."""
    view = LeaderView(AssignmentRequest([MemberSubscription(name, ()) for name in ids], {}))
    return [view.member_ids[position] for position in view.copied(range(len(ids)))]


def assign_constrained(view: LeaderView, claims: Claims) -> Dealt:
    """The assignment of all members.

    Raises:
        AssignorError: a faithful request on which the Java class throws.
    """
    table, racks = view.table, RackInfo(view)
    lists: list[list[int]] = []
    revoked: dict[int, int] = {}
    for member, claimed in enumerate(claims.owned):
        fitting = [number for number in claimed if not racks.mismatch(member, number)]
        if len(fitting) < len(claimed):
            revoked.update((n, member) for n in claimed if racks.mismatch(member, n))
        if claims.doubled:
            for number in claims.doubled.intersection(fitting):
                fitting.remove(number)
        lists.append(partition_then_topic(table, fitting))
    order = view.copied(range(len(lists)))
    sizes = [len(held) for held in lists]
    quotas = share_out(sizes, order, view.ranks, table.total)
    by_hash = None if racks.active or not _undisputed(view, claims) else quotas.disputed(sizes)
    for member, keep in enumerate(quotas.keep):
        revoked.update((number, member) for number in lists[member][keep:])
        del lists[member][keep:]
    unassigned = racks.rarest_first(not_held(table, lists))
    new: list[tuple[int, int]] = []
    if racks.active:
        unassigned = racks.fill(unassigned, quotas, lists, new)
    takers = fill_order(quotas, [len(held) for held in lists], len(unassigned))
    for number, member in zip(unassigned, takers, strict=True):
        lists[member].append(number)
        new.append((number, member))
    moving = {
        number: member
        for number, member in new
        if revoked.get(number, member) != member or number in claims.doubled
    }
    return Dealt(lists, moving, by_hash)


def _undisputed(view: LeaderView, claims: Claims) -> bool:
    """Whether every claim is believed, whoever comes first."""
    believed = sum(map(len, claims.owned)) == sum(map(len, claims.raw))
    return believed and not claims.faults and not view.table.strays


def partition_then_topic(table: TopicTable, numbers: list[int]) -> list[int]:
    """The partitions by (partition, topic)."""
    keys = {
        number: (part, topic) for number in numbers for topic, part in [table.partition(number)]
    }
    return sorted(numbers, key=keys.__getitem__)


def not_held(
    table: TopicTable, lists: list[list[int]], order: Sequence[int] | None = None
) -> list[int]:
    """Partitions that nobody holds.

    A held partition that does not exist stops Java's merge of the two sorted lists, so everything
    behind it counts as free although somebody holds it.

    Args:
        table: what the numbers mean.
        lists: partition numbers per member.
        order: topics in the order of the result; by name if None.
    """
    held = bytearray(table.total)
    stops = []
    for numbers in lists:
        for number in numbers:
            if number < table.total:
                held[number] = 1
            else:
                name, partition = table.strays[number - table.total]
                stops.append((table.index[name], partition >= 0))
    free: list[int] = []
    stopped = False
    for topic in range(len(table.names)) if order is None else order:
        base, end = table.bases[topic], table.bases[topic] + table.counts[topic]
        stopped = stopped or (topic, False) in stops
        free += [number for number in range(base, end) if stopped or not held[number]]
        stopped = stopped or (topic, True) in stops
    return free


def constrained_answer(
    view: LeaderView, dealt: Dealt, claims: Claims, withheld: dict[int, int]
) -> CompactAssignment:
    """The answer of a group with equal subscriptions."""
    assignment = CompactAssignment.of_lists(
        view.member_ids,
        view.table,
        dealt.lists,
        faults=claims.faults,
        withheld=withheld,
        generation=claims.newest,
    )
    if dealt.by_hash is not None:
        assignment.by_hash = frozenset(view.member_ids[member] for member in dealt.by_hash)
    return view.answer(assignment, constrained_copies(len(dealt.lists)))
