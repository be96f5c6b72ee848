"""CreateTopics, API 19."""

from typing import Final

REQUEST: Final = """
CreateTopicsRequest 2-7 flexible 5+
    topics []struct
        name string
        num_partitions int32
        replication_factor int16
        assignments []struct
            partition_index int32
            broker_ids []int32
        configs []struct
            name string
            value string?
    timeout_ms int32 default 60000
    validate_only bool default false
"""

RESPONSE: Final = """
CreateTopicsResponse 2-7 flexible 5+
    throttle_time_ms int32
    topics []struct
        name string
        topic_id uuid 7
        error_code int16
        error_message string?
        topic_config_error_code int16 5+ tag 0
        num_partitions int32 5+ default -1
        replication_factor int16 5+ default -1
        configs []struct? 5+
            name string
            value string?
            read_only bool
            config_source int8 default -1
            is_sensitive bool
"""
