"""Kafka's errors: their numbers and names, and what each means to a user.

The only place that knows it: whatever shows an error of a broker, or stands in for a broker that
would give it, asks here. Source: `org.apache.kafka.common.protocol.Errors` of Kafka 4.4.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from kgroups.core.errors import ItemError


class ErrorCode(IntEnum):
    """The number on the wire of each error."""

    UNKNOWN_SERVER_ERROR = -1
    NONE = 0
    OFFSET_OUT_OF_RANGE = 1
    CORRUPT_MESSAGE = 2
    UNKNOWN_TOPIC_OR_PARTITION = 3
    INVALID_FETCH_SIZE = 4
    LEADER_NOT_AVAILABLE = 5
    NOT_LEADER_OR_FOLLOWER = 6
    REQUEST_TIMED_OUT = 7
    BROKER_NOT_AVAILABLE = 8
    REPLICA_NOT_AVAILABLE = 9
    MESSAGE_TOO_LARGE = 10
    STALE_CONTROLLER_EPOCH = 11
    OFFSET_METADATA_TOO_LARGE = 12
    NETWORK_EXCEPTION = 13
    COORDINATOR_LOAD_IN_PROGRESS = 14
    COORDINATOR_NOT_AVAILABLE = 15
    NOT_COORDINATOR = 16
    INVALID_TOPIC_EXCEPTION = 17
    RECORD_LIST_TOO_LARGE = 18
    NOT_ENOUGH_REPLICAS = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20
    INVALID_REQUIRED_ACKS = 21
    ILLEGAL_GENERATION = 22
    INCONSISTENT_GROUP_PROTOCOL = 23
    INVALID_GROUP_ID = 24
    UNKNOWN_MEMBER_ID = 25
    INVALID_SESSION_TIMEOUT = 26
    REBALANCE_IN_PROGRESS = 27
    INVALID_COMMIT_OFFSET_SIZE = 28
    TOPIC_AUTHORIZATION_FAILED = 29
    GROUP_AUTHORIZATION_FAILED = 30
    CLUSTER_AUTHORIZATION_FAILED = 31
    INVALID_TIMESTAMP = 32
    UNSUPPORTED_SASL_MECHANISM = 33
    ILLEGAL_SASL_STATE = 34
    UNSUPPORTED_VERSION = 35
    TOPIC_ALREADY_EXISTS = 36
    INVALID_PARTITIONS = 37
    INVALID_REPLICATION_FACTOR = 38
    INVALID_REPLICA_ASSIGNMENT = 39
    INVALID_CONFIG = 40
    NOT_CONTROLLER = 41
    INVALID_REQUEST = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT = 43
    POLICY_VIOLATION = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER = 45
    DUPLICATE_SEQUENCE_NUMBER = 46
    INVALID_PRODUCER_EPOCH = 47
    INVALID_TXN_STATE = 48
    INVALID_PRODUCER_ID_MAPPING = 49
    INVALID_TRANSACTION_TIMEOUT = 50
    CONCURRENT_TRANSACTIONS = 51
    TRANSACTION_COORDINATOR_FENCED = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = 53
    SECURITY_DISABLED = 54
    OPERATION_NOT_ATTEMPTED = 55
    KAFKA_STORAGE_ERROR = 56
    LOG_DIR_NOT_FOUND = 57
    SASL_AUTHENTICATION_FAILED = 58
    UNKNOWN_PRODUCER_ID = 59
    REASSIGNMENT_IN_PROGRESS = 60
    DELEGATION_TOKEN_AUTH_DISABLED = 61
    DELEGATION_TOKEN_NOT_FOUND = 62
    DELEGATION_TOKEN_OWNER_MISMATCH = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = 65
    DELEGATION_TOKEN_EXPIRED = 66
    INVALID_PRINCIPAL_TYPE = 67
    NON_EMPTY_GROUP = 68
    GROUP_ID_NOT_FOUND = 69
    FETCH_SESSION_ID_NOT_FOUND = 70
    INVALID_FETCH_SESSION_EPOCH = 71
    LISTENER_NOT_FOUND = 72
    TOPIC_DELETION_DISABLED = 73
    FENCED_LEADER_EPOCH = 74
    UNKNOWN_LEADER_EPOCH = 75
    UNSUPPORTED_COMPRESSION_TYPE = 76
    STALE_BROKER_EPOCH = 77
    OFFSET_NOT_AVAILABLE = 78
    MEMBER_ID_REQUIRED = 79
    PREFERRED_LEADER_NOT_AVAILABLE = 80
    GROUP_MAX_SIZE_REACHED = 81
    FENCED_INSTANCE_ID = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE = 83
    ELECTION_NOT_NEEDED = 84
    NO_REASSIGNMENT_IN_PROGRESS = 85
    GROUP_SUBSCRIBED_TO_TOPIC = 86
    INVALID_RECORD = 87
    UNSTABLE_OFFSET_COMMIT = 88
    THROTTLING_QUOTA_EXCEEDED = 89
    PRODUCER_FENCED = 90
    RESOURCE_NOT_FOUND = 91
    DUPLICATE_RESOURCE = 92
    UNACCEPTABLE_CREDENTIAL = 93
    INCONSISTENT_VOTER_SET = 94
    INVALID_UPDATE_VERSION = 95
    FEATURE_UPDATE_FAILED = 96
    PRINCIPAL_DESERIALIZATION_FAILURE = 97
    SNAPSHOT_NOT_FOUND = 98
    POSITION_OUT_OF_RANGE = 99
    UNKNOWN_TOPIC_ID = 100
    DUPLICATE_BROKER_REGISTRATION = 101
    BROKER_ID_NOT_REGISTERED = 102
    INCONSISTENT_TOPIC_ID = 103
    INCONSISTENT_CLUSTER_ID = 104
    TRANSACTIONAL_ID_NOT_FOUND = 105
    FETCH_SESSION_TOPIC_ID_ERROR = 106
    INELIGIBLE_REPLICA = 107
    NEW_LEADER_ELECTED = 108
    OFFSET_MOVED_TO_TIERED_STORAGE = 109
    FENCED_MEMBER_EPOCH = 110
    UNRELEASED_INSTANCE_ID = 111
    UNSUPPORTED_ASSIGNOR = 112
    STALE_MEMBER_EPOCH = 113
    MISMATCHED_ENDPOINT_TYPE = 114
    UNSUPPORTED_ENDPOINT_TYPE = 115
    UNKNOWN_CONTROLLER_ID = 116
    UNKNOWN_SUBSCRIPTION_ID = 117
    TELEMETRY_TOO_LARGE = 118
    INVALID_REGISTRATION = 119
    TRANSACTION_ABORTABLE = 120
    INVALID_RECORD_STATE = 121
    SHARE_SESSION_NOT_FOUND = 122
    INVALID_SHARE_SESSION_EPOCH = 123
    FENCED_STATE_EPOCH = 124
    INVALID_VOTER_KEY = 125
    DUPLICATE_VOTER = 126
    VOTER_NOT_FOUND = 127
    INVALID_REGULAR_EXPRESSION = 128
    REBOOTSTRAP_REQUIRED = 129
    STREAMS_INVALID_TOPOLOGY = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH = 131
    STREAMS_TOPOLOGY_FENCED = 132
    SHARE_SESSION_LIMIT_REACHED = 133
    GROUP_DELETION_FAILED = 134
    STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED = 135
    CONTROLLER_ID_NOT_REGISTERED = 136


ERROR_NAMES: Final[Mapping[int, str]] = {int(code): code.name for code in ErrorCode}


def error_name(code: int) -> str | None:
    """Kafka's name of an error in an answer, `UNKNOWN_ERROR_999` if it has none; None for 0."""
    return None if code == 0 else ERROR_NAMES.get(code) or f"UNKNOWN_ERROR_{code}"


