"""Heartbeat, API 12."""

from typing import Final

REQUEST: Final = """
HeartbeatRequest 0-4 flexible 4+
    group_id string
    generation_id int32
    member_id string
    group_instance_id string? 3+ default null
"""

RESPONSE: Final = """
HeartbeatResponse 0-4 flexible 4+
    throttle_time_ms int32 1+
    error_code int16
"""
