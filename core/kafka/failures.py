"""One exchange with one broker that failed, and which failures are worth another try.

It becomes a `ClusterError` when nothing at all could be learned, and an `ItemError` row when the
rest could.
"""

from collections.abc import Sequence
from typing import Any, Final, Self

from kgroups.core.errors import ItemError, KgroupsError, shorten
from kgroups.core.protocol.errors import MEANINGS, broker_error, error_name, meaning_of

NAME_CHARS = 120
"""How much of a host name that others chose is shown."""

UNSEEN = "not authorized to describe this group"
"""Said of a group whose coordinator may not be asked for: DESCRIBE on it is missing."""

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
"""Codes of answers that we do not take in."""

UNHEARD = frozenset({"NETWORK_EXCEPTION", "REQUEST_TIMED_OUT", "BROKER_NOT_AVAILABLE"})
"""Failures after which nobody knows whether the request was carried out."""

TELLING = frozenset(
    {
        "SSL_HANDSHAKE_FAILED",
        "SASL_AUTHENTICATION_FAILED",
        "TOKEN_NOT_AVAILABLE",
        "TICKET_NOT_AVAILABLE",
    }
)
"""Of the failures of several bootstrap servers, those that are told first."""


OWN_CLIENT: Final = "kgroups' own client does it: `--client auto`, with a login that it has"
"""The hint of what librdkafka cannot do."""


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


class UnknownHost(BrokerFailure):
    """A host name that cannot be resolved."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(
            "BROKER_NOT_AVAILABLE",
            f"{shorten(address, NAME_CHARS)} cannot be reached: the host name is not known",
            hint="check the spelling",
            address=address,
        )
        self.host = host

    def advertised_by(self, broker: int) -> BrokerFailure:
        """The same, of a name that the cluster itself told."""
        address = shorten(self.address or "", NAME_CHARS)
        return BrokerFailure(
            self.code,
            f"broker {broker} advertises `{address}`, and the host name "
            f"`{shorten(self.host, NAME_CHARS)}` is not known here",
            hint="check the broker's `advertised.listeners`, and the name server of this machine",
            address=self.address,
        )


class Lost(BrokerFailure):
    """A request that was sent, and whose outcome nobody knows: no answer came, or none that could
    be read.
    """

    @classmethod
    def of(cls, failure: BrokerFailure) -> Self:
        """The failure of such a request."""
        return cls(
            failure.code,
            failure.message,
            hint=failure.hint,
            address=failure.address,
            fatal=failure.fatal,
        )


def may_repeat(failure: "str | BrokerFailure | None") -> bool:
    """Whether a write may be sent again: it names the new state, so twice does no harm."""
    code = failure.code if isinstance(failure, BrokerFailure) else failure
    return code in RETRIABLE or code in UNHEARD


def left_out() -> BrokerFailure:
    """Failure of an item that the broker left out of an answer about several."""
    return BrokerFailure("CORRUPT_MESSAGE", "missing from the broker's response")


def only(rows: Sequence[Any]) -> Any:
    """The row of an answer about a single item.

    Raises:
        BrokerFailure: the answer does not have it, or has others.
    """
    if len(rows) != 1:
        raise left_out()
    return rows[0]


def refusal(item: Any) -> str | BrokerFailure | None:
    """Why an item was refused: its code, or the broker's words where we have none of it."""
    code, text = error_name(item.error_code), getattr(item, "error_message", None)
    return code if code is None or code in MEANINGS or not text else BrokerFailure(code, text)


def item_error(target: str, failure: str | BrokerFailure, detail: str | None = None) -> ItemError:
    """Row of `errors` for one item.

    Args:
        target: group name, `topic-partition`, `broker 3 (host:port)`.
        failure: Kafka's error name, or the failed exchange.
        detail: a sentence that replaces the table's.
    """
    if isinstance(failure, BrokerFailure):
        return broker_error(target, failure.code, detail or failure.message, failure.hint)
    return broker_error(target, failure, detail)


def cluster_error(failure: BrokerFailure) -> KgroupsError:
    """The failure as the error that ends the command."""
    kind = broker_error("", failure.code).error_class
    return kind(failure.message, hint=failure.hint, code=failure.code)
