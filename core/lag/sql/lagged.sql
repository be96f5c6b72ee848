-- Lag of each row: its status by the first rule that holds (see `rules.py`), the records that are
-- unread and those that expired before they were read. What is not known is null, never 0.
--   rows                       captures in `table_columns.ROWS`, and roll-ups from hours.sql
--   :isolation                 to which end lag is measured: read_uncommitted or read_committed
--   :uncommitted               where a reader without a commit stands: start, end or null
--   :missing, :leaderless      errors of partitions that are gone, or have no leader
--   :owners_untold             states in which it is not told what members are assigned
--   :since_ms, :until_ms       the window, both ends included
-- `rolled` is what a roll-up tells of the captures within it; a capture stands for itself alone.
WITH statuses AS (
  SELECT
    {facts},
    {rolled} AS rolled,
    CASE WHEN :isolation = 'read_committed' THEN last_stable_offset ELSE log_end_offset END
      AS end_offset,
    CASE
      WHEN array_contains(:missing, error) THEN 'topic_missing'
      WHEN array_contains(:leaderless, error) THEN 'leaderless'
      WHEN NOT commits_known THEN 'unknown'
      WHEN NOT coalesce(committed_offset >= 0, false) THEN 'no_commit'
      WHEN log_start_offset IS NULL OR log_end_offset IS NULL
        OR :isolation = 'read_committed' AND last_stable_offset IS NULL THEN 'unknown'
      WHEN committed_offset < log_start_offset THEN 'below_log_start'
      WHEN committed_offset > log_end_offset THEN 'beyond_end'
      ELSE 'ok'
    END AS lag_status
  FROM {rows}
  WHERE captured_at_ms BETWEEN :since_ms AND :until_ms
)
SELECT
  {facts},
  rolled,
  end_offset,
  lag_status,
  CASE
    WHEN lag_status IN ('ok', 'below_log_start', 'beyond_end')
      THEN CASE
        WHEN lag_told IS NULL THEN greatest(end_offset - greatest(committed_offset, log_start_offset), 0)
        ELSE least(
          greatest(end_offset - greatest(committed_offset, log_start_offset), 0),
          greatest(lag_told - (log_end_offset - end_offset), 0)
        )
      END
    WHEN lag_status = 'no_commit' AND log_start_offset IS NOT NULL AND end_offset IS NOT NULL
      THEN CASE :uncommitted
        WHEN 'start' THEN greatest(end_offset - log_start_offset, 0)
        WHEN 'end' THEN 0
      END
  END AS lag,
  CASE WHEN lag_status IN ('ok', 'below_log_start', 'beyond_end')
    THEN greatest(log_start_offset - committed_offset, 0)
  END AS lost,
  -- A commit that nobody will move: its topic is gone, or the group reads other things now.
  coalesce(
    committed_offset >= 0 AND member_id IS NULL
      AND (lag_status = 'topic_missing' OR group_state NOT IN ('Empty', 'Dead')),
    false
  ) AS is_stale,
  -- Null where brokers do not tell what members are assigned.
  CASE WHEN NOT array_contains(:owners_untold, group_state) THEN member_id IS NULL END AS is_unowned
FROM statuses
