"""From a roster to the assignments in which the group can come to rest.

An eager or KIP-848 group needs one computation. A cooperative group goes on as long as a round
makes a member give something up: that member joins again at once, and the next round hands it on.
Some libraries leave part of their answer to chance, so that there may be several ends. Those of
assumed ids are told by the names that members have in the roster.

Source: KIP-429; ConsumerCoordinator.onJoinComplete (rejoin after a revocation).
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, cast

from kgroups.assignors.other_clients.choices import possible_answers
from kgroups.assignors.spec import Assignment, Assignor, AssignorError, Fault
from kgroups.assignors.user.user_defined import GuardedAssignor, with_user_data
from kgroups.core.errors import KgroupsError
from kgroups.core.planning.assignor_request import (
    Assumed,
    Round,
    build_request,
    words_of,
)
from kgroups.core.planning.moves import RebalanceProtocol, RoundStep, Shares, as_shares, round_step
from kgroups.core.planning.outcomes.outcome import Outcomes, Settled
from kgroups.core.planning.outcomes.repeats import Sightings
from kgroups.core.planning.roster import Roster
from kgroups.core.snapshot import TopicPartition

# Kafka's own tests allow a cooperative group four rounds; one that needs more is going round.
MAX_ROUNDS: Final = 10

# Rounds that are computed at most, where chance has a say.
MAX_ANSWERS: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Path:
    """A rebalance under way."""

    brought: Round
    steps: tuple[RoundStep, ...] = ()
    faults: tuple[Fault, ...] = ()


def settle(
    strategy: Assignor,
    roster: Roster,
    brought: Round,
    protocol: RebalanceProtocol,
    assumed: Assumed,
    *,
    rounds: int = MAX_ROUNDS,
    answers: int = MAX_ANSWERS,
    seen: Sightings | None = None,
) -> Outcomes:
    """The assignments of this roster, after as many rounds as the protocol needs.

    Args:
        rounds: after how many it stops, at rest or not.
        answers: that are looked at at most, where chance has a say.
        seen: is told what has decided each round.
    """
    ends: list[Settled] = []
    failures: list[KgroupsError] = []
    under_way = [_Path(brought)]
    left = answers
    complete = True
    while under_way and left > 0:
        path = under_way.pop()
        left -= 1
        request = build_request(roster, path.brought, strategy.name, assumed)
        try:
            request = with_user_data(strategy, request)
        except AssignorError as error:
            failures.append(_failure(strategy, roster.group.group, error))
            continue
        given = possible_answers(strategy, request, left)
        if seen is not None:
            seen.add(roster, given)
            seen.hear(_reader(strategy, roster, path.brought, assumed.leader))
        failures += [_failure(strategy, roster.group.group, error) for error in given.failures]
        complete = complete and given.complete
        for answer in given.each:
            end = _after(strategy, path, answer, protocol, rounds)
            if isinstance(end, Settled):
                ends.append(end)
                complete = complete and (end.settled or rounds == 1)
            else:
                under_way.append(end)
    return Outcomes.alike(ends, failures, complete=complete and not under_way)


def _reader(
    strategy: Assignor, roster: Roster, brought: Round, leader: str | None
) -> Callable[[str, str], Hashable]:
    """A member's subscription as the leader reads it, by member and possible library."""
    # Looked for by name: asking a runtime protocol takes as long as assigning to a small group.
    reads = getattr(strategy, "reads", None)
    if reads is None:
        return lambda _, library: library

    seats = {seat.member.member_id: seat for seat in roster.seats}

    def read(member_id: str, library: str) -> Hashable:
        said = words_of(seats[member_id], roster, brought, strategy.name, leader, library)
        return cast("Hashable", reads(said))

    return read


def _after(
    strategy: Assignor,
    path: _Path,
    answer: Assignment,
    protocol: RebalanceProtocol,
    rounds: int,
) -> Settled | _Path:
    """The end that a round brings, or the rebalance that follows it."""
    shares = as_shares(dict(answer.items()))
    _check_unique(strategy, shares)
    brought = path.brought
    step = round_step(brought.held if brought.current is None else brought.current, shares)
    steps = (*path.steps, step)
    faults = tuple(dict.fromkeys((*path.faults, *answer.faults)))
    moves_on = protocol == "cooperative" and bool(step.revoked)
    if not moves_on or len(steps) == rounds:
        return Settled(shares, steps, faults, not moves_on)
    return _Path(Round(shares, brought.generation + 1), steps, faults)


def _failure(strategy: Assignor, group: str, error: AssignorError) -> KgroupsError:
    java = f" (a Java leader throws {error.java})" if error.java else ""
    what = f"assignor `{strategy.name}` cannot assign `{group}`: "
    if isinstance(strategy, GuardedAssignor):
        what = ""  # its messages begin with its name
    failed = KgroupsError(f"{what}{error.message}{java}", hint=error.hint, code="ASSIGNOR_FAILED")
    failed.__cause__ = error
    return failed


def _check_unique(strategy: Assignor, shares: Shares) -> None:
    """Refuse a partition with two owners from a strategy of the user's own that did not say so."""
    if not isinstance(strategy, GuardedAssignor) or "unique" in strategy.waives:
        return
    owners: dict[TopicPartition, str] = {}
    for member, topics in shares.items():
        for topic, numbers in topics.items():
            for number in numbers:
                owner = owners.setdefault((topic, number), member)
                if owner != member:
                    raise KgroupsError(
                        (
                            f"the assignor `{strategy.name}` assigned {topic}-{number} to both "
                            f"`{owner}` and `{member}`"
                        ),
                        hint="if this is intended, set `waives = {'unique'}` in the assignor",
                        code="ASSIGNOR_FAILED",
                    )
