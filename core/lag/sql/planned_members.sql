-- Each member under each assignor: partitions, lag and rates now and as planned. A group that could not
-- be planned has no rows.
--   members   of one capture, as they are now
--   later     members after what-if changes; without changes the same
--   series    from series.sql or snapshot.sql, of the same capture
--   plans     in `table_columns.PLANS`
--   topics    as they are now
--   :assignors, :is_changed   their names; whether there are what-if changes
WITH given AS (
  SELECT cluster, `group`, assignor, member_id, client_id, host, topic,
    explode(partitions) AS partition
  FROM {plans}
  WHERE error IS NULL
), owners AS (
  SELECT cluster, `group`, topic, partition, member_id AS owner, lag, rate_in, rate_out
  FROM {series}
), read AS (  -- with the lag of now; what changes add to a topic is empty
  SELECT
    given.*,
    owner,
    CASE WHEN :is_changed AND partition >= coalesce(known, 0) THEN 0 ELSE lag END AS lag,
    CASE WHEN :is_changed AND partition >= coalesce(known, 0) THEN 0 ELSE rate_in END AS rate_in,
    CASE WHEN :is_changed AND partition >= coalesce(known, 0) THEN 0 ELSE rate_out END AS rate_out
  FROM given
  LEFT JOIN owners USING (cluster, `group`, topic, partition)
  LEFT JOIN (SELECT cluster, topic, partitions AS known FROM {topics}) USING (cluster, topic)
), sides AS (  -- each is summed up before they meet: members are far fewer than partitions
  SELECT
    'now' AS side, cluster, `group`, member_id, client_id, host, :assignors AS assignors,
    0 AS partitions, CAST(NULL AS BIGINT) AS lag, CAST(NULL AS BIGINT) AS lag_max,
    0 AS unknown_partitions, CAST(NULL AS DOUBLE) AS rate_in, CAST(NULL AS DOUBLE) AS rate_out,
    0 AS kept
  FROM {members}
  UNION ALL
  SELECT 'later', cluster, `group`, member_id, client_id, host, :assignors,
    0, NULL, NULL, 0, NULL, NULL, 0
  FROM {later}
  UNION ALL
  SELECT 'held', cluster, `group`, member_id, client_id, host, :assignors,
    count(*), sum(lag), max(lag), count_if(lag IS NULL), sum(rate_in), sum(rate_out), 0
  FROM {series}
  WHERE member_id IS NOT NULL
  GROUP BY cluster, `group`, member_id, client_id, host
  UNION ALL
  SELECT 'given', cluster, `group`, member_id, client_id, host, array(assignor),
    count(*), sum(lag), max(lag), count_if(lag IS NULL), sum(rate_in), sum(rate_out),
    count_if(member_id = owner)
  FROM read
  GROUP BY cluster, `group`, member_id, client_id, host, assignor
), by_assignor AS (
  SELECT *, explode(assignors) AS assignor FROM sides
), failed AS (
  SELECT cluster, `group`, assignor FROM {plans} WHERE error IS NOT NULL
), figures AS (
  SELECT
    cluster, `group`, assignor, member_id, client_id, host,
    CASE
      WHEN count_if(side = 'now') = 0 THEN 'joins'
      WHEN count_if(side = 'later') = 0 THEN 'leaves'
      ELSE 'stays'
    END AS change,
    count_if(side = 'held') AS is_held,
    max(CASE WHEN side = 'held' THEN partitions END) AS partitions,
    max(CASE WHEN side = 'held' THEN lag END) AS lag,
    max(CASE WHEN side = 'held' THEN lag_max END) AS lag_max,
    max(CASE WHEN side = 'held' THEN unknown_partitions END) AS unknown_partitions,
    max(CASE WHEN side = 'held' THEN rate_in END) AS rate_in,
    max(CASE WHEN side = 'held' THEN rate_out END) AS rate_out,
    count_if(side = 'given') AS is_given,
    max(CASE WHEN side = 'given' THEN partitions END) AS planned_partitions,
    max(CASE WHEN side = 'given' THEN lag END) AS planned_lag,
    max(CASE WHEN side = 'given' THEN lag_max END) AS planned_lag_max,
    max(CASE WHEN side = 'given' THEN unknown_partitions END) AS planned_unknown_partitions,
    max(CASE WHEN side = 'given' THEN rate_in END) AS planned_rate_in,
    max(CASE WHEN side = 'given' THEN rate_out END) AS planned_rate_out,
    max(kept) AS kept
  FROM by_assignor
  LEFT ANTI JOIN failed USING (cluster, `group`, assignor)
  GROUP BY cluster, `group`, assignor, member_id, client_id, host
)
SELECT  -- who has no partitions has no lag; of partitions whose lag is unknown it stays null
  cluster, `group`, assignor, member_id, client_id, host,
  change,
  coalesce(partitions, 0) AS partitions,
  CASE WHEN is_held = 0 THEN 0 ELSE lag END AS lag,
  CASE WHEN is_held = 0 THEN 0 ELSE lag_max END AS lag_max,
  coalesce(unknown_partitions, 0) AS unknown_partitions,
  CASE WHEN is_held = 0 THEN 0e0 ELSE rate_in END AS rate_in,
  CASE WHEN is_held = 0 THEN 0e0 ELSE rate_out END AS rate_out,
  coalesce(planned_partitions, 0) AS planned_partitions,
  CASE WHEN is_given = 0 THEN 0 ELSE planned_lag END AS planned_lag,
  CASE WHEN is_given = 0 THEN 0 ELSE planned_lag_max END AS planned_lag_max,
  coalesce(planned_unknown_partitions, 0) AS planned_unknown_partitions,
  CASE WHEN is_given = 0 THEN 0e0 ELSE planned_rate_in END AS planned_rate_in,
  CASE WHEN is_given = 0 THEN 0e0 ELSE planned_rate_out END AS planned_rate_out,
  kept,
  coalesce(planned_partitions, 0) - kept AS moved_in,
  coalesce(partitions, 0) - kept AS moved_out
FROM figures
