"""Files of a table of captures that are not as kgroups wrote them: told, and left out."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.collector import write_capture
from kgroups.core.lag.captures.delta_table import active_files
from tests.support.lag.made_fleet import fleet

OTHER_SIZE = "the table says"


def a_pipe(path: Path) -> None:
    """Whoever opens it waits for ever."""
    os.mkfifo(path)


def a_device(path: Path) -> None:
    """A file without end."""
    path.symlink_to("/dev/zero")


def a_link_to_nothing(path: Path) -> None:
    """No file."""
    path.symlink_to("nothing")


def a_folder(path: Path) -> None:
    """No file either."""
    path.mkdir()


def fifty_gigabytes(path: Path) -> None:
    """Of zeros."""
    with path.open("wb") as file:
        file.truncate(50 << 30)


def half(path: Path) -> None:
    """A file that was cut off."""
    path.write_bytes(b"PAR1" * 20)


MAKERS: dict[Callable[[Path], None], str] = {
    a_pipe: OTHER_SIZE,
    a_device: OTHER_SIZE,
    a_link_to_nothing: "a file of the table cannot be read: No such file or directory",
    a_folder: OTHER_SIZE,
    fifty_gigabytes: OTHER_SIZE,
    half: OTHER_SIZE,
}


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_file_that_is_no_capture(make: Callable[[Path], None], tmp_path: Path) -> None:
    """It is told with the reason, and the others are read."""
    for at_ms in (1_000, 2_000):
        write_capture(tmp_path, fleet(1, at_ms=at_ms))
    good, bad = (file.path for file in active_files(tmp_path, "rows"))
    Path(bad).unlink()
    make(Path(bad))
    window = open_window(tmp_path)
    assert [file.path for file in window.files] == [good]
    assert window.captures["captured_at_ms"].to_pylist() == [1_000]
    (error,) = window.broken
    assert (error.target, error.code) == (bad, "BROKEN_CAPTURE")
    assert MAKERS[make] in error.message
