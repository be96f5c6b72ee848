"""`kgroups lag collect` and `lag compact`: captures of a cluster as tables, for later reports."""

import time
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from kgroups.cli.captures import place_of
from kgroups.cli.exits import Note, end_with, now_ms, show_item_errors
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.output.table import Column, Item, plain_view
from kgroups.cli.params import options_of, parse_timeout_ms
from kgroups.cli.signals import Pauses, be_quiet
from kgroups.cli.source import cluster
from kgroups.cli.usage import Text, argument, option
from kgroups.core.errors import EXIT_CODE_INTERRUPTED, ItemError, UsageError, counted
from kgroups.core.extras import require_extra
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.logged_leaders import LeaderWatch
from kgroups.core.lag.stores.places import Place, within
from kgroups.core.snapshot import ClusterSnapshot
from kgroups.core.times import parse_duration_ms, timestamp

if TYPE_CHECKING:
    from kgroups.core.lag.captures.collector import Capture

LEAST_RAW_MS: Final = 3_600_000
KEEP_HOURS: Final = "90d"
WORDS: Final = {"rolled_up": "rolled up", "merged": "merged", "removed": "removed"}
COLLECT_SCHEMA = "kgroups.lag.collect/1"
COMPACT_SCHEMA = "kgroups.lag.compact/1"

COLLECT_HELP = """Append a capture of all groups to a folder.

A capture holds every group's committed offsets (of a share group start
offsets and lag), members and epochs and the log bounds (start, end, last
stable offset) of the partitions it reads, and where __consumer_offsets may be
read, who leads classic groups. `lag report`, `history`, `doctor` and
`simulate` read them with --captures DIR. Needs no Java.

DIR/captures, DIR/rows, DIR/members and DIR/topics are Delta tables by cluster
and date, which any Delta reader opens. Captures are written atomically, and
several collectors may share a folder.

DIR may be a URI: s3://, s3a://, gs://, abfss://, hdfs:// or file:, with
credentials from the environment (AWS_*, GOOGLE_*, AZURE_*).

With --every it runs until --count captures are taken; without --count, until
Ctrl-C or SIGTERM, which finish the capture being written. Captures and
failures are shown as they happen; the next capture is tried in any case. An
endless run that is stopped exits with the code of its last capture, 0 if that
was written. In a local folder captures are kept in DIR/_pending and moved
into the tables every five minutes, for fewer files; reports move them first.

EXAMPLES
  kgroups lag collect ~/captures
  kgroups lag collect ~/captures --every 60s
  kgroups lag collect ~/captures --every 60s --count 60 -o jsonl
  kgroups lag collect s3://metrics/captures --every 60s
"""
COMPACT_HELP = """Merge the small files of past days.

--keep-raw 14d rolls captures that are older up by the hour, a day (UTC) at a
time: the last row of each series and hour, how far logs and readers went in
it, and the most lag of each group, topic, member, client and host. Hours
older than --keep-hours (90d) become one row a series and day. Months are made
beside them, which reports over half a year or more read in the place of days.
Reports name figures that are hourly, daily or monthly.

Files that no version of the last seven days needs are removed. Reports and
collectors may run meanwhile. DIR may be a URI, as with `lag collect`.

EXAMPLES
  kgroups lag compact ~/captures
  kgroups lag compact ~/captures --keep-raw 14d
  kgroups lag compact ~/captures --keep-raw 14d --keep-hours 30d
  kgroups lag compact ~/captures --today
"""

# `Any` is a `Place`: typer takes no union of classes.
Folder = Annotated[Any, argument("DIR", "Folder of captures, or its URI.", parser=place_of)]

COLLECT_VIEW = plain_view(
    "captures",
    (
        Column("captured_at", "CAPTURED-AT"),
        Column("result", "RESULT"),
        Column("partitions", "PARTITIONS", right=True),
    ),
)
COMPACT_VIEW = plain_view(
    "compacted",
    (
        Column("action", "ACTION"),
        Column("table", "TABLE"),
        Column("cluster", "CLUSTER"),
        Column("date", "DATE"),
        Column("files", "FILES", right=True),
        Column("rows", "ROWS", right=True),
    ),
)


def collect(
    ctx: typer.Context,
    folder: Folder,
    every: Annotated[
        Text, option("--every TIME", "Repeat at this interval until stopped: 60s.")
    ] = None,
    count: Annotated[
        int | None, option("--count N", "Number of captures, with --every.", min=1)
    ] = None,
) -> None:
    require_extra("collect", "`lag collect`")
    options = options_of(ctx)
    every_ms = parse_timeout_ms(every) if every else 0
    if count is not None and not every_ms:
        raise UsageError("--count requires --every", hint="for example --every 60s")
    if count is None and not every_ms:
        count = 1
    log = CollectLog(within(folder, options.timeout_ms), Printer(options))
    with cluster(options) as admin, Pauses() as pauses:
        captures = log.of(admin, pauses, every_ms, count)
        log.printer.show(
            Report(
                COLLECT_SCHEMA,
                captures if every_ms else list(captures),
                (COLLECT_VIEW,),
                errors=log.errors,
                notes=log.notes,
                summary=lambda: {"done": log.done, "failed": log.failed},
                is_live=bool(every_ms),
            )
        )
    log.end(is_endless=count is None)


