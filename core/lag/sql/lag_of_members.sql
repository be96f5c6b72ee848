-- A chart: partitions and lag of the members of the groups with most lag, those with most of each
-- group; a null member is nobody's partitions.
--   series                a row a partition of a group, with lag
--   :groups, :members     how many groups, and members of each
WITH shares AS (
  SELECT cluster, `group`, sum(lag) AS group_lag
  FROM {series}
  GROUP BY cluster, `group`
  ORDER BY group_lag DESC NULLS LAST, cluster, `group`
  LIMIT :groups
), sums AS (
  SELECT cluster, `group`, member_id, client_id, count(*) AS partitions, sum(lag) AS lag
  FROM {series}
  LEFT SEMI JOIN shares USING (cluster, `group`)
  GROUP BY cluster, `group`, member_id, client_id
), places AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY cluster, `group` ORDER BY lag DESC NULLS LAST, member_id NULLS FIRST
    ) AS place
  FROM sums
)
SELECT cluster, `group`, member_id, client_id, partitions, lag
FROM places
WHERE place <= :members
ORDER BY cluster, `group`, place
LIMIT :groups * :members
