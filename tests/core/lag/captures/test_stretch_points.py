"""Points read out of captures, against a plain look at every row."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import to_arrow_schema

from kgroups.core.lag.captures import capture_files, stretch_points
from kgroups.core.lag.captures.capture_files import open_window, write_file
from kgroups.core.lag.captures.capture_tables import ROWS
from kgroups.core.lag.captures.series_id import SEED, hash_of, hash_of_number
from kgroups.core.lag.window.points import points_by_aggregation, points_from_last_rows, stretch_ms
from tests.support.lag.made_history import START_MS, captures, write_rows

STEP_MS = 1_000
COLUMNS = ("captured_at_ms", "committed_offset", "log_start_offset", "log_end_offset")
Row = dict[str, Any]
Found = dict[tuple[int, int], set[tuple[Any, ...]]]


def number_of(row: Row) -> int:
    """The number of a row's series, signed."""
    group = hash_of(row["group"], hash_of(row["cluster"], SEED))
    number = group ^ hash_of(row["topic"], SEED) ^ hash_of_number(row["partition"])
    return number - (1 << 64) if number >> 63 else number


def expected_points(rows: list[Row], since_ms: int, until_ms: int, width_ms: int) -> Found:
    """Series and stretch -> the rows that its point may be: several if they are of one time."""
    found: Found = {}
    for row in sorted(rows, key=lambda row: row["captured_at_ms"]):
        at_ms = row["captured_at_ms"]
        if since_ms <= at_ms <= until_ms:
            place = number_of(row), (at_ms - since_ms) // width_ms
            said = tuple(row[name] for name in COLUMNS)
            known = found.setdefault(place, set())
            if known and next(iter(known))[0] < at_ms:
                known.clear()
            known.add(said)
    return found


def read_points(
    folder: Path, since_ms: int, until_ms: int, width_ms: int
) -> list[tuple[int, tuple[Any, ...]]]:
    """Series and row of every point, as tasks give them."""
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms)
    found = []
    for task in stretch_points.share_out(window.files, since_ms, until_ms, width_ms):
        for batch in stretch_points.read_last_rows(task):
            assert batch.schema == to_arrow_schema(stretch_points.last_rows_schema())
            found += [(row[0], row[1:]) for row in zip(*batch.to_pydict().values(), strict=True)]
    return found


