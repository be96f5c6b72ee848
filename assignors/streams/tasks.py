"""The input and the output of the task assignor of a streams group."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

Task = tuple[str, int]
"""A part of the work: the id of a subtopology and the number of a partition."""

_NO_OFFSETS: Final[Mapping[Task, int]] = MappingProxyType({})


class TaskMember(NamedTuple):
    """One member (a thread of an application) at the moment of the assignment.

    Args:
        process_id: of the application instance; threads of one instance share it and its state.
        active: tasks that it has now.
        standby: tasks whose state it keeps now.
        offsets: how far the state on its disk is, as it told, summed over the changelogs.
    """

    member_id: str
    process_id: str
    active: Collection[Task] = ()
    standby: Collection[Task] = ()
    offsets: Mapping[Task, int] = _NO_OFFSETS


class TaskSource(NamedTuple):
    """A subtopology, which has a task for each partition of its widest source.

    Args:
        is_stateful: whether it has changelogs, so that standby tasks make sense.
    """

    subtopology_id: str
    partitions: int
    is_stateful: bool


class MemberTasks(NamedTuple):
    """The tasks of one member, ascending by subtopology and partition."""

    active: tuple[Task, ...]
    standby: tuple[Task, ...]


def tasks_of(sources: Iterable[TaskSource]) -> list[Task]:
    """The tasks of these subtopologies."""
    return [
        (source.subtopology_id, number) for source in sources for number in range(source.partitions)
    ]


def sorted_tasks(tasks: Iterable[Task]) -> Sequence[Task]:
    """Tasks by subtopology, `2` before `10`, and partition."""
    return sorted(tasks, key=lambda task: (len(task[0]), task))
