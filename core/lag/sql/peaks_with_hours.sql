-- The same of captures and roll-ups together.
--   peaks  from peaks.sql
--   hours  peaks of keys, from hours.sql; by partition roll-ups of series
--   :by    the grouping
WITH most AS (
  SELECT {keys}, lag_peak, partition_lag_peak FROM {peaks}
  UNION ALL
  SELECT {keys}, rolled.most_lag, coalesce(partition_most_lag, rolled.most_lag)
  FROM {hours}
  WHERE `by` IS NULL OR `by` = :by
)
SELECT {keys}, {key} AS peak_key, max(lag_peak) AS lag_peak, max(partition_lag_peak) AS partition_lag_peak
FROM most
GROUP BY {keys}
