-- What one capture says of each series: lag in seconds as far as record times tell it, nothing of how
-- things went. The columns are those of series.sql that reports read.
--   lagged  from lagged.sql
SELECT
  *,
  -- Below log start the oldest unread record is gone. A producer's clock may run ahead of ours.
  CASE
    WHEN lag = 0 THEN 0e0
    WHEN lag_status = 'ok' AND next_record_at_ms IS NOT NULL
      THEN greatest(captured_at_ms - next_record_at_ms, 0) / 1e3
  END AS lag_seconds,
  CASE
    WHEN lag = 0 THEN 'at_head'
    WHEN lag_status = 'ok' AND next_record_at_ms IS NOT NULL THEN 'record'
  END AS lag_seconds_method,
  CASE WHEN lag = 0 OR lag_status = 'ok' AND next_record_at_ms IS NOT NULL THEN 'high' END
    AS lag_seconds_confidence,
  CAST(NULL AS DOUBLE) AS rate_in,
  CAST(NULL AS DOUBLE) AS rate_out,
  CAST(NULL AS BIGINT) AS end_ms,
  CAST(NULL AS BIGINT) AS points,
  CAST(NULL AS BIGINT) AS lag_first,
  CAST(NULL AS BIGINT) AS lag_last,
  CAST(NULL AS BIGINT) AS produced,
  CAST(NULL AS BIGINT) AS last_commit_at,
  CAST(NULL AS STRING) AS verdict,
  CAST(NULL AS STRING) AS verdict_rule,
  CAST(NULL AS INT) AS verdict_weight,
  CAST(NULL AS DOUBLE) AS retention_seconds_left,
  0 AS trend_level,
  0 AS verdict_level,
  0 AS age_level
FROM {lagged}
