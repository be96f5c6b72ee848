"""ConsumerGroupHeartbeat, API 68."""

from typing import Final

REQUEST: Final = """
ConsumerGroupHeartbeatRequest 0-1 flexible 0+
    group_id string
    member_id string
    member_epoch int32
    instance_id string? default null
    rack_id string? default null
    rebalance_timeout_ms int32 default -1
    subscribed_topic_names []string? default null
    subscribed_topic_regex string? 1 default null
    server_assignor string? default null
    topic_partitions []struct? default null
        topic_id uuid
        partitions []int32
"""

RESPONSE: Final = """
ConsumerGroupHeartbeatResponse 0-1 flexible 0+
    throttle_time_ms int32
    error_code int16
    error_message string? default null
    member_id string? default null
    member_epoch int32
    heartbeat_interval_ms int32
    assignment struct? default null
        topic_partitions []struct
            topic_id uuid
            partitions []int32
"""
