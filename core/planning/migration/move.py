"""Can a group move to the other protocol, what blocks it, and what happens at each step?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgroups.core.errors import counted
from kgroups.core.planning.changes.kinds import MoveToProtocol, Pattern
from kgroups.core.planning.deploys.walk import Walk
from kgroups.core.planning.migration.blockers import COUNTERPARTS, find_blockers
from kgroups.core.planning.migration.broker_rules import ASSUMED, BrokerRules
from kgroups.core.planning.migration.roll import Roll
from kgroups.core.planning.plan import Blocker


@dataclass(frozen=True, slots=True)
class ProtocolMove:
    """The result of a move; its steps are in the walk.

    Args:
        notes: one sentence each.
        guesses: what had to be taken for granted, a clause each: nothing is certain then.
    """

    blockers: tuple[Blocker, ...]
    notes: tuple[str, ...]
    guesses: tuple[str, ...] = ()


def move_to_protocol(
    walk: Walk,
    deploy: MoveToProtocol,
    *,
    assignor: str | None = None,
    rules: BrokerRules | None = None,
    patterns: Sequence[Pattern] = (),
) -> ProtocolMove:
    """Take a group to the other protocol, unless the brokers refuse it.

    Args:
        walk: the group; goes on from step to step.
        assignor: see `Roll`.
        rules: what the brokers allow; None: not known.
        patterns: by which members subscribe, as far as the user says.
    Raises:
        UsageError: no such assignor.
        RefusedError: the coordinator does not let a member in.
    """
    group, protocol = walk.group, deploy.protocol
    rules = rules or ASSUMED
    waiting = [m for m in group.members or () if m.member_protocol != protocol]
    if not waiting:
        return ProtocolMove((), tuple(_nobody(walk, protocol)))
    blockers = find_blockers(
        walk.evidence, protocol, rules, walk.snapshot.topics, patterns=patterns
    )
    refused = [blocker for blocker in blockers if blocker.refused_by == "broker"]
    if refused:
        first = (
            "the brokers refuse the first member that rejoins with the consumer protocol; it "
            "cannot join, and the others continue without it"
        )
        return ProtocolMove(blockers, (first,))
    if group.type == "classic" and group.assignor not in (None, *COUNTERPARTS):
        unknown = (
            f"it is unknown what `{group.assignor}` does when the first member leaves, so no "
            "steps are shown"
        )
        return ProtocolMove(blockers, (unknown,))
    roll = Roll(walk, protocol, rules, assignor)
    roll.go()
    notes = [*_assignor_notes(roll, group.assignor, classic=group.type == "classic")]
    notes += _travel_notes(walk)
    return ProtocolMove(blockers, tuple(notes), tuple(roll.guesses))


def _nobody(walk: Walk, protocol: str) -> Iterator[str]:
    if walk.group.members:
        yield f"every member already uses the {protocol} protocol"
    else:
        yield (
            "the group has no members: the first one that joins decides the protocol, "
            "whatever the policy"
        )


def _assignor_notes(roll: Roll, before: str | None, *, classic: bool) -> Iterator[str]:
    after = roll.walk.group.assignor
    counterpart = COUNTERPARTS.get(before or "")
    if classic and counterpart is not None and counterpart != after:
        yield (
            f"`{after}` will assign; the server-side counterpart of `{before}` is "
            f"`{counterpart}`: `--assignor {counterpart}`"
        )


def _travel_notes(walk: Walk) -> Iterator[str]:
    """How often partitions change hands on the way."""
    changed = ("moved", "revoked_first")
    times = sum(move.kind in changed for stage in walk.stages for move in stage.moves)
    if times:
        yield f"{counted(times, 'partition move')} in total"
