"""From a roster to the assignment in which the group comes to rest.

An eager or KIP-848 group needs one computation. A cooperative group goes on as long as a round
makes a member give something up: that member joins again at once, and the next round hands it on.

Source: KIP-429; ConsumerCoordinator.onJoinComplete (rejoin after a revocation).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kgroups.assignors.spec import AssignmentRequest, Assignor, AssignorError, Fault
from kgroups.assignors.user.user_defined import GuardedAssignor
from kgroups.core.errors import KgroupsError
from kgroups.core.planning.assignor_request import LagByPartition, Round, build_request
from kgroups.core.planning.moves import RebalanceProtocol, RoundStep, round_step
from kgroups.core.planning.roster import Roster

# Kafka's own tests allow a cooperative group four rounds; one that needs more is going round.
MAX_ROUNDS = 10

Shares = dict[str, dict[str, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of a rebalance.

    Args:
        shares: member id to topic to partitions, in the strategy's order.
        steps: one entry a round.
        faults: what a Java leader would do wrong with this group.
        settled: False if the group was still moving after `MAX_ROUNDS`.
    """

    shares: Shares
    steps: tuple[RoundStep, ...]
    faults: tuple[Fault, ...]
    settled: bool = True


def settle(
    strategy: Assignor,
    roster: Roster,
    brought: Round,
    protocol: RebalanceProtocol,
    *,
    ids: Mapping[str, str] | None = None,
    topic_ids: Mapping[str, str] | None = None,
    lags: LagByPartition | None = None,
    rounds: int = MAX_ROUNDS,
    faithful: bool = False,
) -> Settled:
    """The assignment of this roster, after as many rounds as the protocol needs.

    Args:
        ids: assumed ids of members that join; they are the keys of the answer too.
        topic_ids: assumed ids of topics that do not exist yet.
        rounds: after how many it stops, at rest or not.
        faithful: repeat what Java's class does wrong instead of reporting it.
    Raises:
        KgroupsError: the strategy cannot assign; names it.
    """
    steps: list[RoundStep] = []
    faults: dict[Fault, None] = {}
    while True:
        request = build_request(
            roster,
            brought,
            strategy_name=strategy.name,
            ids=ids,
            topic_ids=topic_ids,
            lags=lags,
            faithful=faithful,
        )
        shares, found = _assign(strategy, roster.group.group, request)
        faults.update(dict.fromkeys(found))
        held = brought.held if brought.current is None else brought.current
        step = round_step(held, shares)
        steps.append(step)
        if protocol != "cooperative" or not step.revoked or len(steps) == rounds:
            unsettled = protocol == "cooperative" and bool(step.revoked)
            return Settled(shares, tuple(steps), tuple(faults), not unsettled)
        brought = Round(shares, brought.generation + 1)


def _assign(
    strategy: Assignor, group: str, request: AssignmentRequest
) -> tuple[Shares, tuple[Fault, ...]]:
    try:
        answer = strategy.assign(request)
    except AssignorError as error:
        java = f" (a Java leader throws {error.java})" if error.java else ""
        what = f"assignor `{strategy.name}` cannot assign `{group}`: "
        if isinstance(strategy, GuardedAssignor):
            what = ""  # its messages begin with its name
        raise KgroupsError(
            f"{what}{error.message}{java}",
            hint=error.hint,
            code="ASSIGNOR_FAILED",
        ) from error
    shares = {
        member: {topic: tuple(numbers) for topic, numbers in topics.items()}
        for member, topics in answer.items()
    }
    _check_unique(strategy, shares)
    return shares, tuple(answer.faults)


def _check_unique(strategy: Assignor, shares: Shares) -> None:
    """Refuse a partition with two owners from a strategy of the user's own that did not say so."""
    if not isinstance(strategy, GuardedAssignor) or "unique" in strategy.waives:
        return
    owners: dict[tuple[str, int], str] = {}
    for member, topics in shares.items():
        for topic, numbers in topics.items():
            for number in numbers:
                owner = owners.setdefault((topic, number), member)
                if owner != member:
                    raise KgroupsError(
                        f"the assignor `{strategy.name}` gave {topic}-{number} to `{owner}` and to"
                        f" `{member}`",
                        hint="if that is meant, say so: `waives = {'unique'}` in the assignor",
                        code="ASSIGNOR_FAILED",
                    )
