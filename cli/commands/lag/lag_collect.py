"""`kgroups lag collect` and `lag compact`: captures of a cluster as Parquet, for later reports."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from kgroups.cli.exits import end_with, write_lines
from kgroups.cli.interruption import Interruption
from kgroups.cli.output.envelope import Report, timestamp
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, View
from kgroups.cli.params import options_of, parse_timeout_ms
from kgroups.cli.source import cluster, now_ms
from kgroups.core.errors import ItemError
from kgroups.core.snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin
    from kgroups.core.lag.captures.capture_files import Capture

Result = TypeVar("Result")

COLLECT_SCHEMA = "kgroups.lag.collect/1"
COMPACT_SCHEMA = "kgroups.lag.compact/1"

COLLECT_HELP = """Append a capture of all groups to a folder.

A capture holds every group's committed offsets and members and the log bounds
(start, end, last stable offset) of the partitions it reads. `kgroups lag
report --captures DIR` reports on them. Needs no Java.

Files appear whole or not at all, and several collectors may share a folder:
  DIR/rows/cluster=ID/date=2026-11-21/FIRST-LAST-UNIQUE.parquet

EXAMPLES
  kgroups lag collect ~/captures
  kgroups lag collect ~/captures --every 60s --count 60
"""
COMPACT_HELP = """Merge the small files of past days.

EXAMPLES
  kgroups lag compact ~/captures
  kgroups lag compact ~/captures --today
"""

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of captures.")]

COLLECT_VIEW = View(
    "captures",
    (
        Column("captured_at", "CAPTURED-AT"),
        Column("result", "RESULT"),
        Column("partitions", "PARTITIONS", right=True),
        Column("file", "FILE"),
    ),
    lambda item: [(item["captured_at"], item["result"], item["partitions"], item["file"])],
)
COMPACT_VIEW = View(
    "compacted",
    (
        Column("files", "FILES", right=True),
        Column("rows", "ROWS", right=True),
        Column("file", "FILE"),
    ),
    lambda item: [(item["files"], item["rows"], item["file"])],
)


def collect(
    ctx: typer.Context,
    folder: Folder,
    every: Annotated[
        str | None, typer.Option("--every", metavar="TIME", help="Interval between captures: 60s.")
    ] = None,
    count: Annotated[
        int, typer.Option("--count", metavar="N", min=1, help="Number of captures.")
    ] = 1,
) -> None:
    """`kgroups lag collect`."""
    from kgroups.core.lag.captures.capture_files import collect as collect_captures  # Arrow

    options = options_of(ctx)
    printer = Printer(options)
    every_ms = parse_timeout_ms(every) if every else 0
    errors: list[ItemError] = []
    items: list[Item] = []
    with cluster(options) as admin, Interruption(admin, "this capture") as interruption:
        captures = collect_captures(
            lambda: _seen(interruption, lambda: _capture(admin, printer, errors)),
            folder,
            every_ms=every_ms,
            count=count,
            sleep_ms=lambda ms: _seen(interruption, lambda: time.sleep(ms / 1000)),
        )
        with suppress(KeyboardInterrupt):
            for number, capture in enumerate(captures, start=1):
                if capture.error is not None:
                    errors.append(ItemError.of(f"capture {number}", capture.error))
                items.append(_item(capture))
                printer.waiting(f"{number} of {count} captures")
                if interruption.asked:
                    break
        failed = sum(item["result"] == "failed" for item in items)
        done = len(items) - failed
        printer.show(
            Report(
                schema=COLLECT_SCHEMA,
                generated_at_ms=now_ms(),
                items=items,
                views=(COLLECT_VIEW,),
                errors=errors,
                summary=lambda: {"done": done, "failed": failed},
            )
        )
    if interruption.asked:
        told = f"interrupted: {done:,} of {count:,} captures are written to `{folder}`"
        write_lines([told], [])
    interruption.end()
    end_with(errors)


def _seen(interruption: Interruption, wait: Callable[[], Result]) -> Result:
    """What is waited for: Ctrl-C ends it, and not the writing of a capture.

    Raises:
        KeyboardInterrupt: it has come.
    """
    found: list[Result] = []
    if not interruption.asked:
        interruption.look(lambda: found.append(wait()), None)
    if interruption.asked:
        raise KeyboardInterrupt
    return found[0]


def _item(capture: "Capture") -> Item:
    at_ms = capture.captured_at_ms
    return {
        "captured_at": timestamp(at_ms) if at_ms is not None else None,
        "result": "done" if capture.error is None else "failed",
        "partitions": capture.rows,
        "file": str(capture.files[-1]) if capture.files else None,
    }


def _capture(admin: "ClusterAdmin", printer: Printer, errors: list[ItemError]) -> ClusterSnapshot:
    """One snapshot; what it could not learn is told at the end, once."""
    snapshot = admin.snapshot(isolation="read_committed", progress=printer.progress)
    errors += [error for error in snapshot.errors if error not in errors]
    return snapshot


def compact(
    ctx: typer.Context,
    folder: Folder,
    today: Annotated[bool, typer.Option("--today", help="Include today.")] = False,
) -> None:
    """`kgroups lag compact`."""
    from kgroups.core.lag.captures.compacted import compact as compact_captures  # Arrow

    options = options_of(ctx)
    printer = Printer(options)
    merged = [0, 0]

    def items() -> Iterator[Item]:
        for done in compact_captures(folder, before_ms=None if today else now_ms()):
            merged[0] += done.files
            merged[1] += done.rows
            yield {"files": done.files, "rows": done.rows, "file": str(done.path)}

    printer.show(
        Report(
            schema=COMPACT_SCHEMA,
            generated_at_ms=now_ms(),
            items=items(),
            views=(COMPACT_VIEW,),
            summary=lambda: {"files": merged[0], "rows": merged[1]},
        )
    )
