-- One row over everything. It is summed up twice: distinct counts would multiply every row.
--   lagged  from lagged.sql
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
)
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
