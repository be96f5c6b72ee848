"""The lag report over captures in DuckDB: the steps of `core/lag/window/trends.py`, in SQL.

Run as a program: folder, first and last millisecond of the window, number of rows. Prints the rows
as JSON.
"""

import json
import sys
from pathlib import Path

import duckdb

from kgroups.core.lag.captures.capture_window import open_window
from kgroups.core.lag.lag_columns import MEMBERLESS
from kgroups.core.lag.rules import LEADERLESS_ERRORS, MISSING_ERRORS
from kgroups.core.lag.window.points import BUCKETS, VERDICT_POINTS
from kgroups.core.lag.window.trends import (
    FEWEST_POINTS,
    STEADY_OF_PEAK,
    STEADY_OF_PRODUCED,
    VERDICTS,
)

REPORT = """
with raw as (
    select captured_at_ms as t, cluster, "group",
           hash(cluster, "group", topic, partition) as series,
           (captured_at_ms - {first}) // {width} as stretch,
           case when committed_offset >= 0 then committed_offset end as c,
           log_start_offset as s, log_end_offset as e
    from {files} where captured_at_ms between {since} and {until}
), known as (
    select *, case when c is not null and s is not null and e is not null
              then greatest(e - greatest(c, s), 0) end as lag_then,
           case when e is not null then t end as te
    from raw
), peaks as (
    select cluster, "group", max(lag_then) as lag_peak, max(most) as partition_lag_peak
    from (select cluster, "group", t, sum(lag_then)::bigint as lag_then, max(lag_then) as most
          from known group by all)
    group by all
), steps as (
    select *, lead(te ignore nulls) over w as pt, lead(c ignore nulls) over w as pc,
           lead(s ignore nulls) over w as ps, lead(e ignore nulls) over w as pe,
           first_value(c) over (w rows between unbounded preceding and current row) as nc,
           coalesce(lag(stretch) over w <> stretch, true) as is_point
    from known window w as (partition by series order by t desc)
), placed as (
    select *, is_point and count(*) filter (is_point) over (partition by series order by t desc
               rows between unbounded preceding and current row) <= {recent} as is_recent
    from steps
), at_points as (
    select *, case when is_recent then c end as rc, case when is_recent then lag_then end as rl
    from placed
), lives as (
    select *, lead(rc ignore nulls) over w as prc, lead(rl ignore nulls) over w as prl,
           max(rc) over (w rows between unbounded preceding and current row) as best
    from at_points window w as (partition by series order by t desc)
), figures as (
    select series, count(*) as captures, count(*) filter (is_point) as points, max(t) as last_t,
           sum(greatest(e - pe, 0)) as produced, sum(greatest(c - pc, 0)) as consumed,
           sum(greatest(s - ps, 0)) as expired,
           max(te) - min(te) as end_ms,
           max(t) filter (c is not null) - min(t) filter (c is not null) as committed_ms,
           max(t) filter (s is not null) - min(t) filter (s is not null) as start_ms,
           arg_min(lag_then, t) filter (is_point) as lag_first,
           arg_max(lag_then, t) filter (is_point) as lag_last,
           arg_max(pt + (nc - pe) * (t - pt)::double / (e - pe), t)
               filter (pe <= nc and nc < e) as caught_at,
           max(t) filter (e < pe) as reset_t, max(t) filter (pe <= nc and nc < e) as passed_t,
           count(rc) as commits, min(rc) as c_min, max(rc) as c_max,
           min(e) filter (is_recent) as e_min, min(rl) as lag_min, count(rl) as lags,
           count(*) filter (rl < prl) as lag_drops,
           arg_min(best < prc, t) filter (rc < prc) as is_rewound
    from lives group by series
), at_end as (
    select cluster, "group", member_id, captured_at_ms as t, next_record_at_ms as next_t,
           hash(cluster, "group", topic, partition) as series,
           case when committed_offset >= 0 then committed_offset end as c,
           log_start_offset as s, log_end_offset as e,
           commits_known and coalesce(error not in ({gone}), true) as is_open,
           case when error in ({missing}) then 'topic_missing'
                when error in ({leaderless}) then 'leaderless'
                when not commits_known then 'unknown' when c is null then 'no_commit'
                when s is null or e is null then 'unknown' when c < s then 'below_log_start'
                when c > e then 'beyond_end' else 'ok' end as lag_status,
           coalesce(c is not null and member_id is null
               and (error in ({missing}) or group_state not in ({memberless})), false) as is_left
    from {files} where captured_at_ms = {last}
), newest as (
    select *, case when is_open and c is not null and s is not null and e is not null
                   then greatest(e - greatest(c, s), 0) end as lag_now,
           case when is_open and c is not null and s is not null and e is not null
                then greatest(s - c, 0) end as lost,
           case when lag_status = 'ok' and next_t is not null
                then greatest(t - next_t, 0) / 1000.0 end as record_age
    from at_end
), rated as (
    select n.*, f.* exclude (series),
           is_left or coalesce(member_id is null and c >= 0 and produced > 0 and consumed = 0
               and captures > 1, false) as is_stale,
           produced * 1000.0 / nullif(end_ms, 0) as rate_in,
           consumed * 1000.0 / nullif(committed_ms, 0) as rate_out,
           expired * 1000.0 / nullif(start_ms, 0) as rate_expired,
           lag_now > 0 and caught_at is not null and lag_status = 'ok'
               and (reset_t is null or passed_t > reset_t) as is_seen
    from newest n left join figures f using (series)
), timed as (
    select *, case when lag_now = 0 then 'at_head' when record_age is not null then 'record'
                   when is_seen then 'interpolated'
                   when lag_now > 0 and rate_in > 0 and lag_status <> 'below_log_start'
                   then 'rate' end as method,
           case when lag_now is null then 'lag_unknown' when lag_now = 0 then 'no_lag'
                when commits < {fewest} then 'too_few_captures'
                when c_min = c_max and member_id is null and e_min > c then 'commits_stopped'
                when is_rewound then 'offset_went_back' when lag_min = 0 then 'was_at_head'
                when c_min = c_max then 'offset_stands_still'
                when lag_drops = 0 and lags > 1 then 'lag_never_falls'
                else 'progresses' end as rule
    from rated
), judged as (
    select *, case method when 'at_head' then 0.0 when 'record' then record_age
                   when 'interpolated' then (last_t - caught_at) / 1000.0
                   when 'rate' then lag_now / rate_in end as seconds,
           case method when 'rate' then 'low' else 'high' end as confidence,
           case rule when 'lag_unknown' then null when 'too_few_captures' then null
                     when 'commits_stopped' then 'STOP' when 'offset_went_back' then 'REWIND'
                     when 'offset_stands_still' then 'STALL' when 'lag_never_falls' then 'WARN'
                     else 'OK' end as verdict,
           list_position([{rules}], rule) as weight,
           case when lag_now > 0 and c - s is not null and rate_expired > 0
                then greatest(c - s, 0) / rate_expired end as retention
    from timed
), summed as (
    select cluster, "group", count(*) as partitions, sum(lag_now)::bigint as lag,
           max(lag_now) as lag_max, quantile_disc(lag_now, 0.5) as lag_p50,
           quantile_disc(lag_now, 0.95) as lag_p95, quantile_disc(lag_now, 0.99) as lag_p99,
           sum(lost)::bigint as lost,
           count(*) filter (lag_now is null) as unknown_partitions,
           count(*) filter (is_stale) as stale_partitions,
           sum(rate_in) as rate_in, sum(rate_out) as rate_out,
           count(*) filter (lag_now > 0 and seconds is null) = 0 as all_known,
           case when all_known then arg_max(seconds, badness) end as lag_seconds,
           case when all_known then arg_max(method, badness) end as lag_seconds_method,
           case when all_known then arg_max(confidence, badness) end as lag_seconds_confidence,
           case when count(*) filter (lag_now > 0 and rate_out - rate_in is null) = 0
                then sum(rate_out - rate_in) end as gained,
           max(points) as points, sum(lag_last) - sum(lag_first) as change,
           sum(produced) as produced,
           arg_max_null(verdict, weight) as verdict, arg_max_null(rule, weight) as verdict_rule,
           min(retention) as retention_seconds_left
    from (select *, case when lag_now > 0 then seconds else seconds - 1.0 end as badness
          from judged)
    group by cluster, "group"
)
select cluster, "group", partitions, lag, lag_max, lag_p50, lag_p95, lag_p99, lag_peak,
       partition_lag_peak, lost, unknown_partitions, stale_partitions, rate_in, rate_out,
       lag_seconds, lag_seconds_method, lag_seconds_confidence,
       case when lag = 0 then 0.0 when gained > 0 then lag / gained end as catch_up_seconds,
       greatest(1.0, {of_produced} * coalesce(produced, 0), {of_peak} * lag_peak) as slack,
       case when points > 1 then
           case when change > slack then 'growing' when change < -slack then 'draining'
                when change is not null then 'steady' end end as trend,
       verdict, verdict_rule, retention_seconds_left
from summed join peaks using (cluster, "group") order by lag desc nulls last, cluster, "group"
"""
# The whole report, of which the rows and the totals are taken.
ANSWER = "create temp table answer as "
ROWS = 'select * exclude (slack) from answer order by lag desc nulls last, cluster, "group" limit '
TOTALS = """
select count(*) as groups, sum(partitions)::bigint as partitions, sum(lag)::bigint as lag,
       max(lag_max) as lag_max, sum(lost)::bigint as lost,
       sum(unknown_partitions)::bigint as unknown_partitions
from answer
"""


