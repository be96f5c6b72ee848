"""OffsetDelete, API 47."""

from typing import Final

REQUEST: Final = """
OffsetDeleteRequest 0-0
    group_id string
    topics []struct
        name string
        partitions []struct
            partition_index int32
"""

RESPONSE: Final = """
OffsetDeleteResponse 0-0
    error_code int16
    throttle_time_ms int32
    topics []struct
        name string
        partitions []struct
            partition_index int32
            error_code int16
"""
