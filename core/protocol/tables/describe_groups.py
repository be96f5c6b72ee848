"""DescribeGroups, API 15."""

from typing import Final

REQUEST: Final = """
DescribeGroupsRequest 0-6 flexible 5+
    groups []string
    include_authorized_operations bool 3+
"""

RESPONSE: Final = """
DescribeGroupsResponse 0-6 flexible 5+
    throttle_time_ms int32 1+
    groups []struct
        error_code int16
        error_message string? 6 default null
        group_id string
        group_state string
        protocol_type string
        protocol_data string
        members []struct
            member_id string
            group_instance_id string? 4+ default null
            client_id string
            client_host string
            member_metadata bytes
            member_assignment bytes
        authorized_operations int32 3+ default -2147483648
"""
