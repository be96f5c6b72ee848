"""Where chance decides in a client library: which answers a leader can give to one request.

Go's maps and Python's sets of strings are walked in an order of their own in every process. An
assignor that meets one asks `Choices` what comes next; by itself the first option is taken, and
`possible_answers` goes through all of them.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
    AssignorError,
    TopicPartition,
)

Option = TypeVar("Option")

MAX_RUNS = 2_000


class KnownStateError(Exception):
    """A run has come to where an earlier run has been: what follows is known."""


class Choices:
    """The options that one run of an assignor takes.

    Args:
        taken: index of the option at each choice; behind its end the first option.
        seen: states that earlier runs have gone on from.
    """

    def __init__(self, taken: Sequence[int] = (), seen: set[Hashable] | None = None) -> None:
        self._taken = taken
        self._seen = seen
        self.made: list[tuple[int, int]] = []

    @property
    def sole(self) -> bool:
        """Whether nothing has been left to chance so far."""
        return not self.made

    @property
    def wants_states(self) -> bool:
        """Whether states are looked at, so that they are worth working out."""
        return self._seen is not None

    def pick(self, options: Sequence[Option], state: Hashable = None) -> Option:
        """One of the options.

        Args:
            options: at least one; equal ones named once.
            state: all that decides how the run goes on, or None if that is not told.

        Raises:
            KnownStateError: this state was met before.
        """
        if len(options) == 1:
            return options[0]
        place = len(self.made)
        if place >= len(self._taken) and self._seen is not None and state is not None:
            if state in self._seen:
                raise KnownStateError
            self._seen.add(state)
        index = self._taken[place] if place < len(self._taken) else 0
        self.made.append((index, len(options)))
        return options[index]

    def next_run(self) -> list[int] | None:
        """The options of the run after this one; None if it was the last."""
        made = list(self.made)
        while made:
            index, size = made.pop()
            if index + 1 < size:
                return [taken for taken, _ in made] + [index + 1]
        return None


class ByChance:
    """An assignor whose answer may depend on chance."""

    __slots__ = ()

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """The first answer, by topic and number."""
        return self.runs(request)(Choices())

    def runs(self, request: AssignmentRequest) -> Callable[[Choices], CompactAssignment]:
        """From choices to an answer; runs begin with the same work, whatever chance decides."""
        return partial(self.decide, request)

    def decide(self, request: AssignmentRequest, choices: Choices) -> CompactAssignment:
        """One answer.

        Raises:
            AssignorError: the library's leader fails.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class PossibleAnswers:
    """The answers that a leader may give to one request.

    Args:
        each: answers that differ in who gets what.
        failures: ways in which the leader can fail.
        complete: whether there are no others.
    """

    each: tuple[Assignment, ...]
    failures: tuple[AssignorError, ...] = ()
    complete: bool = True

    @property
    def certain(self) -> bool:
        """Whether there is one answer and no other."""
        return self.complete and len(self.each) + len(self.failures) == 1


def possible_answers(
    assignor: Assignor, request: AssignmentRequest, max_runs: int = MAX_RUNS
) -> PossibleAnswers:
    """Every answer of this assignor to the request; one where it leaves nothing to chance.

    Args:
        max_runs: after how many runs it stops, complete or not.
    """
    answers: dict[object, Assignment] = {}
    failures: dict[str, AssignorError] = {}
    seen: set[Hashable] = set()
    taken: list[int] | None = []
    runs = 0
    try:
        if not isinstance(assignor, ByChance):
            return PossibleAnswers((assignor.assign(request),))
        run = assignor.runs(request)
    except AssignorError as error:
        return PossibleAnswers((), (error,))
    while taken is not None and runs < max_runs:
        choices = Choices(taken, seen)
        runs += 1
        try:
            answer = run(choices)
        except KnownStateError:
            pass
        except AssignorError as error:
            failures.setdefault(error.message, error)
        else:
            if choices.sole:  # then it is the first, and there are no others
                return PossibleAnswers((answer,))
            answers.setdefault(owners_of(answer), answer)
        taken = choices.next_run()
    return PossibleAnswers(tuple(answers.values()), tuple(failures.values()), taken is None)


def owners_of(answer: Assignment) -> frozenset[tuple[str, frozenset[TopicPartition]]]:
    """Who gets what, whatever the order."""
    return frozenset(
        (member, frozenset(answer.partitions_of(member))) for member in answer.member_ids
    )
