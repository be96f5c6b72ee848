"""Cases of the assignor oracle: reading them, running ours on them, telling the difference."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.kip848.target import TargetAssignment
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    AssignmentRequest,
    Assignor,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.wire import encode_sticky_data

Json = Any
RECORDED = Path(__file__).parents[2] / "data" / "assignors" / "recorded"


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


def sent_bytes(member: MemberSubscription) -> str | None:
    """User data of a member, in hex."""
    data = member.user_data
    if member.previous is not None:
        data = encode_sticky_data(*member.previous)
    return None if data is None else data.hex()


class Group:
    """A group of a case on its way through the rounds."""

    def __init__(self, case: Json) -> None:
        self.strategy = case["strategy"]
        self.given: list[dict[str, list[tuple[str, int]]]] = []
        self.generations: list[int] = []
        self.newest = -1

    def member(self, spec: Json) -> MemberSubscription:
        """A member as it comes into this round."""
        round_number = spec.get("from")
        if round_number is None:
            return member_of(spec)
        back = rejoin(
            member_of(spec),
            self.strategy,
            self.given[round_number][spec["id"]],
            self.generations[round_number],
        )
        version = spec.get("version", 3)
        return replace(
            back,
            owned=back.owned if version >= 1 else (),
            generation=back.generation if version >= 2 else -1,
        )

    def play(self, step: Json, topics: Json, assignor: Assignor) -> Json:
        """Our answer to one round."""
        if step.get("new_leader"):
            self.newest = -1
        generation = step.get("generation", len(self.given) + 1)
        members = [self.member(spec) for spec in step["members"]]
        request = AssignmentRequest(members, topics_of(topics), self.newest, faithful=True)
        try:
            result = assignor.assign(request)
        except AssignorError as error:
            return {"error": error.java}
        assert isinstance(result, CompactAssignment)
        given = {member.member_id: result.partitions_of(member.member_id) for member in members}
        self.given.append(given)
        self.generations.append(generation)
        answer: Json = {"members": answer_of(result, [m.member_id for m in members])}
        if "sticky" in self.strategy:
            self.newest = answer["max_generation"] = result.generation
        if step.get("want_user_data"):
            answer["user_data"] = [
                sent_bytes(rejoin(m, self.strategy, given[m.member_id], generation))
                for m in members
            ]
        return answer


def client_answers(case: Json, assignor: Assignor) -> list[Json]:
    """What our assignor says to each round of a client-side case."""
    answers: list[Json] = []
    topics = case["topics"]
    group = Group(case)
    for step in case["rounds"]:
        topics = step.get("topics", topics)
        answers.append(group.play(step, topics, assignor))
        if "error" in answers[-1]:
            break
    return answers


def of_topics_there(case: Json, answers: list[Json]) -> list[Json]:
    """Answers of a share group whose topics go, as brokers describe them: without these, in order.

    Where subscriptions differ, `simple` leaves them to their members, in tables of other sizes.
    """
    listed, topics = [], case["topics"]
    for step, answer in zip(case["rounds"], answers, strict=True):
        topics = step.get("topics", topics)
        there = {name for name, partitions, _ in topics if partitions}
        members = [
            [member, sorted([topic, sorted(held)] for topic, held in runs if topic in there)]
            for member, runs in answer["members"]
        ]
        listed.append({"members": members})
    return listed


def _loses_topics(case: Json) -> bool:
    there = {topic_id for _, partitions, topic_id in case["topics"] if partitions}
    return any(
        "topics" in step
        or any(i not in there for m in step["members"] for i, _ in m.get("owned", ()))
        for step in case["rounds"]
    )


def difference(case: Json, answers: list[Json]) -> str | None:
    """Where our answers leave Java's, or None."""
    said_by_java = case["java"]
    if case["strategy"] == "simple" and _loses_topics(case):
        answers, said_by_java = (of_topics_there(case, rows) for rows in (answers, said_by_java))
    for number, (ours, java) in enumerate(zip(answers, said_by_java, strict=True)):
        for field, said in ours.items():
            if said != java.get(field):
                return f"{case['id']} round {number} {field}: java {java.get(field)}, ours {said}"
    return None


class ServerGroup:
    """A KIP-848 group of a case on its way through the rounds."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.targets: list[dict[str, list[tuple[str, list[int]]]]] = []

    def play(self, step: Json, topics: Json, assignor: Assignor) -> Json:
        """Our answer to one round."""
        self.names.update({topic_id: name for name, _, topic_id in topics})
        members = [self._member(spec) for spec in step["members"]]
        result = assignor.assign(AssignmentRequest(members, topics_of(topics)))
        assert isinstance(result, TargetAssignment)
        place = {member.member_id: index for index, member in enumerate(members)}
        target: dict[str, list[tuple[str, list[int]]]] = {}
        answer = []
        for position, name in enumerate(result.member_ids):
            runs = [(topic, list(held)) for topic, held in result.runs_of(position)]
            answer.append([place[name], [list(run) for run in runs]])
            before = [(topic, list(held)) for topic, held in members[place[name]].owned]
            same = {t: set(p) for t, p in before} == {t: set(p) for t, p in runs}
            target[name] = before if same else runs
        self.targets.append(target)
        return {"members": answer}

    def _member(self, spec: Json) -> MemberSubscription:
        """A member as it comes into this round, with its previous target."""
        if spec.get("from") is not None:
            held = self.targets[spec["from"]].get(spec.get("from_member", spec["id"]), [])
        else:
            held = [(self.names.get(i, i), parts) for i, parts in spec.get("owned", ())]
        return MemberSubscription(
            spec["id"], tuple(spec["topics"]), spec.get("instance"), spec.get("rack"), held
        )


def server_answers(case: Json, assignor: Assignor) -> list[Json]:
    """What our assignor says to each round of a server-side case."""
    group, topics = ServerGroup(), case["topics"]
    answers = []
    for step in case["rounds"]:
        topics = step.get("topics", topics)
        answers.append(group.play(step, topics, assignor))
    return answers


def answers_of(case: Json, assignor: Assignor) -> list[Json]:
    """What our assignor says to each round of a case of either side."""
    side = server_answers if case["side"] == "server" else client_answers
    return side(case, assignor)
