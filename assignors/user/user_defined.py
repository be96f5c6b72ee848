"""A strategy of the user's own: found, run within a time limit, and its answer checked.

A strategy is any object with a `name` and a method `assign(request)` that returns an `Assignment`
or simply `{member id: {topic: [partition, ...]}}`, with `WithUserData` around it where members get
bytes of the leader's besides; its members can remember what they were given (`Remembering`). It is
named as `package.module:Class` (or
`:object`), or registered as an entry point in the group `kgroups.assignors`. A class is made
without arguments. `waives`, a set of names of properties in `checks`, says what it does not
promise.

This is the border to code that is not ours, so it is the one place here with a clock.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points
from threading import Thread
from typing import Any, Protocol

from kgroups.assignors.compact import CompactAssignment, TopicTable
from kgroups.assignors.order.java_order import java_sorted
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
    AssignorError,
    LastAssignment,
    Remembering,
    WithUserData,
)

ENTRY_POINTS = "kgroups.assignors"
LIMIT_MS = 10_000


class OwnAssignor(Protocol):
    """A strategy as its author writes it."""

    @property
    def name(self) -> str:
        """Name as in the protocol."""
        ...

    def assign(self, request: AssignmentRequest) -> object:
        """An `Assignment`, or member id to topic to partitions, alone or in `WithUserData`."""
        ...


def load_assignor(name: str, *, limit_ms: int = LIMIT_MS) -> Assignor:
    """The user's strategy of this name, guarded.

    Args:
        name: `package.module:Class`, or the name of an entry point.
        limit_ms: how long one call may take.

    Raises:
        AssignorError: there is none, or it is not a strategy.
    """
    if ":" in name:
        target = _imported(name)
    else:
        points = list(entry_points(group=ENTRY_POINTS, name=name))
        if not points:
            raise AssignorError(
                f"unknown assignor `{name}`",
                hint=(
                    "write it as `package.module:Class`, or register an entry point in "
                    f"`{ENTRY_POINTS}`"
                ),
            )
        target = _imported(points[0].value)
    made = _made(target, name)
    return GuardedAssignor(made, limit_ms)


def user_defined_names() -> tuple[str, ...]:
    """Names of the installed entry points, ascending."""
    return tuple(sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def _imported(path: str) -> Any:
    """The object that `package.module:attribute` names."""
    module, _, attribute = path.partition(":")
    try:
        target: Any = import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except Exception as error:  # whatever the user's module raises while it is imported
        raise AssignorError(
            f"the assignor `{path}` cannot be loaded: {type(error).__name__}: {error}",
            hint="write it as `package.module:Class`, importable where kgroups runs",
        ) from error
    return target


def _made(target: Any, name: str) -> OwnAssignor:
    """The strategy object."""
    try:
        made = target() if isinstance(target, type) else target
    except Exception as error:  # the user's constructor
        raise AssignorError(
            f"the assignor `{name}` cannot be created: {type(error).__name__}: {error}",
            hint="its class must be callable without arguments",
        ) from error
    if not isinstance(getattr(made, "name", None), str) or not callable(
        getattr(made, "assign", None)
    ):
        raise AssignorError(
            f"`{name}` is not an assignor",
            hint="an assignor has a `name` and a method `assign(request)`",
        )
    strategy: OwnAssignor = made
    return strategy


def with_user_data(strategy: Assignor, request: AssignmentRequest) -> AssignmentRequest:
    """The request as it is once the members of a strategy with memory have said what they have.

    Raises:
        AssignorError: the strategy failed to say so.
    """
    if not isinstance(strategy, GuardedAssignor) or not strategy.remembers:
        return request
    members = []
    for member in request.members:
        pairs = [(topic, number) for topic, numbers in member.owned for number in numbers]
        last = LastAssignment(pairs, member.generation) if pairs else None
        data = strategy.subscription_user_data(member.topics, last)
        members.append(replace(member, user_data=data))
    return replace(request, members=members)


class GuardedAssignor:
    """A strategy whose failures name it and whose answers make sense.

    Args:
        inner: the user's strategy.
        limit_ms: how long one call may take.
    """

    def __init__(self, inner: OwnAssignor, limit_ms: int = LIMIT_MS) -> None:
        self.name = inner.name
        self.waives = frozenset(getattr(inner, "waives", ()))
        self._inner = inner
        self._limit_ms = limit_ms

    def assign(self, request: AssignmentRequest) -> Assignment:
        """The user's answer.

        Raises:
            AssignorError: it raised, took too long, or gave something that is not an assignment.
        """
        answer = self._within_limit(lambda: self._inner.assign(request))
        user_data: Mapping[str, bytes] = {}
        if isinstance(answer, WithUserData):
            answer, user_data = answer
            self._check_members(request, user_data)
            if not all(isinstance(data, bytes) for data in user_data.values()):
                raise self._wrong("gave a member user data that are not bytes")
        assignment: Assignment
        if isinstance(answer, Mapping):
            assignment = self._from_mapping(request, answer)
            assignment.user_data = user_data
        elif hasattr(answer, "member_ids") and hasattr(answer, "partitions_of"):
            assignment = answer
            self._check_members(request, assignment.member_ids)
        else:
            raise self._wrong(f"returned {type(answer).__name__}")
        for member in request.members:
            self._check_partitions(request, member.member_id, assignment)
        return assignment

    @property
    def remembers(self) -> bool:
        """Whether its members have a memory of their own."""
        return isinstance(self._inner, Remembering)

    def subscription_user_data(
        self, topics: Sequence[str], last: LastAssignment | None
    ) -> bytes | None:
        """The bytes that a member sends with its next subscription; None where it has no memory.

        Args:
            last: what it was given; None if it was not given anything yet.
        Raises:
            AssignorError: it raised, took too long, or gave something that is not bytes.
        """
        if not self.remembers:
            return None
        member = deepcopy(self._inner)

        def ask() -> object:
            if last is not None:
                member.on_assignment(last)  # type: ignore[attr-defined] # it remembers
            return member.subscription_user_data(topics)  # type: ignore[attr-defined]

        data = self._within_limit(ask)
        if not (data is None or isinstance(data, bytes)):
            raise self._wrong(f"gave user data that are {type(data).__name__}, not bytes")
        return data

    def _within_limit(self, ask: Callable[[], object]) -> Any:
        """The answer of the inner strategy, or what it raised."""
        outcome: list[Any] = []

        def call() -> None:
            try:
                outcome.append((ask(), None))
            except BaseException as error:  # handed on to the caller
                outcome.append((None, error))

        thread = Thread(target=call, name=f"assignor {self.name}", daemon=True)
        thread.start()
        thread.join(self._limit_ms / 1000)
        if not outcome:
            raise AssignorError(
                f"the assignor `{self.name}` took more than {self._limit_ms} ms",
                hint="it may never finish; raise the limit if it is only slow",
            )
        answer, error = outcome[0]
        if error is not None:
            if isinstance(error, AssignorError):
                raise error
            raise AssignorError(
                f"the assignor `{self.name}` raised {type(error).__name__}: {error}",
                hint="`--verbose` shows the traceback",
            ) from error
        return answer

    def _wrong(self, what: str) -> AssignorError:
        return AssignorError(
            f"the assignor `{self.name}` {what}",
            hint="it must return an assignment or {member id: {topic: [partition, ...]}}",
        )

    def _check_members(self, request: AssignmentRequest, named: Any) -> None:
        """Refuse members that are not in the group."""
        members = {member.member_id for member in request.members}
        for member_id in named:
            if member_id not in members:
                raise self._wrong(f"assigned partitions to the unknown member `{member_id}`")

    def _check_partitions(
        self, request: AssignmentRequest, member_id: str, assignment: Assignment
    ) -> None:
        """Refuse partitions that do not exist or come twice to one member."""
        seen = set()
        for topic, partition in assignment.partitions_of(member_id):
            entry = request.topics.get(topic)
            if entry is None or not 0 <= partition < entry.partitions:
                raise self._wrong(
                    f"assigned {topic}-{partition}, which does not exist, to `{member_id}`"
                )
            if (topic, partition) in seen:
                raise self._wrong(f"assigned {topic}-{partition} twice to `{member_id}`")
            seen.add((topic, partition))

    def _from_mapping(
        self, request: AssignmentRequest, answer: Mapping[Any, Any]
    ) -> CompactAssignment:
        """A plain mapping as an assignment; partitions that do not exist are strays in it."""
        self._check_members(request, answer)
        topics = request.topics
        names = java_sorted(name for name in topics if topics[name].partitions > 0)
        table = TopicTable(names, [topics[name].partitions for name in names])
        lists: list[list[int]] = [[] for _ in request.members]
        for member, numbers in zip(request.members, lists, strict=True):
            try:
                for topic, partitions in dict(answer.get(member.member_id, {})).items():
                    numbers += [table.claimed(topic, int(partition)) for partition in partitions]
            except (TypeError, ValueError) as error:
                raise self._wrong(
                    f"returned something other than partitions for `{member.member_id}`"
                ) from error
        return CompactAssignment.of_lists([m.member_id for m in request.members], table, lists)
