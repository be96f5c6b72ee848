"""Cases written by hand in YAML: reading them, running them, comparing."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from kgroups.assignors.checks import PROPERTIES, holders_of
from kgroups.assignors.kip848.broker_view import ServerView
from kgroups.assignors.kip848.target import TargetAssignment
from kgroups.assignors.kip848.uniform import UniformAssignor, assign_mixed
from kgroups.assignors.registry import CLIENT_ASSIGNORS, SERVER_ASSIGNORS
from kgroups.assignors.rejoin import rejoin
from kgroups.assignors.spec import (
    Assignment,
    AssignmentRequest,
    Assignor,
    MemberSubscription,
    TopicPartitions,
)
from kgroups.assignors.wire import encode_cooperative_data, encode_sticky_data
from tests.support.assignors.expand import generated, rack_rows, rack_settings

Json = Any
DATA = Path(__file__).parents[2] / "data" / "assignors"

# Ids with known hashes; a name that is not listed stands for itself.
MEMBER_IDS = {
    "A": "app-7f6d1c2e-0a11-4b6e-9d55-1f2e3d4c5b6a",
    "B": "app-01b2c3d4-1111-4222-8333-444455556666",
    "C": "app-c0ffee00-dead-4bee-8f00-0123456789ab",
    "D": "app-5a5a5a5a-5a5a-4a5a-8a5a-5a5a5a5a5a5a",
    "a": "m-7f6d1c2e",
    "b": "m-01b2c3d4",
    "c": "m-c0ffee00",
    "d": "m-5a5a5a5a",
}
TOPIC_IDS = {
    "X": "AAAAAAAAAAEAAAAAAAAAAQ",
    "Y": "JXk0pQqZTrGvYxZ3nP0aEA",
    "Z": "9Vb2hTq4QmKc1o0sN8yLxQ",
    "t1": "AAAAAAAAAAIAAAAAAAAAAg",
    "t2": "AAAAAAAAAAIAAAAAAAAAAw",
    "t3": "AAAAAAAAAAIAAAAAAAAABA",
}


class Scenario(NamedTuple):
    """One case under one strategy.

    Args:
        written: as the file has it; what it has generated is made when it is played.
    """

    name: str
    strategy: str
    written: Json
    ids: Mapping[str, str]

    @property
    def case(self) -> Json:
        """The case, with the topics and members that it describes."""
        return generated(self.written)


def cases_in(path: str) -> list[Json]:
    """The cases of a file as they are written."""
    listed: list[Json] = yaml.load((DATA / path).read_text("utf-8"), yaml.CSafeLoader)
    return listed


def scenarios(
    path: str,
    strategies: tuple[str, ...],
    ids: Mapping[str, str],
    *,
    in_racks: bool = False,
) -> list[Scenario]:
    """The cases of a file, once for each strategy that they are about.

    Args:
        in_racks: each case also with racks that change nothing.
    """
    return [
        Scenario(f"{strategy}: {case['case']}", strategy, case, ids)
        for listed in cases_in(path)
        for row in rack_rows(listed)
        for case in (rack_settings(row) if in_racks else [row])
        for strategy in case.get("strategies", strategies)
    ]


class MixedBuilder:
    """`uniform` as mixed subscriptions get it, whatever the subscriptions."""

    name = "uniform"
    waives = UniformAssignor.waives

    def assign(self, request: AssignmentRequest) -> TargetAssignment:
        """The target of every member."""
        return assign_mixed(ServerView(request))


def strategy_of(name: str) -> Assignor:
    """A strategy by the name that cases use."""
    if name == "server-uniform-mixed":
        return MixedBuilder()
    if name.startswith("server-"):
        return SERVER_ASSIGNORS[name.removeprefix("server-")]
    return CLIENT_ASSIGNORS[name]


def partitions_in(text: str) -> list[tuple[str, int]]:
    """`t1:0,1 t2:3` as partitions, in order; `;` and a space separate topics."""
    found = []
    for run in text.replace(";", " ").split():
        topic, _, numbers = run.partition(":")
        found += [(topic, int(number)) for number in numbers.split(",")]
    return found


def runs_in(text: str) -> list[tuple[str, list[int]]]:
    """`t1:0,1;t2:3` as topics with partitions."""
    runs: dict[str, list[int]] = {}
    for topic, partition in partitions_in(text):
        runs.setdefault(topic, []).append(partition)
    return list(runs.items())


def topics_in(given: Json) -> dict[str, TopicPartitions]:
    """Topics of a case: a number, or the racks of each partition's replicas, a letter each."""
    return {
        name: TopicPartitions(
            spec if isinstance(spec, int) else len(spec),
            () if isinstance(spec, int) else [list(racks) for racks in spec],
            topic_id=TOPIC_IDS.get(name) or _topic_id(name),
        )
        for name, spec in given.items()
    }


