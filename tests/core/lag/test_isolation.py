"""Reports to the last stable offset: of the captures that have it, or refused.

That their figures are right is in `window/test_plain_truth.py`.
"""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.delta_table import marks_of
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.report import LagQuery, LagReport, lag_report
from kgroups.core.lag.window.window_report import lag_report_over
from tests.support.lag.capture_writer import table_of
from tests.support.lag.made_fleet import fleet
from tests.support.lag.made_history import START_MS, STEP_MS, captures, write_rows

COUNT = 30
UNTIL_MS = START_MS + (COUNT - 1) * STEP_MS
Rows = list[dict[str, Any]]


def with_stable(rows: Rows, seed: int) -> Rows:
    """The rows with last stable offsets: a transaction is open every now and then."""
    rng = random.Random(seed)
    held: dict[Any, int] = {}
    done = []
    for row in rows:
        series = (row["group"], row["topic"], row["partition"])
        end, stable = row["log_end_offset"], None
        if end is not None:
            before = held.get(series, 0)
            stays = before <= end and rng.random() < 0.6
            stable = before if stays else end - rng.choice((0, 0, 7))
            held[series] = stable
        done.append(row | {"last_stable_offset": stable})
    return done


def ask(engine: dict[str, Any], folder: Path, since_ms: int = START_MS, **query: Any) -> LagReport:
    """A report by an engine; without arguments for one where nothing is to be computed."""
    asked = LagQuery(top=10_000, **query)
    return lag_report_over(folder, asked, since_ms=since_ms, until_ms=UNTIL_MS, **engine)


def test_old_captures_are_refused_before_spark(tmp_path: Path) -> None:
    """The table says it: one sentence with how many, and from when on there is an answer."""
    rows = captures(12, 6)
    old = [row for row in rows if row["captured_at_ms"] < START_MS + 3 * STEP_MS]
    new = [row for row in rows if row["captured_at_ms"] >= START_MS + 3 * STEP_MS]
    write_rows(tmp_path, old)
    with pytest.raises(UsageError) as caught:
        ask({}, tmp_path, isolation="read_committed")
    assert caught.value.message == (
        "`--isolation read_committed` requires last stable offsets, which 3 of 3 captures in the "
        "window do not have"
    )
    assert "`kgroups lag collect`" in str(caught.value.hint)
    write_rows(tmp_path, with_stable(new, 12))
    with pytest.raises(UsageError, match="which 3 of 6 captures") as caught:
        ask({}, tmp_path, isolation="read_committed")
    # The last old capture was 60 s after 2025-10-09T08:53:20Z.
    assert caught.value.hint == "later captures hold them: `--since 2025-10-09T08:54:20.001Z`"


@pytest.mark.slow("one more folder")
@pytest.mark.spark
def test_a_mixed_folder_is_answered_from_where_it_can_be(
    engine: dict[str, Any], tmp_path: Path
) -> None:
    """A window of captures that hold these offsets is answered, also where files are merged."""
    rows = with_stable(captures(13, COUNT), 13)
    half_ms = START_MS + COUNT // 2 * STEP_MS
    old = [row for row in rows if row["captured_at_ms"] < half_ms]
    new = [row for row in rows if row["captured_at_ms"] >= half_ms]
    whole = tmp_path / "whole"
    write_rows(whole, new)
    expected = ask(engine, whole, half_ms, by="partition", isolation="read_committed").items
    mixed = tmp_path / "mixed"
    write_rows(mixed, [row | {"last_stable_offset": None} for row in old])
    write_rows(mixed, new)
    assert {done.table for done in compact(mixed)} == {"rows", "captures"}
    assert len(open_window(mixed).files) == 1
    found = ask(engine, mixed, half_ms, by="partition", isolation="read_committed").items
    assert found == expected
    with pytest.raises(UsageError, match="of 30 captures"):
        ask(engine, mixed, isolation="read_committed")
    assert len(ask(engine, mixed, by="partition").items) == len(expected)


def test_a_partition_that_could_not_be_asked_spoils_nothing() -> None:
    """A row with an error has no last stable offset for a reason of its own."""
    rows = with_stable(captures(14, 1), 14)
    spoilt = rows[0] | {"last_stable_offset": None, "error": "NOT_LEADER_OR_FOLLOWER"}
    silent = rows[0] | {"last_stable_offset": None}
    for content, unstable in (([spoilt, rows[1]], 0), ([silent, rows[1]], 1)):
        marks = marks_of(table_of("rows", content), "c1", [START_MS])
        assert marks["unstable_rows"].to_pylist() == [unstable]


def test_a_snapshot_without_them_is_refused() -> None:
    """Before Spark is started."""
    snapshot = fleet(1, groups=3)
    topics = {}
    for name, topic in snapshot.topics.items():
        logs = {n: log._replace(last_stable_offset=None) for n, log in topic.partitions.items()}
        topics[name] = replace(topic, partitions=logs)
    with pytest.raises(UsageError, match="which the snapshot does not have"):
        lag_report([replace(snapshot, topics=topics)], LagQuery(isolation="read_committed"))
