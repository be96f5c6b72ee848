-- What captures at some times of a window would have shown: the newest commit until then and its time,
-- and the end of the log then. Who was assigned what is not known. Commits stand until the next one; a
-- tombstone is a commit of nothing.
--   commits  as captures that know no log; null is a tombstone
--   now      the groups as they are now, in `table_columns.ROWS`
--   ends     `at_ms`, `topic`, `partition`, `log_end`: where logs ended then
WITH moments AS (
  SELECT
    cluster, `group`, topic, partition, captured_at_ms AS t, false AS is_then,
    coalesce(committed_offset, -1) AS code, committed_at_ms,
    CAST(NULL AS STRING) AS group_type, CAST(NULL AS BIGINT) AS log_start_offset,
    CAST(NULL AS BIGINT) AS log_end_offset, CAST(NULL AS STRING) AS error
  FROM {commits}
  UNION ALL
  SELECT
    cluster, `group`, topic, partition, at_ms, true, NULL, NULL,
    group_type, log_start_offset, log_end, error
  FROM {now}
  JOIN {ends} USING (topic, partition)
), stood AS (  -- a commit of the same millisecond was there
  SELECT
    *,
    last_value(code) IGNORE NULLS OVER until_then AS stood_at,
    last_value(committed_at_ms) IGNORE NULLS OVER until_then AS since_ms
  FROM moments
  WINDOW until_then AS (
    PARTITION BY cluster, `group`, topic, partition ORDER BY t, is_then
    ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
)
SELECT
  t AS captured_at_ms,
  cluster,
  `group`,
  group_type,
  CAST(NULL AS STRING) AS group_state,
  topic,
  partition,
  true AS commits_known,
  CASE WHEN stood_at >= 0 THEN stood_at END AS committed_offset,
  CASE WHEN stood_at >= 0 THEN since_ms END AS committed_at_ms,
  CAST(NULL AS INT) AS leader_epoch,
  log_start_offset,
  log_end_offset,
  CAST(NULL AS BIGINT) AS last_stable_offset,
  CAST(NULL AS STRING) AS member_id,
  CAST(NULL AS STRING) AS client_id,
  CAST(NULL AS STRING) AS host,
  error,
  CAST(NULL AS STRING) AS assignor,
  CAST(NULL AS BIGINT) AS next_record_at_ms,
  CAST(NULL AS BIGINT) AS lag_told
FROM stood
WHERE is_then
