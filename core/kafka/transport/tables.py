"""The messages of listings and descriptions as tables, for which kio need not be imported.

A field is its name, its type and the first version that has it, then the last one if there is one.
A type is a name (with `?` where null may stand), a list for an array (with None as its second
element where null may stand), or a tuple of fields for a struct. Names of fields are kio's. Tagged
fields are passed over: nobody asks for those of these messages.

Source: Kafka's message definitions (clients/src/main/resources/common/message).
"""

from typing import Any, Final, NamedTuple

Fields = tuple[tuple[Any, ...], ...]


class Table(NamedTuple):
    """One API: the first version in KIP-482's form (compact, with tags), its request and answer."""

    flexible_from: int
    request: Fields
    response: Fields


_NUMBERS: Final = ["int32"]

_API_VERSION: Final = (
    ("api_key", "int16", 0),
    ("min_version", "int16", 0),
    ("max_version", "int16", 0),
)
_WANTED_TOPIC: Final = (
    ("topic_id", "uuid", 10),
    ("name", "string", 0, 9),
    ("name", "string?", 10),
)
_BROKER: Final = (
    ("node_id", "int32", 0),
    ("host", "string", 0),
    ("port", "int32", 0),
    ("rack", "string?", 1),
)
_PARTITION: Final = (
    ("error_code", "error", 0),
    ("partition_index", "int32", 0),
    ("leader_id", "int32", 0),
    ("leader_epoch", "int32", 7),
    ("replica_nodes", _NUMBERS, 0),
    ("isr_nodes", _NUMBERS, 0),
    ("offline_replicas", _NUMBERS, 5),
)
_TOPIC: Final = (
    ("error_code", "error", 0),
    ("name", "string", 0, 11),
    ("name", "string?", 12),
    ("topic_id", "uuid", 10),
    ("is_internal", "bool", 1),
    ("partitions", [_PARTITION], 0),
    ("topic_authorized_operations", "int32", 8),
)
_COORDINATOR: Final = (
    ("key", "string", 4),
    ("node_id", "int32", 4),
    ("host", "string", 4),
    ("port", "int32", 4),
    ("error_code", "error", 4),
    ("error_message", "string?", 4),
)
_LISTED_GROUP: Final = (
    ("group_id", "string", 0),
    ("protocol_type", "string", 0),
    ("group_state", "string", 4),
    ("group_type", "string", 5),
)
_CLASSIC_MEMBER: Final = (
    ("member_id", "string", 0),
    ("group_instance_id", "string?", 4),
    ("client_id", "string", 0),
    ("client_host", "string", 0),
    ("member_metadata", "bytes", 0),
    ("member_assignment", "bytes", 0),
)
_CLASSIC_GROUP: Final = (
    ("error_code", "error", 0),
    ("error_message", "string?", 6),
    ("group_id", "string", 0),
    ("group_state", "string", 0),
    ("protocol_type", "string", 0),
    ("protocol_data", "string", 0),
    ("members", [_CLASSIC_MEMBER], 0),
    ("authorized_operations", "int32", 3),
)
_ASSIGNED_TOPIC: Final = (
    ("topic_id", "uuid", 0),
    ("topic_name", "string", 0),
    ("partitions", _NUMBERS, 0),
)
_ASSIGNMENT: Final = (("topic_partitions", [_ASSIGNED_TOPIC], 0),)
_KIP848_MEMBER: Final = (
    ("member_id", "string", 0),
    ("instance_id", "string?", 0),
    ("rack_id", "string?", 0),
    ("member_epoch", "int32", 0),
    ("client_id", "string", 0),
    ("client_host", "string", 0),
    ("subscribed_topic_names", ["string"], 0),
    ("subscribed_topic_regex", "string?", 0),
    ("assignment", _ASSIGNMENT, 0),
    ("target_assignment", _ASSIGNMENT, 0),
    ("member_type", "int8", 1),
)
_KIP848_GROUP: Final = (
    ("error_code", "error", 0),
    ("error_message", "string?", 0),
    ("group_id", "string", 0),
    ("group_state", "string", 0),
    ("group_epoch", "int32", 0),
    ("assignment_epoch", "int32", 0),
    ("assignor_name", "string", 0),
    ("members", [_KIP848_MEMBER], 0),
    ("authorized_operations", "int32", 0),
)
_ASKED_PARTITION: Final = (
    ("partition_index", "int32", 0),
    ("current_leader_epoch", "int32", 4),
    ("timestamp", "int64", 0),
)
_ASKED_TOPIC: Final = (("name", "string", 0), ("partitions", [_ASKED_PARTITION], 0))
_FOUND_PARTITION: Final = (
    ("partition_index", "int32", 0),
    ("error_code", "error", 0),
    ("timestamp", "int64", 1),
    ("offset", "int64", 1),
    ("leader_epoch", "int32", 4),
)
_FOUND_TOPIC: Final = (("name", "string", 0), ("partitions", [_FOUND_PARTITION], 0))

