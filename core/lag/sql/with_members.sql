-- A report with members counted: how many there are, how many are idle, and how unevenly the work is
-- spread (`skew`: the most lag of one member over the mean of all).
--   report  from by_key.sql, by keys that members belong to
--   loads   from loads.sql
WITH spread AS (
  SELECT
    {key} AS spread_key,
    count(*) AS member_count,
    count_if(held = 0) AS idle_members,
    CASE WHEN sum(load) > 0 THEN max(load) / avg(load) END AS skew
  FROM {loads}
  GROUP BY {keys}
)
SELECT
  {keys_of_either},
  coalesce(member_count, 0) AS member_count,
  coalesce(idle_members, 0) AS idle_members,
  coalesce(partitions, 0) AS partitions,
  coalesce(unknown_partitions, 0) AS unknown_partitions,
  coalesce(stale_partitions, 0) AS stale_partitions,
  coalesce(unowned_partitions, CASE WHEN key IS NULL THEN 0 END) AS unowned_partitions,
  coalesce(beyond_end_partitions, 0) AS beyond_end_partitions,
  skew,
  report.* EXCEPT (
    {keys}, key, partitions, unknown_partitions, stale_partitions,
    unowned_partitions, beyond_end_partitions
  )
FROM {report} AS report
FULL OUTER JOIN spread ON key <=> spread_key
