"""DeleteRecords, API 21."""

from typing import Final

REQUEST: Final = """
DeleteRecordsRequest 0-2 flexible 2+
    topics []struct
        name string
        partitions []struct
            partition_index int32
            offset int64
    timeout_ms int32
"""

RESPONSE: Final = """
DeleteRecordsResponse 0-2 flexible 2+
    throttle_time_ms int32
    topics []struct
        name string
        partitions []struct
            partition_index int32
            low_watermark int64
            error_code int16
"""
