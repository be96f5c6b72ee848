"""Requests of a member of a consumer group (KIP-848); only what changed is in a heartbeat."""

from typing import Any, NamedTuple

from kgroups.core.coordinator.client.config import ClientConfig
from kgroups.core.coordinator.kip848.messages import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)

HEARTBEAT_VERSION = 1


class Place(NamedTuple):
    """Who sends, and in which epoch."""

    config: ClientConfig
    member_id: str
    epoch: int


class Beat(NamedTuple):
    """Everything that a full heartbeat tells.

    Args:
        pattern: subscribed by an RE2 pattern; None if not.
        owned: partitions by topic id.
    """

    rebalance_timeout_ms: int
    names: tuple[str, ...]
    pattern: str | None
    assignor: str | None
    owned: tuple[TopicPartitions, ...]


def heartbeat_request(place: Place, beat: Beat, sent: Beat | None) -> ConsumerGroupHeartbeatRequest:
    """A heartbeat with what changed since the last one; with everything where `sent` is None.

    One that says good-bye (a negative epoch) tells nothing.
    """
    config = place.config
    base: dict[str, Any] = {
        "version": HEARTBEAT_VERSION,
        "client_id": config.client_id,
        "client_host": config.client_host,
        "group_id": config.group_id,
        "member_id": place.member_id,
        "member_epoch": place.epoch,
        "instance_id": config.group_instance_id,
    }
    if place.epoch >= 0:
        if sent is None:
            base["rack_id"] = config.client_rack or None  # brokers refuse an empty one
        if sent is None or sent.rebalance_timeout_ms != beat.rebalance_timeout_ms:
            base["rebalance_timeout_ms"] = beat.rebalance_timeout_ms
        if sent is None or sent.names != beat.names:
            base["subscribed_topic_names"] = beat.names
        if (sent is None and beat.pattern is not None) or (sent and sent.pattern != beat.pattern):
            base["subscribed_topic_regex"] = beat.pattern or ""
        if sent is None or sent.assignor != beat.assignor:
            base["server_assignor"] = beat.assignor
        if sent is None or sent.owned != beat.owned:
            base["topic_partitions"] = beat.owned if place.epoch else ()
    return ConsumerGroupHeartbeatRequest(**base)