TABLES: Final = {
    "api_versions": Table(
        3,
        (("client_software_name", "string", 3), ("client_software_version", "string", 3)),
        (
            ("error_code", "error", 0),
            ("api_keys", [_API_VERSION], 0),
            ("throttle_time_ms", "int32", 1),
        ),
    ),
    "metadata": Table(
        9,
        (
            ("topics", [_WANTED_TOPIC, None], 0),
            ("allow_auto_topic_creation", "bool", 4),
            ("include_cluster_authorized_operations", "bool", 8, 10),
            ("include_topic_authorized_operations", "bool", 8),
        ),
        (
            ("throttle_time_ms", "int32", 3),
            ("brokers", [_BROKER], 0),
            ("cluster_id", "string?", 2),
            ("controller_id", "int32", 1),
            ("topics", [_TOPIC], 0),
            ("cluster_authorized_operations", "int32", 8, 10),
        ),
    ),
    "find_coordinator": Table(
        3,
        (("key", "string", 0, 3), ("key_type", "int8", 1), ("coordinator_keys", ["string"], 4)),
        (
            ("throttle_time_ms", "int32", 1),
            ("error_code", "error", 0, 3),
            ("error_message", "string?", 1, 3),
            ("node_id", "int32", 0, 3),
            ("host", "string", 0, 3),
            ("port", "int32", 0, 3),
            ("coordinators", [_COORDINATOR], 4),
        ),
    ),
    "list_groups": Table(
        3,
        (("states_filter", ["string"], 4), ("types_filter", ["string"], 5)),
        (
            ("throttle_time_ms", "int32", 1),
            ("error_code", "error", 0),
            ("groups", [_LISTED_GROUP], 0),
        ),
    ),
    "describe_groups": Table(
        5,
        (("groups", ["string"], 0), ("include_authorized_operations", "bool", 3)),
        (("throttle_time_ms", "int32", 1), ("groups", [_CLASSIC_GROUP], 0)),
    ),
    "consumer_group_describe": Table(
        0,
        (("group_ids", ["string"], 0), ("include_authorized_operations", "bool", 0)),
        (("throttle_time_ms", "int32", 0), ("groups", [_KIP848_GROUP], 0)),
    ),
    "list_offsets": Table(
        6,
        (
            ("replica_id", "int32", 0),
            ("isolation_level", "int8", 2),
            ("topics", [_ASKED_TOPIC], 0),
        ),
        (("throttle_time_ms", "int32", 2), ("topics", [_FOUND_TOPIC], 0)),
    ),
}

ERROR_NAMES: Final = {
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    5: "LEADER_NOT_AVAILABLE",
    6: "NOT_LEADER_OR_FOLLOWER",
    14: "COORDINATOR_LOAD_IN_PROGRESS",
    15: "COORDINATOR_NOT_AVAILABLE",
    16: "NOT_COORDINATOR",
    29: "TOPIC_AUTHORIZATION_FAILED",
    30: "GROUP_AUTHORIZATION_FAILED",
    31: "CLUSTER_AUTHORIZATION_FAILED",
    69: "GROUP_ID_NOT_FOUND",
}
"""The errors that are usual in these answers, by their numbers; any other is left to kio."""
