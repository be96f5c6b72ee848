"""Produce, API 0."""

from typing import Final

REQUEST: Final = """
ProduceRequest 3-13 flexible 9+
    transactional_id string? default null
    acks int16
    timeout_ms int32
    topic_data []struct
        name string 3-12
        topic_id uuid 13
        partition_data []struct
            index int32
            records records?
"""

RESPONSE: Final = """
ProduceResponse 3-13 flexible 9+
    responses []struct
        name string 3-12
        topic_id uuid 13
        partition_responses []struct
            index int32
            error_code int16
            base_offset int64
            log_append_time_ms int64 default -1
            log_start_offset int64 5+ default -1
            record_errors []struct 8+
                batch_index int32
                batch_index_error_message string? default null
            error_message string? 8+ default null
            current_leader struct 10+ tag 0
                leader_id int32 default -1
                leader_epoch int32 default -1
    throttle_time_ms int32 default 0
    node_endpoints []struct 10+ tag 0
        node_id int32
        host string
        port int32
        rack string? default null
"""
