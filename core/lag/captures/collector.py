"""Captures taken one after the other, each appended to a folder."""

import itertools
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.lag.captures.capture_files import UNFINISHED, write_file
from kgroups.core.lag.captures.capture_tables import capture_tables, cluster_name
from kgroups.core.snapshot import ClusterSnapshot

# A hidden file as old as this was left by a run that died.
ABANDONED_S = 3600.0


class Capture(NamedTuple):
    """What one run of the collector did.

    Args:
        captured_at_ms: time of the snapshot; None if there is none.
        rows: partitions written.
        files: what was written.
        error: why there is no snapshot.
    """

    captured_at_ms: int | None
    rows: int
    files: tuple[Path, ...]
    error: KgroupsError | None = None


def collect(
    take: Callable[[], ClusterSnapshot],
    folder: Path,
    *,
    every_ms: int = 0,
    count: int | None = 1,
    clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    sleep_ms: Callable[[int], None] = lambda ms: time.sleep(ms / 1000),
) -> Iterator[Capture]:
    """Takes `count` captures, `every_ms` apart, and appends each to `folder`.

    A capture that fails is told and the next one tried. Captures start on a fixed beat; one that
    takes longer than a beat makes the next wait for the following beat.

    Args:
        take: gives a snapshot, with offsets and log offsets.
        count: None goes on until the caller stops.
        clock_ms, sleep_ms: the real ones unless the caller has others, which may raise to stop.
    Raises:
        UsageError: the folder cannot be written; the first capture is refused as misused.
    """
    make_folder(folder)
    start = clock_ms()
    for number in itertools.count() if count is None else range(count):
        try:
            snapshot = take()
            yield write_capture(folder, snapshot)
        except KgroupsError as exc:
            if isinstance(exc, UsageError) and number == 0:
                raise
            yield Capture(None, 0, (), exc)
        if number + 1 != count and every_ms > 0:
            passed = clock_ms() - start
            sleep_ms(every_ms - passed % every_ms)


def make_folder(folder: Path) -> None:
    """The folder of captures, made if it is not there, cleared of what died runs left.

    Raises:
        UsageError: it cannot be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"{UNFINISHED}{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as exc:
        raise UsageError(
            f"captures cannot be written to `{folder}`: {exc.strerror}",
            hint="choose a folder that you can write to",
        ) from exc
    for left in folder.glob(f"*/*/*/{UNFINISHED}*"):
        if time.time() - left.stat().st_mtime > ABANDONED_S:
            left.unlink(missing_ok=True)


def write_capture(folder: Path, snapshot: ClusterSnapshot) -> Capture:
    """Appends one snapshot; its rows come last, so that a capture with rows has everything."""
    tables = capture_tables([snapshot])
    at_ms, cluster = snapshot.captured_at_ms, cluster_name(snapshot)
    # fmt: off
    files = tuple(
        write_file(folder, name, getattr(tables, name), cluster, at_ms, at_ms)
        for name in ("topics", "members", "rows")
    )
    # fmt: on
    return Capture(at_ms, tables.rows.num_rows, files)
