-- What a window says of each series: the newest row of each, with rates, lag in seconds and how that is
-- known, the verdict and its rule, and the time until retention reaches the commit.
--
-- A series (cluster, group, topic, partition) is one 64-bit number. Rates, ages and peaks are made of
-- every capture. Trend and verdict say how things went, and would follow every twitch of captures a
-- second apart: they are made of points. The time captured is cut into stretches, and the last capture
-- of a series in a stretch is a point. Neighbours are looked at in one order, newest first.
--   lagged      every row of the window, from lagged.sql
--   newest      of these the rows of each cluster's newest capture, one a series
--   first_ms, last_ms  the time captured of the row's cluster
--   :stretches  into how many the time captured is cut
--   :until_ms   the end of the window
--   rated_from  from when on rates are of both sides: 0, or the first time that log end and commit are known
--   :age_method  where the times of next records are from: record or bisected
WITH lives AS (
  SELECT
    xxhash64(rows.cluster, rows.`group`, rows.topic, rows.partition) AS series,
    captured_at_ms AS t,
    (captured_at_ms - {first_ms}) DIV greatest(({last_ms} - {first_ms}) DIV :stretches, 1) AS stretch,
    CASE WHEN committed_offset >= 0 THEN committed_offset END AS committed,
    committed_at_ms AS committed_at,
    log_start_offset AS log_start,
    end_offset AS log_end,
    lag,
    rolled
  FROM {lagged} AS rows
), steps AS (  -- what was last known before each
  SELECT
    *,
    -- Before the oldest roll-up is what it began with.
    coalesce(
      lead(coalesce(rolled.end_last_t, CASE WHEN log_end IS NOT NULL THEN t END)) IGNORE NULLS
        OVER newest_first,
      rolled.end_first_t
    ) AS prev_t,
    coalesce(
      lead(coalesce(rolled.end_last, log_end)) IGNORE NULLS OVER newest_first, rolled.end_first
    ) AS prev_end,
    lead(coalesce(rolled.committed_last, committed)) IGNORE NULLS OVER newest_first AS prev_committed,
    lead(coalesce(rolled.start_last, log_start)) IGNORE NULLS OVER newest_first AS prev_start,
    first_value(committed) OVER from_here AS now_committed,
    {rated_from} AS rated_from,
    coalesce(lag(stretch) OVER newest_first <> stretch, true) AS is_point,
    -- A verdict looks at the newest ten points.
    coalesce(lag(stretch) OVER newest_first <> stretch, true)
      AND dense_rank() OVER by_stretch <= 10 AS is_recent
  FROM lives
  WINDOW
    newest_first AS (PARTITION BY series ORDER BY stretch DESC, t DESC),
    from_here AS (
      PARTITION BY series ORDER BY stretch DESC, t DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ),
    by_stretch AS (PARTITION BY series ORDER BY stretch DESC)
), neighbours AS (
  SELECT
    *,
    prev_end <= now_committed AND now_committed < log_end AS passes,
    CASE WHEN is_recent THEN committed END AS point_committed,
    CASE WHEN is_recent THEN lag END AS point_lag,
    lead(CASE WHEN is_recent THEN committed END) IGNORE NULLS OVER newest_first AS before_committed,
    lead(CASE WHEN is_recent THEN lag END) IGNORE NULLS OVER newest_first AS before_lag,
    max(CASE WHEN is_recent THEN committed END) OVER from_here AS best_from_here
  FROM steps
  WINDOW
    newest_first AS (PARTITION BY series ORDER BY stretch DESC, t DESC),
    from_here AS (
      PARTITION BY series ORDER BY stretch DESC, t DESC
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
), figures AS (
  SELECT
    series,
    sum(coalesce(rolled.held, 1)) AS captures,
    max(t) AS last_t,
    count_if(is_point AND lag IS NOT NULL) AS points,  -- one alone has no trend
    -- Steps back are not subtracted: records went by whatever a topic made anew begins with.
    sum(CASE WHEN t > rated_from THEN
      greatest(coalesce(rolled.end_first, log_end) - prev_end, 0) + coalesce(rolled.end_added, 0)
    END) AS produced,
    sum(CASE WHEN t > rated_from THEN
      greatest(coalesce(rolled.committed_first, committed) - prev_committed, 0)
        + coalesce(rolled.committed_added, 0)
    END) AS consumed,
    sum(greatest(coalesce(rolled.start_first, log_start) - prev_start, 0) + coalesce(rolled.start_added, 0))
      AS expired,
    -- The time between the first and the last capture that knew each.
    max(coalesce(rolled.end_last_t, CASE WHEN log_end IS NOT NULL THEN t END))
      - min(coalesce(rolled.end_first_t, CASE WHEN log_end IS NOT NULL AND t >= rated_from THEN t END))
      AS end_ms,
    max(coalesce(rolled.committed_last_t, CASE WHEN committed IS NOT NULL THEN t END))
      - min(coalesce(
        rolled.committed_first_t, CASE WHEN committed IS NOT NULL AND t >= rated_from THEN t END
      ))
      AS committed_ms,
    max(coalesce(rolled.start_last_t, CASE WHEN log_start IS NOT NULL THEN t END))
      - min(coalesce(rolled.start_first_t, CASE WHEN log_start IS NOT NULL THEN t END)) AS start_ms,
    -- When the log's end went back last: the topic was made anew, or truncated.
    max(greatest(
      rolled.end_reset_t,
      CASE WHEN coalesce(rolled.end_first, log_end) < prev_end THEN coalesce(rolled.end_first_t, t) END
    )) AS reset_t,
    min_by(lag, CASE WHEN is_point AND lag IS NOT NULL THEN t END) AS lag_first,
    max_by(lag, CASE WHEN is_point AND lag IS NOT NULL THEN t END) AS lag_last,
    -- When the log's end was where the commit is now.
    max_by(
      CASE WHEN passes THEN
        prev_t + (t - prev_t) * (CAST(now_committed - prev_end AS DOUBLE) / (log_end - prev_end))
      END,
      CASE WHEN passes THEN t END
    ) AS caught_at,
    max(CASE WHEN passes THEN prev_t END) AS passed_t,
    -- From when on the record at the commit is known to have been there. A topic that was made anew
    -- within a roll-up says so of its end alone.
    greatest(
      min(CASE
        WHEN coalesce(rolled.end_first, log_end) > now_committed THEN coalesce(rolled.end_first_t, t)
        WHEN log_end > now_committed THEN t
      END),
      max(CASE
        WHEN rolled.end_reset_t IS NOT NULL THEN rolled.end_last_t
        WHEN coalesce(rolled.end_first, log_end) < prev_end THEN coalesce(rolled.end_first_t, t)
      END)
    ) AS unread_t,
    max(CASE WHEN rolled.end_reset_t IS NOT NULL THEN rolled.level END) AS reset_level,
    count(point_committed) AS commits,
    min(point_committed) AS committed_min,
    max(point_committed) AS committed_max,
    min(CASE WHEN is_recent THEN log_end END) AS end_min,
    count(point_lag) AS lags,
    min(point_lag) AS lag_min,
    count_if(point_lag < before_lag) AS lag_drops,
    -- Whether the first commit that went back was not made good since.
    min_by(
      NOT best_from_here >= before_committed,
      CASE WHEN point_committed < before_committed THEN t END
    ) AS is_rewound,
    min(CASE WHEN is_recent THEN committed_at END) AS first_commit_at,
    max(committed_at) AS last_commit_at,
    max(coalesce(rolled.level, 0)) AS trend_level,
    max(CASE WHEN is_recent THEN coalesce(rolled.level, 0) END) AS verdict_level,
    max_by(coalesce(rolled.level, 0), CASE WHEN passes THEN t END) AS passed_level
  FROM neighbours
  GROUP BY series
), judged AS (
  SELECT
    newest.*,
    figures.*,
    -- How it is known how old the oldest unread record is. Its own time is the answer; the history of
    -- ends says it inside the window; else it is at least as old as it was seen unread. Below log start
    -- that record is gone.
    CASE
      WHEN lag = 0 THEN 'at_head'
      WHEN next_record_at_ms IS NOT NULL AND lag_status = 'ok' THEN :age_method
      WHEN lag > 0 AND caught_at IS NOT NULL AND (reset_t IS NULL OR passed_t >= reset_t)
        AND lag_status = 'ok' THEN 'interpolated'
      WHEN lag > 0 AND unread_t < last_t AND lag_status = 'ok' THEN 'at_least'
    END AS lag_seconds_method,
    -- The rule of Burrow's that decides. Burrow watches commits; captures see where they stand. So a
    -- reader that commits the same offset again and one that stopped are told apart by commit times
    -- alone; without them nobody must be assigned the partition. Where somebody is, a reader that
    -- stopped is stuck. What nobody owns or has committed is not read, if there is anything to read.
    CASE
      WHEN lag_status = 'beyond_end' THEN 'beyond_log_end'
      WHEN lag_status = 'no_commit' AND is_unowned AND group_state NOT IN ('Empty', 'Dead')
        AND log_end_offset > log_start_offset THEN 'nobody_reads'
      WHEN lag IS NULL THEN 'lag_unknown'
      WHEN lag = 0 THEN 'no_lag'
      WHEN coalesce(commits, 0) < 3 THEN 'too_few_captures'
      WHEN end_min > committed_offset AND CASE
        WHEN last_commit_at IS NOT NULL
          THEN :until_ms - last_commit_at > last_commit_at - first_commit_at
        ELSE committed_min = committed_max AND member_id IS NULL
      END THEN CASE WHEN member_id IS NULL THEN 'commits_stopped' ELSE 'offset_stands_still' END
      WHEN is_rewound THEN 'offset_went_back'
      WHEN lag_min = 0 THEN 'was_at_head'
      -- A share group is done with records out of order, while its start offset stands.
      WHEN lag_told IS NOT NULL AND lag_drops > 0 THEN 'progresses'
      WHEN committed_min = committed_max THEN 'offset_stands_still'
      WHEN lag_drops = 0 AND lags > 1 THEN 'lag_never_falls'
      ELSE 'progresses'
    END AS verdict_rule
  FROM {newest} AS newest
  LEFT JOIN figures
    ON xxhash64(newest.cluster, newest.`group`, newest.topic, newest.partition) = figures.series
)
SELECT
  {facts},
  lag_status,
  lag,
  lost,
  is_unowned,
  -- Nobody is assigned the partition, and its commit stood still while records came.
  is_stale OR coalesce(
    member_id IS NULL AND committed_offset >= 0 AND produced > 0 AND consumed = 0 AND captures > 1,
    false
  ) AS is_stale,
  points, produced, end_ms, lag_first, lag_last, last_commit_at,
  CASE WHEN end_ms > 0 THEN produced * 1e3 / end_ms END AS rate_in,
  CASE WHEN committed_ms > 0 THEN consumed * 1e3 / committed_ms END AS rate_out,
  CASE lag_seconds_method
    WHEN 'at_head' THEN 0e0
    -- A producer's clock may run ahead of ours.
    WHEN :age_method THEN greatest(captured_at_ms - next_record_at_ms, 0) / 1e3
    WHEN 'interpolated' THEN (last_t - caught_at) / 1e3
    WHEN 'at_least' THEN (last_t - unread_t) / 1e3
  END AS lag_seconds,
  lag_seconds_method,
  CASE WHEN lag_seconds_method = 'at_least' THEN 'low' WHEN lag_seconds_method IS NOT NULL THEN 'high'
  END AS lag_seconds_confidence,
  CASE
    WHEN verdict_rule IN ('no_lag', 'was_at_head', 'progresses') THEN 'OK'
    WHEN verdict_rule = 'lag_never_falls' THEN 'WARN'
    WHEN verdict_rule IN ('commits_stopped', 'nobody_reads') THEN 'STOP'
    WHEN verdict_rule = 'offset_stands_still' THEN 'STALL'
    WHEN verdict_rule = 'offset_went_back' THEN 'REWIND'
    WHEN verdict_rule = 'beyond_log_end' THEN 'BEYOND_END'
  END AS verdict,
  verdict_rule,
  -- From harmless to bad: one that lags and of which too little is known outweighs those that are well.
  CASE verdict_rule
    WHEN 'lag_unknown' THEN 0
    WHEN 'no_lag' THEN 1
    WHEN 'was_at_head' THEN 2
    WHEN 'progresses' THEN 3
    WHEN 'too_few_captures' THEN 4
    WHEN 'lag_never_falls' THEN 5
    WHEN 'commits_stopped' THEN 6
    WHEN 'nobody_reads' THEN 7
    WHEN 'offset_stands_still' THEN 8
    WHEN 'offset_went_back' THEN 9
    WHEN 'beyond_log_end' THEN 10
  END AS verdict_weight,
  -- Null where log start stands, nothing is unread, or nothing is committed that could be lost.
  CASE
    WHEN lag > 0 AND committed_offset >= 0 AND log_start_offset IS NOT NULL AND start_ms > 0 AND expired > 0
      THEN greatest(committed_offset - log_start_offset, 0) / (expired * 1e3 / start_ms)
  END AS retention_seconds_left,
  trend_level,
  verdict_level,
  CASE
    WHEN lag_seconds_method = 'interpolated' THEN passed_level
    WHEN lag > 0 AND lag_status = 'ok' AND coalesce(lag_seconds_method, 'at_least') = 'at_least'
      THEN reset_level
  END AS age_level
FROM judged
