"""OffsetFetch, API 9."""

from typing import Final

REQUEST: Final = """
OffsetFetchRequest 1-10 flexible 6+
    group_id string 1-7
    topics []struct 1-7 null 2-7
        name string
        partition_indexes []int32
    groups []struct 8+
        group_id string
        member_id string? 9+ default null
        member_epoch int32 9+ default -1
        topics []struct?
            name string 8-9
            topic_id uuid 10
            partition_indexes []int32
    require_stable bool 7+ default false
"""

RESPONSE: Final = """
OffsetFetchResponse 1-10 flexible 6+
    throttle_time_ms int32 3+
    topics []struct 1-7
        name string
        partitions []struct
            partition_index int32
            committed_offset int64
            committed_leader_epoch int32 5-7 default -1
            metadata string?
            error_code int16
    error_code int16 2-7 default 0
    groups []struct 8+
        group_id string
        topics []struct
            name string 8-9
            topic_id uuid 10
            partitions []struct
                partition_index int32
                committed_offset int64
                committed_leader_epoch int32 default -1
                metadata string?
                error_code int16
        error_code int16 default 0
"""
