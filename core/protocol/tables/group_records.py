"""Records of `__consumer_offsets`, keys and values by name."""

from typing import Final

RECORDS: Final = {
    "OffsetCommitKey": """
OffsetCommitKey 0-0
    group string
    topic string
    partition int32
""",
    "OffsetCommitValue": """
OffsetCommitValue 0-4 flexible 4+
    offset int64
    leader_epoch int32 3+ default -1
    metadata string
    commit_timestamp int64
    expire_timestamp int64 1 default -1
    topic_id uuid 4 tag 0
""",
    "GroupMetadataKey": """
GroupMetadataKey 0-0
    group string
""",
    "GroupMetadataValue": """
GroupMetadataValue 0-4 flexible 4+
    protocol_type string
    generation int32
    protocol string?
    leader string?
    current_state_timestamp int64 2+ default -1
    members []struct
        member_id string
        group_instance_id string? 3+ default null
        client_id string
        client_host string
        rebalance_timeout int32 1+ default -1
        session_timeout int32
        subscription bytes
        assignment bytes
""",
    "ConsumerGroupMetadataKey": """
ConsumerGroupMetadataKey 0-0
    group_id string
""",
    "ConsumerGroupMetadataValue": """
ConsumerGroupMetadataValue 0-0 flexible 0+
    epoch int32
    metadata_hash int64 tag 0 default 0
""",
    "ConsumerGroupPartitionMetadataKey": """
ConsumerGroupPartitionMetadataKey 0-0
    group_id string
""",
    "ConsumerGroupPartitionMetadataValue": """
ConsumerGroupPartitionMetadataValue 0-0 flexible 0+
    topics []struct
        topic_id uuid
        topic_name string
        num_partitions int32
        partition_metadata []struct
            partition int32
            racks []string
""",
    "ConsumerGroupMemberMetadataKey": """
ConsumerGroupMemberMetadataKey 0-0
    group_id string
    member_id string
""",
    "ConsumerGroupMemberMetadataValue": """
ConsumerGroupMemberMetadataValue 0-0 flexible 0+
    instance_id string?
    rack_id string?
    client_id string
    client_host string
    subscribed_topic_names []string
    subscribed_topic_regex string?
    rebalance_timeout_ms int32 default -1
    server_assignor string?
    classic_member_metadata struct? tag 0
        session_timeout_ms int32
        supported_protocols []struct
            name string
            metadata bytes
""",
    "ConsumerGroupTargetAssignmentMetadataKey": """
ConsumerGroupTargetAssignmentMetadataKey 0-0
    group_id string
""",
    "ConsumerGroupTargetAssignmentMetadataValue": """
ConsumerGroupTargetAssignmentMetadataValue 0-0 flexible 0+
    assignment_epoch int32
    assignment_timestamp int64 tag 0 default 0
""",
    "ConsumerGroupTargetAssignmentMemberKey": """
ConsumerGroupTargetAssignmentMemberKey 0-0
    group_id string
    member_id string
""",
    "ConsumerGroupTargetAssignmentMemberValue": """
ConsumerGroupTargetAssignmentMemberValue 0-0 flexible 0+
    topic_partitions []struct
        topic_id uuid
        partitions []int32
""",
    "ConsumerGroupCurrentMemberAssignmentKey": """
ConsumerGroupCurrentMemberAssignmentKey 0-0
    group_id string
    member_id string
""",
    "ConsumerGroupCurrentMemberAssignmentValue": """
ConsumerGroupCurrentMemberAssignmentValue 0-0 flexible 0+
    member_epoch int32
    previous_member_epoch int32
    state int8
    assigned_partitions []struct
        topic_id uuid
        partitions []int32
        assignment_epochs []int32? tag 0
    partitions_pending_revocation []struct
        topic_id uuid
        partitions []int32
        assignment_epochs []int32? tag 0
""",
    "ConsumerGroupRegularExpressionKey": """
ConsumerGroupRegularExpressionKey 0-0
    group_id string
    regular_expression string
""",
    "ConsumerGroupRegularExpressionValue": """
ConsumerGroupRegularExpressionValue 0-0 flexible 0+
    topics []string
    version int64
    timestamp int64
""",
}
