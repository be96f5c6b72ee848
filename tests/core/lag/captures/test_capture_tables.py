"""Captures as Delta tables: whole or not at all, found by their times, merged, read by others."""

import json
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from kgroups.core.errors import ClusterError, KgroupsError, NotFoundError, UsageError
from kgroups.core.lag.captures import delta_table
from kgroups.core.lag.captures.capture_window import Span, open_window
from kgroups.core.lag.captures.collector import collect, write_capture
from kgroups.core.lag.captures.delta_log import LOGS
from kgroups.core.lag.captures.delta_table import CAPTURES, FACTS, active_files, append, dated
from kgroups.core.lag.captures.table_columns import SCHEMA_VERSION, arrow_schema
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.kafka.child import run_program
from tests.support.lag.capture_writer import table_of
from tests.support.lag.made_fleet import fleet

DAY_MS = 86_400_000


def taking(snapshots: list[ClusterSnapshot]) -> Callable[[], ClusterSnapshot]:
    """A `take` that gives these, one after the other."""
    left: Iterator[ClusterSnapshot] = iter(snapshots)
    return lambda: next(left)


def rows_of(folder: Path, table: str) -> pa.Table:
    """All rows of a table, as a Delta reader sees them."""
    return DeltaTable(folder / table).to_pyarrow_table()


def test_a_capture_is_a_commit_in_four_tables(tmp_path: Path) -> None:
    """Their columns, their partitions, and nothing else in the folder."""
    (capture,) = collect(taking([fleet(1, cluster="a/b 'c", at_ms=DAY_MS + 5)]), tmp_path)
    assert (capture.error, capture.captured_at_ms) == (None, DAY_MS + 5)
    schemas = {"captures": CAPTURES} | {name: arrow_schema(name) for name in FACTS}
    assert {path.name for path in tmp_path.iterdir()} == {*schemas, LOGS}
    for name, schema in schemas.items():
        found = rows_of(tmp_path, name)
        assert set(found.column_names) == {*schema.names, "date"}
        assert {*found["cluster"].to_pylist(), *found["date"].to_pylist()} == {
            "a/b 'c",
            "1970-01-02",
        }
        assert DeltaTable(tmp_path / name).metadata().partition_columns == ["cluster", "date"]
    assert rows_of(tmp_path, "captures").select(CAPTURES.names).to_pylist() == [
        {
            "captured_at_ms": DAY_MS + 5,
            "cluster": "a/b 'c",
            "rows": capture.rows,
            "unstable_rows": 0,
            "schema_version": SCHEMA_VERSION,
        }
    ]
    assert rows_of(tmp_path, "rows").num_rows == capture.rows


