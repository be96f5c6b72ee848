-- A chart: lag of the groups with most at any time, in at most :points stretches. Of each stretch the
-- last capture, and before it the one with most lag, so that no peak is lost: an incident that is over
-- is still the line to show.
--   lagged             every row of the window, from lagged.sql
--   peaks              of roll-ups, if there are any: `UNION ALL` rows of hours.sql
--   :lines, :points    how many groups and stretches
WITH moments AS (
  SELECT cluster, `group`, captured_at_ms AS at_ms, lag
  FROM {lagged}
  WHERE rolled IS NULL OR captured_at_ms = rolled.hour_last_ms{peaks}
), sums AS (
  SELECT cluster, `group`, at_ms, sum(lag) AS lag FROM moments GROUP BY cluster, `group`, at_ms
), lines AS (
  SELECT cluster, `group`, max(lag) AS lag_peak
  FROM sums
  GROUP BY cluster, `group`
  ORDER BY lag_peak DESC NULLS LAST, cluster, `group`
  LIMIT :lines
), bounds AS (
  SELECT
    *,
    min(at_ms) OVER everything AS first_ms,
    max(at_ms) OVER everything AS last_ms
  FROM sums
  LEFT SEMI JOIN lines USING (cluster, `group`)
  WINDOW everything AS (PARTITION BY 1)
), stretches AS (
  SELECT
    *,
    floor((at_ms - first_ms) / greatest((last_ms - first_ms) / (:points - 1), 1e0)) AS stretch
  FROM bounds
), chosen AS (
  SELECT
    *,
    max(at_ms) OVER of_stretch AS stretch_last_ms,
    max_by(at_ms, lag) OVER of_stretch AS stretch_most_ms
  FROM stretches
  WINDOW of_stretch AS (PARTITION BY cluster, `group`, stretch)
)
SELECT cluster, `group`, at_ms, lag
FROM chosen
WHERE at_ms = stretch_last_ms OR at_ms = stretch_most_ms
ORDER BY cluster, `group`, at_ms
LIMIT :lines * :points * 2
