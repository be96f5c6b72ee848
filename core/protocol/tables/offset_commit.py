"""OffsetCommit, API 8."""

from typing import Final

REQUEST: Final = """
OffsetCommitRequest 2-10 flexible 8+
    group_id string
    generation_id_or_member_epoch int32 default -1
    member_id string
    group_instance_id string? 7+ default null
    retention_time_ms int64 2-4 default -1
    topics []struct
        name string 2-9
        topic_id uuid 10
        partitions []struct
            partition_index int32
            committed_offset int64
            committed_leader_epoch int32 6+ default -1
            committed_metadata string?
"""

RESPONSE: Final = """
OffsetCommitResponse 2-10 flexible 8+
    throttle_time_ms int32 3+
    topics []struct
        name string 2-9
        topic_id uuid 10
        partitions []struct
            partition_index int32
            error_code int16
"""
