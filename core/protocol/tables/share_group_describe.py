"""ShareGroupDescribe, API 77."""

from typing import Final

REQUEST: Final = """
ShareGroupDescribeRequest 1-1 flexible 1+
    group_ids []string
    include_authorized_operations bool
"""

RESPONSE: Final = """
ShareGroupDescribeResponse 1-1 flexible 1+
    throttle_time_ms int32
    groups []struct
        error_code int16
        error_message string? default null
        group_id string
        group_state string
        group_epoch int32
        assignment_epoch int32
        assignor_name string
        members []struct
            member_id string
            rack_id string? default null
            member_epoch int32
            client_id string
            client_host string
            subscribed_topic_names []string
            assignment struct
                topic_partitions []struct
                    topic_id uuid
                    topic_name string
                    partitions []int32
        authorized_operations int32 default -2147483648
"""
