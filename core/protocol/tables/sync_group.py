"""SyncGroup, API 14."""

from typing import Final

REQUEST: Final = """
SyncGroupRequest 0-5 flexible 4+
    group_id string
    generation_id int32
    member_id string
    group_instance_id string? 3+ default null
    protocol_type string? 5 default null
    protocol_name string? 5 default null
    assignments []struct
        member_id string
        assignment bytes
"""

RESPONSE: Final = """
SyncGroupResponse 0-5 flexible 4+
    throttle_time_ms int32 1+
    error_code int16
    protocol_type string? 5 default null
    protocol_name string? 5 default null
    assignment bytes
"""
