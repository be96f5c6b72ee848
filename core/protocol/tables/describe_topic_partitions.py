"""DescribeTopicPartitions, API 75."""

from typing import Final

REQUEST: Final = """
DescribeTopicPartitionsRequest 0-0 flexible 0+
    topics []struct
        name string
    response_partition_limit int32 default 2000
    cursor struct? default null
        topic_name string
        partition_index int32
"""

RESPONSE: Final = """
DescribeTopicPartitionsResponse 0-0 flexible 0+
    throttle_time_ms int32
    topics []struct
        error_code int16
        name string?
        topic_id uuid
        is_internal bool default false
        partitions []struct
            error_code int16
            partition_index int32
            leader_id int32
            leader_epoch int32 default -1
            replica_nodes []int32
            isr_nodes []int32
            eligible_leader_replicas []int32? default null
            last_known_elr []int32? default null
            offline_replicas []int32
        topic_authorized_operations int32 default -2147483648
    next_cursor struct? default null
        topic_name string
        partition_index int32
"""
