"""OffsetForLeaderEpoch, API 23."""

from typing import Final

REQUEST: Final = """
OffsetForLeaderEpochRequest 2-4 flexible 4+
    replica_id int32 3+ default -2
    topics []struct
        topic string
        partitions []struct
            partition int32
            current_leader_epoch int32 default -1
            leader_epoch int32
"""

RESPONSE: Final = """
OffsetForLeaderEpochResponse 2-4 flexible 4+
    throttle_time_ms int32
    topics []struct
        topic string
        partitions []struct
            error_code int16
            partition int32
            leader_epoch int32 default -1
            end_offset int64 default -1
"""
