"""Files in a folder of captures that kgroups has not written, or not so: told, and left out."""

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kgroups.core.lag.captures import old_layout
from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.old_layout import VERSION_KEY
from tests.support.cli import clusters
from tests.support.lag.old_captures import write_old_capture

MINE = {VERSION_KEY: b"1"}


def a_pipe(path: Path, _good: Path) -> None:
    """Whoever opens it waits for ever."""
    os.mkfifo(path)


def a_device(path: Path, _good: Path) -> None:
    """A file without end."""
    path.symlink_to("/dev/zero")


def a_link_to_nothing(path: Path, _good: Path) -> None:
    """No file."""
    path.symlink_to("nothing")


def a_folder(path: Path, _good: Path) -> None:
    """No file either."""
    path.mkdir()


def fifty_gigabytes(path: Path, _good: Path) -> None:
    """Of zeros."""
    with path.open("wb") as file:
        file.truncate(50 << 30)


def a_billion_rows(path: Path, good: Path) -> None:
    """A long row group in a small file: the same row again and again."""
    row = pq.read_table(good).slice(0, 1)
    rows = pa.concat_tables([row] * 64).combine_chunks()
    many = pa.concat_tables([rows] * (2 * old_layout.LONGEST_GROUP // 64)).combine_chunks()
    pq.write_table(many, path, row_group_size=len(many), compression="zstd")


def other_columns(path: Path, good: Path) -> None:
    """A text where an offset should be."""
    table = pq.read_table(good)
    at = table.schema.get_field_index("log_end_offset")
    texts = pa.array(["many"] * len(table))
    pq.write_table(table.set_column(at, "log_end_offset", texts), path)


def no_columns(path: Path, _good: Path) -> None:
    """Our mark, and nothing of ours."""
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata(MINE), path)


def half(path: Path, good: Path) -> None:
    """A file that was cut off."""
    path.write_bytes(good.read_bytes()[:300])


MAKERS: dict[Callable[[Path, Path], None], str] = {
    a_pipe: "it is not a regular file",
    a_device: "it is not a regular file",
    a_link_to_nothing: "it is a link to nothing",
    a_folder: "it is not a regular file",
    fifty_gigabytes: "truncated, or not a Parquet file",
    a_billion_rows: "its rows cannot be read a part at a time",
    other_columns: "its column `log_end_offset` is not as kgroups writes it",
    no_columns: "its column `captured_at_ms` is not as kgroups writes it",
    half: "truncated, or not a Parquet file",
}


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_file_that_is_no_capture(make: Callable[[Path, Path], None], tmp_path: Path) -> None:
    """It is told with the reason, and the others are read."""
    good = write_old_capture(tmp_path, clusters.shop())
    bad = good.with_name(f"{good.name.rsplit('-', 1)[0]}-bad.parquet")
    make(bad, good)
    window = open_window(tmp_path)
    assert [file.path for file in window.files] == [str(good)]
    (error,) = window.broken
    assert (error.target, error.code) == (str(bad), "BROKEN_CAPTURE")
    assert error.message.startswith(MAKERS[make])
