"""Captures taken one after the other, each appended to a folder."""

import itertools
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from kgroups.core.errors import KgroupsError, UsageError
from kgroups.core.lag.captures.capture_tables import (
    CaptureTables,
    capture_tables,
    cluster_name,
)
from kgroups.core.lag.captures.delta_log import check_path
from kgroups.core.lag.captures.delta_table import FACTS, append, dated, marks_of
from kgroups.core.lag.captures.pending import is_due, keep, move
from kgroups.core.lag.stores.held_tables import HeldTables
from kgroups.core.lag.stores.places import Place, Store, has_tables
from kgroups.core.snapshot import ClusterSnapshot


class Capture(NamedTuple):
    """The result of one run of the collector.

    Args:
        captured_at_ms: time of the snapshot; None if there is none.
        rows: partitions written.
        error: why there is no snapshot.
    """

    captured_at_ms: int | None
    rows: int
    error: KgroupsError | None = None


def collect(
    take: Callable[[], ClusterSnapshot],
    folder: Place,
    *,
    every_ms: int = 0,
    count: int | None = 1,
    clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    sleep_ms: Callable[[int], None] = lambda ms: time.sleep(ms / 1000),
) -> Iterator[Capture]:
    """Takes `count` captures, `every_ms` apart, and appends each to `folder`.

    Captures that go on are kept in files of their own, which are moved into the tables together.
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
    held = HeldTables()
    start = clock_ms()
    write = keep_capture if every_ms > 0 and count != 1 else write_capture
    try:
        for number in itertools.count() if count is None else range(count):
            try:
                yield write(folder, take(), held)
                if isinstance(folder, Path) and is_due(folder, clock_ms()):
                    move(folder, held)
            except KgroupsError as exc:
                if isinstance(exc, UsageError) and number == 0:
                    raise
                yield Capture(None, 0, exc)
            if number + 1 != count and every_ms > 0:
                passed = clock_ms() - start
                sleep_ms(every_ms - passed % every_ms)
    finally:
        move(folder, held)


def make_folder(folder: Place) -> None:
    """The folder of captures, made if it is not there; a store must let us in.

    Raises:
        UsageError: it cannot be made or written.
        NotFoundError: the store has no such bucket.
        ClusterError: the store cannot be reached or entered.
    """
    check_path(folder)
    if isinstance(folder, Store):
        has_tables(folder)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as exc:
        raise UsageError(
            f"captures cannot be written to `{folder}`: {exc.strerror}",
            hint="choose a folder that you can write to",
        ) from exc


def write_capture(
    folder: Place, snapshot: ClusterSnapshot, held: HeldTables | None = None
) -> Capture:
    """Appends one snapshot.

    Args:
        held: keeps the tables open for the next one.
    """
    tables = capture_tables([snapshot])
    write_facts(folder, tables, cluster_name(snapshot), snapshot.captured_at_ms, held)
    return Capture(snapshot.captured_at_ms, tables.rows.num_rows)


def keep_capture(
    folder: Place, snapshot: ClusterSnapshot, held: HeldTables | None = None
) -> Capture:
    """Keeps one snapshot in a file of its own, to be moved with others; in a store appends it."""
    if isinstance(folder, Store):
        return write_capture(folder, snapshot, held)
    tables, at_ms = capture_tables([snapshot]), snapshot.captured_at_ms
    content = {name: dated(getattr(tables, name)) for name in FACTS}
    content["captures"] = marks_of(tables.rows, cluster_name(snapshot), [at_ms])
    keep(folder, content, at_ms)
    return Capture(at_ms, tables.rows.num_rows)


def write_facts(
    folder: Place,
    tables: CaptureTables,
    cluster: str,
    at_ms: int,
    held: HeldTables | None = None,
) -> None:
    """Appends one capture's facts, then the row that says that they are all there."""
    for name in ("topics", "members", "rows"):
        content = getattr(tables, name)
        if content.num_rows:
            append(folder, name, dated(content), held)
    append(folder, "captures", marks_of(tables.rows, cluster, [at_ms]), held)
