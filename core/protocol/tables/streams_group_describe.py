"""StreamsGroupDescribe, API 89."""

from typing import Final

REQUEST: Final = """
StreamsGroupDescribeRequest 0-1 flexible 0+
    group_ids []string
    include_authorized_operations bool
    include_topology_description bool 1 default false
"""

RESPONSE: Final = """
StreamsGroupDescribeResponse 0-1 flexible 0+
    throttle_time_ms int32
    groups []struct
        error_code int16
        error_message string? default null
        group_id string
        group_state string
        group_epoch int32
        assignment_epoch int32
        topology struct? default null
            epoch int32
            subtopologies []struct? default null
                subtopology_id string
                source_topics []string
                repartition_sink_topics []string
                state_changelog_topics []struct
                    name string
                    partitions int32
                    replication_factor int16
                    topic_configs []struct
                        key string
                        value string
                repartition_source_topics []struct
                    name string
                    partitions int32
                    replication_factor int16
                    topic_configs []struct
                        key string
                        value string
        members []struct
            member_id string
            member_epoch int32
            instance_id string? default null
            rack_id string? default null
            client_id string
            client_host string
            topology_epoch int32
            process_id string
            user_endpoint struct? default null
                host string
                port uint16
            client_tags []struct
                key string
                value string
            task_offsets []struct
                subtopology_id string
                partition int32
                offset int64
            task_end_offsets []struct
                subtopology_id string
                partition int32
                offset int64
            assignment struct
                active_tasks []struct
                    subtopology_id string
                    partitions []int32
                standby_tasks []struct
                    subtopology_id string
                    partitions []int32
                warmup_tasks []struct
                    subtopology_id string
                    partitions []int32
            target_assignment struct
                active_tasks []struct
                    subtopology_id string
                    partitions []int32
                standby_tasks []struct
                    subtopology_id string
                    partitions []int32
                warmup_tasks []struct
                    subtopology_id string
                    partitions []int32
            is_classic bool
        authorized_operations int32 default -2147483648
        topology_description struct? 1 default null
            subtopologies []struct
                subtopology_id string
                nodes []struct
                    name string
                    node_type int8
                    source_topics []string
                    sink_topic string? default null
                    stores []string
                    successors []string
            global_stores []struct
                source struct
                    name string
                    node_type int8
                    source_topics []string
                    sink_topic string? default null
                    stores []string
                    successors []string
                processor struct
                    name string
                    node_type int8
                    source_topics []string
                    sink_topic string? default null
                    stores []string
                    successors []string
        topology_description_status int8 1 default 0
        assignor_name string? 1 default null
"""
