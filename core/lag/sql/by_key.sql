-- The figures of series by the keys of a report. Rates and lag add up (a topic's `rate_in` once,
-- however many groups read it). Times and the verdict are those of the worst partition; the time to
-- catch up follows from what all readers gain together; floors of `group_times.py` keep noise out of
-- it. A lagging partition whose age or rates are not known leaves lag in seconds, or the time to catch
-- up, unknown.
--   series  from series.sql or snapshot.sql
--   peaks   from peaks.sql, by the same keys; none of one capture
--   levels  which figures are made of the ends of hours, days and months, and what they cannot tell
WITH sums AS (
  SELECT
    {keys},
    {key} AS key,
    count(DISTINCT cluster, `group`) AS groups,
    count(*) AS partitions,
    sum(lag) AS lag,
    max(lag) AS lag_max,
    -- Exact up to 1,000 different values, then within a thousandth of the rank.
    percentile_approx(lag, array(5e-1, 95e-2, 99e-2), 1000) AS lag_percentiles,
    sum(lost) AS lost,
    count_if(lag IS NULL) AS unknown_partitions,
    count_if(is_stale) AS stale_partitions,
    CASE WHEN count(is_unowned) > 0 THEN count_if(is_unowned) END AS unowned_partitions,
    count_if(lag_status = 'beyond_end') AS beyond_end_partitions,
    sum({inflow}) AS rate_in,
    sum(rate_out) AS rate_out,
    CASE WHEN count_if(lag > 0 AND rate_out - rate_in IS NULL) = 0 THEN sum(rate_out - rate_in)
    END AS gained,
    sum(rate_in) AS came,
    count_if(lag > 0 AND coalesce(rate_in = 0 OR lag > greatest(10, 10 * rate_in), true)) = 0 AS keeps_up,
    CASE WHEN count_if(lag > 0 AND lag_seconds IS NULL) = 0
      THEN max_by(lag_seconds, {age_weight}) END AS lag_seconds,
    -- One that is known at the least leaves the largest known at the least.
    CASE
      WHEN count_if(lag > 0 AND lag_seconds IS NULL) > 0 THEN NULL
      WHEN count_if(lag_seconds_method = 'at_least') > 0 THEN 'at_least'
      ELSE max_by(lag_seconds_method, {age_weight})
    END AS lag_seconds_method,
    CASE
      WHEN count_if(lag > 0 AND lag_seconds IS NULL) > 0 THEN NULL
      WHEN count_if(lag_seconds_method = 'at_least') > 0 THEN 'low'
      ELSE max_by(lag_seconds_confidence, {age_weight})
    END AS lag_seconds_confidence,
    max(points) AS points,
    sum(lag_last) - sum(lag_first) AS lag_growth,
    coalesce(sum(produced), 0) AS produced,
    max_by(verdict, verdict_weight) AS verdict,
    max_by(verdict_rule, verdict_weight) AS verdict_rule,
    min(retention_seconds_left) AS retention_seconds_left,
    -- Which figures are made of the ends of hours (1), days (2) or months (3).
    max(CASE WHEN lag > 0 THEN age_level END) AS age_level,
    max(trend_level) AS trend_level,
    max(CASE WHEN verdict_rule NOT IN ('lag_unknown', 'no_lag', 'nobody_reads', 'beyond_log_end') THEN verdict_level END)
      AS verdict_level{no_peaks}
  FROM {readers}
  GROUP BY {keys}
)
SELECT
  {keys_of_sums},
  key,
  groups,
  partitions,
  lag,
  lag_max,
  lag_percentiles[0] AS lag_p50,
  lag_percentiles[1] AS lag_p95,
  lag_percentiles[2] AS lag_p99,
  lag_peak,
  partition_lag_peak,
  lost,
  unknown_partitions,
  stale_partitions,
  unowned_partitions,
  beyond_end_partitions,
  rate_in,
  rate_out,
  lag_seconds,
  lag_seconds_method,
  lag_seconds_confidence,
  CASE
    WHEN lag = 0 THEN 0e0
    WHEN keeps_up AND gained IS NOT NULL THEN lag / greatest(gained, came)
    WHEN gained > 1e-2 * came THEN lag / gained
  END AS catch_up_seconds,
  CASE WHEN points > 1 AND lag_growth IS NOT NULL THEN
    CASE
      -- Little beside the peak, or beside what was produced.
      WHEN abs(lag_growth) <= greatest(1e0, 5e-2 * produced, 1e-1 * lag_peak) THEN 'steady'
      WHEN lag_growth > 0 THEN 'growing'
      ELSE 'draining'
    END
  END AS trend,
  verdict,
  verdict_rule,
  retention_seconds_left,
  age_level,
  trend_level,
  verdict_level,
  {levels}
FROM sums{beside_peaks}
