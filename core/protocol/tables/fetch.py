"""Fetch, API 1."""

from typing import Final

REQUEST: Final = """
FetchRequest 4-18 flexible 12+
    cluster_id string? 12+ tag 0 default null
    replica_id int32 4-14 default -1
    replica_state struct 15+ tag 1
        replica_id int32 default -1
        replica_epoch int64 default -1
    max_wait_ms int32
    min_bytes int32
    max_bytes int32 default 0x7fffffff
    isolation_level int8 default 0
    session_id int32 7+ default 0
    session_epoch int32 7+ default -1
    topics []struct
        topic string 4-12
        topic_id uuid 13+
        partitions []struct
            partition int32
            current_leader_epoch int32 9+ default -1
            fetch_offset int64
            last_fetched_epoch int32 12+ default -1
            log_start_offset int64 5+ default -1
            partition_max_bytes int32
            replica_directory_id uuid 17+ tag 0
            high_watermark int64 18 tag 1 default 9223372036854775807
    forgotten_topics_data []struct 7+
        topic string 7-12
        topic_id uuid 13+
        partitions []int32
    rack_id string 11+ default ""
"""

RESPONSE: Final = """
FetchResponse 4-18 flexible 12+
    throttle_time_ms int32
    error_code int16 7+
    session_id int32 7+ default 0
    responses []struct
        topic string 4-12
        topic_id uuid 13+
        partitions []struct
            partition_index int32
            error_code int16
            high_watermark int64
            last_stable_offset int64 default -1
            log_start_offset int64 5+ default -1
            diverging_epoch struct 12+ tag 0
                epoch int32 default -1
                end_offset int64 default -1
            current_leader struct 12+ tag 1
                leader_id int32 default -1
                leader_epoch int32 default -1
            snapshot_id struct 12+ tag 2
                end_offset int64 default -1
                epoch int32 default -1
            aborted_transactions []struct?
                producer_id int64
                first_offset int64
            preferred_read_replica int32 11+ default -1
            records records?
    node_endpoints []struct 16+ tag 0
        node_id int32
        host string
        port int32
        rack string? default null
"""