def report(folder: Path, since: int, until: int, top: int) -> dict[str, object]:
    """The report in the words of ours: `items`, the first `top` groups, and `summary`."""
    # Which captures are the first and the newest, the files tell: ours knows it from there, too.
    window = open_window(folder, since_ms=since, until_ms=until)
    span = window.spans["bench"]
    query = REPORT.format(
        since=since,
        until=until,
        first=span.first_ms,
        width=max((span.last_ms - span.first_ms) // BUCKETS, 1),
        last=span.last_ms,
        files=f"read_parquet({[f.path for f in window.files]}, hive_partitioning = true)",
        recent=VERDICT_POINTS,
        fewest=FEWEST_POINTS,
        rules=", ".join(f"'{name}'" for name in VERDICTS),
        of_produced=STEADY_OF_PRODUCED,
        of_peak=STEADY_OF_PEAK,
        missing=_quoted(MISSING_ERRORS),
        leaderless=_quoted(LEADERLESS_ERRORS),
        gone=_quoted(MISSING_ERRORS | LEADERLESS_ERRORS),
        memberless=_quoted(frozenset(MEMBERLESS)),
    )
    with duckdb.connect() as connection:
        # It takes what it can get; beyond this it uses the disk.
        connection.execute("set memory_limit = '12GB'")
        connection.execute(ANSWER + query)
        items = _records(connection.sql(ROWS + str(top)))
        (summary,) = _records(connection.sql(TOTALS))
    return {"items": items, "summary": summary}


def _quoted(names: frozenset[str]) -> str:
    """Names as a list in SQL."""
    return ", ".join(f"'{name}'" for name in sorted(names))


def _records(relation: duckdb.DuckDBPyRelation) -> list[dict[str, object]]:
    """Rows with the names of their columns."""
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def main() -> None:
    """Run it as the arguments say."""
    folder, since, until, top = sys.argv[1:]
    print(json.dumps(report(Path(folder), int(since), int(until), int(top))))


if __name__ == "__main__":
    main()
