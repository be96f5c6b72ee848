"""A search over settings: its space, its objective, what it finds, and that it is repeatable."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.simulation.engine.sweep import sweep
from kgroups.core.simulation.search.objective import Objective
from kgroups.core.simulation.search.search import Found, Search, improvements
from kgroups.core.simulation.search.space import Dimension, parse_space, size_of
from tests.support.kafka.child import run_program
from tests.support.simulation.sample_scenarios import scenario

CRASH = {"at": "20s", "crash": {"group": "app", "member": "m-1"}}


def found(texts: list[str], minimise: str, *, trials: int = 20, repeat: int = 1) -> Found:
    """What comes of a search over a group one of whose members crashes."""
    one = scenario(until="90s", events=[CRASH])
    space, objective = parse_space(texts), Objective(minimise)
    return Search(
        one, space, objective, trials=trials, repeat=repeat, run=lambda tasks: sweep(tasks, 1)
    ).carry_out()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("members=3..12", Dimension("members", (), 3, 12)),
        ("session.timeout.ms=6s..60s", Dimension("session.timeout.ms", (), 6, 60, 1, "s")),
        ("session.timeout.ms=6s..60s:6s", Dimension("session.timeout.ms", (), 6, 60, 6, "s")),
        ("latency=500us..2ms", None),
        (
            "session.timeout.ms=6500ms..60s",
            Dimension("session.timeout.ms", (), 6_500, 60_000, 1, "ms"),
        ),
        ("rate=100/s..400/s:100/s", Dimension("rate", (), 100, 400, 100, "/s")),
        ("deploy.maxSurge=25%..100%:25%", Dimension("deploy.maxSurge", (), 25, 100, 25, "%")),
        ("protocol=eager,consumer", Dimension("protocol", ("eager", "consumer"))),
    ],
)
def test_a_range_or_a_list(text: str, expected: Dimension | None) -> None:
    """Ends of one unit keep it; durations of two are milliseconds, and a fraction is none."""
    if expected is None:
        assert parse_space([text])[0] == Dimension("latency", (), 0, 2, 1, "ms")
    else:
        assert parse_space([text]) == (expected,)


def test_the_size_of_a_space() -> None:
    """Both ends count; a step may miss the upper one."""
    space = parse_space(["members=3..12", "session.timeout.ms=6s..20s:5s", "static=true,false"])
    assert [one.size for one in space] == [10, 3, 2]
    assert space[1].texts() == ["6s", "11s", "16s"]
    assert size_of(space) == 60


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["members"], "is not NAME=LOW..HIGH"),
        (["members="], "is not NAME=LOW..HIGH"),
        (["colour=1..2"], "`colour` cannot be varied"),
        (["members=5..3"], "is an empty range"),
        (["members=3..5:0"], "is an empty range"),
        (["members=3..x"], "`x` in `--search members=3..x` is not a whole number"),
        (["members=1.5..3"], "is not a whole number"),
        (["rate=1/s..5/m"], "mixes units"),
        (["members=3..5", "members=1..2"], "given twice"),
        (["members=,"], "has no values"),
    ],
)
def test_a_wrong_space_is_refused(texts: list[str], said: str) -> None:
    """With what would be right."""
    with pytest.raises(UsageError) as raised:
        parse_space(texts)
    assert said in raised.value.message
    assert raised.value.hint is not None or "twice" in said


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("unowned_seconds + 10 * member_count", 32.5),
        ("-unowned_seconds / 2", -1.25),
        ("max(unowned_seconds, member_count, 1)", 3.0),
        ("(Unowned_seconds + 1) * min(2, 3)", 7.0),
        ("unowned_seconds / 0", float("inf")),
        ("1e308 * 10", float("inf")),
    ],
)
def test_an_objective_is_arithmetic_over_figures(text: str, value: float) -> None:
    """Durations in seconds; what cannot be computed is infinite."""
    assert Objective(text).value({"unowned_seconds": 2.5, "member_count": 3}) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("unownd + 1", "`unownd` is not a figure"),
        ("unowned_seconds +", "cannot be understood"),
        ("unowned_seconds ** 2", "cannot be understood"),
        ("unowned_seconds > 3", "cannot be understood"),
        ("__import__('os')", "cannot be understood"),
        ("max(unowned_seconds)", "cannot be understood"),
        ("'text'", "cannot be understood"),
        ("True", "cannot be understood"),
        ("unowned.real", "cannot be understood"),
        ("(" * 300 + "1" + ")" * 300, "too long"),
        ("-" * 400 + "1", "cannot be understood"),
        ("", "cannot be understood"),
    ],
)
def test_a_wrong_objective_is_refused(text: str, said: str) -> None:
    """Nothing but arithmetic is evaluated."""
    with pytest.raises(UsageError) as raised:
        Objective(text)
    assert said in raised.value.message


def test_a_small_space_is_gone_through_as_a_whole() -> None:
    """Every combination once; the short session is best, and what the long one costs is said."""
    search = found(
        ["session.timeout.ms=6s,30s", "members=3,4"], "longest_unowned_seconds + member_count"
    )
    assert search.whole
    assert [dict(one.variation) for one in search.tried] == [
        {},
        {"session.timeout.ms": "6s", "members": "3"},
        {"session.timeout.ms": "6s", "members": "4"},
        {"session.timeout.ms": "30s", "members": "3"},
        {"session.timeout.ms": "30s", "members": "4"},
    ]
    assert search.best.variation == {"session.timeout.ms": "6s", "members": "3"}
    assert search.as_is_anew is not None
    assert search.best_anew is not None
    # As is the session is 10 s, four longer, give or take a heartbeat.
    assert 1 <= search.as_is_anew - search.best_anew <= 7
    assert search.real is None


def test_several_seeds_tell_what_is_chance() -> None:
    """Whether the best is better with seeds that the search has not seen."""
    better = found(["session.timeout.ms=6s,40s"], "longest_unowned_seconds", repeat=4)
    assert better.best.variation == {"session.timeout.ms": "6s"}
    assert better.real is True
    assert len(better.best.runs) == 4
    same = found(["request.timeout.ms=29s,31s"], "longest_unowned_seconds", repeat=4)
    assert same.best.number == 0
    assert same.real is False


def test_what_cannot_run_is_told_and_left_out() -> None:
    """Settings that a client refuses, and runs that do not settle."""
    search = found(["heartbeat.interval.ms=1s,3s,12s"], "unowned_seconds")
    refused = [one for one in search.tried if one.refused is not None]
    assert [dict(one.variation) for one in refused] == [{"heartbeat.interval.ms": "12s"}]
    assert refused[0].refused is not None
    assert "must be less than `session.timeout.ms`" in refused[0].refused
    with pytest.raises(UsageError, match="no settings of the search can be compared"):
        Search(
            scenario(until="1s"),
            parse_space(["members=2,3"]),
            Objective("unowned_seconds"),
            trials=4,
            repeat=1,
            run=lambda tasks: sweep(tasks, 1),
        ).carry_out()


def test_the_path_only_goes_down() -> None:
    """Each step is better than everything before it, and the last one is the best."""
    search = found(
        ["session.timeout.ms=6s..60s", "members=3..12"],
        "longest_unowned_seconds + 3 * member_count",
        trials=18,
    )
    assert not search.whole
    assert len(search.tried) == 19
    assert len({tuple(one.variation.items()) for one in search.tried}) == 19
    path = list(improvements(search.tried))
    values = [one.value for one in path]
    assert values == sorted(values, key=lambda one: -(one or 0.0))
    assert path[-1] is search.best
    # The least that there is: three members, whose session is six seconds long.
    assert search.best.value is not None
    assert search.best.value < 3 * 4 + 16


SCRIPT = """\
import json
from kgroups.core.simulation.engine.sweep import sweep
from kgroups.core.simulation.search.objective import Objective
from kgroups.core.simulation.search.search import Search
from kgroups.core.simulation.search.space import parse_space
from tests.support.simulation.sample_scenarios import scenario

space = parse_space(["session.timeout.ms=6s..60s", "members=2..9", "protocol=eager,cooperative"])
one = scenario(until="15s")
found = Search(
    one, space, Objective("stopped_seconds + member_count + requests / 1000"), trials=8, repeat=1,
    run=lambda tasks: sweep(tasks, 1),
).carry_out()
print(json.dumps([[dict(one.variation), one.value] for one in found.tried]))
"""


def test_a_search_is_the_same_for_a_seed(tmp_path: Path) -> None:
    """Whatever the order of hashes."""
    script = tmp_path / "search_once.py"
    script.write_text(SCRIPT, encoding="utf-8")

    def once(hash_seed: str) -> Any:
        root = str(Path(__file__).parents[3])
        environment = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": root, "PATH": ""}
        done = run_program([sys.executable, str(script)], env=environment, check=True)
        return json.loads(done.stdout)

    one, other = once("1"), once("2")
    assert one == other
    assert len(one) == 9
