"""What charts are drawn from: bounded, and equal to what DuckDB says of the same Parquet."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kgroups.core.errors import UsageError
from kgroups.core.lag import pictures
from kgroups.core.lag.pictures import Pictures
from kgroups.core.lag.report import LagQuery, LagReport, lag_report
from kgroups.core.lag.report_file import write_parquet
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.driver_traffic import rows_brought_home
from tests.support.lag.made_fleet import fleet
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows

pytestmark = pytest.mark.spark

COUNT = 20
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS
OVER_TIME = """
select captured_at_ms,
    sum(greatest(log_end_offset - greatest(committed_offset, log_start_offset), 0))
from (select distinct * from read_parquet('{folder}/rows/*/*/*.parquet', hive_partitioning = true))
where "group" = 'falls behind' group by 1 order by 1
"""

WORST = """
with peaks as (
    select "group", topic, partition,
        max(greatest(log_end_offset - greatest(committed_offset, log_start_offset), 0)) as peak
    from read_parquet('{folder}/rows/*/*/*.parquet', hive_partitioning = true)
    where committed_offset is not null and log_end_offset is not null
    group by all
)
select "group" from peaks group by 1 order by sum(peak) desc limit {count}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of every shape; one file is there twice."""
    place = tmp_path_factory.mktemp("captures")
    write_rows(place, captures(3, COUNT))
    file = next((place / "rows").glob("*/*/*.parquet"))
    file.with_name(file.name.replace(".parquet", "0.parquet")).write_bytes(file.read_bytes())
    return place


@pytest.fixture(scope="module")
def report(folder: Path) -> LagReport:
    """A report over all captures, with its pictures."""
    query = LagQuery(pictures=True)
    return lag_report_over(
        folder, query, since_ms=START_MS - 60 * STEP_MS, until_ms=UNTIL_MS, engine="duckdb"
    )


@pytest.fixture(scope="module")
def drawn(report: LagReport) -> Pictures:
    """Its pictures."""
    assert report.pictures is not None
    return report.pictures


def test_lag_over_time(drawn: Pictures, folder: Path) -> None:
    """A line is the sums of its captures, each once; of the groups that ever lagged most."""
    with duckdb.connect() as connection:
        expected = connection.sql(OVER_TIME.format(folder=folder)).fetchall()
    line = [(r["at_ms"], r["lag"]) for r in drawn.over_time if r["group"] == "falls behind"]
    assert line == expected
    with duckdb.connect() as connection:
        worst = connection.sql(WORST.format(folder=folder, count=5)).fetchall()
    shown = {row["group"] for row in drawn.over_time}
    assert len(shown) == pictures.LINE_GROUPS
    # A peak between two points is not seen, so the last places may be another's.
    assert {group for (group,) in worst} <= shown


def test_partitions_and_members_add_up(drawn: Pictures) -> None:
    """The heat map and the members' shares hold the same lag, where both show a whole group."""
    heat: dict[str, list[int | None]] = defaultdict(list)
    for row in drawn.partitions:
        heat[row["group"]].append(row["lag"])
    whole = {group: lags for group, lags in heat.items() if len(lags) == 2}
    assert len(whole) >= 5
    shares = dict.fromkeys(whole, 0)
    for row in drawn.members:
        if row["group"] in whole:
            shares[row["group"]] += row["lag"] or 0
    assert shares == {group: sum(lag or 0 for lag in lags) for group, lags in whole.items()}
    stopped = [row for row in drawn.members if row["group"] == "stopped"]
    assert [(row["member_id"], row["partitions"]) for row in stopped] == [(None, 2)]


def test_verdicts_count_every_partition(drawn: Pictures) -> None:
    """Partitions by verdict, the unknown among them."""
    counts = {row["verdict"]: (row["partitions"], row["groups"]) for row in drawn.verdicts}
    assert sum(partitions for partitions, _ in counts.values()) == 30
    assert counts["STOP"] == (2, 1)
    assert counts["not known"][0] >= 4


def test_pictures_of_one_capture(
    session: SparkSession | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a window there is no line, and statuses stand in for verdicts.

    However large the fleet, no picture has more rows than a person can look at.
    """
    for name in ("LINE_GROUPS", "SHARE_GROUPS", "SHARE_MEMBERS", "HEAT_LANES"):
        monkeypatch.setattr(pictures, name, 2)
    with rows_brought_home(monkeypatch) as sizes:
        query = LagQuery(top=3, pictures=True)
        report = lag_report([fleet(7, groups=60)], query, session=session)
    assert sum(sizes) <= 30
    drawn = report.pictures
    assert drawn is not None
    assert drawn.over_time == []
    statuses = {row["lag_status"]: row["partitions"] for row in drawn.verdicts}
    assert sum(statuses.values()) == report.summary["partitions"]
    assert {"ok", "topic_missing"} <= set(statuses)
    assert len({(row["group"], row["topic"]) for row in drawn.partitions}) == 2
    assert len({row["group"] for row in drawn.members}) == 2


def test_rows_as_parquet(report: LagReport, tmp_path: Path) -> None:
    """The file holds the report's rows and types, also where a column is null throughout."""
    path = tmp_path / "report.parquet"
    path.write_text("old")
    write_parquet(path, report)
    table = pq.read_table(path)
    rows: list[dict[str, Any]] = table.to_pylist()
    assert rows == report.items
    assert table["monthly"].null_count == len(rows)
    assert tuple(table.schema.names) == report.columns
    assert str(table.schema.field("lag").type) == "int64"
    with pytest.raises(UsageError, match="cannot be written"):
        write_parquet(tmp_path / "none" / "report.parquet", report)
    assert [file.name for file in tmp_path.iterdir()] == ["report.parquet"]
