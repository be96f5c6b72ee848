"""DescribeQuorum, API 55."""

from typing import Final

REQUEST: Final = """
DescribeQuorumRequest 0-2 flexible 0+
    topics []struct
        topic_name string
        partitions []struct
            partition_index int32
"""

RESPONSE: Final = """
DescribeQuorumResponse 0-2 flexible 0+
    error_code int16
    error_message string? 2
    topics []struct
        topic_name string
        partitions []struct
            partition_index int32
            error_code int16
            error_message string? 2
            leader_id int32
            leader_epoch int32
            high_watermark int64
            current_voters []struct
                replica_id int32
                replica_directory_id uuid 2
                log_end_offset int64
                last_fetch_timestamp int64 1+ default -1
                last_caught_up_timestamp int64 1+ default -1
            observers []struct
                replica_id int32
                replica_directory_id uuid 2
                log_end_offset int64
                last_fetch_timestamp int64 1+ default -1
                last_caught_up_timestamp int64 1+ default -1
    nodes []struct 2
        node_id int32
        listeners []struct
            name string
            host string
            port uint16
"""
