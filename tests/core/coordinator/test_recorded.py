"""Traces recorded from the coordinators of Kafka 4.3.0 and 4.4.0, replayed without a JVM."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.coordinator.answer_comparison import differences, side_by_side
from tests.support.coordinator.log_replica import LogReplica
from tests.support.coordinator.oracle_adapter import Adapter
from tests.support.coordinator.oracle_comparison import tell
from tests.support.coordinator.oracle_json import Json

DATA = Path(__file__).parents[2] / "data" / "coordinator"
TRACES = sorted(
    str(path.relative_to(DATA)).removesuffix(".jsonl.gz") for path in DATA.rglob("*.jsonl.gz")
)
"""Those of another release than 4.3.0 in a folder of its own."""

SLOW = pytest.mark.slow("Kafka 4.3.0 answers such scripts in every run: test_against_kafka.py")
# Of those of 4.3.0 the directed cases, and what meets answers that few scripts meet.
QUICK = ("cases", "classic-001", "mixed-001", "modern_static-000", "versions-001")
CASES = [pytest.param(name, marks=() if "/" in name or name in QUICK else SLOW) for name in TRACES]


def read_trace(name: str) -> Iterator[tuple[Json, Json]]:
    """Operations and Kafka's answers."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            op, answer = json.loads(line)
            yield op, answer


def release_of(name: str) -> str:
    """The release that a trace is of."""
    folder, slash, _ = name.partition("/")
    return folder if slash else "4.3.0"


def test_traces_of_every_shape_are_here() -> None:
    """The folder holds two traces of nearly every shape, and the directed cases."""
    assert len(TRACES) >= 20


@pytest.mark.parametrize(
    "reads_after", [16, pytest.param(1, marks=pytest.mark.slow("reads the log as often as it can"))]
)
@pytest.mark.parametrize("name", CASES)
def test_a_recorded_trace_is_answered_equally(name: str, reads_after: int) -> None:
    """Every response, record and state of the trace is ours too.

    After so many operations a coordinator that reads the log stands by the records that its writer
    stands by.
    """
    adapter, history = Adapter(release=release_of(name)), []
    replica = LogReplica(adapter)
    for number, (op, theirs) in enumerate(read_trace(name)):
        mine = adapter.answer({**op, "uuids": theirs.get("uuids", ())})
        history.append((number, op, theirs))
        want, got = side_by_side(theirs, mine)
        assert want == got, tell(history, op, list(differences(want, got)))
        assert theirs["t"] == mine["t"]
        if number % reads_after == 0:
            replica.check()


@pytest.mark.parametrize(
    "trace", ["000", pytest.param("001", marks=pytest.mark.slow("another trace of each shape"))]
)
@pytest.mark.parametrize("shape", ["classic", "modern", "mixed"])
def test_heartbeats_and_commits_may_be_answered_at_once(shape: str, trace: str) -> None:
    """The same answers, and the same ones afterwards: no state, session or timer differs."""
    adapter = Adapter(at_once=True)
    for number, (op, theirs) in enumerate(read_trace(f"{shape}-{trace}")):
        mine = adapter.answer({**op, "uuids": theirs.get("uuids", ())})
        want, got = side_by_side(theirs, mine)
        assert want == got, (number, op, list(differences(want, got)))
    assert adapter.answered_at_once > 20
    assert adapter.committed_at_once > 10