class Meaning(NamedTuple):
    """Exit code, sentence and hint of one of Kafka's error names."""

    exit_code: int
    message: str
    hint: str | None = None


_ACL = "ask for an ACL, or check that the right user is configured"

SPEAKS_KAFKA = "check that this is a Kafka broker, with no proxy in between"

MEANINGS: dict[str, Meaning] = {
    "GROUP_ID_NOT_FOUND": Meaning(5, "no such group", "`kgroups list` shows the groups"),
    "UNKNOWN_TOPIC_OR_PARTITION": Meaning(5, "no such topic or partition"),
    "UNKNOWN_TOPIC_ID": Meaning(5, "no such topic"),
    "UNKNOWN_MEMBER_ID": Meaning(5, "no such member"),
    "INVALID_GROUP_ID": Meaning(5, "not a valid group name", "a group name cannot be empty"),
    "INVALID_TOPIC_EXCEPTION": Meaning(5, "not a valid topic name"),
    "NON_EMPTY_GROUP": Meaning(
        4, "the group has members", "stop its consumers first, then try again"
    ),
    "REBALANCE_IN_PROGRESS": Meaning(4, "the group is rebalancing", "try again in a moment"),
    "GROUP_SUBSCRIBED_TO_TOPIC": Meaning(
        4, "the group reads this topic", "stop its consumers first, then try again"
    ),
    "FENCED_INSTANCE_ID": Meaning(4, "another member has taken this instance id"),
    "FENCED_MEMBER_EPOCH": Meaning(4, "the member's epoch is out of date"),
    "STALE_MEMBER_EPOCH": Meaning(4, "the member's epoch is out of date"),
    "ILLEGAL_GENERATION": Meaning(4, "the group has moved on to another generation"),
    "GROUP_AUTHORIZATION_FAILED": Meaning(3, "not authorized for this group", _ACL),
    "TOPIC_AUTHORIZATION_FAILED": Meaning(3, "not authorized for this topic", _ACL),
    "CLUSTER_AUTHORIZATION_FAILED": Meaning(3, "not authorized for the cluster", _ACL),
    "COORDINATOR_LOAD_IN_PROGRESS": Meaning(
        3, "the coordinator is still loading its groups", "try again in a moment"
    ),
    "COORDINATOR_NOT_AVAILABLE": Meaning(
        3,
        "the group has no coordinator at the moment",
        "check that the broker leading its `__consumer_offsets` partition is running",
    ),
    "NOT_COORDINATOR": Meaning(3, "the coordinator moved", "try again"),
    "LEADER_NOT_AVAILABLE": Meaning(
        3, "the partition has no leader", "check that the brokers with its replicas are running"
    ),
    "NOT_LEADER_OR_FOLLOWER": Meaning(3, "the leader moved", "try again"),
    "FENCED_LEADER_EPOCH": Meaning(3, "the leader moved", "try again"),
    "UNKNOWN_LEADER_EPOCH": Meaning(3, "the leader moved", "try again"),
    "REPLICA_NOT_AVAILABLE": Meaning(3, "the replica is not available", "try again"),
    "OFFSET_NOT_AVAILABLE": Meaning(
        3, "the new leader does not know its high watermark yet", "try again in a moment"
    ),
    "KAFKA_STORAGE_ERROR": Meaning(3, "the broker cannot read the partition's log directory"),
    "UNSTABLE_OFFSET_COMMIT": Meaning(3, "a transaction holds the offsets", "try again"),
    "REQUEST_TIMED_OUT": Meaning(3, "timed out", "increase `--timeout`"),
    "NETWORK_EXCEPTION": Meaning(3, "the broker closed the connection"),
    "NOT_KAFKA": Meaning(3, "not a Kafka listener"),
    "BROKER_NOT_AVAILABLE": Meaning(3, "the broker is not available"),
    "SASL_AUTHENTICATION_FAILED": Meaning(
        3, "authentication failed", "check the user name and password"
    ),
    "TOKEN_NOT_AVAILABLE": Meaning(3, "there is no token to log in with"),
    "TICKET_NOT_AVAILABLE": Meaning(3, "there is no Kerberos ticket to log in with"),
    "SSL_HANDSHAKE_FAILED": Meaning(3, "no TLS connection"),
    "UNSUPPORTED_SASL_MECHANISM": Meaning(3, "the broker does not offer this SASL mechanism"),
    "ILLEGAL_SASL_STATE": Meaning(3, "the broker did not expect a login"),
    "CORRUPT_MESSAGE": Meaning(3, "the broker's answer cannot be read", SPEAKS_KAFKA),
    "RESPONSE_TOO_LARGE": Meaning(
        3,
        "the broker's answer is larger than kgroups reads at once",
        f"{SPEAKS_KAFKA}; if it is one, set a larger `receive.message.max.bytes` in the client "
        "configuration",
    ),
    "UNSUPPORTED_VERSION": Meaning(1, "the broker is too old for this request"),
}


LASTING: Final = frozenset(
    {
        "GROUP_AUTHORIZATION_FAILED",
        "TOPIC_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "SASL_AUTHENTICATION_FAILED",
        "SSL_HANDSHAKE_FAILED",
        "UNSUPPORTED_SASL_MECHANISM",
        "ILLEGAL_SASL_STATE",
        "UNSUPPORTED_VERSION",
        "INVALID_GROUP_ID",
    }
)
"""Refusals that waiting does not mend."""


def meaning_of(code: str) -> Meaning:
    """Exit code, sentence and hint of an error name; a general one for names without a row."""
    return MEANINGS.get(code) or Meaning(1, f"the broker returned `{code}`")


def broker_error(
    target: str, code: str, message: str | None = None, hint: str | None = None
) -> ItemError:
    """Row of `errors` for one item.

    Args:
        target: group name, `topic-partition`, `broker 3 (host:port)`.
        code: Kafka's error name.
        message: a sentence that says more than the table's.
        hint: likewise.
    """
    meaning = meaning_of(code)
    return ItemError(
        target, code, message or meaning.message, hint or meaning.hint, meaning.exit_code
    )
