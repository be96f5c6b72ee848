"""`sticky` of streams groups equals Kafka's class: recorded rounds, and fresh ones by Java."""

import gzip
import json

import pytest

from kgroups.assignors.spec import AssignorError
from kgroups.assignors.streams.sticky_tasks import assign_tasks
from kgroups.assignors.streams.tasks import TaskMember, TaskSource
from tests.support.assignors.cases import RECORDED
from tests.support.assignors.oracle import ask_java
from tests.support.assignors.streams_cases import streams_cases, streams_difference


def test_equals_the_recorded_answers() -> None:
    """Every round: who has which tasks, active and standby."""
    with gzip.open(RECORDED / "streams-sticky.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    assert sum(len(case["rounds"]) for case in cases) > 500
    assert [text for case in cases if (text := streams_difference(case))][:1] == []


@pytest.mark.oracle
@pytest.mark.slow(
    "20,000 rounds and a JVM; quick twin: tests/assignors/streams/test_sticky_tasks.py"
)
def test_equals_the_live_answers() -> None:
    """Fresh rounds, by Kafka's class in this run."""
    cases = ask_java(streams_cases(7_500, 1071), "StreamsTaskOracle")
    assert sum(len(case["rounds"]) for case in cases) > 20_000
    assert [text for case in cases if (text := streams_difference(case))][:1] == []


def test_tasks_and_nobody_to_have_them() -> None:
    """Kafka throws; a group without members and without tasks is fine."""
    with pytest.raises(AssignorError, match="no members"):
        assign_tasks([], [TaskSource("0", 1, is_stateful=False)], 0)
    assert assign_tasks([], [], 1) == {}


def test_a_member_that_comes_back_gets_the_tasks_whose_state_it_has() -> None:
    """Under a new id, as after a restart: what it tells of its disk decides."""
    told = {("0", 1): 500}
    members = [TaskMember("a", "one"), TaskMember("b", "two", offsets=told)]
    found = assign_tasks(members, [TaskSource("0", 2, is_stateful=True)], 0)
    assert found["b"].active == (("0", 1),)
