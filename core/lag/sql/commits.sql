-- Commits and tombstones of the log as captures that know no log: the time is the commit's.
--   log       in `commit_log.COMMITS`
--   :cluster  its name
SELECT
  coalesce(committed_at_ms, at_ms) AS captured_at_ms,
  :cluster AS cluster,
  `group`,
  CAST(NULL AS STRING) AS group_type,
  CAST(NULL AS STRING) AS group_state,
  topic,
  partition,
  true AS commits_known,
  committed_offset,
  committed_at_ms,
  leader_epoch,
  CAST(NULL AS BIGINT) AS log_start_offset,
  CAST(NULL AS BIGINT) AS log_end_offset,
  CAST(NULL AS BIGINT) AS last_stable_offset,
  CAST(NULL AS STRING) AS member_id,
  CAST(NULL AS STRING) AS client_id,
  CAST(NULL AS STRING) AS host,
  CAST(error AS STRING) AS error,
  CAST(NULL AS STRING) AS assignor,
  CAST(NULL AS BIGINT) AS next_record_at_ms,
  CAST(NULL AS BIGINT) AS lag_told
FROM {log}
WHERE kind IN ('commit', 'tombstone')
