"""The lag report over collected captures: a folder and a window of time in, `top` rows out."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from kgroups.core.errors import ItemError, KgroupsError, NotFoundError, UsageError
from kgroups.core.lag.answer import LagReport, answered, compared, totals_of, with_members
from kgroups.core.lag.captures.capture_files import captures_changed, rows_of_files, whole_files
from kgroups.core.lag.captures.capture_window import (
    Window,
    groups_in,
    open_window,
    utc_time,
)
from kgroups.core.lag.captures.delta_table import DATE
from kgroups.core.lag.captures.hour_table import LENGTHS
from kgroups.core.lag.captures.table_columns import arrow_schema
from kgroups.core.lag.engines import Engine, Frame
from kgroups.core.lag.lag_query import EngineName, LagQuery
from kgroups.core.lag.pictures import picture_frames
from kgroups.core.lag.report import check_query, is_few, kind_of
from kgroups.core.lag.rules import Isolation
from kgroups.core.lag.stores.places import Place, Store, is_of_store, store_failure
from kgroups.core.lag.window.window_figures import Figures, asking, by_key, figures_over

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kgroups.core.spark.session import Progress, SessionOptions

# Captures above which the optimising compiler pays, as sizes of Parquet files: 10 million rows.
LARGE_BYTES: Final = 40_000_000
# What Spark says of a file that its workers do not find, and the file that it names.
NOT_FOUND: Final = re.compile("FILE_NOT_EXIST|PATH_NOT_FOUND|FileNotFound|does not exist")
NAMED_FILE: Final = re.compile(r"(?:file:)?(/[^\s`'\"]+\.parquet)")
Choose = Callable[[Collection[str]], tuple[Sequence[str], Sequence[ItemError]]]
# What tells rows of one capture apart: a file may be there twice.
IDENTITY: Final = {"members": ("cluster", "group", "member_id"), "topics": ("cluster", "topic")}
# What a report without planned assignments asks of members.
OF_MEMBER: Final = (*IDENTITY["members"], "client_id", "host", "assignor")


def lag_report_over(
    folder: Place,
    query: LagQuery | None = None,
    *,
    since_ms: int,
    until_ms: int,
    choose: Choose | None = None,
    strict: bool = False,
    engine: EngineName = "spark",
    session: "SparkSession | SessionOptions | None" = None,
    progress: "Progress | None" = None,
) -> LagReport:
    """Lag now and over a window of time, from collected captures.

    Lag "now" is that of the newest capture of each cluster in the window.

    Args:
        folder: where `collect` put them; where Spark runs elsewhere, it must see the same path, or
            reach the store.
        since_ms, until_ms: the window, both ends included.
        query: with `compare_ms` also of the window that lies so long before: the columns of
            `report_columns.compared_columns`, those that got worst first.
        choose: which of the groups of the windows to report on, and what is wrong with what was
            asked for; None: those of the query.
        strict: a capture that cannot be read is a failure instead of one of `errors`.
        engine: who computes it; with DuckDB nothing of Spark is needed.
        session: a running session of Spark, or how to make one; None: local.
    Raises:
        NotFoundError: no captures in the window, or in that before it.
        UsageError: as in `lag_report`; the window is empty; `strict` and a broken capture; last
            stable offsets are asked for, and some captures of the window do not hold them.
    """
    query = query or LagQuery()
    check_query(query, "captures", engine)
    if since_ms >= until_ms:
        raise UsageError("the time window is empty", hint="--since must be before --until")
    if isinstance(folder, Path):
        folder = folder.absolute()  # Spark's workers may run in another one
    window = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    check_isolation(window, query.isolation)
    windows = [(window, (since_ms, until_ms))]
    if query.compare_ms:
        windows.append(_earlier(folder, query, (since_ms, until_ms), strict=strict))
    strangers: Sequence[ItemError] = ()
    if choose is not None:
        names, strangers = choose(groups_in(window for window, _ in windows))
        query = replace(query, groups=names)
    few = is_few(sum(window.rows for window, _ in windows), query)
    with ExitStack() as stack:
        opened: Engine
        if engine == "duckdb":
            from kgroups.core.lag.duckdb_engine import duckdb_engine

            opened = stack.enter_context(duckdb_engine())
        else:
            from kgroups.core.lag.spark_engine import spark_engine

            large = sum(window.size for window, _ in windows) > LARGE_BYTES
            kind = kind_of("captures", query)
            stack.enter_context(_named_files(folder))
            opened = stack.enter_context(
                spark_engine(session, progress, kind, small=few, large=large)
            )
        report = _Report(opened, folder, query, few, progress or (lambda _text: None))
        answer = report.answer(windows, strict=strict)
        return replace(answer, errors=(*strangers, *answer.errors))


@contextmanager
def _named_files(folder: Place) -> Iterator[None]:
    """Says which captures are not there, where Spark says that a file is not."""
    try:
        yield
    except KgroupsError as exc:
        why = str(exc.__cause__)
        if exc.code != "SPARK_FAILED":
            raise
        if isinstance(folder, Store) and is_of_store(why):
            raise store_failure(folder, exc.__cause__ or exc) from exc
        if not NOT_FOUND.search(why):
            raise
        if any(Path(path).exists() for path in NAMED_FILE.findall(why)):
            raise KgroupsError(
                f"Spark's workers do not find the captures in `{folder}`",
                hint="put them where every worker sees them under the same path",
                code="CAPTURES_NOT_SEEN",
            ) from exc
        raise captures_changed(folder) from exc


def _earlier(
    folder: Place, query: LagQuery, span_ms: tuple[int, int], *, strict: bool
) -> tuple[Window, tuple[int, int]]:
    """The window that another one is compared with.

    Raises:
        NotFoundError: nothing was captured then.
        UsageError: as in `lag_report_over`.
    """
    since_ms, until_ms = (at_ms - query.compare_ms for at_ms in span_ms)
    try:
        earlier = open_window(folder, since_ms=since_ms, until_ms=until_ms, strict=strict)
    except NotFoundError as exc:
        span = f"from {utc_time(since_ms)} to {utc_time(until_ms)}"
        raise NotFoundError(
            f"nothing to compare with: no captures {span} in `{folder}`", hint=exc.hint
        ) from exc
    check_isolation(earlier, query.isolation)
    return earlier, (since_ms, until_ms)


def check_isolation(window: Window, isolation: Isolation) -> None:
    """Fails on a window that cannot be measured to last stable offsets.

    Raises:
        UsageError: some of its captures do not hold them; says from when on they do.
    """
    captures = window.captures
    lacking = captures.filter(pc.greater(captures["unstable_rows"], 0))
    if isolation == "read_uncommitted" or not lacking.num_rows:
        return
    last_ms = pc.max(lacking["captured_at_ms"]).as_py()
    hint = "leave out `--isolation`; `kgroups lag collect` stores these offsets from now on"
    if pc.max(captures["captured_at_ms"]).as_py() > last_ms:
        hint = f"later captures hold them: `--since {utc_time(last_ms + 1)}`"
    raise UsageError(
        "`--isolation read_committed` requires last stable offsets, which "
        f"{lacking.num_rows} of {captures.num_rows} captures in the window do not have",
        hint=hint,
    )


Windows = Sequence[tuple[Window, tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class _Report:
    """A report on one engine.

    Args:
        few: as in `Engine.files`.
    """

    engine: Engine
    folder: Place
    query: LagQuery
    few: bool
    tell: "Progress"

    def answer(self, windows: Windows, *, strict: bool) -> LagReport:
        """The report on a window, beside one before it if there are two."""
        query, tell = self.query, self.tell
        (window, span_ms), *before = windows
        rows = sum(window.rows for window, _ in windows)
        captures = sum(window.captures.num_rows for window, _ in windows)
        tell(f"reading {rows:,} rows of {captures:,} captures")
        figures = self._figures(window, span_ms)
        rest, lost = self._rest(window, strict=strict)
        questions = asking(self.engine, query, span_ms[1])
        loads = questions.ask("loads", lagged=figures.newest, members=rest["members"])
        others = totals_of(questions, figures.newest, loads)
        if query.pictures:
            drawn = figures.lagged, figures.hours
            others |= picture_frames(questions, figures.series, *drawn)
        earlier = [self._figures(*own) for own in before]
        if query.assignors:
            from kgroups.core.lag.fleet.planned import Fleet, planned_answer  # all assignors

            fleet = Fleet(rest["members"], rest["topics"], figures.series)
            fleet_before = None
            for (own, _), figures_before in zip(before, earlier, strict=True):
                was, lost_before = self._rest(own, strict=strict)
                fleet_before = Fleet(was["members"], was["topics"], figures_before.series)
                lost += lost_before
            tell(f"planning every group with {', '.join(query.assignors)}")
            answer = planned_answer(questions, fleet, query, "captures", others, fleet_before)
        else:
            tell(f"computing lag by {query.by} over {rows:,} rows")
            report = by_key(questions, figures)
            sort = query.sort or ("lag_change" if before else "lag")
            if before:
                report = compared(questions, report, by_key(questions, earlier[0]), query)
            else:
                report = with_members(questions, report, query.by, loads)
            answer = answered(questions, report, query, "captures", sort, others)
        return self._finished(answer, windows, lost)

    def _figures(self, window: Window, span_ms: tuple[int, int]) -> Figures:
        figures = figures_over(self.engine, self.query, self.folder, window, span_ms, few=self.few)
        if self.query.assignors or self.query.pictures:  # it is wanted more than once
            return figures._replace(series=self.engine.keep(figures.series))
        return figures

    def _rest(
        self, window: Window, *, strict: bool
    ) -> tuple[dict[str, Frame], tuple[ItemError, ...]]:
        """Members and, for a dry run, topics of each cluster's newest capture; files left out.

        Raises:
            UsageError: `strict`, and a file cannot be read.
        """
        frames: dict[str, Frame] = {}
        broken: tuple[ItemError, ...] = ()
        for table, identity in IDENTITY.items():
            parts = [arrow_schema(table).append(DATE).empty_table()]
            for cluster, span in window.spans.items():
                near = [
                    file
                    for file in window.facts[table]
                    if file.cluster == cluster and file.first_ms <= span.last_ms <= file.last_ms
                ]
                files, errors = whole_files(near)
                broken += errors
                parts.append(rows_of_files(self.folder, files, parts[0].schema, at_ms=span.last_ms))
            if table == "topics" and not self.query.assignors:
                continue
            columns = arrow_schema(table).names if self.query.assignors else OF_MEMBER
            rows = pa.concat_tables(parts).select(columns)
            if self.query.groups is not None and "group" in identity:
                names = pa.array(self.query.groups, pa.string())
                rows = rows.filter(pc.is_in(rows["group"], names))
            frames[table] = self.engine.rows(_each_once(rows, identity), few=self.few)
        if broken and strict:
            raise UsageError(
                f"capture `{broken[0].target}` cannot be read: {broken[0].message}",
                hint="delete it, or leave out --strict to report without it",
            )
        return frames, broken

    def _finished(
        self, answer: LagReport, windows: Windows, lost: tuple[ItemError, ...]
    ) -> LagReport:
        """The answer with what is known of the windows."""
        (_, span_ms), *_ = windows
        facts: dict[str, Any] = dict(zip(("since_ms", "until_ms"), span_ms, strict=True))
        facts["files"] = sum(window.file_count for window, _ in windows)
        if self.query.compare_ms:
            facts["compare_ms"] = self.query.compare_ms
        broken = dict.fromkeys(error for window, _ in windows for error in window.broken)
        return replace(
            answer,
            summary=answer.summary | facts | _hours_told([window for window, _ in windows]),
            errors=(*answer.errors, *broken, *dict.fromkeys(lost)),
        )


def _each_once(rows: pa.Table, identity: Sequence[str]) -> pa.Table:
    """The first row of each identity."""
    numbered = rows.select(identity).append_column(
        "row", pa.array(range(rows.num_rows), pa.int64())
    )
    first = numbered.group_by(list(identity)).aggregate([("row", "min")])["row_min"]
    return rows.take(first.combine_chunks().sort())


def _hours_told(windows: Sequence[Window]) -> dict[str, int | None]:
    """How many hours, days and months of the windows are rolled up, and until when."""
    hours = [window.hours.by_length() for window in windows if window.hours is not None]
    facts: dict[str, int | None] = {}
    for name in LENGTHS:
        times = [at_ms for own in hours for at_ms in own[name]]
        facts |= {name: len(times), f"{name}_until_ms": max(times, default=None)}
    return facts
