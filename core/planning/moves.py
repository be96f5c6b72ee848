"""Moves of partitions between two assignments."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kgroups.core.snapshot import TopicPartition

MoveKind = Literal["kept", "moved", "revoked_first", "newly_assigned", "newly_unassigned"]
RebalanceProtocol = Literal["eager", "cooperative", "consumer"]
Assigned = Mapping[str, Mapping[str, Sequence[int]]]
Shares = Mapping[str, Mapping[str, tuple[int, ...]]]


class Move(NamedTuple):
    """One partition and its owners before and after.

    Args:
        source: member that has it now; None if nobody.
        target: member that will have it; None if nobody.
        kind: `kept`; `moved` to another member at once; `revoked_first`, given up by a member
            that stays and handed on only when it has let go; `newly_assigned`, had no owner;
            `newly_unassigned`, will have none.
    """

    topic: str
    partition: int
    source: str | None
    target: str | None
    kind: MoveKind


@dataclass(frozen=True, slots=True)
class RoundStep:
    """One round of a cooperative rebalance.

    Args:
        revoked: partitions that members give up because of this round's assignment.
        assigned: partitions that got an owner in it, with the owner.
    """

    revoked: tuple[tuple[str, int, str], ...]
    assigned: tuple[tuple[str, int, str], ...]

    def renamed(self, names: Mapping[str, str]) -> "RoundStep":
        """The same round with some members under another name."""
        revoked, assigned = (
            tuple(
                (topic, partition, names.get(member, member)) for topic, partition, member in shares
            )
            for shares in (self.revoked, self.assigned)
        )
        return RoundStep(revoked, assigned)


def find_moves(
    before: Assigned, after: Assigned, protocol: RebalanceProtocol, stays: Collection[str]
) -> list[Move]:
    """The move of every partition that has an owner before or after.

    Args:
        before, after: member id to topic to partitions. A partition may have several owners.
        protocol: an eager group gives everything up together; the others hand partitions on.
        stays: ids of members that are in the group before and after.
    Returns:
        One entry a partition (one a pair of owners where it has several), by topic, partition.
    """
    owners_before, owners_after = _owners(before), _owners(after)
    moves: list[Move] = []
    for topic, partition in sorted(owners_before.keys() | owners_after.keys()):
        old = owners_before.get((topic, partition), [])
        new = owners_after.get((topic, partition), [])
        moves += [Move(topic, partition, name, name, "kept") for name in old if name in new]
        given = [name for name in old if name not in new]
        taken = [name for name in new if name not in old]
        for index in range(max(len(given), len(taken))):
            source = given[index] if index < len(given) else None
            target = taken[index] if index < len(taken) else None
            kind = _kind(source, target, protocol, stays)
            moves.append(Move(topic, partition, source, target, kind))
    return moves


def _kind(
    source: str | None, target: str | None, protocol: RebalanceProtocol, stays: Collection[str]
) -> MoveKind:
    if source is None:
        return "newly_assigned"
    if target is None:
        return "newly_unassigned"
    return "revoked_first" if protocol != "eager" and source in stays else "moved"


def _owners(assigned: Assigned) -> dict[TopicPartition, list[str]]:
    owners: dict[TopicPartition, list[str]] = {}
    for member, topics in assigned.items():
        for topic, partitions in topics.items():
            for partition in partitions:
                owners.setdefault((topic, partition), []).append(member)
    return owners


def round_step(before: Assigned, after: Assigned) -> RoundStep:
    """Partitions that members give up and get between two rounds."""
    held, given = ownership(before), ownership(after)
    present = set(after)
    return RoundStep(
        revoked=tuple(sorted(pair for pair in held - given if pair[2] in present)),
        assigned=tuple(sorted(given - held)),
    )


def ownership(assigned: Assigned) -> frozenset[tuple[str, int, str]]:
    """Who has what, whatever the order: topic, partition and member of each."""
    return frozenset(
        (topic, partition, member)
        for member, topics in assigned.items()
        for topic, partitions in topics.items()
        for partition in partitions
    )


def as_shares(assigned: Assigned) -> Shares:
    """The same, partitions in tuples."""
    return {
        member: {topic: tuple(numbers) for topic, numbers in topics.items()}
        for member, topics in assigned.items()
    }