def must_be_points(folder: Path, rows: list[Row], since_ms: int, until_ms: int, width: int) -> None:
    """Each point once, and nothing else."""
    expected = expected_points(rows, since_ms, until_ms, width)
    found = read_points(folder, since_ms, until_ms, width)
    places = [(series, (said[0] - since_ms) // width) for series, said in found]
    assert len(set(places)) == len(places), "a point twice"
    assert set(places) == set(expected)
    for place, (_, said) in zip(places, found, strict=True):
        assert said in expected[place], place


def fleet(rng: random.Random) -> list[tuple[str, str, str, int]]:
    """Some series of two clusters; names that are groups and topics at once."""
    names = ["a", "b", "orders", "a-much-longer-name-of-more-than-32-bytes"]
    every = [(c, g, t, p) for c in ("one", "two") for g in names for t in names for p in range(3)]
    return sorted(rng.sample(every, rng.randrange(1, len(every))))


def random_captures(rng: random.Random) -> list[list[Row]]:
    """Captures in the order of time, now and then of one time, or with series missing."""
    series = fleet(rng)
    at_ms, found = START_MS, []
    for _ in range(rng.randrange(1, 40)):
        at_ms += rng.choice([0, STEP_MS, STEP_MS, STEP_MS, 7 * STEP_MS])
        shown = [s for s in series if rng.random() < 0.8] if rng.random() < 0.3 else series
        known = [rng.randrange(100) if rng.random() < 0.9 else None for _ in range(3)]
        rows = [
            dict.fromkeys(ROWS.fieldNames())
            | {"captured_at_ms": at_ms, "cluster": c, "group": g, "topic": t, "partition": p}
            | {"group_type": "classic", "commits_known": True}
            | dict(zip(COLUMNS[1:], known, strict=True))
            for c, g, t, p in shown
        ]
        if rng.random() < 0.2:
            rng.shuffle(rows)
        found.append(rows)
    return found


def write_capture_files(rng: random.Random, folder: Path, found: list[list[Row]]) -> None:
    """Captures as files of one or several: some twice, as compactions may leave them; some by turns
    in two files, as of two collectors.
    """
    schema = to_arrow_schema(ROWS)
    for cluster in ("one", "two"):
        own = [[row for row in rows if row["cluster"] == cluster] for rows in found]
        own = [rows for rows in own if rows]
        while own:
            count = rng.randrange(1, 6)
            some = own[:count]
            files = rng.choice([[some], [some], [some, some], [some[::2], some[1::2]]])
            for rows in ([row for rows in file for row in rows] for file in files if file):
                times = [row["captured_at_ms"] for row in rows]
                table = pa.Table.from_pylist(rows, schema=schema)
                write_file(folder, "rows", table, cluster, min(times), max(times))
            own = own[count:]


@pytest.mark.parametrize("seed", range(30))
def test_random_captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Every way of cutting captures into files, row groups, chunks and tasks gives the points."""
    rng = random.Random(seed)
    monkeypatch.setattr(capture_files, "ROW_GROUP", rng.choice([2, 5, 40, 1_000]))
    monkeypatch.setattr(stretch_points, "CHUNK_ROWS", rng.choice([1, 30, 10_000]))
    monkeypatch.setattr(stretch_points, "TASK_ROWS", rng.choice([1, 100, 10_000]))
    monkeypatch.setattr(stretch_points, "FEW_ROWS", rng.choice([1, 10_000]))
    found = random_captures(rng)
    write_capture_files(rng, tmp_path, found)
    rows = [row for rows in found for row in rows]
    times = sorted({row["captured_at_ms"] for row in rows})
    first, last = sorted(rng.choices(times, k=2))
    since_ms, until_ms = first - rng.randrange(3), last + rng.randrange(1, 3)
    width = stretch_ms(since_ms, until_ms, rng.choice([1, 3, 60]))
    must_be_points(tmp_path, rows, since_ms, until_ms, width)


@pytest.mark.parametrize("seed", [1, 2])
def test_points_are_those_of_spark(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """The aggregation of a DataFrame and the reader give the same points, lag included."""
    rows = captures(seed)
    write_rows(tmp_path, rows)
    until_ms = max(row["captured_at_ms"] for row in rows)
    since_ms, names = START_MS + 90_500, ROWS.fieldNames()
    frame = spark.createDataFrame([tuple(row[n] for n in names) for row in rows], schema=ROWS)
    window = open_window(tmp_path, since_ms=since_ms, until_ms=until_ms)
    width = stretch_ms(since_ms, until_ms)
    read = stretch_points.last_rows(spark, window.files, since_ms, until_ms, width)
    assert sorted(map(str, points_from_last_rows(read).collect())) == sorted(
        map(str, points_by_aggregation(frame, since_ms, until_ms).collect())
    )


def test_names_that_fill_their_dictionary(tmp_path: Path) -> None:
    """A row group whose names are too many for a dictionary is read all the same."""
    count = 40_000
    rows = [
        dict.fromkeys(ROWS.fieldNames())
        | {"captured_at_ms": START_MS, "cluster": "one", "group": f"group-{n:060}"}
        | {"group_type": "classic", "topic": "t", "partition": 0, "commits_known": True}
        | {"committed_offset": n, "log_start_offset": 0, "log_end_offset": n}
        for n in range(count)
    ]
    table = pa.Table.from_pylist(rows, schema=to_arrow_schema(ROWS))
    write_file(tmp_path, "rows", table, "one", START_MS, START_MS)
    must_be_points(tmp_path, rows, START_MS, START_MS + 1, 1)


def test_old_rows_of_seen_series_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets are read of a stretch's last capture alone where captures have the same series."""
    monkeypatch.setattr(stretch_points, "CHUNK_ROWS", 1)
    rng = random.Random(5)
    series = fleet(rng)
    for number in range(20):
        rows = [
            dict.fromkeys(ROWS.fieldNames())
            | {"captured_at_ms": START_MS + number, "cluster": "one", "group": g, "topic": t}
            | {"group_type": "classic", "partition": p, "commits_known": True}
            for _, g, t, p in sorted({("one", *names) for _, *names in series})
        ]
        table = pa.Table.from_pylist(rows, schema=to_arrow_schema(ROWS))
        write_file(tmp_path, "rows", table, "one", START_MS + number, START_MS + number)
    read: list[str] = []
    monkeypatch.setattr(stretch_points._Piece, "read", noting(stretch_points._Piece.read, read))
    found = read_points(tmp_path, START_MS, START_MS + 19, 10)
    assert {said[0] - START_MS for _, said in found} == {9, 19}
    assert len([names for names in read if "log_end_offset" in names]) == 2


def noting(original: Callable[..., Any], read: list[str]) -> Callable[..., Any]:
    """The same function, with a note of the columns that it was asked for."""

    def call(piece: Any, names: Any) -> Any:
        read.append(" ".join(names))
        return original(piece, names)

    return call
