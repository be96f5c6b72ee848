"""Every test of Kafka's own assignor classes is restated here, and Java agrees with each case."""

import ast
from pathlib import Path

import pytest
import yaml

from kgroups.assignors.spec import AssignmentRequest, MemberSubscription
from tests.assignors.java.test_scenarios import CASES
from tests.support.assignors.cases import Json, answers_of, difference, sent_bytes
from tests.support.assignors.oracle import ask_java
from tests.support.assignors.scenarios import (
    DATA,
    Round,
    Scenario,
    cases_in,
    strategy_of,
    topics_in,
)

TESTS = Path(__file__).parents[1]
FILES = ("range", "roundrobin", "sticky", "racks", "generated", "server")
COUNTS = {
    "RangeAssignorTest": 20,
    "RoundRobinAssignorTest": 13,
    "AbstractPartitionAssignorTest": 5,
    "AbstractStickyAssignorTest": 41,
    "StickyAssignorTest": 9,
    "CooperativeStickyAssignorTest": 9,
    "ConsumerProtocolTest": 15,
    "UniformHomogeneousAssignmentBuilderTest": 12,
    "UniformHeterogeneousAssignmentBuilderTest": 13,
    "RangeAssignorTest (server)": 14,
}
LARGEST_FOR_JAVA = 5_000  # partitions; larger groups are the bench's


def catalogue() -> dict[str, dict[str, str | None]]:
    """Kafka's test classes: name of a test to the function that restates it, None for a case."""
    found: dict[str, dict[str, str | None]] = yaml.safe_load(
        (DATA / "kafka" / "catalogue.yaml").read_text(encoding="utf-8")
    )
    return found


def restated() -> dict[str, list[str]]:
    """Kafka's test to the cases that restate it."""
    found: dict[str, list[str]] = {}
    for file in FILES:
        for case in cases_in(f"kafka/{file}.yaml"):
            if "kafka" in case:
                found.setdefault(case["kafka"], []).append(f"{file}.yaml: {case['case']}")
    return found


def functions_of(file: str) -> set[str]:
    """Test functions of a file of these tests."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_no_test_of_kafka_is_missing() -> None:
    """Each has a case or a function, each case names a test that exists, and none was left out."""
    listed, cases = catalogue(), restated()
    assert {name: len(tests) for name, tests in listed.items()} == COUNTS
    missing = [
        f"{name}.{test}"
        for name, tests in listed.items()
        for test, function in tests.items()
        if function is None and f"{name}.{test}" not in cases
    ]
    assert missing == []
    known = {f"{name}.{test}" for name, tests in listed.items() for test in tests}
    assert set(cases) <= known
    for tests in listed.values():
        for function in filter(None, tests.values()):
            file, _, name = function.partition("::")
            assert name in functions_of(file), function


def as_asked(member: MemberSubscription, *, server: bool) -> Json:
    """A member as the oracle reads it."""
    spec: Json = {"id": member.member_id, "topics": list(member.topics)}
    spec |= {"owned": [[topic, list(numbers)] for topic, numbers in member.owned]}
    spec |= {"instance": member.instance_id} if member.instance_id else {}
    spec |= {"rack": member.rack} if member.rack else {}
    if not server:
        data = sent_bytes(member)
        spec |= {"generation": member.generation} | ({"user_data": data} if data else {})
    return spec


def one_round(name: str, strategy: str, request: AssignmentRequest) -> Json:
    """One request as a case of the oracle."""
    side = "server" if strategy.startswith("server-") else "client"
    topics: list[Json] = []
    for topic, facts in request.topics.items():
        racks = [[rack for rack in each if rack] for each in facts.racks]
        topics.append([topic, racks or facts.partitions])
        if side == "server":
            topics[-1].append(facts.topic_id)
    ids = {topic: facts.topic_id for topic, facts in request.topics.items()}
    members = [as_asked(member, server=side == "server") for member in request.members]
    if side == "server":
        for member in members:
            member["owned"] = [[ids[t], numbers] for t, numbers in member["owned"] if t in ids]
    return {
        "id": name,
        "side": side,
        "strategy": strategy.removeprefix("server-"),
        "topics": topics,
        "rounds": [{"members": members}],
    }


def partitions_of(case: Json) -> int:
    """How many there are in its first round."""
    return sum(topic.partitions for topic in topics_in(case["topics"]).values())


def rounds_of(scenario: Scenario) -> list[AssignmentRequest]:
    """The requests of all rounds of a scenario, as far as they can be answered."""
    before: Round | None = None
    found = []
    case = scenario.case
    for given in [case, *case.get("then", ())]:
        before = Round(scenario, given, before)
        found.append(before.request)
    return found


@pytest.mark.oracle
def test_java_agrees_with_every_case() -> None:
    """The classes of the Kafka that the tests run give the same, list order included."""
    asked = []
    for scenario in CASES:
        if "fails" in scenario.written or scenario.strategy == "server-uniform-mixed":
            continue
        if partitions_of(scenario.case) > LARGEST_FOR_JAVA:
            continue
        for number, request in enumerate(rounds_of(scenario)):
            if sum(topic.partitions for topic in request.topics.values()) <= LARGEST_FOR_JAVA:
                asked.append(one_round(f"{scenario.name} {number}", scenario.strategy, request))
    assert len(asked) > 500
    answered = ask_java(asked)
    found = []
    for case in answered:
        prefix = "server-" if case["side"] == "server" else ""
        found += [difference(case, answers_of(case, strategy_of(prefix + case["strategy"])))]
    assert [text for text in found if text is not None] == []
