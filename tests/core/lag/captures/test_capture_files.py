"""Captures as files: whole or not at all, found by their times, merged, and broken ones named."""

import os
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kgroups.core.errors import ClusterError, ItemError, NotFoundError, UsageError
from kgroups.core.lag.captures import capture_files, collector
from kgroups.core.lag.captures.capture_files import (
    VERSION_KEY,
    CapturedFile,
    Span,
    find_captures,
    open_window,
)
from kgroups.core.lag.captures.collector import collect, write_capture
from kgroups.core.lag.captures.compacted import compact
from kgroups.core.lag.captures.spark_columns import MEMBERS, ROWS, TOPICS
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.kafka.child import run_program
from tests.support.lag.made_fleet import fleet

DAY_MS = 86_400_000


def taking(snapshots: list[ClusterSnapshot]) -> Callable[[], ClusterSnapshot]:
    """A `take` that gives these, one after the other."""
    left: Iterator[ClusterSnapshot] = iter(snapshots)
    return lambda: next(left)


def test_a_capture_is_three_tables_by_cluster_and_date(tmp_path: Path) -> None:
    """The layout, the names and the columns; nothing hidden is left."""
    (capture,) = collect(taking([fleet(1, cluster="a/b c", at_ms=DAY_MS + 5)]), tmp_path)
    assert capture.error is None
    assert capture.captured_at_ms == DAY_MS + 5
    for schema, name in ((TOPICS, "topics"), (MEMBERS, "members"), (ROWS, "rows")):
        (path,) = (tmp_path / name).rglob("*.*")
        assert path in capture.files
        assert path.parent == tmp_path / name / "cluster=a%2Fb%20c" / "date=1970-01-02"
        assert path.name.startswith(f"{DAY_MS + 5}-{DAY_MS + 5}-")
        expected = [column for column in schema.fieldNames() if column != "cluster"]
        assert pq.read_schema(path).names == expected
    (found,) = find_captures(tmp_path)
    assert (found.cluster, found.first_ms, found.last_ms) == ("a/b c", DAY_MS + 5, DAY_MS + 5)
    assert pq.ParquetFile(found.path).metadata.num_rows == capture.rows


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
    assert len(find_captures(tmp_path)) == 3


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
    from kgroups.core.lag.captures.collector import write_capture
    from tests.support.lag.made_fleet import fleet

    # The bytes are in the file, and it has no name yet.
    os.fsync = lambda _file: os.kill(os.getpid(), signal.SIGKILL)
    write_capture(Path(sys.argv[1]), fleet(1, at_ms=2))
    """
)


def test_a_run_that_dies_leaves_no_half_file(tmp_path: Path) -> None:
    """Killed while it writes: readers see nothing of it, and a later run clears it away."""
    write_capture(tmp_path, fleet(1, at_ms=1))
    done = run_program([sys.executable, "-c", KILLED, str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    hidden = list(tmp_path.rglob(f"{capture_files.UNFINISHED}*"))
    assert len(hidden) == 1
    assert [file.first_ms for file in find_captures(tmp_path)] == [1]
    list(collect(taking([fleet(1, at_ms=3)]), tmp_path))
    assert hidden[0].exists(), "another run may be writing it"
    old = time.time() - collector.ABANDONED_S - 1
    os.utime(hidden[0], (old, old))
    list(collect(taking([fleet(1, at_ms=4)]), tmp_path))
    assert not hidden[0].exists()


def test_two_at_once_do_not_clash(tmp_path: Path) -> None:
    """Eight captures of the same moment from eight threads are eight files, each whole."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: write_capture(tmp_path, fleet(1, at_ms=7)), range(8)))
    files = find_captures(tmp_path)
    assert len({file.path for file in files}) == 8
    assert len({pq.ParquetFile(file.path).read().num_rows for file in files}) == 1


