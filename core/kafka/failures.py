"""What a broker's refusal means to a user: exit code, sentence and hint for each of Kafka's errors.

Inside the adapter one failed exchange is a `BrokerFailure`. It becomes a `ClusterError` when
nothing at all could be learned, and an `ItemError` row when the rest could.
"""

from typing import NamedTuple

from kgroups.core.errors import (
    ClusterError,
    ItemError,
    KgroupsError,
    MixedFailures,
    NotFoundError,
    RefusedError,
)


class Meaning(NamedTuple):
    """Exit code, sentence and hint of one of Kafka's error names."""

    exit_code: int
    message: str
    hint: str | None = None


UNSEEN = "not authorised to see this group"
"""Said of a group whose coordinator may not be asked for: DESCRIBE on it is missing."""

_ACL = "ask for an ACL, or check that the right user is configured"

SPEAKS_KAFKA = "is that a Kafka broker, and is nothing between it and you?"

MEANINGS: dict[str, Meaning] = {
    "GROUP_ID_NOT_FOUND": Meaning(5, "no such group", "`kgroups list` shows the groups there are"),
    "UNKNOWN_TOPIC_OR_PARTITION": Meaning(5, "no such topic or partition"),
    "UNKNOWN_TOPIC_ID": Meaning(5, "no such topic"),
    "UNKNOWN_MEMBER_ID": Meaning(5, "no such member"),
    "INVALID_GROUP_ID": Meaning(5, "not a valid group name", "a group name is not empty"),
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
    "GROUP_AUTHORIZATION_FAILED": Meaning(3, "not authorised for this group", _ACL),
    "TOPIC_AUTHORIZATION_FAILED": Meaning(3, "not authorised for this topic", _ACL),
    "CLUSTER_AUTHORIZATION_FAILED": Meaning(3, "not authorised for the cluster", _ACL),
    "COORDINATOR_LOAD_IN_PROGRESS": Meaning(
        3, "the coordinator is still loading its groups", "try again in a moment"
    ),
    "COORDINATOR_NOT_AVAILABLE": Meaning(
        3,
        "the group has no coordinator at the moment",
        "is the broker that leads its `__consumer_offsets` partition up?",
    ),
    "NOT_COORDINATOR": Meaning(3, "the coordinator moved while it was asked", "try again"),
    "LEADER_NOT_AVAILABLE": Meaning(
        3, "the partition has no leader", "are the brokers that hold its replicas up?"
    ),
    "NOT_LEADER_OR_FOLLOWER": Meaning(3, "the leader moved while it was asked", "try again"),
    "FENCED_LEADER_EPOCH": Meaning(3, "the leader moved while it was asked", "try again"),
    "UNKNOWN_LEADER_EPOCH": Meaning(3, "the leader moved while it was asked", "try again"),
    "REPLICA_NOT_AVAILABLE": Meaning(3, "the replica is not available", "try again"),
    "OFFSET_NOT_AVAILABLE": Meaning(
        3, "the new leader does not know its high watermark yet", "try again in a moment"
    ),
    "KAFKA_STORAGE_ERROR": Meaning(3, "the broker cannot read the partition's log directory"),
    "UNSTABLE_OFFSET_COMMIT": Meaning(3, "a transaction holds the offsets", "try again"),
    "REQUEST_TIMED_OUT": Meaning(3, "no answer in time", "raise `--timeout`"),
    "NETWORK_EXCEPTION": Meaning(3, "the broker closed the connection"),
    "NOT_KAFKA": Meaning(3, "this is no Kafka listener"),
    "BROKER_NOT_AVAILABLE": Meaning(3, "the broker is not available"),
    "SASL_AUTHENTICATION_FAILED": Meaning(
        3, "authentication failed", "check user name and password"
    ),
    "SSL_HANDSHAKE_FAILED": Meaning(3, "no TLS connection"),
    "UNSUPPORTED_SASL_MECHANISM": Meaning(3, "the broker does not offer this SASL mechanism"),
    "ILLEGAL_SASL_STATE": Meaning(3, "the broker expected no login here"),
    "CORRUPT_MESSAGE": Meaning(3, "the broker's answer cannot be read", SPEAKS_KAFKA),
    "RESPONSE_TOO_LARGE": Meaning(
        3,
        "the broker's answer is larger than kgroups reads at once",
        f"{SPEAKS_KAFKA} `receive.message.max.bytes` in the client configuration allows more",
    ),
    "UNSUPPORTED_VERSION": Meaning(1, "the broker is too old for this request"),
}