def _topic_id(name: str) -> str:
    """An id for a topic that has none of its own here: always the same."""
    digest = hashlib.sha256(name.encode()).digest()[:16]
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def member_in(text: str, strategy: str, ids: Mapping[str, str]) -> MemberSubscription:
    """A member written as `id topics i=.. rack=.. owns=.. gen=.. v=..`.

    `v` is the version of the subscription, 3 if not said; `data=v0` is user data of before KIP-341,
    without a generation.
    """
    name, *words = text.split()
    fields = dict(word.split("=", 1) for word in words if "=" in word)
    topics = tuple(t for word in words if "=" not in word for t in word.split(","))
    owned = runs_in(fields.get("owns", ""))
    generation, version = int(fields.get("gen", -1)), int(fields.get("v", 3))
    member = MemberSubscription(
        ids.get(name, name),
        topics,
        fields.get("i"),
        fields.get("rack"),
        () if strategy == "sticky" or version < 1 else owned,
        generation if version > 1 else -1,
    )
    if strategy != "sticky":
        data = encode_cooperative_data(generation) if version < 2 else None
        return replace(member, user_data=data)
    if fields.get("data") == "v0":
        return replace(member, user_data=encode_sticky_data(owned, None))
    return replace(member, previous=(owned, generation) if "gen" in fields else None)


