"""Random groups, answered by the Java classes in the same test run.

`KGROUPS_FUZZ_CASES` sets how many cases a strategy gets, `KGROUPS_FUZZ_SEED` which ones.
"""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.assignors.cases import answers_of, difference
from tests.assignors.engines import ENGINES, FAMILIES
from tests.assignors.generate import generate
from tests.assignors.oracle import ask_java

CASES = int(os.environ.get("KGROUPS_FUZZ_CASES", "5000"))
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "848"))
BATCH = 2_500


@pytest.mark.oracle
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_live_answer(family: str) -> None:
    """Every random case in every engine: no difference, list order and failures included."""
    batches = [
        list(generate(family, min(BATCH, CASES - start), SEED + start))
        for start in range(0, CASES, BATCH)
    ]
    found = []
    with ThreadPoolExecutor(1) as java:
        answered = [java.submit(ask_java, batch) for batch in batches]
        for batch in answered:
            for case in batch.result():
                for name, (served, assignor) in ENGINES.items():
                    if served == family:
                        text = difference(case, answers_of(case, assignor))
                        found += [f"{name}: {text}"] if text else []
    assert found[:3] == []
