-- One row over everything. It is summed up twice: distinct counts would multiply every row.
--   lagged  from lagged.sql
--   loads   from loads.sql
WITH by_group AS (
  SELECT
    count(*) AS partitions,
    sum(lag) AS lag,
    max(lag) AS lag_max,
    sum(lost) AS lost,
    count_if(lag IS NULL) AS unknown_partitions,
    CASE WHEN count(is_unowned) > 0 THEN count_if(is_unowned) END AS unowned_partitions,
    count_if(lag_status = 'beyond_end') AS beyond_end_partitions
  FROM {lagged}
  GROUP BY cluster, `group`
), sums AS (
  SELECT
    count(*) AS groups,
    coalesce(sum(partitions), 0) AS partitions,
    sum(lag) AS lag,
    max(lag_max) AS lag_max,
    sum(lost) AS lost,
    coalesce(sum(unknown_partitions), 0) AS unknown_partitions,
    sum(unowned_partitions) AS unowned_partitions,
    coalesce(sum(beyond_end_partitions), 0) AS beyond_end_partitions
  FROM by_group
), counts AS (
  SELECT count(*) AS member_count, count_if(held = 0) AS idle_members FROM {loads}
)
SELECT
  groups,
  member_count,
  idle_members,
  partitions,
  lag,
  lag_max,
  lost,
  unknown_partitions,
  unowned_partitions,
  beyond_end_partitions
FROM sums
CROSS JOIN counts
