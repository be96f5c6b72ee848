"""Equal subscriptions, many partitions, no racks: the constrained algorithm on arrays.

The decisions are those of `quotas`; numpy only sorts, counts and merges.

Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder.
"""

from itertools import chain

import numpy as np
import numpy.typing as npt

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.claims import Claims
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.java.quotas import Quotas, share_out
from kgroups.assignors.java.sticky_constrained import constrained_copies

Numbers = npt.NDArray[np.int32]
Owners = npt.NDArray[np.integer]


def assign_arrays(view: LeaderView, claims: Claims, *, cooperative: bool) -> CompactAssignment:
    """The answer of a group with equal subscriptions, no racks and no claims that are astray."""
    small = np.uint16 if len(view.members) <= 1 << 16 else np.int32
    claimed, owner = _sorted_claims(view, claims)
    counts = np.bincount(owner, minlength=len(view.members))
    order = view.copied(range(len(view.members)))
    quotas = share_out(counts.tolist(), order, view.ranks, view.table.total)
    keep = np.array(quotas.keep)
    kept = np.arange(len(claimed)) < np.repeat(np.cumsum(counts) - counts + keep, counts)
    held = np.zeros(view.table.total, dtype=bool)
    held[claimed[kept]] = True
    free = np.flatnonzero(~held).astype(np.int32)
    takers = _takers(quotas, len(free), small)
    withheld: dict[int, int] = {}
    if cooperative and (len(claimed) or claims.doubled):
        moving = _moving(claims, free, takers, claimed[~kept], owner[~kept], view.table.total)
        withheld = dict(zip(free[moving].tolist(), takers[moving].tolist(), strict=True))
        free, takers = free[~moving], takers[~moving]
    sizes = keep + np.bincount(takers, minlength=len(view.members))
    assignment = CompactAssignment(
        view.member_ids,
        view.table,
        np.concatenate([[0], np.cumsum(sizes)]),
        _merged(claimed[kept], keep, free, takers),
        faults=claims.faults,
        withheld=withheld,
        generation=claims.newest,
    )
    return view.answer(assignment, constrained_copies(len(view.members)))


def _merged(kept: Numbers, keep: Numbers, free: Numbers, takers: Owners) -> Numbers:
    """Partitions member after member: what each keeps, then what it is given.

    Args:
        kept: member after member.
        keep: how many each member keeps.
        free: partitions to give.
        takers: the member that gets each of them.
    """
    if 4 * len(free) < len(kept):  # a few between many
        few = np.argsort(takers, kind="stable")
        return np.insert(kept, np.cumsum(keep)[takers[few]], free[few])
    owner = np.repeat(np.arange(len(keep), dtype=takers.dtype), keep)
    order = np.argsort(np.concatenate([owner, takers]), kind="stable")
    merged: Numbers = np.concatenate([kept, free])[order]
    return merged


def _sorted_claims(view: LeaderView, claims: Claims) -> "tuple[Numbers, Owners]":
    """Believed claims by (member, partition, topic), and the member of each."""
    table = view.table
    if claims.bulk is not None:
        claimed, sizes = claims.bulk
    else:
        sizes = [len(numbers) for numbers in claims.owned]
        claimed = np.fromiter(chain.from_iterable(claims.owned), dtype=np.int32, count=sum(sizes))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    if claims.doubled:
        single = np.ones(table.total, dtype=bool)
        single[list(claims.doubled)] = False
        claimed, owner = claimed[single[claimed]], owner[single[claimed]]
    if len(table.names) == 1:
        keys = owner << 32 | claimed
        keys.sort()
        return (keys & 0x7FFFFFFF).astype(np.int32), keys >> 32
    topic_bits = len(table.names).bit_length()
    partition_bits = max(table.counts, default=0).bit_length()
    topic_of = np.repeat(np.arange(len(table.names), dtype=np.int32), table.counts)
    bases = np.array(table.bases, dtype=np.int32)
    topic = topic_of[claimed]
    keys = (owner << partition_bits | (claimed - bases[topic])) << topic_bits | topic
    keys.sort()
    topic = (keys & ((1 << topic_bits) - 1)).astype(np.int32)
    keys >>= topic_bits
    partition = (keys & ((1 << partition_bits) - 1)).astype(np.int32)
    return partition + bases[topic], keys >> partition_bits


def _takers(quotas: Quotas, wanted: int, kind: type[np.integer]) -> Owners:
    """The member for each unassigned partition: `quotas.fill_order` on arrays."""
    circle = np.array(quotas.under, dtype=np.int64)
    deficits = np.array([quotas.low - quotas.keep[m] for m in quotas.under], dtype=np.int64)
    spare = wanted - int(deficits.sum())
    pieces, tail, done = [np.empty(0, dtype=kind)], [np.array(quotas.exact, dtype=kind)], 0
    for level in np.unique(deficits).tolist():
        live = circle[deficits > done]
        pieces.append(np.tile(live, level - done).astype(kind))
        tail.append(circle[deficits == level].astype(kind))
        done = level
    return np.concatenate([*pieces, np.concatenate(tail)[:spare]])


def _moving(
    claims: Claims,
    free: Numbers,
    takers: Owners,
    revoked: Numbers,
    revoked_from: Owners,
    total: int,
) -> npt.NDArray[np.bool_]:
    """Which of the newly given partitions another member must give up first."""
    before = np.full(total, -1, dtype=np.int64)
    before[revoked] = revoked_from
    moving: npt.NDArray[np.bool_] = (before[free] >= 0) & (before[free] != takers)
    if claims.doubled:
        twice = np.zeros(total, dtype=bool)
        twice[list(claims.doubled)] = True
        moving |= twice[free]
    return moving
