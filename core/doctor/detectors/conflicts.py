"""Do members take each other's place, and do they let go of what they have?"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgroups.core.doctor.facts import DoctorFacts
from kgroups.core.doctor.finding import Finding, likely_or_possible
from kgroups.core.doctor.thresholds import FENCED_MEMBERS, QUICKLY_MS, ROLL_MS, SCALING_MS, SWAPS
from kgroups.core.history.changes import Change
from kgroups.core.history.roster import Replacement, is_same_client
from kgroups.core.snapshot import Member


def slow_revocation(facts: DoctorFacts) -> Iterator[Finding]:
    """A KIP-848 member stays behind the group's epoch, and another one waits for its partitions.

    Source: CurrentAssignmentBuilder: a member moves to the target's epoch once it has nothing to
    revoke; who waits for partitions is at that epoch without them.
    """
    epoch = facts.group.target_epoch
    if not facts.is_unsettled or facts.before is None or epoch is None:
        return
    stood = {member.member_id: member.member_epoch for member in facts.before.members or ()}
    members = facts.group.members or ()
    missing = [seat for seat in map(_missing, members) if seat]
    for member in members:
        behind = member.member_epoch is not None and 0 < member.member_epoch < epoch
        if behind and missing and stood.get(member.member_id) == member.member_epoch:
            yield Finding(
                "SLOW_REVOCATION",
                "warning",
                "likely",
                "nobody reads what it has to give up, until it does or its rebalance timeout ends",
                "kgroups explain max.poll.interval.ms",
                {"member_id": member.member_id, "client_id": member.client_id},
                {
                    "member_epoch": member.member_epoch,
                    "target_epoch": epoch,
                    "waiting_members": len(missing),
                    "waiting_partitions": len(set().union(*missing)),
                    "over_seconds": facts.over_seconds,
                },
            )


def _missing(member: Member) -> set[tuple[str, int]]:
    """Partitions assigned to a member that it does not have yet."""
    target, has = member.target_assignment or {}, member.assignment or {}
    return {(t, n) for t, numbers in target.items() for n in set(numbers) - set(has.get(t, ()))}


def instance_id_conflict(facts: DoctorFacts) -> Iterator[Finding]:
    """Two members with one instance id, which replace each other in turn.

    A static member that crashes again and again looks the same, unless names or hosts alternate
    (in a stable classic group brokers keep those of the first), or a broker's log has that members
    were fenced: only who still lives is.
    Source: ClassicGroup.replaceStaticMember.
    """
    swaps: dict[str, list[Replacement]] = {}
    for change in facts.changes or ():
        for pair in change.members.replaced:
            if pair.new.instance_id and (pair.old.stayed_ms or QUICKLY_MS) < QUICKLY_MS:
                swaps.setdefault(pair.new.instance_id, []).append(pair)
    for instance in sorted(swaps.keys() | facts.fenced.keys()):
        pairs, fenced = swaps.get(instance, []), facts.fenced.get(instance, 0)
        is_certain = fenced >= FENCED_MEMBERS
        if not is_certain and len(pairs) < SWAPS:
            continue
        level, certainty = likely_or_possible("error", is_likely=is_certain or _alternate(pairs))
        yield Finding(
            "INSTANCE_ID_CONFLICT",
            level,
            "certain" if is_certain else certainty,
            "each shuts the other out, and what was not committed is read again",
            "kgroups explain group.instance.id"
            if is_certain
            else f"kgroups doctor {facts.word} --log server.log",
            {"instance_id": instance},
            {
                "replaced": len(pairs),
                "fenced_members": fenced or None,
                "hosts": sorted({pair.new.host for pair in pairs})[:5] or None,
                "client_ids": sorted({pair.new.client_id for pair in pairs})[:5] or None,
            },
        )


def _alternate(pairs: Sequence[Replacement]) -> bool:
    """Whether one came back after another one had its place."""
    seats = [pairs[0].old.seat, *(pair.new for pair in pairs)] if pairs else []
    names = [(seat.host, seat.client_id) for seat in seats]
    turns = [name for at, name in enumerate(names) if at == 0 or name != names[at - 1]]
    return len(turns) > len(set(turns))


class Fall(NamedTuple):
    """Members of a classic group that left until it was empty.

    Args:
        changes: in which some left, the last one of them that of the empty group.
    """

    protocol: str
    changes: Sequence[Change]


def assignor_conflict(facts: DoctorFacts) -> Iterator[Finding]:
    """A group went on with another strategy only once nobody was left of those with the old one.

    Brokers refuse a member without a common strategy, and neither record nor log it: it shows in
    that who left does not come back until the last one has left.
    Source: ClassicGroup.supportsProtocols.
    """
    fall: Fall | None = None
    for change in facts.changes or ():
        if change.kind != "rebalance" or change.type != "classic":
            continue
        if fall is not None and fall.changes and not fall.changes[-1].member_count:
            if _goes_on(fall, change):
                yield _conflict(facts, fall, change)
            fall = None
        if change.member_count and (fall is None or change.members.came):
            fall = Fall(change.protocol or "", ())
        elif fall is not None and change.members.left:
            fall = fall._replace(changes=(*fall.changes, change))


def _goes_on(fall: Fall, change: Change) -> bool:
    """Whether clients that left in turn are soon back, with another strategy."""
    left = [gone.seat for change in fall.changes for gone in change.members.left]
    return (
        len(fall.changes) > 1
        and bool(change.protocol and fall.protocol)
        and change.protocol != fall.protocol
        and change.at_ms - fall.changes[-1].at_ms <= SCALING_MS
        and any(is_same_client(old, seat) for old in left for seat in change.members.joined)
    )


def _conflict(facts: DoctorFacts, fall: Fall, change: Change) -> Finding:
    took_ms = fall.changes[-1].at_ms - fall.changes[0].at_ms
    level, certainty = likely_or_possible("warning", is_likely=took_ms >= ROLL_MS)
    return Finding(
        "ASSIGNOR_CONFLICT",
        level,
        certainty,
        "members with the new strategy could not join while one with the old was there",
        f"kgroups plan {facts.word} --assignor {fall.protocol},{change.protocol}",
        evidence={
            "old_assignor": fall.protocol,
            "new_assignor": change.protocol,
            "members_left": sum(len(change.members.left) for change in fall.changes),
            "roll_seconds": round(took_ms / 1_000, 1),
        },
    )
