"""ListOffsets, API 2."""

from typing import Final

REQUEST: Final = """
ListOffsetsRequest 1-11 flexible 6+
    replica_id int32
    isolation_level int8 2+
    topics []struct
        name string
        partitions []struct
            partition_index int32
            current_leader_epoch int32 4+ default -1
            timestamp int64
    timeout_ms int32 10+
"""

RESPONSE: Final = """
ListOffsetsResponse 1-11 flexible 6+
    throttle_time_ms int32 2+
    topics []struct
        name string
        partitions []struct
            partition_index int32
            error_code int16
            timestamp int64 default -1
            offset int64 default -1
            leader_epoch int32 4+ default -1
"""
