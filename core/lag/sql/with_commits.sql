-- A history by its keys: the report, with the number of commits in the window and the age of the last.
--   report     from by_key.sql
--   series     from series.sql
--   commits    as captures, those of the window
--   :until_ms  the end of the window
WITH counts AS (
  SELECT cluster, `group`, topic, partition, count(committed_offset) AS commits
  FROM {commits}
  GROUP BY cluster, `group`, topic, partition
), ages AS (
  SELECT
    {key} AS age_key,
    coalesce(sum(commits), 0) AS commits,
    (:until_ms - max(last_commit_at)) / 1e3 AS commit_age_seconds
  FROM {series}
  LEFT JOIN counts USING (cluster, `group`, topic, partition)
  GROUP BY {keys}
)
SELECT report.*, commits, commit_age_seconds
FROM {report} AS report
LEFT JOIN ages ON key <=> age_key
