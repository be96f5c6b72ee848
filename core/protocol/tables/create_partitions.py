"""CreatePartitions, API 37."""

from typing import Final

REQUEST: Final = """
CreatePartitionsRequest 0-3 flexible 2+
    topics []struct
        name string
        count int32
        assignments []struct?
            broker_ids []int32
    timeout_ms int32
    validate_only bool
"""

RESPONSE: Final = """
CreatePartitionsResponse 0-3 flexible 2+
    throttle_time_ms int32
    results []struct
        name string
        error_code int16
        error_message string? default null
"""
