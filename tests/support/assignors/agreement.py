"""One answer of a library beside what our model of it says can come."""

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from kgroups.assignors.other_clients.choices import owners_of, possible_answers
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest
from tests.support.assignors.histories import Kind, Plan, Rejoin, histories

SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "1"))
ROUNDS = 4


def groups_of(share: int) -> int:
    """How many groups: those of the suite, or as many as the fuzzing wants."""
    return int(os.environ.get("KGROUPS_FUZZ_CASES", share))


@dataclass
class Agreement:
    """What was compared.

    Args:
        rounds: rebalances that the library and the model both decided.
        certain: of these, those where the model knows one answer only.
        open: of these, those whose possible answers were too many to be told.
        failed: rebalances that failed on both sides.
    """

    rounds: int = 0
    certain: int = 0
    open: int = 0
    failed: int = 0
    sizes: Counter[int] = field(default_factory=Counter)


class LeaderFailedError(Exception):
    """The library's leader raised; the text says what."""


def as_owners(plan: Plan) -> frozenset[tuple[str, frozenset[tuple[str, int]]]]:
    """Who gets what, whatever the order."""
    return frozenset(
        (member, frozenset((topic, one) for topic, numbers in held.items() for one in numbers))
        for member, held in plan.items()
    )


def compare(
    library: str,
    strategy: str,
    ask: Callable[[AssignmentRequest], Plan],
    rejoin: Rejoin,
    groups: int,
    kind: Kind,
) -> Agreement:
    """Groups led by the library, round after round, beside the model.

    Raises:
        AssertionError: the library answered what the model rules out; names the group.
    """
    ours = assignor(strategy, library)
    found = Agreement()
    for text, history in histories(f"{library} {strategy}", SEED, groups, kind, rejoin):
        for number in range(ROUNDS):
            request = history.request()
            possible = possible_answers(ours, request)
            where = f"{text} round {number}"
            failure, plan = _asked(ask, request)
            if failure is not None:
                assert possible.failures or not possible.complete, f"{where}: {failure}"
                found.failed += 1
                break
            answers = {owners_of(answer): answer for answer in possible.each}
            found.rounds += 1
            found.open += not possible.complete
            found.certain += possible.certain
            found.sizes[len(answers)] += 1
            if possible.complete:
                assert as_owners(plan) in answers, f"{where}: {len(answers)} answers, none like it"
            if possible.certain:
                answer = possible.each[0]
                assert {m: dict(h) for m, h in answer.items()} == plan, f"{where}: list order"
            history.advance(plan)
    return found


def _asked(
    ask: Callable[[AssignmentRequest], Plan], request: AssignmentRequest
) -> tuple[LeaderFailedError | None, Plan]:
    """How the library's leader failed, or what it decided."""
    try:
        return None, ask(request)
    except LeaderFailedError as error:
        return error, {}
