"""ConsumerGroupDescribe, API 69."""

from typing import Final

REQUEST: Final = """
ConsumerGroupDescribeRequest 0-1 flexible 0+
    group_ids []string
    include_authorized_operations bool
"""

RESPONSE: Final = """
ConsumerGroupDescribeResponse 0-1 flexible 0+
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
            instance_id string? default null
            rack_id string? default null
            member_epoch int32
            client_id string
            client_host string
            subscribed_topic_names []string
            subscribed_topic_regex string? default null
            assignment struct
                topic_partitions []struct
                    topic_id uuid
                    topic_name string
                    partitions []int32
            target_assignment struct
                topic_partitions []struct
                    topic_id uuid
                    topic_name string
                    partitions []int32
            member_type int8 1 default -1
        authorized_operations int32 default -2147483648
"""
