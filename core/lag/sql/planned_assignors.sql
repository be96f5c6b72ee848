-- Each assignor over the whole fleet: of how many groups it would relieve the most loaded member, and
-- sums of what planned_groups.sql says of each.
--   planned  from planned_groups.sql, by group
SELECT
  cluster,
  assignor,
  count(*) AS groups,
  count_if(gain > 0) AS better,
  count_if(gain < 0) AS worse,
  sum(member_count) AS member_count,
  sum(planned_member_count) AS planned_member_count,
  sum(idle_members) AS idle_members,
  sum(planned_idle_members) AS planned_idle_members,
  sum(moved) AS moved,
  sum(gain) AS gain,
  sum(gain_with_member) AS gain_with_member
FROM {planned}
GROUP BY cluster, assignor