class CollectLog:
    """Counts of a run of the collector so far.

    Attributes:
        done, failed: captures.
        errors: everything that failed; `last_errors` while the last capture was taken.
        notes: what is in the folder now, if a signal has ended it.
        is_stopped: whether a signal has ended it.
    """

    def __init__(self, folder: Place, printer: Printer) -> None:
        self.folder, self.printer = folder, printer
        self.done = self.failed = 0
        self.errors: list[ItemError] = []
        self.notes: list[Note] = []
        self.last_errors: list[ItemError] = []
        self.is_stopped = False

    def of(
        self, admin: ClusterAdmin, pauses: Pauses, every_ms: int, count: int | None
    ) -> Iterator[Item]:
        """Captures as they are taken, an item each, until a signal comes.

        Raises:
            KeyboardInterrupt: the signal came before a single capture, which nobody repeats.
        """
        from kgroups.core.lag.captures.collector import collect as collect_captures  # Arrow

        def take() -> ClusterSnapshot:
            self.last_errors = []
            snapshot = pauses.during(
                lambda: admin.snapshot(isolation="read_committed", progress=self.printer.progress)
            )
            self._add(snapshot.errors, is_live=bool(every_ms))
            led: ClusterSnapshot = pauses.during(lambda: leaders.add_to(snapshot))
            return led

        leaders = LeaderWatch(admin)
        captures = collect_captures(
            take,
            self.folder,
            every_ms=every_ms,
            count=count,
            sleep_ms=lambda ms: pauses.during(lambda: time.sleep(ms / 1000)),
        )
        try:
            for number, capture in enumerate(captures, start=1):
                if capture.error is None:
                    self.done += 1
                else:
                    self.failed += 1
                    failure = ItemError.of(f"capture {number}", capture.error)
                    self._add([failure], is_live=bool(every_ms))
                yield _item(capture)
        except KeyboardInterrupt:
            be_quiet()
            self.is_stopped = True
            if not every_ms:
                raise
            failed = f", {self.failed:,} failed" if self.failed else ""
            what = "capture" if self.done == 1 else "captures"
            text = f"stopped: {self.done:,} {what} written to `{self.folder}`{failed}"
            self.notes.append(Note("STOPPED", text, str(self.folder), of_a_write=True))
            if count is not None:
                cut = f"{self.done + self.failed:,} of {count:,} captures were taken"
                self.errors.append(ItemError("captures", "INTERRUPTED", cut))

    def _add(self, errors: Sequence[ItemError], *, is_live: bool) -> None:
        """Note failures; of a run that goes on, tell what was not told before."""
        new = [error for error in errors if error not in self.errors]
        self.errors += new
        self.last_errors += errors
        if is_live and new:
            self.printer.wipe()
            show_item_errors(new)

    def end(self, *, is_endless: bool) -> None:
        """End with the code of the failures.

        Raises:
            typer.Exit: as the last capture ended if there was no last one to wait for, with the
                code of an interrupted command if there was.
        """
        if self.is_stopped and not is_endless:
            raise typer.Exit(EXIT_CODE_INTERRUPTED)
        end_with(self.last_errors if is_endless else self.errors)


def _item(capture: "Capture") -> Item:
    at_ms = capture.captured_at_ms
    return {
        "captured_at": timestamp(at_ms) if at_ms is not None else None,
        "result": "done" if capture.error is None else "failed",
        "partitions": capture.rows,
    }


def compact(
    ctx: typer.Context,
    folder: Folder,
    today: Annotated[bool, option("--today", "Include today.")] = False,
    keep_raw: Annotated[
        Text, option("--keep-raw TIME", "Roll up captures that are older: 14d.")
    ] = None,
    keep_hours: Annotated[
        Text, option("--keep-hours TIME", "Keep hourly roll-ups this long: 90d (default).")
    ] = None,
) -> None:
    require_extra("collect", "`lag compact`")
    from kgroups.core.lag.captures import retention, upkeep  # Arrow

    options = options_of(ctx)
    keep_ms = (
        None if keep_raw is None else round(parse_duration_ms(keep_raw, least_ms=LEAST_RAW_MS))
    )
    if keep_hours is not None and keep_ms is None:
        raise UsageError("--keep-hours requires --keep-raw", hint="for example --keep-raw 14d")
    hours_ms = round(parse_duration_ms(keep_hours or KEEP_HOURS, least_ms=LEAST_RAW_MS))
    folder = within(folder, options.timeout_ms)
    printer = Printer(options)
    done: list[Item] = []
    notes: list[Note] = []

    def items() -> Iterator[Item]:
        before_ms = None if today else now_ms()
        rolled: Iterator[upkeep.Upkeep] = iter(())
        if keep_ms is not None:
            hours = retention.roll_up(folder, before_ms=now_ms() - keep_ms)
            days = retention.roll_up_days(folder, before_ms=now_ms() - max(keep_ms, hours_ms))
            months = retention.roll_up_months(folder, before_ms=now_ms() - keep_ms)
            rolled = chain(hours, days, months)
        for step in chain(rolled, upkeep.compact(folder, before_ms=before_ms)):
            done.append(step._asdict())
            yield done[-1]
        notes.append(Note("COMPACTED", _told(done, folder, today=today), str(folder)))

    printer.show(
        Report(
            COMPACT_SCHEMA,
            items(),
            (COMPACT_VIEW,),
            notes=notes,
            summary=lambda: {action: _count(done, action) for action in upkeep.ACTIONS},
        )
    )


def _told(done: Sequence[Item], folder: Place, *, today: bool) -> str:
    """Summary of the run, in a sentence; also if it was nothing."""
    parts = [
        f"{word} {counted(number, 'file')}"
        for action, word in WORDS.items()
        if (number := _count(done, action))
    ]
    if parts:
        return f"{', '.join(parts)} in `{folder}`"
    hint = "" if today else "; `--today` includes today's files"
    return f"nothing to merge or remove in `{folder}`{hint}"


def _count(done: Sequence[Item], action: str) -> int:
    """How many files an action took in all; of late captures, how many there are."""
    unit = "rows" if action == "late" else "files"
    return sum(item[unit] for item in done if item["action"] == action)
