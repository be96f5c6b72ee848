-- A chart: lag by partition of the topics of groups with most lag, the first partitions of each.
--   series                 a row a partition of a group, with lag
--   :lanes, :partitions    how many topics of groups, and partitions of each
WITH lanes AS (
  SELECT cluster, `group`, topic, sum(lag) AS lane_lag
  FROM {series}
  GROUP BY cluster, `group`, topic
  ORDER BY lane_lag DESC NULLS LAST, cluster, `group`, topic
  LIMIT :lanes
)
SELECT cluster, `group`, topic, partition, lag
FROM {series}
JOIN lanes USING (cluster, `group`, topic)
WHERE partition < :partitions
ORDER BY lane_lag DESC NULLS LAST, cluster, `group`, topic, partition
LIMIT :lanes * :partitions
