"""Captures of the layout of before: read as they are, and moved into the tables."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from kgroups.core.errors import ItemError, NotFoundError, UsageError
from kgroups.core.lag.captures import upkeep
from kgroups.core.lag.captures.capture_window import Span, open_window
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.old_layout import VERSION_KEY, find_captures
from kgroups.core.lag.captures.upkeep import compact, upgrade
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.lag.made_fleet import fleet
from tests.support.lag.old_captures import merge_old, write_old_capture

DAY_MS = 86_400_000
TIMES = (1_000, 2_000, 9_000, DAY_MS)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Captures of two days, one without a row."""
    for at_ms in TIMES:
        write_old_capture(tmp_path, fleet(1, cluster="a/b 'c", at_ms=at_ms))
    empty = ClusterSnapshot(captured_at_ms=9_500, groups=(), topics={}, cluster_id="a/b 'c")
    write_old_capture(tmp_path, empty)
    return tmp_path


def times_in(folder: Path) -> list[int]:
    """Of the captures that a reader finds."""
    return sorted(open_window(folder).captures["captured_at_ms"].to_pylist())


def test_merged_files_know_their_captures(folder: Path) -> None:
    """A window in a gap has no captures, also where a merge died before it removed anything."""
    for remove in (None, False, True):
        if remove is not None:
            merge_old(folder, remove=remove)
        assert times_in(folder) == sorted((*TIMES, 9_500))
        window = open_window(folder, until_ms=9_600)
        assert window.spans == {"a/b 'c": Span(1_000, 9_500)}
        with pytest.raises(NotFoundError, match="no captures in the window"):
            open_window(folder, since_ms=2_001, until_ms=8_999)


def test_broken_files_are_named(tmp_path: Path) -> None:
    """Cut off, no Parquet, someone else's, or of a newer kgroups: each says why."""
    good, cut, text, theirs, newer = (
        write_old_capture(tmp_path, fleet(1, at_ms=ms)) for ms in range(1, 6)
    )
    cut.write_bytes(cut.read_bytes()[:-20])
    text.write_text("not a table")
    table = pq.ParquetFile(good).read()
    pq.write_table(table.replace_schema_metadata({}), theirs)
    pq.write_table(table.replace_schema_metadata({VERSION_KEY: b"99"}), newer)
    window = open_window(tmp_path)
    assert [file.path for file in window.files] == [str(good)]
    why = {Path(error.target): error.message for error in window.broken}
    assert set(why) == {cut, text, theirs, newer}
    assert "truncated, or not a Parquet file" in why[cut]
    assert "truncated, or not a Parquet file" in why[text]
    assert "not written by kgroups" in why[theirs]
    assert "newer kgroups (schema 99)" in why[newer]
    with pytest.raises(UsageError, match="cannot be read"):
        open_window(tmp_path, strict=True)


def test_both_layouts_in_one_folder(folder: Path) -> None:
    """A collector goes on with tables where files of before are."""
    write_capture(folder, fleet(1, cluster="a/b 'c", at_ms=DAY_MS + 1))
    assert times_in(folder) == sorted((*TIMES, 9_500, DAY_MS + 1))
    assert {step.action for step in compact(folder)} <= {"merged"}
    assert times_in(folder) == sorted((*TIMES, 9_500, DAY_MS + 1))


def test_captures_are_moved_into_the_tables(folder: Path) -> None:
    """Every row once, though a merge died; of the files nothing is left."""
    members = fleet(1, cluster="a/b 'c", at_ms=DAY_MS + 5)
    rows = write_old_capture(folder, members)
    rows.unlink()  # a collector that died before it wrote its rows
    expected = sorted(_facts(pq.ParquetFile(file.path).read()) for file in find_captures(folder))
    merge_old(folder, remove=False)
    converted = list(upgrade(folder))
    assert {step.action for step in converted} == {"converted"}
    for table in ("rows", "members", "topics"):
        assert find_captures(folder, table) == []
    window = open_window(folder)
    assert (times_in(folder), window.is_clean, window.broken) == (
        sorted((*TIMES, 9_500)),
        True,
        (),
    )
    found = DeltaTable(folder / "rows").to_pyarrow_table()
    by_time = [found.filter(pa.compute.equal(found["captured_at_ms"], t)) for t in TIMES]
    assert sorted(map(_facts, by_time)) == [facts for facts in expected if facts]
    assert DAY_MS + 5 not in DeltaTable(folder / "members").to_pyarrow_table()["captured_at_ms"]
    assert list(upgrade(folder)) == []


def _facts(rows: pa.Table) -> list[tuple[object, ...]]:
    names = ("captured_at_ms", "group", "topic", "partition", "committed_offset", "log_end_offset")
    return sorted(zip(*(rows[name].to_pylist() for name in names), strict=True), key=repr)


def test_a_conversion_that_dies_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after a day's rows, before anything says that they are all there: none counts."""

    def die(*_: object) -> pa.Table:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(upkeep, "marks_of", die)
        with pytest.raises(KeyboardInterrupt):
            list(upgrade(folder))
    window = open_window(folder)
    assert (times_in(folder), window.is_clean) == (sorted((*TIMES, 9_500)), True)
    list(upgrade(folder))
    assert times_in(folder) == sorted((*TIMES, 9_500))
    assert find_captures(folder) == []


def test_what_cannot_be_read_is_named_and_left(folder: Path) -> None:
    """A broken file stays where it is, and the others are moved."""
    broken = find_captures(folder)[1].path
    broken.write_bytes(broken.read_bytes()[:50])
    errors: list[ItemError] = []
    list(upgrade(folder, errors.append))
    assert [error.target for error in errors] == [str(broken)]
    assert [file.path for file in find_captures(folder)] == [broken]
    assert times_in(folder) == [1_000, 9_000, 9_500, DAY_MS]