RETRIABLE = frozenset(
    {
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "NOT_LEADER_OR_FOLLOWER",
        "FENCED_LEADER_EPOCH",
        "UNKNOWN_LEADER_EPOCH",
        "REPLICA_NOT_AVAILABLE",
        "OFFSET_NOT_AVAILABLE",
        "KAFKA_STORAGE_ERROR",
        "UNSTABLE_OFFSET_COMMIT",
    }
)
"""Errors after which the same question, to a broker looked up again, may be answered."""

UNREADABLE = frozenset({"CORRUPT_MESSAGE", "RESPONSE_TOO_LARGE"})
"""What an answer is that we do not take in."""

UNHEARD = frozenset({"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT", "BROKER_NOT_AVAILABLE"})
"""Failures after which nobody knows whether the request was carried out."""

TELLING = frozenset({"SSL_HANDSHAKE_FAILED", "SASL_AUTHENTICATION_FAILED"})
"""Of the failures of several bootstrap servers, those that are told first."""

ERROR_CLASSES: dict[int, type[KgroupsError]] = {
    1: MixedFailures,
    3: ClusterError,
    4: RefusedError,
    5: NotFoundError,
}


class BrokerFailure(Exception):
    """One exchange with one broker that failed.

    Args:
        code: Kafka's error name.
        message: one sentence without a full stop; None takes the table's.
        hint: what to do next; None takes the table's.
        address: `host:port` of the broker, if one was reached for.
        fatal: no other broker would answer differently (wrong password, wrong certificate).
    """

    def __init__(
        self,
        code: str,
        message: str | None = None,
        *,
        hint: str | None = None,
        address: str | None = None,
        fatal: bool = False,
    ) -> None:
        meaning = meaning_of(code)
        self.code = code
        self.message = message or meaning.message
        self.hint = hint or meaning.hint
        self.address = address
        self.fatal = fatal
        super().__init__(f"{code}: {self.message}")


def may_repeat(failure: "str | BrokerFailure | None") -> bool:
    """Whether a write may be sent again: it names the new state, so twice does no harm."""
    code = failure.code if isinstance(failure, BrokerFailure) else failure
    return code in RETRIABLE or code in UNHEARD


def meaning_of(code: str) -> Meaning:
    """Exit code, sentence and hint of an error name; a general one for names without a row."""
    return MEANINGS.get(code) or Meaning(1, f"the broker answered `{code}`")


def left_out() -> BrokerFailure:
    """What was asked about one item of several, and the broker answered only for the others."""
    return BrokerFailure("CORRUPT_MESSAGE", "the broker left it out of its answer")


def item_error(target: str, failure: str | BrokerFailure, detail: str | None = None) -> ItemError:
    """Row of `errors` for one item.

    Args:
        target: group name, `topic-partition`, `broker 3 (host:port)`.
        failure: Kafka's error name, or the failed exchange.
        detail: a sentence that replaces the table's.
    """
    if isinstance(failure, BrokerFailure):
        code, message, hint = failure.code, failure.message, failure.hint
    else:
        code, message, hint = failure, meaning_of(failure).message, meaning_of(failure).hint
    return ItemError(target, code, detail or message, hint, meaning_of(code).exit_code)


def cluster_error(failure: BrokerFailure) -> KgroupsError:
    """The failure as the error that ends the command."""
    kind = ERROR_CLASSES.get(meaning_of(failure.code).exit_code, ClusterError)
    return kind(failure.message, hint=failure.hint, code=failure.code)
