"""`sticky` and `cooperative-sticky`: balance, and as few partitions moved as possible.

Source: org.apache.kafka.clients.consumer.StickyAssignor, CooperativeStickyAssignor and
internals.AbstractStickyAssignor (KIP-54, KIP-429).
"""

from collections.abc import Hashable

from kgroups.assignors.compact import CompactAssignment, withhold
from kgroups.assignors.java.claims import (
    MemberData,
    cooperative_member_data,
    read_claims,
    sticky_member_data,
)
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.ranges import VECTOR_FROM
from kgroups.assignors.java.sticky_constrained import assign_constrained, constrained_answer
from kgroups.assignors.java.sticky_fast import FastBalance
from kgroups.assignors.java.sticky_general import GeneralView
from kgroups.assignors.java.sticky_literal import LiteralBalance, never_ends
from kgroups.assignors.spec import AssignmentRequest, Fault, MemberSubscription


class StickyAssignor:
    """`sticky`, eager; or `cooperative-sticky`, which hands over a partition in two rounds.

    Args:
        name: registered name.
        cooperative: withhold in this round what its owner must give up first.
        literal: follow the Java class statement by statement, slowly, in every case.
        vector_from: number of partitions from which arrays are used.
    """

    waives = frozenset({"order-free"})  # equal buckets: the JoinGroup order decides

    def __init__(
        self,
        name: str = "sticky",
        *,
        cooperative: bool = False,
        literal: bool = False,
        vector_from: int = VECTOR_FROM,
    ) -> None:
        self.name = name
        self._vector_from = vector_from
        self._literal = literal
        self.cooperative = cooperative
        self._member_data: MemberData = (
            cooperative_member_data if cooperative else sticky_member_data
        )

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, in Java's list order.

        A cooperative round leaves out what is in transfer; `withheld` of the result names it.

        Raises:
            AssignorError: a faithful request on which the Java class throws.
        """
        view = LeaderView(request)
        if not view.members:
            return CompactAssignment.of_lists([], view.table, [])
        claims = read_claims(view, self._member_data, self._vector_from)
        if claims.equal:
            plain = not any(view.racks) and not view.table.strays
            if plain and view.table.total >= self._vector_from:
                from kgroups.assignors.kernels.sticky_arrays import assign_arrays  # numpy

                return assign_arrays(view, claims, cooperative=self.cooperative)
            dealt = assign_constrained(view, claims.listed())
            withheld = dealt.moving if self.cooperative else {}
            for number, member in withheld.items():
                dealt.lists[member].remove(number)
            return constrained_answer(view, dealt, claims, withheld)
        claims.listed()
        general = GeneralView(view)
        start = general.start(claims)
        astray = bool(view.table.strays) or general.strays_from(start)
        balance: LiteralBalance | FastBalance
        if (astray and request.faithful) or self._literal:
            balance = LiteralBalance(general, start)
        else:
            balance = FastBalance(general, general.without_strays(start, claims))
        lists = balance.run()
        if balance.endless:
            if request.faithful:
                raise never_ends()
            claims.faults.append(
                Fault(
                    "LEADER_FAILS",
                    "a Java leader never finishes this rebalance: partitions move in a cycle",
                )
            )
        owned = [set(view.table.existing(member.owned)) for member in view.members]
        withheld = withhold(lists, owned, owned) if self.cooperative else {}
        return general.answer(lists, claims, withheld, balance.fixed)

    def reads(self, member: MemberSubscription) -> Hashable:
        """A member's subscription as a leader reads it, but for order and generation.

        Where an answer tells what hash tables have decided (`CompactAssignment.by_hash`), neither
        of these has decided anything.
        """
        runs, _ = self._member_data(member)
        return frozenset((topic, number) for topic, numbers in runs for number in numbers)
