"""DeleteGroups, API 42."""

from typing import Final

REQUEST: Final = """
DeleteGroupsRequest 0-3 flexible 2+
    groups_names []string
"""

RESPONSE: Final = """
DeleteGroupsResponse 0-3 flexible 2+
    throttle_time_ms int32
    results []struct
        group_id string
        error_code int16
        error_message string? 3 default null
"""
