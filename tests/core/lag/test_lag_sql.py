"""Lag of one capture by SQL, in each engine: the case table, and groupings."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from kgroups.core.lag.answer import totals_of
from kgroups.core.lag.captures.capture_tables import capture_tables
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.engines import Engine, Frame
from kgroups.core.lag.lag_query import KEYS, LagQuery
from kgroups.core.lag.questions import Questions
from kgroups.core.lag.report import lagged_of
from kgroups.core.lag.report_columns import PLANNED_KEYS
from kgroups.core.lag.window.window_figures import FACTS
from tests.support.lag.capture_writer import captured_row, table_of
from tests.support.lag.engines import ENGINES, engine_of
from tests.support.lag.lag_cases import LAG_CASES
from tests.support.lag.made_fleet import fleet

pytestmark = pytest.mark.spark

COLUMN_OF = {
    "committed": "committed_offset",
    "log_start": "log_start_offset",
    "log_end": "log_end_offset",
    "last_stable": "last_stable_offset",
    "error": "error",
    "commits_known": "commits_known",
    "lag_told": "lag_told",
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine."""
    with engine_of(request.param, request) as opened:
        yield opened


def lagged(questions: Questions, rows: list[dict[str, Any]]) -> Frame:
    """Rows with lag."""
    return lagged_of(questions, questions.engine.rows(table_of("rows", rows)), FACTS)


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
@pytest.mark.parametrize("uncommitted", [None, "start", "end"])
def test_lag_follows_the_case_table(engine: Engine, uncommitted: Any, isolation: Any) -> None:
    """Every case of the table, all cases with the same options in one query."""
    cases = {
        case.id: case
        for case in LAG_CASES
        if case.facts.get("uncommitted") == uncommitted
        and case.facts.get("isolation", "read_uncommitted") == isolation
    }
    rows = [
        captured_row(
            topic=case.id, **{COLUMN_OF[k]: v for k, v in case.facts.items() if k in COLUMN_OF}
        )
        for case in cases.values()
    ]
    query = LagQuery(uncommitted=uncommitted, isolation=isolation)
    answer = engine.fetch(lagged(Questions.of(engine, query, ()), rows))
    found = {r["topic"]: (r["lag"], r["lag_status"], r["lost"]) for r in answer.to_pylist()}
    assert found == {case.id: (case.lag, case.status, case.lost) for case in cases.values()}


def test_cases_cover_the_policies() -> None:
    """The parametrised test above is not empty where it matters."""
    options = {(c.facts.get("uncommitted"), c.facts.get("isolation")) for c in LAG_CASES}
    assert {(None, None), ("start", None), ("end", None), (None, "read_committed")} <= options


def lag_rows() -> list[dict[str, Any]]:
    """Two groups, three members, a null lag, a lost record, a partition without an owner."""
    member: dict[str, Any] = {"member_id": "m1", "client_id": "c1", "host": "/h1"}
    other: dict[str, Any] = {"member_id": "m2", "client_id": "c2", "host": "/h1"}
    log: dict[str, Any] = {"log_start_offset": 10, "log_end_offset": 100}
    return [
        captured_row(partition=0, committed_offset=40, **log, **member),
        captured_row(partition=1, committed_offset=4, **log, **other),
        captured_row(partition=2, **log, **other),
        captured_row(topic="u", committed_offset=100, **log),
        captured_row(group="h", **log),
    ]


def by_key(engine: Engine, by: str, *names: str) -> set[tuple[Any, ...]]:
    """Columns of a report on the rows."""
    questions = Questions.of(engine, LagQuery(by=by), KEYS[by])
    series = questions.ask("snapshot", lagged=lagged(questions, lag_rows()))
    report = questions.by_key(series, None)
    return {tuple(r[name] for name in names) for r in engine.fetch(report).to_pylist()}


def test_lag_by_group(engine: Engine) -> None:
    """Sums leave out what is not known and count it; a group of nothing known is null."""
    figures = ("partitions", "lag", "lag_max", "lost", "unknown_partitions", "stale_partitions")
    assert by_key(engine, "group", "cluster", "group", *figures) == {
        ("c", "g", 4, 150, 90, 6, 1, 0),
        ("c", "h", 1, None, None, None, 1, 0),
    }


