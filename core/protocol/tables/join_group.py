"""JoinGroup, API 11."""

from typing import Final

REQUEST: Final = """
JoinGroupRequest 0-9 flexible 6+
    group_id string
    session_timeout_ms int32
    rebalance_timeout_ms int32 1+ default -1
    member_id string
    group_instance_id string? 5+ default null
    protocol_type string
    protocols []struct
        name string
        metadata bytes
    reason string? 8+ default null
"""

RESPONSE: Final = """
JoinGroupResponse 0-9 flexible 6+
    throttle_time_ms int32 2+
    error_code int16
    generation_id int32 default -1
    protocol_type string? 7+ default null
    protocol_name string null 7+
    leader string
    skip_assignment bool 9 default false
    member_id string
    members []struct
        member_id string
        group_instance_id string? 5+ default null
        metadata bytes
"""