def test_a_window_finds_files_by_their_times(tmp_path: Path) -> None:
    """Both ends included; nothing in the window says what there is."""
    for at_ms in (1_000, 2_000, 3_000, DAY_MS):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    window = open_window(tmp_path, since_ms=2_000, until_ms=3_000)
    assert [file.first_ms for file in window.files] == [2_000, 3_000]
    assert window.spans["c1"].last_ms == 3_000
    with pytest.raises(NotFoundError, match="no captures in the window") as caught:
        open_window(tmp_path, since_ms=4_000, until_ms=5_000)
    assert caught.value.hint is not None
    assert "1970-01-01T00:00:01.000Z to 1970-01-02T00:00:00.000Z" in caught.value.hint
    with pytest.raises(NotFoundError, match="does not exist"):
        open_window(tmp_path / "nowhere")


def test_broken_files_are_named(tmp_path: Path) -> None:
    """Cut off, no Parquet, someone else's, or of a newer kgroups: each says why."""
    good, cut, text, theirs, newer = (
        write_capture(tmp_path, fleet(1, at_ms=ms)).files[-1] for ms in range(1, 6)
    )
    cut.write_bytes(cut.read_bytes()[:-20])
    text.write_text("not a table")
    table = pq.ParquetFile(good).read()
    pq.write_table(table.replace_schema_metadata({}), theirs)
    pq.write_table(table.replace_schema_metadata({VERSION_KEY: b"99"}), newer)
    window = open_window(tmp_path)
    assert [file.path for file in window.files] == [good]
    why = {Path(error.target): error.message for error in window.broken}
    assert set(why) == {cut, text, theirs, newer}
    assert "truncated, or not a Parquet file" in why[cut]
    assert "truncated, or not a Parquet file" in why[text]
    assert "not written by kgroups" in why[theirs]
    assert "newer kgroups (schema 99)" in why[newer]
    with pytest.raises(UsageError, match="cannot be read"):
        open_window(tmp_path, strict=True)


def test_compacting_keeps_every_row(tmp_path: Path) -> None:
    """One file a day and table afterwards, the same rows; a broken file stays as it is."""
    times = [1, 2, 3, DAY_MS + 1, DAY_MS + 2, 2 * DAY_MS]
    for at_ms in times:
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    broken = find_captures(tmp_path)[0].path
    broken.write_bytes(b"")
    rows_before = count_rows(tmp_path, besides=broken)
    done = list(compact(tmp_path, before_ms=2 * DAY_MS))
    assert sum(d.files for d in done) == 2 + 2 + 3 * 2 + 2 * 2 - 0
    assert count_rows(tmp_path, besides=broken) == rows_before
    files = find_captures(tmp_path)
    assert [(file.first_ms, file.last_ms) for file in files] == [
        (1, 1),
        (2, 3),
        (DAY_MS + 1, DAY_MS + 2),
        (2 * DAY_MS, 2 * DAY_MS),
    ]
    assert list(compact(tmp_path, before_ms=2 * DAY_MS)) == []


