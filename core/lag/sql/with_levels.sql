-- A report with the names of the figures that are made of the ends of hours, days and months. What
-- they cannot tell is null, and named too.
--   report  from by_key.sql
SELECT
  *,
  nullif(concat_ws(
    ',',
    CASE WHEN age_level = 1 THEN 'lag_seconds' END,
    CASE WHEN trend_level = 1 THEN 'trend' END,
    CASE WHEN verdict_level = 1 THEN 'verdict' END
  ), '') AS hourly,
  nullif(concat_ws(
    ',',
    CASE WHEN age_level = 2 THEN 'lag_seconds' END,
    CASE WHEN trend_level = 2 THEN 'trend' END,
    CASE WHEN verdict_level = 2 THEN 'verdict' END
  ), '') AS daily,
  nullif(concat_ws(
    ',',
    CASE WHEN age_level = 3 THEN 'lag_seconds' END,
    CASE WHEN trend_level = 3 THEN 'trend' END,
    CASE WHEN verdict_level = 3 THEN 'verdict' END
  ), '') AS monthly
FROM {report}
