-- A chart: how many partitions and groups have each verdict or, without a window, each lag status.
--   series  a row a partition of a group
SELECT
  coalesce({verdict}, 'not known') AS {verdict},
  count(*) AS partitions,
  count(DISTINCT cluster, `group`) AS groups
FROM {series}
GROUP BY coalesce({verdict}, 'not known')
ORDER BY partitions DESC, {verdict}
LIMIT 20
