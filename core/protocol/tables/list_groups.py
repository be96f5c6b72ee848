"""ListGroups, API 16."""

from typing import Final

REQUEST: Final = """
ListGroupsRequest 0-5 flexible 3+
    states_filter []string 4+
    types_filter []string 5
"""

RESPONSE: Final = """
ListGroupsResponse 0-5 flexible 3+
    throttle_time_ms int32 1+
    error_code int16
    groups []struct
        group_id string
        protocol_type string
        group_state string 4+
        group_type string 5
"""
