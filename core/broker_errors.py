"""What a broker's refusal means to a user: exit code, sentence and hint of each of Kafka's errors.

The only place that knows it: whatever shows an error of a broker, or stands in for a broker that
would give it, asks here.
"""

from typing import Final, NamedTuple

from kgroups.core.errors import ItemError


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
