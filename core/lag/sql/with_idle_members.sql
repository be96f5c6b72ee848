-- A report by member with a row of each idle one: no partitions, no lag.
--   report  from by_key.sql, by member
--   loads   from loads.sql
WITH idle AS (
  SELECT {key} AS spread_key FROM {loads} WHERE held = 0
)
SELECT
  {keys_of_either},
  coalesce(partitions, 0) AS partitions,
  CASE WHEN key IS NULL THEN 0 ELSE lag END AS lag,
  CASE WHEN key IS NULL THEN 0 ELSE lag_max END AS lag_max,
  coalesce(unknown_partitions, 0) AS unknown_partitions,
  coalesce(stale_partitions, 0) AS stale_partitions,
  coalesce(unowned_partitions, CASE WHEN key IS NULL THEN 0 END) AS unowned_partitions,
  coalesce(beyond_end_partitions, 0) AS beyond_end_partitions,
  report.* EXCEPT (
    {keys}, key, partitions, lag, lag_max, unknown_partitions, stale_partitions,
    unowned_partitions, beyond_end_partitions
  )
FROM {report} AS report
FULL OUTER JOIN idle ON key <=> spread_key
