"""The answers of a library beside what our model of it says can come."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgroups.assignors.other_clients.choices import PossibleAnswers, owners_of, possible_answers
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import AssignmentRequest, Assignor
from tests.support.assignors.histories import History, Kind, Plan, Rejoin, histories

SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "1"))
ROUNDS = 4
FEW = 4  # answers that some dozen askings should all show


def groups_of(share: int) -> int:
    """How many groups: those of the suite, or as many as the fuzzing wants."""
    return int(os.environ.get("KGROUPS_FUZZ_CASES", share))


@dataclass(frozen=True)
class Observed:
    """One answer of a library, and how many times it gave it."""

    plan: Plan
    times: int = 1


Ask = Callable[[AssignmentRequest], Sequence[Observed]]


class LeaderFailedError(Exception):
    """The library's leader failed; the text says how."""


@dataclass
class Agreement:
    """What was compared.

    Args:
        rounds: rebalances that the library decided.
        certain: of these, those where the model knows one answer only.
        open: of these, those whose possible answers were too many to be told.
        failed: rebalances that failed on both sides.
        survived: rebalances that the library decided although the model rules that out.
        few: possible answers of rebalances with two to `FEW` of them.
        seen: of these, those that the library gave.
    """

    rounds: int = 0
    certain: int = 0
    open: int = 0
    failed: int = 0
    survived: int = 0
    few: int = 0
    seen: int = 0


def as_owners(plan: Plan) -> frozenset[tuple[str, frozenset[tuple[str, int]]]]:
    """Who gets what, whatever the order."""
    return frozenset(
        (member, frozenset((topic, one) for topic, numbers in held.items() for one in numbers))
        for member, held in plan.items()
    )


def compare(
    library: str,
    strategy: str,
    ask: Ask,
    rejoin: Rejoin,
    groups: int,
    kind: Kind,
    ours: Assignor | None = None,
    *,
    may_survive: bool = False,
) -> Agreement:
    """Groups led by the library, round after round, beside the model.

    Args:
        ours: the model; None: the library's own.
        may_survive: whether it fails by reading freed memory, where what it needs may still be.
    Raises:
        AssertionError: the library answered what the model rules out; names the group.
    """
    model = ours or assignor(strategy, library)
    found = Agreement()
    for text, history in histories(f"{library} {strategy}", SEED, groups, kind, rejoin):
        for number in range(ROUNDS):
            request = history.request()
            possible = possible_answers(model, request)
            where = f"{text} round {number}"
            doomed = may_survive and possible.complete and not possible.each
            if doomed:
                _doomed(where, ask, request, found)
            if doomed or not _round(where, ask, request, possible, history, found):
                break
    return found


def _doomed(where: str, ask: Ask, request: AssignmentRequest, found: Agreement) -> None:
    """A rebalance in which the library reads freed memory: it dies of it, or decides anything."""
    failure, observed = _asked(ask, request)
    assert failure or observed, where
    found.failed += failure is not None
    found.survived += failure is None


def _round(
    where: str,
    ask: Ask,
    request: AssignmentRequest,
    possible: PossibleAnswers,
    history: History,
    found: Agreement,
) -> bool:
    """One rebalance; whether the group goes on."""
    failure, observed = _asked(ask, request)
    if failure is not None:
        assert possible.failures or not possible.complete, f"{where}: {failure}"
        found.failed += 1
        return False
    found.rounds += 1
    found.open += not possible.complete
    found.certain += possible.certain
    answers = {owners_of(answer) for answer in possible.each}
    for each in observed:
        assert not possible.complete or as_owners(each.plan) in answers, (
            f"{where}: {len(answers)} answers, none like what came {each.times} times"
        )
    if possible.certain:
        listed = {member: dict(held) for member, held in possible.each[0].items()}
        assert listed == observed[0].plan, f"{where}: list order"
    elif possible.complete and len(answers) <= FEW and not possible.failures:
        found.few += len(answers)
        found.seen += len(observed)
    history.advance(observed[0].plan)
    return True


def _asked(
    ask: Ask, request: AssignmentRequest
) -> tuple[LeaderFailedError | None, Sequence[Observed]]:
    """How the library's leader failed, or what it decided."""
    try:
        return None, ask(request)
    except LeaderFailedError as error:
        return error, ()
