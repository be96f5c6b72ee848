"""Cases of the assignor oracle: reading them, running ours on them, telling the difference."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)

Json = Any
RECORDED = Path(__file__).parents[1] / "data" / "assignors" / "recorded"


def recorded(family: str) -> Iterator[Json]:
    """The recorded cases of one family, Java's answers in `java`."""
    with gzip.open(RECORDED / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def topics_of(listed: Json) -> dict[str, TopicPartitions]:
    """A case's topics, as a request has them."""
    found = {}
    for name, spec, *topic_id in listed:
        racks = spec if isinstance(spec, list) else ()
        count = len(spec) if isinstance(spec, list) else spec
        found[name] = TopicPartitions(count, racks, topic_id=topic_id[0] if topic_id else None)
    return found


def grouped(partitions: list[tuple[str, int]]) -> list[list[Json]]:
    """Partitions with neighbours of one topic in one entry, as the oracle writes them."""
    entries: list[list[Json]] = []
    for topic, partition in partitions:
        if not entries or entries[-1][0] != topic:
            entries.append([topic, []])
        entries[-1][1].append(partition)
    return entries


def member_of(spec: Json) -> MemberSubscription:
    """A member of a case that brings along only what the case says."""
    version = spec.get("version", 3)
    data = spec.get("user_data")
    return MemberSubscription(
        spec["id"],
        tuple(spec["topics"]),
        instance_id=spec.get("instance"),
        rack=spec.get("rack") if version >= 3 else None,
        owned=[(topic, parts) for topic, parts in spec.get("owned", ())] if version >= 1 else (),
        generation=spec.get("generation", -1) if version >= 2 else -1,
        user_data=None if data is None else bytes.fromhex(data),
    )


def answer_of(result: CompactAssignment, ids: list[str]) -> list[list[Json]]:
    """Our assignment as the oracle writes it: members by input position, in answer order."""
    position = {name: index for index, name in enumerate(ids)}
    return [[position[name], grouped(result.partitions_of(name))] for name in result.member_ids]


def client_answers(case: Json, assignor: Assignor) -> list[Json]:
    """What our assignor says to each round of a client-side case."""
    answers: list[Json] = []
    topics = case["topics"]
    for step in case["rounds"]:
        topics = step.get("topics", topics)
        members = [member_of(spec) for spec in step["members"]]
        request = AssignmentRequest(members, topics_of(topics), faithful=True)
        try:
            result = assignor.assign(request)
        except AssignorError as error:
            answers.append({"error": error.java})
            break
        assert isinstance(result, CompactAssignment)
        answers.append({"members": answer_of(result, [m.member_id for m in members])})
    return answers


def difference(case: Json, answers: list[Json]) -> str | None:
    """Where our answers leave Java's, or None."""
    for number, (ours, java) in enumerate(zip(answers, case["java"], strict=True)):
        for field, said in ours.items():
            if said != java.get(field):
                return f"{case['id']} round {number} {field}: java {java.get(field)}, ours {said}"
    return None
