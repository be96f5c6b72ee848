"""The lag report over captures in DuckDB: the same steps as `core/lag/over.py`, in SQL.

Run as a program: folder, first and last millisecond of the window, number of rows. Prints the rows
as JSON. `--exact` sorts every raw row instead of aggregating first.
"""

import json
import sys
from pathlib import Path

import duckdb

from kgroups.core.lag.over import BUCKETS

POINTS = """
points as (
    select series, max(t) as t, arg_max(c, t) as c, arg_max(s, t) as s, arg_max(e, t) as e
    from raw group by series, (t - {since}) // {width}
)
"""
EXACT = """
points as (
    select series, t, c, s, e from raw
    qualify row_number() over (partition by series, (t - {since}) // {width} order by t desc) = 1
)
"""
REPORT = """
with captured as (
    select captured_at_ms as t, hash(cluster, "group", topic, partition) as series,
           committed_offset as c, log_start_offset as s, log_end_offset as e,
           cluster, "group", topic, partition
    from read_parquet('{folder}/rows/*/*/*.parquet', hive_partitioning = true)
    where captured_at_ms between {since} and {until}
), raw as (select t, series, c, s, e from captured),
{points},
steps as (
    select *, greatest(e - greatest(c, s), 0) as known_lag,
           case when c is null or s is null or e is null then null
                else greatest(e - greatest(c, s), 0) end as lag_then,
           lag(t) over w as pt, lag(c) over w as pc, lag(s) over w as ps, lag(e) over w as pe,
           last_value(t) over everything as nt, last_value(c) over everything as nc,
           max(c) over (partition by series order by t
               rows between current row and unbounded following) as best,
           row_number() over (partition by series order by t desc) as age
    from points
    window w as (partition by series order by t),
           everything as (partition by series order by t
               rows between unbounded preceding and unbounded following)
), lags as (
    select *, lag(lag_then) over (partition by series order by t) as pl from steps
), figures as (
    select series, count(*) as points, max(t) as last_t,
           sum(greatest(e - pe, 0)) as produced, sum(greatest(c - pc, 0)) as consumed,
           sum(greatest(s - ps, 0)) as expired,
           max(t) filter (e is not null) - min(t) filter (e is not null) as end_ms,
           max(t) filter (c is not null) - min(t) filter (c is not null) as committed_ms,
           arg_min(lag_then, t) as lag_first, arg_max(lag_then, t) as lag_last,
           max(lag_then) as lag_peak,
           arg_max(pt + (nc - pe) * (t - pt)::double / (e - pe), t)
               filter (pe <= nc and nc < e) as caught_at,
           count(*) filter (age <= 10 and c is not null) as commits,
           min(c) filter (age <= 10) as c_min, max(c) filter (age <= 10) as c_max,
           min(e) filter (age <= 10) as e_min, min(lag_then) filter (age <= 10) as lag_min,
           count(*) filter (age < 10 and lag_then < pl) as lag_drops,
           arg_min(best < pc, t) filter (age < 10 and c < pc) as is_rewound
    from lags group by series
), newest as (
    select *, case when c is not null then greatest(e - greatest(c, s), 0) end as lag_now
    from captured where t = (select max(t) from raw)
), joined as (
    select n.*, f.* exclude (series),
           produced * 1000.0 / nullif(end_ms, 0) as rate_in,
           consumed * 1000.0 / nullif(committed_ms, 0) as rate_out,
           case when lag_now = 0 then 0.0
                when lag_now > 0 and caught_at is not null then (last_t - caught_at) / 1000.0
                when lag_now > 0 and produced > 0
                then lag_now * end_ms / (produced * 1000.0) end as lag_seconds,
           case when lag_now is null then 0 when lag_now = 0 then 1 when commits < 3 then 0
                when is_rewound then 6 when lag_min = 0 then 1 when c_min = c_max then 5
                when lag_drops = 0 then 2 else 1 end as verdict
    from newest n left join figures f using (series)
)
select "group", count(*) as partitions, sum(lag_now)::bigint as lag, max(lag_now) as lag_max,
       approx_quantile(lag_now, 0.5) as lag_p50, approx_quantile(lag_now, 0.95) as lag_p95,
       sum(rate_in) as rate_in, sum(rate_out) as rate_out, max(lag_seconds) as lag_seconds,
       max(verdict) as verdict,
       sum(lag_last) - sum(lag_first) as change
from joined group by cluster, "group" order by lag desc nulls last, "group" limit {top}
"""


def report(folder: Path, since: int, until: int, top: int, *, exact: bool) -> list[object]:
    """The first `top` groups: name, partitions, lag, highest lag, seconds of lag."""
    width = max((until - since) // BUCKETS, 1)
    points = (EXACT if exact else POINTS).format(since=since, width=width)
    query = REPORT.format(folder=folder, since=since, until=until, points=points, top=top)
    with duckdb.connect() as connection:
        if exact:  # it takes what it can get; beyond this it uses the disk
            connection.execute("set memory_limit = '12GB'")
        rows = connection.sql(query).fetchall()
    return [[row[0], row[1], row[2], row[3], round(row[8], 3)] for row in rows]


def main() -> None:
    """Run it as the arguments say."""
    folder, since, until, top, *flags = sys.argv[1:]
    exact = flags == ["--exact"]
    print(json.dumps(report(Path(folder), int(since), int(until), int(top), exact=exact)))


if __name__ == "__main__":
    main()
