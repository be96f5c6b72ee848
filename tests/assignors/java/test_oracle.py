"""Random groups, answered by the Java classes in the same test run.

`KGROUPS_FUZZ_CASES` sets how many cases a strategy gets, `KGROUPS_FUZZ_SEED` which ones.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from kgroups.assignors.spec import AssignmentRequest
from tests.support.assignors.cases import Json, answers_of, difference, member_of, topics_of
from tests.support.assignors.engines import COOPERATIVE, ENGINES, FAMILIES, SLOW
from tests.support.assignors.generate import generate
from tests.support.assignors.oracle import ask_java

GIVEN = os.environ.get("KGROUPS_FUZZ_CASES")
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "848"))
BATCH = 5_000
JAVA_S = 600
SLOW_EVERY = 5  # the slow engines get one case of so many

FEW = pytest.param(FAMILIES, 100, id="a few of each, by one JVM")
MANY = [
    pytest.param(
        (family,),
        int(GIVEN or 5_000),
        id=family,
        marks=() if GIVEN else pytest.mark.slow("minutes of cases; fewer are in every run"),
    )
    for family in FAMILIES
]


def answered(families: Sequence[str], cases: int) -> Iterator[Json]:
    """So many cases of each family with Java's answers; Java works on the next batch meanwhile."""
    with ThreadPoolExecutor(1) as java:
        waiting: Future[list[Json]] | None = None
        for start in range(0, cases, BATCH):
            number, seed = min(BATCH, cases - start), SEED + start
            batch = [case for family in families for case in generate(family, number, seed)]
            following = java.submit(ask_java, batch)
            if waiting is not None:
                yield from waiting.result(JAVA_S)
            waiting = following
        if waiting is not None:
            yield from waiting.result(JAVA_S)


@pytest.mark.oracle
@pytest.mark.parametrize(("families", "cases"), [*([] if GIVEN else [FEW]), *MANY])
def test_equals_the_live_answer(families: Sequence[str], cases: int) -> None:
    """Every random case in every engine: no difference, list order and failures included."""
    found, seen = [], Counter[str]()
    for number, case in enumerate(answered(families, cases)):
        family = case["id"].rsplit("-", 2)[0]
        seen[family] += 1
        for name, (served, assignor) in ENGINES.items():
            if served == family and (name not in SLOW or number % SLOW_EVERY == 0):
                text = difference(case, answers_of(case, assignor))
                found += [f"{name}: {text}"] if text else []
    assert found[:3] == []
    assert seen == dict.fromkeys(families, cases)


@pytest.mark.oracle
def test_a_topic_named_twice() -> None:
    """Java takes `a a` for as good as `a b`; so do we where a request is faithful, only there."""
    members = [{"id": "m1", "topics": ["a", "b"]}, {"id": "m2", "topics": ["a", "a"]}]
    case = {
        "id": "doubled",
        "side": "client",
        "topics": [["a", 2], ["b", 2]],
        "rounds": [{"members": members, "generation": -1, "want_user_data": True}],
    }
    families = ("sticky", COOPERATIVE)
    answers = ask_java([case | {"strategy": family} for family in families])
    for family, answered_case in zip(families, answers, strict=True):
        strategy = ENGINES[family][1]
        assert difference(answered_case, answers_of(answered_case, strategy)) is None
        request = AssignmentRequest(
            [member_of(each) for each in members], topics_of(case["topics"]), faithful=True
        )
        assert any(topic == "b" for topic, _ in strategy.assign(request).partitions_of("m2"))
        mended = strategy.assign(replace(request, faithful=False))
        assert [fault.code for fault in mended.faults] == ["DOUBLED_TOPIC"]
        assert sorted(mended.partitions_of("m1")) == [("b", 0), ("b", 1)]
        assert sorted(mended.partitions_of("m2")) == [("a", 0), ("a", 1)]
