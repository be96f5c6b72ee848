-- Rows of captures that are there as a whole, each once: a collector that died leaves others, and two
-- captures may have the same time.
--   captures  rows in `table_columns.ROWS`
--   marks     `cluster` and `captured_at_ms` of the captures
WITH numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY cluster, `group`, topic, partition, captured_at_ms ORDER BY committed_offset
    ) AS copy
  FROM {captures}
  LEFT SEMI JOIN {marks} USING (cluster, captured_at_ms)
)
SELECT {facts} FROM numbered WHERE copy = 1