def test_merging_streams_and_mixes_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups of one size out of files of any; a column that a file is too old for is null."""
    monkeypatch.setattr(capture_files, "ROW_GROUP", 50)
    older, newer = (write_capture(tmp_path, fleet(1, 20, at_ms=ms)).files[-1] for ms in (1, 2))
    table = pq.ParquetFile(older).read()
    # As written before the column existed.
    pq.write_table(table.drop_columns(["error"]), older)
    expected = table.num_rows + pq.ParquetFile(newer).read().num_rows
    done = [d for d in compact(tmp_path) if "rows" in d.path.parts]
    assert [(d.files, d.rows) for d in done] == [(2, expected)]
    merged = pq.ParquetFile(done[0].path)
    sizes = [merged.metadata.row_group(n).num_rows for n in range(merged.num_row_groups)]
    assert sizes[:-1] == [50] * (len(sizes) - 1)
    assert len(sizes) > 2
    rows = merged.read(["captured_at_ms", "error"]).to_pylist()
    assert {row["error"] for row in rows if row["captured_at_ms"] == 1} == {None}
    assert any(row["error"] for row in rows if row["captured_at_ms"] == 2)


def test_two_merge_at_once(tmp_path: Path) -> None:
    """Neither fails and no capture is lost; one that both merged is there twice and counts once."""
    for at_ms in range(1, 30):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    before = {file.first_ms for file in find_captures(tmp_path)}
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: list(compact(tmp_path)), range(3)))
    assert set(count_rows(tmp_path, besides=tmp_path)) == before


def test_windows_are_found_while_files_are_merged(tmp_path: Path) -> None:
    """A file that goes away while it is looked at is no broken one."""
    with ThreadPoolExecutor(1) as pool:
        for first_ms in (1, 101):
            for at_ms in range(first_ms, first_ms + 10):
                write_capture(tmp_path, fleet(1, at_ms=at_ms))
            merging = pool.submit(lambda: list(compact(tmp_path)))
            while not merging.done():
                window = open_window(tmp_path)
                assert window.broken == ()
                assert window.spans["c1"].last_ms == first_ms + 9
            assert merging.result(60)


def test_files_go_away_in_one_look_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where looking is slower than removing, a file of every look is gone until all are."""
    for at_ms in range(1, 8):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    *doomed, last = find_captures(tmp_path)

    def find_then_lose(folder: Path, **window: Any) -> list[CapturedFile]:
        files = find_captures(folder, **window)
        if doomed:
            doomed.pop().path.unlink()
        return files

    monkeypatch.setattr(capture_files, "find_captures", find_then_lose)
    window = open_window(tmp_path)
    assert ([file.path for file in window.files], window.broken) == ([last.path], ())


def count_rows(folder: Path, besides: Path) -> dict[int, int]:
    """Captures and their rows in all files but one."""
    counts: dict[int, int] = {}
    for file in find_captures(folder):
        if file.path != besides:
            for at_ms in pq.ParquetFile(file.path).read(["captured_at_ms"])["captured_at_ms"]:
                counts[at_ms.as_py()] = counts.get(at_ms.as_py(), 0) + 1
    return counts


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Named before the cluster is asked."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        list(collect(taking([]), tmp_path / "file" / "folder"))


def test_merged_files_know_their_captures(tmp_path: Path) -> None:
    """A window in a gap has no captures, and one without a row is still there."""
    for at_ms in (1_000, 2_000, 9_000):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    empty = ClusterSnapshot(captured_at_ms=9_500, groups=(), topics={}, cluster_id="c1")
    write_capture(tmp_path, empty)
    unmerged = open_window(tmp_path, until_ms=9_600)
    left = {file.path: file.path.read_bytes() for file in find_captures(tmp_path)}
    assert len(list(compact(tmp_path))) == 3
    merged = open_window(tmp_path, until_ms=9_600)
    assert merged.spans == unmerged.spans == {"c1": Span(1_000, 9_500)}
    assert [file.times for file in merged.files] == [(1_000, 2_000, 9_000, 9_500)]
    with pytest.raises(NotFoundError, match="no captures in the window"):
        open_window(tmp_path, since_ms=2_001, until_ms=8_999)
    # A merge that died before it removed anything.
    for path, content in left.items():
        path.write_bytes(content)
    assert open_window(tmp_path) == merged


def test_a_merge_names_what_it_cannot_read(tmp_path: Path) -> None:
    """A broken file stays where it is, and the others are merged."""
    for at_ms in (1_000, 2_000, 3_000):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    broken = find_captures(tmp_path)[1].path
    broken.write_bytes(broken.read_bytes()[:50])
    errors: list[ItemError] = []
    merged = {
        done.path.parents[2].name: done.files for done in compact(tmp_path, tell=errors.append)
    }
    assert merged == {"rows": 2, "members": 3, "topics": 3}
    assert [error.target for error in errors] == [str(broken)]
    assert broken.exists()
