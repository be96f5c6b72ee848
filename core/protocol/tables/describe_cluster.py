"""DescribeCluster, API 60."""

from typing import Final

REQUEST: Final = """
DescribeClusterRequest 0-2 flexible 0+
    include_cluster_authorized_operations bool
    endpoint_type int8 1+ default 1
    include_fenced_brokers bool 2
"""

RESPONSE: Final = """
DescribeClusterResponse 0-2 flexible 0+
    throttle_time_ms int32
    error_code int16
    error_message string? default null
    endpoint_type int8 1+ default 1
    cluster_id string
    controller_id int32 default -1
    brokers []struct
        broker_id int32
        host string
        port int32
        rack string? default null
        is_fenced bool 2
    cluster_authorized_operations int32 default -2147483648
"""