class Round:
    """A group of a scenario in one round, and in the rounds until nothing is withheld."""

    def __init__(self, scenario: Scenario, given: Json, before: "Round | None") -> None:
        self.scenario, self.before = scenario, before
        self.topics = topics_in(given["topics"]) if "topics" in given else _topics(before)
        self.generation: int = before.generation + 1 if before else 10
        members = [self._member(text, before) for text in given["members"]]
        self.request = AssignmentRequest(members, self.topics, faithful=True)
        self.strategy = strategy_of(scenario.strategy)
        self.result: Assignment = self.strategy.assign(self.request)
        for _ in range(4 if given.get("settle") else 0):
            if not self.result.withheld:
                break
            self.generation += 1
            back = [self._back(member, self) for member in self.request.members]
            self.request = AssignmentRequest(back, self.topics, faithful=True)
            self.result = self.strategy.assign(self.request)

    def _member(self, text: str, before: "Round | None") -> MemberSubscription:
        name, *words = text.split()
        if words != ["back"]:
            return member_in(text, self.scenario.strategy, self.scenario.ids)
        assert before is not None
        known = next(m for m in before.request.members if m.member_id == name)
        return self._back(known, before)

    def _back(self, member: MemberSubscription, before: "Round") -> MemberSubscription:
        held = before.result.partitions_of(member.member_id)
        return rejoin(member, self.scenario.strategy, held, before.generation)

    def held(self, name: str) -> list[tuple[str, int]]:
        """What a member of the case got."""
        return list(self.result.partitions_of(self.scenario.ids.get(name, name)))

    def differences(self, given: Json) -> Iterator[str]:
        """Where the outcome is not what the case says."""
        for name, text in given.get("gives", {}).items():
            got, want = self.held(name), partitions_in(text)
            if given.get("order") == "set":
                got, want = sorted(got), sorted(want)
            if got != want:
                yield f"{name} got {got}, not {want}"
        for name in given.get("holds", ()):
            said = PROPERTIES[name](
                self.strategy, self.request, holders_of(self.result, self.request)
            )
            if said is not None:
                yield f"{name}: {said}"
        sizes = sorted(len(self.result.partitions_of(m.member_id)) for m in self.request.members)
        if "sizes" in given and sizes != given["sizes"]:
            yield f"sizes are {sizes}, not {given['sizes']}"
        for name in given.get("keep", ()):
            lost = set(self.before_held(name)) - set(self.held(name))
            if lost:
                yield f"{name} lost {sorted(lost)}"
        for name, text in given.get("within", {}).items():
            if not set(self.held(name)) <= set(partitions_in(text)):
                yield f"{name} got {self.held(name)}"
        for name, text in given.get("has", {}).items():
            if not set(self.held(name)) >= set(partitions_in(text)):
                yield f"{name} got {self.held(name)}, without all of {text}"
        if "moves" in given and len(self._moved()) != given["moves"]:
            yield f"{len(self._moved())} partitions moved"
        if given.get("straight") and self._crossed():
            yield f"went both ways between two members: {self._crossed()}"
        yield from self._counted(given)

    def _moved(self) -> dict[tuple[str, int], tuple[str, str]]:
        """Partitions that went from one member to another in this round."""
        assert self.before is not None
        had = {p: m for m, held in self.before.result.items() for p in _pairs(held)}
        has = {p: m for m, held in self.result.items() for p in _pairs(held)}
        return {p: (had[p], m) for p, m in has.items() if had.get(p, m) != m}

    def _crossed(self) -> list[str]:
        """Topics of which partitions went both ways between two members."""
        pairs = {(topic, old, new) for (topic, _), (old, new) in self._moved().items()}
        return sorted({topic for topic, old, new in pairs if (topic, new, old) in pairs})

    def before_held(self, name: str) -> list[tuple[str, int]]:
        """What a member of the case had before this round."""
        assert self.before is not None
        return self.before.held(name)

    def _counted(self, given: Json) -> Iterator[str]:
        if "members_answered" in given and len(self.result.member_ids) != given["members_answered"]:
            yield f"{len(self.result.member_ids)} members have an entry"
        if "withheld" in given:
            got = {(member, partition) for partition, member in self.result.withheld.items()}
            want = {
                (self.scenario.ids.get(name, name), partition)
                for name, text in given["withheld"].items()
                for partition in partitions_in(text)
            }
            if got != want:
                yield f"withheld {got}, not {want}"
        if "mismatches" in given and self._mismatches() != given["mismatches"]:
            yield f"{self._mismatches()} partitions are read from another rack"
        for member in self.request.members if "per_topic" in given else ():
            for topic in self.topics:
                held = [t for t, _ in self.result.partitions_of(member.member_id) if t == topic]
                if len(held) != given["per_topic"]:
                    yield f"{member.member_id} has {len(held)} of {topic}"
        everything = [p for _, held in self.result.items() for p in _pairs(held)]
        if given.get("twice") and len(set(everything)) == len(everything):
            yield "no partition is given twice"

    def _mismatches(self) -> int:
        """Partitions whose owner has a rack in which no replica is."""
        return sum(
            1
            for member in self.request.members
            for topic, partition in self.result.partitions_of(member.member_id)
            if member.rack and member.rack not in self.topics[topic].racks[partition]
        )


def _pairs(held: Mapping[str, list[int]]) -> list[tuple[str, int]]:
    return [(topic, partition) for topic, parts in held.items() for partition in parts]


def _topics(before: Round | None) -> dict[str, TopicPartitions]:
    assert before is not None
    return before.topics


def play(scenario: Scenario) -> list[str]:
    """Differences of all rounds of a scenario."""
    before: Round | None = None
    found = []
    case = scenario.case
    for given in [case, *case.get("then", ())]:
        before = Round(scenario, given, before)
        found += list(before.differences(given))
    return found
