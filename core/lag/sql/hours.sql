-- Roll-ups of hours (level 1), days (2) and months (3), of which every capture is in the window. Each
-- is its last capture, with what was within it (`rolled`): how far the log and its readers went, and
-- the most lag, when that was, and the most of one partition.
--   hours                  rows of the table `hours`: of series, or peaks of keys
--   :since_ms, :until_ms   the window, both ends included
--   :isolation             read_uncommitted or read_committed
--   :uncommitted           start, end or null
WITH readings AS (
  SELECT
    *,
    CASE WHEN :isolation = 'read_committed' THEN stable_lag_most ELSE lag_most END AS from_commit,
    CASE WHEN :isolation = 'read_committed' THEN stable_start_lag_most ELSE start_lag_most END
      AS from_start,
    CASE WHEN :isolation = 'read_committed' THEN stable_lag_most_ms ELSE lag_most_ms END
      AS from_commit_ms,
    CASE WHEN :isolation = 'read_committed' THEN stable_start_lag_most_ms
         ELSE start_lag_most_ms END AS from_start_ms,
    CASE WHEN :isolation = 'read_committed' THEN partition_stable_lag_most
         ELSE partition_lag_most END AS partition_from_commit,
    CASE WHEN :isolation = 'read_committed' THEN partition_stable_start_lag_most
         ELSE partition_start_lag_most END AS partition_from_start
  FROM {hours}
  WHERE hour_first_ms >= :since_ms AND hour_last_ms <= :until_ms
)
SELECT
  {facts},
  `by`,
  CASE WHEN :uncommitted = 'start' THEN from_start_ms ELSE from_commit_ms END AS most_lag_ms,
  CASE
    WHEN :uncommitted = 'start' THEN partition_from_start
    WHEN :uncommitted = 'end'
      THEN coalesce(partition_from_commit, CASE WHEN partition_from_start IS NOT NULL THEN 0 END)
    ELSE partition_from_commit
  END AS partition_most_lag,
  named_struct(
    'level', CASE
      WHEN hour_first_ms DIV 3600000 = hour_last_ms DIV 3600000 THEN 1
      WHEN hour_first_ms DIV 86400000 = hour_last_ms DIV 86400000 THEN 2
      ELSE 3
    END,
    'held', captures,
    'hour_last_ms', hour_last_ms,
    -- From the end, lag is 0 where something is read that has no commit.
    'most_lag', CASE
      WHEN :uncommitted = 'start' THEN from_start
      WHEN :uncommitted = 'end'
        THEN coalesce(from_commit, CASE WHEN from_start IS NOT NULL THEN 0 END)
      ELSE from_commit
    END,
    'end_reset_t', CASE WHEN :isolation = 'read_committed' THEN stable_reset_ms ELSE end_reset_ms END,
    'end_first', CASE WHEN :isolation = 'read_committed' THEN stable_first ELSE end_first END,
    'end_first_t', CASE WHEN :isolation = 'read_committed' THEN stable_first_ms
      ELSE end_first_ms END,
    'end_last', CASE WHEN :isolation = 'read_committed' THEN stable_last ELSE end_last END,
    'end_last_t', CASE WHEN :isolation = 'read_committed' THEN stable_last_ms ELSE end_last_ms END,
    'end_added', CASE WHEN :isolation = 'read_committed' THEN stable_added ELSE end_added END,
    'committed_first', committed_first,
    'committed_first_t', committed_first_ms,
    'committed_last', committed_last,
    'committed_last_t', committed_last_ms,
    'committed_added', committed_added,
    'start_first', start_first,
    'start_first_t', start_first_ms,
    'start_last', start_last,
    'start_last_t', start_last_ms,
    'start_added', start_added
  ) AS rolled
FROM readings
