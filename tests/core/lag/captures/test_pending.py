"""Captures that a collector keeps before they are in the tables: nothing of them is ever lost."""

import os
import random
import signal
import sys
import textwrap
from collections import Counter
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest

from kgroups.core.errors import KgroupsError
from kgroups.core.lag.captures import pending
from kgroups.core.lag.captures.capture_files import rows_of_files
from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.captures.collector import collect, keep_capture
from kgroups.core.lag.captures.delta_table import FACTS, active_files, append
from kgroups.core.lag.captures.pending import FOLDER, LONGEST_MS, MOST, is_due, move
from tests.support.kafka.child import Child
from tests.support.lag.made_fleet import fleet

NOW_MS = 1_760_000_000_000
TIMES = pa.schema([pa.field("captured_at_ms", pa.int64())])

COLLECTOR = textwrap.dedent(
    """
    import sys
    from itertools import count
    from pathlib import Path
    from kgroups.core.lag.captures import pending
    from kgroups.core.lag.captures.collector import collect
    from tests.support.lag.made_fleet import fleet

    pending.MOST = 3
    folder, first = Path(sys.argv[1]), int(sys.argv[2])
    times = count(first)
    options = {"clock_ms": lambda: first, "sleep_ms": lambda ms: None}
    for capture in collect(
        lambda: fleet(1, 4, at_ms=next(times)), folder, every_ms=1, count=None, **options
    ):
        assert capture.error is None, capture.error
        print(capture.captured_at_ms, flush=True)
    """
)


def times_read(folder: Path) -> set[int]:
    """When the captures were taken that a reader finds: each once, and all of its rows once."""
    window = open_window(folder)
    assert not window.broken
    said = {mark["captured_at_ms"]: mark["rows"] for mark in window.captures.to_pylist()}
    assert len(said) == window.captures.num_rows
    found = rows_of_files(folder / "rows", window.files, TIMES)["captured_at_ms"].to_pylist()
    held = Counter(at_ms for at_ms in found if at_ms in said)
    assert held == said
    return set(said)


def test_a_collector_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    """Wherever it is then; a reader beside it finds whatever was reported as written before."""
    chosen = random.Random(7)
    told: set[int] = set()
    for number in range(3):
        first = str(NOW_MS + number * 1_000)
        with Child([sys.executable, "-c", COLLECTOR, str(tmp_path), first]) as child:
            for _ in range(chosen.randint(1, 9)):
                told.add(int(child.line()))
            assert times_read(tmp_path) >= told
            for _ in range(chosen.randint(1, 9)):
                told.add(int(child.line()))
            assert child.stop(signal.SIGKILL) == -signal.SIGKILL
        assert times_read(tmp_path) >= told
    assert open_window(tmp_path).is_clean
    assert not list((tmp_path / FOLDER).glob("[0-9]*"))


@pytest.mark.parametrize("table", pending.ORDER)
def test_a_move_that_dies_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """After any of its commits: what is in a table is left out of the next one."""
    for at_ms in (1, 2):
        keep_capture(tmp_path, fleet(1, at_ms=at_ms))

    def dying(folder: Path, name: str, *rest: object) -> None:
        append(folder, name, *rest)  # type: ignore[arg-type]
        if name == table:
            raise KgroupsError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(pending, "append", dying)
        with pytest.raises(KgroupsError, match="killed"):
            move(tmp_path)
    assert len(list((tmp_path / FOLDER).glob("*.arrow"))) == 2
    assert times_read(tmp_path) == {1, 2}
    assert open_window(tmp_path).is_clean


def test_few_files_however_many_captures(tmp_path: Path) -> None:
    """Sixty of ten seconds each: two commits of each table, and at the end nothing is kept."""
    times = count(NOW_MS, 10_000)
    now = {"ms": NOW_MS}

    def sleep_ms(ms: int) -> None:
        now["ms"] += ms

    list(
        collect(
            lambda: fleet(1, at_ms=next(times)),
            tmp_path,
            every_ms=10_000,
            count=2 * MOST,
            clock_ms=lambda: now["ms"],
            sleep_ms=sleep_ms,
        )
    )
    for table in (*FACTS, "captures"):
        assert len(active_files(tmp_path, table)) == 2
    assert sum(path.is_file() for path in tmp_path.rglob("*")) < 20
    assert len(times_read(tmp_path)) == 2 * MOST


def test_when_captures_are_moved(tmp_path: Path) -> None:
    """When the oldest is old, whatever else there is."""
    assert not is_due(tmp_path, NOW_MS)
    keep_capture(tmp_path, fleet(1, at_ms=NOW_MS))
    assert not is_due(tmp_path, NOW_MS + LONGEST_MS - 1)
    assert is_due(tmp_path, NOW_MS + LONGEST_MS)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """And it stays; what is no capture by its name or kind is left alone."""
    keep_capture(tmp_path, fleet(1, at_ms=1))
    (tmp_path / FOLDER / "1.arrow").write_bytes(b"?")
    os.mkfifo(tmp_path / FOLDER / f"{2:020}-{'0' * 16}.arrow")
    assert times_read(tmp_path) == {1}
    keep_capture(tmp_path, fleet(1, at_ms=3))
    (file,) = (path for path in (tmp_path / FOLDER).glob("*.arrow") if f"{3:020}-" in path.name)
    os.truncate(file, 100)
    with pytest.raises(KgroupsError, match=file.name):
        open_window(tmp_path)
    assert file.exists()
