"""Cases of the task assignor of streams groups: random ones, and ours on them.

A case is `{"rounds": [...]}`; a round has `members`, each with `id`, `process`, perhaps `active`,
`standby` (`[subtopology, partition]`, used where the round before gave it nothing) and `offsets`
(`[subtopology, partition, offset]`), `sources` (`[subtopology, partitions, stateful]`) and
`standby`, the number of copies. An answer a round: member to its active and its standby tasks.
"""

import random
import uuid
from collections.abc import Iterator
from typing import Any

from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import TaskMember, TaskSource

Json = Any


def streams_cases(count: int, seed: int) -> Iterator[Json]:
    """Random cases, the same for a seed."""
    for number in range(count):
        yield _case(random.Random(f"{seed}/{number}"))


def _case(draw: random.Random) -> Json:
    sources: Json = [
        [str(number), draw.choice((0, 1, 2, 3, 4, 6, 8, 12, 30)), draw.random() < 0.6]
        for number in range(draw.choice((1, 1, 2, 3, 12)))
    ]
    standby = draw.choice((0, 0, 1, 1, 2, 3))
    members = [_member(draw, []) for _ in range(draw.choice((1, 2, 3, 5, 8)))]
    if draw.random() < 0.4:
        _give_out(draw, members, sources)
    rounds = [{"members": members, "sources": sources, "standby": standby}]
    for _ in range(draw.choice((0, 1, 2, 4))):
        members = [
            {"id": member["id"], "process": member["process"], "offsets": _offsets(draw, sources)}
            for member in members
            if len(members) == 1 or draw.random() < 0.8
        ] or [_member(draw, [])]
        for _ in range(draw.choice((0, 0, 1, 2, 6))):
            members.append(_member(draw, members) | {"offsets": _offsets(draw, sources)})
        if draw.random() < 0.2:
            sources = [
                [name, partitions + draw.choice((0, 1, 4)), keeps]
                for name, partitions, keeps in sources
            ]
        if draw.random() < 0.2:
            standby = draw.choice((0, 1, 2))
        rounds.append({"members": members, "sources": sources, "standby": standby})
    return {"rounds": rounds}


def _member(draw: random.Random, others: list[Json]) -> Json:
    """A thread, of an instance that is there or of a new one."""
    known = [member["process"] for member in others]
    process = draw.choice(known) if known and draw.random() < 0.4 else _uuid(draw)
    return {"id": _uuid(draw), "process": process}


def _uuid(draw: random.Random) -> str:
    return str(uuid.UUID(int=draw.getrandbits(128), version=4))


def _offsets(draw: random.Random, sources: Json) -> list[Json]:
    """What a member says of the state on its disk; mostly nothing."""
    if draw.random() < 0.7:
        return []
    return [
        [name, partition, draw.choice((0, 5, 5, 100, 100_000))]
        for name, partitions, _ in sources
        for partition in range(partitions)
        if draw.random() < 0.2
    ]


def _give_out(draw: random.Random, members: list[Json], sources: Json) -> None:
    """Tasks that members have before the first round, some of subtopologies that are gone."""
    for name, partitions, _ in [*sources, ["gone", 2, True]]:
        for partition in range(partitions):
            if draw.random() < 0.8:
                draw.choice(members).setdefault("active", []).append([name, partition])
            for member in draw.sample(members, min(len(members), draw.choice((0, 1, 2)))):
                member.setdefault("standby", []).append([name, partition])


def streams_difference(case: Json) -> str | None:
    """The first round whose answer is not Java's, both in full; None if there is none."""
    before: Json = {}
    for number, (turn, java) in enumerate(zip(case["rounds"], case["java"], strict=True)):
        members = [_task_member(row, before.get(row["id"])) for row in turn["members"]]
        ours = assign_tasks(members, [TaskSource(*row) for row in turn["sources"]], turn["standby"])
        found = {
            member: [sorted(map(list, tasks.active)), sorted(map(list, tasks.standby))]
            for member, tasks in ours.items()
        }
        if found != java:
            return f"round {number} of {case['rounds']}: ours {found}, Java's {java}"
        before = java
    return None


def _task_member(row: Json, before: Json) -> TaskMember:
    """A member with what it has: by the round before, or as the case says."""
    active, standby = before or (row.get("active", ()), row.get("standby", ()))
    return TaskMember(
        row["id"],
        row["process"],
        {(name, partition) for name, partition in active},
        {(name, partition) for name, partition in standby},
        {(name, partition): offset for name, partition, offset in row.get("offsets", ())},
    )
