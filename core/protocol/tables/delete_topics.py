"""DeleteTopics, API 20."""

from typing import Final

REQUEST: Final = """
DeleteTopicsRequest 1-6 flexible 4+
    topics []struct 6
        name string? default null
        topic_id uuid
    topic_names []string 1-5
    timeout_ms int32
"""

RESPONSE: Final = """
DeleteTopicsResponse 1-6 flexible 4+
    throttle_time_ms int32
    responses []struct
        name string null 6
        topic_id uuid 6
        error_code int16
        error_message string? 5+ default null
"""
