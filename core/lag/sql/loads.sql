-- Every member with the number of its partitions (`held`) and their lag (`load`): 0 for an idle member,
-- null where no lag is known.
--   lagged   from lagged.sql
--   members  of the same capture, in `table_columns.MEMBERS`
WITH held AS (
  SELECT cluster, `group`, member_id, count(*) AS held, sum(lag) AS load
  FROM {lagged}
  WHERE member_id IS NOT NULL
  GROUP BY cluster, `group`, member_id
)
SELECT
  cluster,
  `group`,
  member_id,
  client_id,
  host,
  assignor,
  coalesce(held, 0) AS held,
  CASE WHEN held IS NULL THEN 0 ELSE load END AS load
FROM (SELECT cluster, `group`, member_id, client_id, host, assignor FROM {members})
LEFT JOIN held USING (cluster, `group`, member_id)