def test_lag_by_topic_host_and_member(engine: Engine) -> None:
    """Other keys, the null owner among them."""
    columns = ("lag", "lag_p50", "lag_p95", "unknown_partitions")
    assert by_key(engine, "topic", "topic", "groups", *columns) == {
        ("t", 2, 150, 60, 90, 2),
        ("u", 1, 0, 0, 0, 0),
    }
    assert by_key(engine, "host", "host", "partitions", *columns) == {
        ("/h1", 3, 150, 60, 90, 1),
        (None, 2, 0, 0, 0, 1),
    }
    assert by_key(engine, "member", "group", "member_id", *columns) == {
        ("g", "m1", 60, 60, 60, 0),
        ("g", "m2", 90, 90, 90, 1),
        ("g", None, 0, 0, 0, 0),
        ("h", None, None, None, None, 1),
    }


@pytest.mark.parametrize("is_empty", [False, True])
def test_totals(engine: Engine, is_empty: bool) -> None:
    """One row over everything, also over nothing."""
    questions = Questions.of(engine, LagQuery(), KEYS["group"])
    rows = lagged(questions, [] if is_empty else lag_rows())
    loads = questions.ask("loads", lagged=rows, members=engine.rows(table_of("members", [])))
    tables = questions.together(totals_of(questions, rows, loads))
    (total,), (members,) = (table.to_pylist() for table in tables.values())
    assert total | members == {
        "groups": 0 if is_empty else 2,
        "member_count": 0,
        "idle_members": 0,
        "partitions": 0 if is_empty else 5,
        "lag": None if is_empty else 150,
        "lag_max": None if is_empty else 90,
        "lost": None if is_empty else 6,
        "unknown_partitions": 0 if is_empty else 2,
        "unowned_partitions": None,
        "beyond_end_partitions": 0,
    }


def test_capture_tables_have_the_declared_schemas() -> None:
    """A snapshot becomes rows of facts: the declared columns, no lag among them."""
    tables = capture_tables([fleet(3)])
    assert tables.rows.schema == arrow_schema("rows")
    assert tables.rows.num_rows > 0
    assert not {"lag", "lost", "lag_status"} & set(tables.rows.schema.names)


def test_capture_tables_of_nothing() -> None:
    """A cluster without groups is three empty tables with their schemas."""
    tables = capture_tables([fleet(3, groups=0)])
    assert tables.rows.num_rows == tables.members.num_rows == 0
    assert tables.rows.schema.names == arrow_schema("rows").names


def test_assignors_over_the_whole_fleet(engine: Engine) -> None:
    """Sums of what is planned by group, and how many groups get better or worse."""
    figures = ("gain", "gain_with_member", "moved", "member_count", "idle_members")
    planned = [f"planned_{name}" for name in figures[3:]]
    rows = [
        {"cluster": "c1", "assignor": name, "group": f"{group}"}
        | {figure: gain + place for place, figure in enumerate((*figures, *planned))}
        for name, gains in {"range": (300, 0, -7), "uniform": (0, 0, 0)}.items()
        for group, gain in enumerate(gains)
    ]
    questions = Questions.of(engine, LagQuery(by="assignor"), PLANNED_KEYS["assignor"])
    frame = questions.ask("planned_assignors", planned=engine.rows(pa.Table.from_pylist(rows)))
    found = {row["assignor"]: row for row in engine.fetch(frame).to_pylist()}
    assert {name: (row["better"], row["worse"]) for name, row in found.items()} == {
        "range": (1, 1),
        "uniform": (0, 0),
    }
    for name, row in found.items():
        own = [one for one in rows if one["assignor"] == name]
        assert (row["cluster"], row["groups"]) == ("c1", 3)
        sums = {figure: sum(int(one[figure]) for one in own) for figure in (*figures, *planned)}
        assert {figure: row[figure] for figure in sums} == sums