def test_the_log_is_of_a_table_that_any_reader_opens(tmp_path: Path) -> None:
    """Read without delta-rs: the oldest protocol, no feature, and every file that it names."""
    for at_ms in (1, 2):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    log = sorted((tmp_path / "rows" / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for path in log for line in path.read_text().splitlines()]
    (protocol,) = [action["protocol"] for action in actions if "protocol" in action]
    assert protocol == {"minReaderVersion": 1, "minWriterVersion": 2}
    added = [action["add"]["path"] for action in actions if "add" in action]
    named = [pq.ParquetFile(tmp_path / "rows" / path).metadata.num_rows for path in added]
    assert sum(named) == rows_of(tmp_path, "rows").num_rows


def test_readers_of_parquet_take_the_folder_of_a_table(tmp_path: Path) -> None:
    """Every file under it is data; a folder made before has its log inside, and keeps it there."""
    rows = str(tmp_path / "rows" / "**")
    for at_ms in (1, 2):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
        question = f"SELECT captured_at_ms FROM read_parquet('{rows}')"
        found = duckdb.connect().execute(question).fetchall()
        known = rows_of(tmp_path, "rows")["captured_at_ms"].to_pylist()
        assert sorted(one for (one,) in found) == sorted(known)
    assert pq.read_table(tmp_path / "rows").num_rows == len(found)
    for table in (*FACTS, "captures"):
        log = tmp_path / table / "_delta_log"
        log.unlink()
        (tmp_path / LOGS / table).rename(log)
    write_capture(tmp_path, fleet(1, at_ms=3))
    list(compact(tmp_path))
    assert sorted(open_window(tmp_path).captures["captured_at_ms"].to_pylist()) == [1, 2, 3]
    assert not log.is_symlink()


def test_captures_come_on_a_beat(tmp_path: Path) -> None:
    """Every 60 s from the start; one that takes 70 s makes the next wait for the beat after."""
    now_ms = 1_000_000
    begun: list[int] = []
    lasting = iter([5_000, 70_000, 1_000])

    def take() -> ClusterSnapshot:
        nonlocal now_ms
        begun.append(now_ms)
        now_ms += next(lasting)
        return fleet(1, at_ms=now_ms)

    def sleep_ms(ms: int) -> None:
        nonlocal now_ms
        now_ms += ms

    options = {"clock_ms": lambda: now_ms, "sleep_ms": sleep_ms}
    captures = list(collect(take, tmp_path, every_ms=60_000, count=3, **options))  # type: ignore[arg-type]
    assert begun == [1_000_000, 1_060_000, 1_180_000]
    assert [c.captured_at_ms for c in captures] == [1_005_000, 1_130_000, 1_181_000]
    assert open_window(tmp_path).captures.num_rows == 3


def test_a_capture_that_fails_is_told_and_the_next_one_tried(tmp_path: Path) -> None:
    """A broker that is away for one beat costs one capture."""
    answers = iter([fleet(1, at_ms=1), ClusterError("no broker answers"), fleet(1, at_ms=3)])

    def take() -> ClusterSnapshot:
        answer = next(answers)
        if isinstance(answer, ClusterError):
            raise answer
        assert isinstance(answer, ClusterSnapshot)
        return answer

    captures = list(collect(take, tmp_path, count=3))
    assert [c.captured_at_ms for c in captures] == [1, None, 3]
    assert isinstance(captures[1].error, ClusterError)


KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from kgroups.core.lag.captures import collector
    from tests.support.lag.made_fleet import fleet

    # The rows are there, and nothing says yet that they are all.
    collector.marks_of = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    collector.write_capture(Path(sys.argv[1]), fleet(1, at_ms=2))
    """
)


def test_a_run_that_dies_leaves_no_capture(tmp_path: Path) -> None:
    """Killed between rows and capture: no reader counts it, and merging drops what it left."""
    first = write_capture(tmp_path, fleet(1, at_ms=1))
    done = run_program([sys.executable, "-c", KILLED, str(tmp_path)])
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(active_files(tmp_path, "rows")) == 2
    window = open_window(tmp_path)
    assert (window.spans, window.is_clean) == ({"c1": Span(1, 1)}, False)
    list(compact(tmp_path, before_ms=DAY_MS))
    assert rows_of(tmp_path, "rows").num_rows == first.rows
    assert open_window(tmp_path).is_clean


def test_eight_at_once(tmp_path: Path) -> None:
    """The first captures of a folder, from eight threads: each is there once and whole."""
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda ms: write_capture(tmp_path, fleet(1, at_ms=ms)), range(8)))
    window = open_window(tmp_path)
    assert sorted(window.captures["captured_at_ms"].to_pylist()) == list(range(8))
    assert (window.rows, window.is_clean) == (sum(capture.rows for capture in done), True)


def test_two_collectors_at_the_same_millisecond(tmp_path: Path) -> None:
    """A report has to count such a capture once, and is told so."""
    for _ in range(2):
        write_capture(tmp_path, fleet(1, at_ms=7))
    assert not open_window(tmp_path).is_clean


def test_a_window_finds_captures_by_their_times(tmp_path: Path) -> None:
    """Both ends included, merged or not; nothing in the window says what there is."""
    for at_ms in (1_000, 2_000, 9_000, DAY_MS):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    empty = ClusterSnapshot(captured_at_ms=9_500, groups=(), topics={}, cluster_id="c1")
    write_capture(tmp_path, empty)
    for is_merged in (False, True):
        if is_merged:
            assert {step.files for step in compact(tmp_path)} == {3, 4}
        window = open_window(tmp_path, since_ms=2_000, until_ms=9_000)
        assert window.spans == {"c1": Span(2_000, 9_000)}
        assert len(window.files) == (1 if is_merged else 2)
        assert open_window(tmp_path, until_ms=9_600).spans == {"c1": Span(1_000, 9_500)}
        with pytest.raises(NotFoundError, match="no captures in the window") as caught:
            open_window(tmp_path, since_ms=2_001, until_ms=8_999)
        assert caught.value.hint is not None
        assert "1970-01-01T00:00:01.000Z to 1970-01-02T00:00:00.000Z" in caught.value.hint
    with pytest.raises(NotFoundError, match="does not exist"):
        open_window(tmp_path / "nowhere")


def test_merging_leaves_today_alone(tmp_path: Path) -> None:
    """One file a past day and table afterwards, the same rows; a second run has nothing to do."""
    for at_ms in (1, 2, DAY_MS + 1, DAY_MS + 2, 2 * DAY_MS, 2 * DAY_MS + 1):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    before = rows_of(tmp_path, "rows").sort_by([(name, "ascending") for name in ORDER])
    done = list(compact(tmp_path, before_ms=2 * DAY_MS))
    assert {step.date for step in done} == {"1970-01-01", "1970-01-02"}
    assert {step.action for step in done} == {"merged"}
    assert len(active_files(tmp_path, "rows")) == 4
    after = rows_of(tmp_path, "rows").sort_by([(name, "ascending") for name in ORDER])
    assert after.select(arrow_schema("rows").names).equals(
        before.select(arrow_schema("rows").names)
    )
    assert list(compact(tmp_path, before_ms=2 * DAY_MS)) == []


ORDER = ("captured_at_ms", "group", "topic", "partition")


def test_merges_and_collectors_at_once(tmp_path: Path) -> None:
    """Three merge and one collects, all of today: no row is lost, and none is there twice."""
    for at_ms in range(1, 9):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))

    def work(number: int) -> None:
        if number:
            list(compact(tmp_path))
        else:
            for at_ms in range(9, 13):
                write_capture(tmp_path, fleet(1, at_ms=at_ms))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    window = open_window(tmp_path)
    assert sorted(window.captures["captured_at_ms"].to_pylist()) == list(range(1, 13))
    assert window.is_clean
    assert rows_of(tmp_path, "rows").num_rows == sum(window.captures["rows"].to_pylist())


def test_a_reader_keeps_the_version_that_it_opened(tmp_path: Path) -> None:
    """Merging removes nothing that was active in the last seven days."""
    for at_ms in (1, 2):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    window = open_window(tmp_path)
    assert "removed" not in {step.action for step in compact(tmp_path)}
    assert sum(pq.ParquetFile(file.path).metadata.num_rows for file in window.files) == window.rows


def test_older_and_newer_columns(tmp_path: Path) -> None:
    """A collector that knows one column more, then one that does not: both are appended."""
    for at_ms in (1, 2):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    newer = table_of("rows", [{**rows_of(tmp_path, "rows").to_pylist()[0], "captured_at_ms": 3}])
    append(tmp_path, "rows", dated(newer.append_column("colour", pa.array(["red"]))))
    write_capture(tmp_path, fleet(1, at_ms=4))
    colours = rows_of(tmp_path, "rows")["colour"].to_pylist()
    assert {colour for colour in colours if colour} == {"red"}
    assert {step.action for step in compact(tmp_path)} == {"merged"}


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("harm", "why"),
    [(cut_off, "bytes, the table says"), (removed, "No such file or directory")],
    ids=["cut off", "removed"],
)
def test_broken_files_are_named(tmp_path: Path, harm: Callable[[Path], None], why: str) -> None:
    """The capture in it is left out and the others are read, or none with `strict`."""
    for at_ms in (1, 2, 3):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    path = Path(active_files(tmp_path, "rows")[1].path)
    harm(path)
    window = open_window(tmp_path)
    assert sorted(window.captures["captured_at_ms"].to_pylist()) == [1, 3]
    (error,) = window.broken
    assert (error.target, error.code) == (str(path), "BROKEN_CAPTURE")
    assert why in error.message
    with pytest.raises(UsageError, match="cannot be read"):
        open_window(tmp_path, strict=True)


def test_rows_that_somebody_deleted(tmp_path: Path) -> None:
    """A capture that has lost rows is no capture."""
    for at_ms in (1, DAY_MS):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    DeltaTable(tmp_path / "rows").delete("captured_at_ms = 1 AND partition = 0")
    window = open_window(tmp_path)
    assert window.captures["captured_at_ms"].to_pylist() == [DAY_MS]
    assert "rows are missing" in window.broken[0].message


def test_captures_of_a_newer_kgroups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told and left out."""
    write_capture(tmp_path, fleet(1, at_ms=1))
    monkeypatch.setattr(delta_table, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    write_capture(tmp_path, fleet(1, at_ms=2))
    window = open_window(tmp_path)
    assert window.captures["captured_at_ms"].to_pylist() == [1]
    assert "1 captures were written by a newer kgroups" in window.broken[0].message


def test_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    """One sentence with the table."""
    write_capture(tmp_path, fleet(1, at_ms=1))
    (log,) = (tmp_path / "captures" / "_delta_log").glob("*.json")
    log.write_text("{not json")
    with pytest.raises(KgroupsError, match=r"the table `.*captures` cannot be read"):
        open_window(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Named before the cluster is asked."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        list(collect(taking([]), tmp_path / "file" / "folder"))


@pytest.mark.parametrize("name", ["a b", "é", "#?&=+", "'", "a:b", "~", "*"])
def test_folders_of_many_names(tmp_path: Path, name: str) -> None:
    """What tables can have in a path is written, found and read under that path."""
    write_capture(tmp_path / name, fleet(1, at_ms=1))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert open_window(tmp_path / name).is_clean


@pytest.mark.parametrize("name", ["a\nb", "%20", "a\\b", "[::1]", "a|b", "^"])
def test_folders_that_no_table_can_be_in(tmp_path: Path, name: str) -> None:
    """Refused before the cluster is asked, and nothing is made."""
    with pytest.raises(UsageError, match="the path of a Delta table cannot hold"):
        list(collect(taking([]), tmp_path / name))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cluster", ["[::1]:9092", "100%", "a|b\\c", "é", "c=d", "a\nb"])
def test_clusters_of_odd_names(tmp_path: Path, cluster: str) -> None:
    """They are values, not paths."""
    for at_ms in (1, 2):
        write_capture(tmp_path, fleet(1, cluster=cluster, at_ms=at_ms))
    list(compact(tmp_path))
    window = open_window(tmp_path)
    assert (window.spans, window.is_clean, window.broken) == ({cluster: Span(1, 2)}, True, ())


def test_collecting_needs_no_spark(tmp_path: Path) -> None:
    """Where neither PySpark nor pandas is installed."""
    program = textwrap.dedent(
        """
        import sys

        class Missing:
            def find_spec(self, name, *_):
                if name.partition(".")[0] in {"pyspark", "pandas"}:
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Missing())
        from pathlib import Path
        from kgroups.core.lag.captures.collector import write_capture
        from kgroups.core.lag.captures.upkeep import compact
        from tests.support.lag.made_fleet import fleet

        for at_ms in (1, 2):
            write_capture(Path(sys.argv[1]), fleet(1, at_ms=at_ms))
        print(len([*compact(Path(sys.argv[1]))]))
        """
    )
    done = run_program([sys.executable, "-c", program, str(tmp_path)])
    assert (done.returncode, done.stdout) == (0, "4\n"), done.stderr
