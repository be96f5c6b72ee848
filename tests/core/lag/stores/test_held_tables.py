"""A collector that keeps its tables open writes what one writes that opens them anew."""

import shutil
from pathlib import Path

from deltalake import DeltaTable

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_table import TABLES
from kgroups.core.lag.captures.upkeep import compact
from kgroups.core.lag.stores.held_tables import CHECKPOINT_EVERY, HeldTables
from tests.support.lag.made_fleet import fleet


def times_in(folder: Path) -> list[int]:
    """When the captures of a folder were taken; each is there as a whole."""
    window = open_window(folder)
    assert window.is_clean
    return sorted(window.captures["captured_at_ms"].to_pylist())


def test_captures_past_a_checkpoint(tmp_path: Path) -> None:
    """As many commits as captures, each once, while the table is opened anew now and then."""
    held, count = HeldTables(), CHECKPOINT_EVERY + 5
    found = []  # holds each, so that no two have the same id
    for at_ms in range(count):
        write_capture(tmp_path, fleet(1, at_ms=at_ms), held)
        found.append(held.find(tmp_path / "rows"))
    opened = {id(table) for table in found}
    assert times_in(tmp_path) == list(range(count))
    assert {DeltaTable(tmp_path / name).version() for name in TABLES} == {count - 1}
    assert 2 <= len(opened) < count / 2, "the table did not stay open"


def test_another_collector_and_a_merge_in_between(tmp_path: Path) -> None:
    """What others commit meanwhile is neither lost nor undone."""
    one, other = HeldTables(), HeldTables()
    for at_ms in range(6):
        write_capture(tmp_path, fleet(1, at_ms=at_ms), one if at_ms % 2 else other)
    list(compact(tmp_path))
    write_capture(tmp_path, fleet(1, at_ms=6), one)
    list(compact(tmp_path))
    write_capture(tmp_path, fleet(1, at_ms=7), other)
    assert times_in(tmp_path) == list(range(8))


def test_a_folder_that_went_away(tmp_path: Path) -> None:
    """Removed between two captures, or replaced by another: what comes next is a whole table."""
    held, folder = HeldTables(), tmp_path / "captures of a cluster"
    for at_ms in range(3):
        write_capture(folder, fleet(1, at_ms=at_ms), held)
    shutil.rmtree(folder)
    write_capture(folder, fleet(1, at_ms=3), held)
    assert times_in(folder) == [3]
    write_capture(folder, fleet(1, at_ms=4), held)
    shutil.rmtree(folder)
    for at_ms in (5, 6):
        write_capture(folder, fleet(1, at_ms=at_ms))
    write_capture(folder, fleet(1, at_ms=7), held)
    assert times_in(folder) == [5, 6, 7]
