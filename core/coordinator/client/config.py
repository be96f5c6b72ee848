"""Settings of a member, by the names of a consumer's properties; defaults are the Java client's."""

from dataclasses import dataclass, fields
from typing import Any

from kgroups.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """The behaviour of a client library whatever its settings; the Java client's unless said.

    Args:
        session_ends_membership: without an answer to a heartbeat for a session, give everything up
            and join anew, as librdkafka does; the Java client only looks for its coordinator.
        session_grace_ms: how much longer than a session that takes.
        tolerated_losses: heartbeats and searches for the coordinator that may be lost in a row,
            with the connection or for want of an answer in time; with one more the member gives
            everything up and joins anew. None: any number.
        counts_late: whether an answer that does not come in time is such a loss; else only a broken
            connection is.
        repeats_at_once: a heartbeat whose connection broke is sent again at once, so often that all
            of them are lost.
        keeps_id: whether it joins anew under its old id then.
        timeout_closes_connection: whether a request that is not answered in time takes the
            connection with it; else only the request is given up.
        rejoin_backoff_ms: after a JoinGroup or SyncGroup that was answered with an error that
            passes; None: as after other failures, and nothing after a SyncGroup.
    """

    session_ends_membership: bool = False
    session_grace_ms: int = 0
    tolerated_losses: int | None = None
    counts_late: bool = True
    repeats_at_once: bool = False
    keeps_id: bool = True
    timeout_closes_connection: bool = True
    rejoin_backoff_ms: int | None = None

    @property
    def manners(self) -> dict[str, Any]:
        """These by name."""
        return {field.name: getattr(self, field.name) for field in fields(Manners)}


@dataclass(frozen=True, slots=True)
class ClientConfig(Manners):
    """Who a member is and how patient it is, with the manners of its library; times in ms.

    Args:
        rebalance_timeout_ms: what it tells the coordinator; None: `max_poll_interval_ms`, as the
            Java client and librdkafka do.
        default_api_timeout_ms: how long a commit that is waited for is tried again.
        first_heartbeat_ms: from the answer to JoinGroup to the first heartbeat of a generation;
            None: `heartbeat_interval_ms`.
        join_grace_ms: how much longer than the rebalance timeout a JoinGroup is waited for.
        leaves_on_close: whether closing says good-bye; else the session has to end.
        retry_backoff_ms: after a first failure; doubles up to `retry_backoff_max_ms`.
    """

    group_id: str
    client_id: str = "consumer"
    client_host: str = ""
    group_instance_id: str | None = None
    client_rack: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    rebalance_timeout_ms: int | None = None
    request_timeout_ms: int = 30_000
    default_api_timeout_ms: int = 60_000
    join_grace_ms: int = 5_000
    close_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    retry_backoff_max_ms: int = 1_000
    enable_auto_commit: bool = True
    first_heartbeat_ms: int | None = None
    leaves_on_close: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.heartbeat_interval_ms < self.session_timeout_ms:
            raise UsageError("heartbeat.interval.ms must be between 0 and session.timeout.ms")

    @property
    def silence_ms(self) -> int:
        """How long heartbeats may go without an answer."""
        return self.session_timeout_ms + self.session_grace_ms

    @property
    def rebalance_ms(self) -> int:
        """How long the coordinator is to wait for the member in a rebalance."""
        given = self.rebalance_timeout_ms
        return self.max_poll_interval_ms if given is None else given
