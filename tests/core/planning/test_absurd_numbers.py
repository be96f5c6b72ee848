"""Numbers that no cluster has: refused with file and line before they fill the memory."""

from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.input_files.document import parse_document
from kgroups.core.planning.scenario import parse_scenario
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.snapshot_file import read_snapshot

GROUPS = "groups: {g: {members: {m: {topics: [t]}}}}\n"
MANY_TOPICS = "topics:\n" + "".join(f"  t{n}: 400000\n" for n in range(3)) + GROUPS
SCENARIOS = [
    ("partitions", f"topics: {{t: 2000000000}}\n{GROUPS}", "line 1"),
    ("partitions of many topics", MANY_TOPICS, "line 4"),
    ("lag", f"topics:\n  t: {{partitions: 1, lag: {2**70}}}\n{GROUPS}", "line 2"),
    ("lag without end", f"topics:\n  t: {{partitions: 1, lag: .inf}}\n{GROUPS}", "line 2"),
    (
        "newcomers",
        "topics: {t: 1}\ngroups:\n  g:\n    members: {m: {topics: [t]}}\n"
        "    changes: [{add_members: 1000000000}]\n",
        "line 5",
    ),
    (
        "a pattern that explodes",
        'topics: {t: 1}\ngroups: {g: {members: {m: {pattern: "java:(a"}}}}\n',
        "line 2",
    ),
]
SIMULATIONS = [
    ("members", "topics: {t: 3}\ngroups:\n  g: {members: {m: {topics: [t], count: 1000000000}}}"),
    ("partitions", "topics: {t: 2000000000}\n\n" + GROUPS),
    ("a rate", "topics:\n\n  t: {partitions: 1, rate: 1e308}\n" + GROUPS),
    ("a rate without end", "topics:\n\n  t: {partitions: 1, rate: .inf}\n" + GROUPS),
    ("a rate that is none", "topics:\n\n  t: {partitions: 1, rate: .nan}\n" + GROUPS),
    ("a backlog", f"topics:\n\n  t: {{partitions: 1, backlog: {2**70}}}\n" + GROUPS),
    ("brokers", "topics: {t: 1}\n\nbrokers: 1000000000\n" + GROUPS),
    ("a tail", "topics: {t: 1}\n\nnetwork: {latency: {heavy: 1ms, tail: .nan}}\n" + GROUPS),
]


@pytest.mark.parametrize(
    ("text", "line"), [case[1:] for case in SCENARIOS], ids=[case[0] for case in SCENARIOS]
)
def test_a_scenario(text: str, line: str) -> None:
    """The scenarios of plans."""
    with pytest.raises(UsageError) as refused:
        parse_scenario(parse_document(text, "s.yaml", "yaml"))
    assert refused.value.message.startswith(f"`s.yaml`, {line}")


@pytest.mark.parametrize(
    "text", [case[1] for case in SIMULATIONS], ids=[case[0] for case in SIMULATIONS]
)
def test_a_simulation(text: str) -> None:
    """The scenarios of simulations."""
    with pytest.raises(UsageError) as refused:
        parse_simulation(parse_document(text, "s.yaml", "yaml"))
    assert refused.value.message.startswith("`s.yaml`, line ")


def test_a_snapshot(tmp_path: Path) -> None:
    """An offset beyond 64 bits."""
    path = tmp_path / "s.json"
    log = f'{{"partition": 0, "log_end_offset": {2**70}}}'
    path.write_text(
        '{"schema": "kgroups.snapshot/1", "generated_at": "2026-01-01T00:00:00Z", "items": [],\n'
        f' "topics": [{{"topic": "t", "partitions": [{log}]}}]}}'
    )
    with pytest.raises(UsageError, match="line 2"):
        read_snapshot(path)
