"""LeaveGroup, API 13."""

from typing import Final

REQUEST: Final = """
LeaveGroupRequest 0-5 flexible 4+
    group_id string
    member_id string 0-2
    members []struct 3+
        member_id string
        group_instance_id string? default null
        reason string? 5 default null
"""

RESPONSE: Final = """
LeaveGroupResponse 0-5 flexible 4+
    throttle_time_ms int32 1+
    error_code int16
    members []struct 3+
        member_id string
        group_instance_id string?
        error_code int16
"""
