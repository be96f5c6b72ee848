-- The most lag that there was in any capture, by the keys of a report: of the key (`lag_peak`), and of
-- one of its partitions.
--   lagged  captures of the window, from lagged.sql
WITH moments AS (
  SELECT {keys}, captured_at_ms, sum(lag) AS lag, max(lag) AS partition_lag
  FROM {lagged}
  WHERE rolled IS NULL
  GROUP BY {keys}, captured_at_ms
)
SELECT {keys}, {key} AS peak_key, max(lag) AS lag_peak, max(partition_lag) AS partition_lag_peak
FROM moments
GROUP BY {keys}
