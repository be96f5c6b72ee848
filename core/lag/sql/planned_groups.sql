-- Groups, clients or hosts under each assignor. `gain`: by how much it would relieve the most loaded
-- member, negative if it gets worse. `gain_with_member`: by how much one member more could at best,
-- however partitions are spread: it still reads whole partitions, and no spread beats an even one.
-- `best` promises more of the two.
--   planned  from planned_members.sql
WITH sums AS (
  SELECT
    {keys},
    count_if(change <> 'joins') AS member_count,
    count_if(change <> 'leaves') AS planned_member_count,
    count_if(change <> 'joins' AND partitions = 0) AS idle_members,
    sum(partitions) AS partitions,
    sum(CASE WHEN change <> 'joins' THEN lag END) AS lag,
    max(CASE WHEN change <> 'joins' THEN lag END) AS member_lag_max,
    stddev_pop(CASE WHEN change <> 'joins' THEN lag END) AS member_lag_stddev,
    max(rate_in) AS member_rate_in_max,
    count_if(change <> 'leaves' AND planned_partitions = 0) AS planned_idle_members,
    sum(planned_partitions) AS planned_partitions,
    sum(CASE WHEN change <> 'leaves' THEN planned_lag END) AS planned_lag,
    max(CASE WHEN change <> 'leaves' THEN planned_lag END) AS planned_member_lag_max,
    stddev_pop(CASE WHEN change <> 'leaves' THEN planned_lag END) AS planned_member_lag_stddev,
    max(planned_rate_in) AS planned_member_rate_in_max,
    sum(moved_in) AS moved,
    CASE WHEN max(lag) IS NOT NULL THEN greatest(
      max(lag) - greatest(
        max(lag_max), ceil(sum(lag) / (count_if(change <> 'joins') + 1))
      ),
      0
    ) END AS gain_with_member
  FROM {planned}
  GROUP BY {keys}
), gains AS (
  SELECT
    *,
    member_lag_max - planned_member_lag_max AS gain,
    greatest(member_lag_max - planned_member_lag_max, gain_with_member) AS promise
  FROM sums
)
SELECT
  *,
  CASE
    WHEN promise IS NULL THEN NULL
    WHEN promise <= 0 THEN 'none'
    WHEN coalesce(gain, 0) >= coalesce(gain_with_member, 0) THEN 'assignor'
    ELSE 'member'
  END AS best,
  greatest(promise, CASE WHEN promise IS NOT NULL THEN 0 END) AS best_gain
FROM gains
