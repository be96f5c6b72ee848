-- Groups as the planner takes them, a row each: members with what they subscribe to and own, and the
-- existing topics that they read, with lag by partition.
--   members  of one capture, in `table_columns.MEMBERS` or `PLAN_MEMBERS`
--   topics   as they are planned with, in `table_columns.TOPICS`
--   lagged   rows of the same capture, from lagged.sql
WITH members_of AS (
  SELECT
    cluster,
    `group`,
    group_type,
    collect_list(struct(
      ordinal, member_id, client_id, host, instance_id, rack, subscription, owned,
      {assumed_id}, {leader}
    )) AS members
  FROM {members}
  GROUP BY cluster, `group`, group_type
), subscribed AS (
  SELECT DISTINCT cluster, `group`, explode(subscription) AS topic FROM {members}
), lags AS (
  SELECT
    cluster, `group`, topic, map_from_entries(collect_list(struct(partition, lag))) AS lag_of
  FROM {lagged}
  GROUP BY cluster, `group`, topic
), read AS (
  SELECT
    cluster,
    `group`,
    topic,
    topic_id,
    partitions,
    racks,
    transform(
      CASE WHEN partitions > 0 THEN sequence(0, partitions - 1) END,
      number -> try_element_at(lag_of, number)
    ) AS lag
  FROM subscribed
  JOIN {topics} USING (cluster, topic)
  LEFT JOIN lags USING (cluster, `group`, topic)
), topics_of AS (
  SELECT
    cluster,
    `group`,
    collect_list(struct(topic, topic_id, partitions, racks, lag)) AS topics
  FROM read
  GROUP BY cluster, `group`
)
SELECT cluster, `group`, group_type, members, topics
FROM members_of
LEFT JOIN topics_of USING (cluster, `group`)
