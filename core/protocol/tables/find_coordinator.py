"""FindCoordinator, API 10."""

from typing import Final

REQUEST: Final = """
FindCoordinatorRequest 0-6 flexible 3+
    key string 0-3
    key_type int8 1+ default 0
    coordinator_keys []string 4+
"""

RESPONSE: Final = """
FindCoordinatorResponse 0-6 flexible 3+
    throttle_time_ms int32 1+
    error_code int16 0-3
    error_message string? 1-3
    node_id int32 0-3
    host string 0-3
    port int32 0-3
    coordinators []struct 4+
        key string
        node_id int32
        host string
        port int32
        error_code int16
        error_message string?
"""
