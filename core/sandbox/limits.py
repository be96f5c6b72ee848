"""Limits of clients of the embedded cluster: memory, connections, patience."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from kgroups.core.errors import UsageError

_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one client.

    Args:
        frame_bytes: longest request (`socket.request.max.bytes`).
        frame_ms: a request that is not whole so long after its first byte, at most twice that,
            closes its connection.
        held_bytes: requests that are not answered yet, over all connections
            (`queued.max.request.bytes`); beyond it the connection that holds most is closed.
        connections: open at once over all brokers (`max.connections`); more are closed at once.
        idle_ms: a connection that says nothing for so long is closed, half-open ones too
            (`connections.max.idle.ms`).
        slow_reader_ms: a client that lets answers pile up for so long is closed.
        unsent_bytes: answers that may pile up before requests wait.
        partitions: of all topics together that clients may create.
        offsets_log_bytes: a partition of `__consumer_offsets` is compacted when it is longer, and
            again when it has doubled since.
    """

    frame_bytes: int = 32 * 1024 * 1024
    frame_ms: int = 30_000
    held_bytes: int = 128 * 1024 * 1024
    connections: int = 8192
    idle_ms: int = 600_000
    slow_reader_ms: int = 30_000
    unsent_bytes: int = 1024 * 1024
    partitions: int = 50_000
    offsets_log_bytes: int = 256 * 1024


PROPERTIES: Final[Mapping[str, str]] = {
    "socket.request.max.bytes": "frame_bytes",
    "queued.max.request.bytes": "held_bytes",
    "max.connections": "connections",
    "connections.max.idle.ms": "idle_ms",
}
"""A broker's property to the limit that it sets."""


def limits_of(limits: Limits, properties: Mapping[str, str]) -> tuple[Limits, Mapping[str, str]]:
    """The limits as a broker's properties change them, and the properties that are left.

    Raises:
        UsageError: a value is not a whole number from 1 on.
    """
    given: dict[str, int] = {}
    for name, field in PROPERTIES.items():
        text = properties.get(name)
        if text is None:
            continue
        number = int(text[:11]) if text.isascii() and text.isdigit() else 0
        if not 0 < number <= _MAX:
            raise UsageError(f"property `{name}` is `{text}`, not 1 to {_MAX}")
        given[field] = number
    rest = {name: text for name, text in properties.items() if name not in PROPERTIES}
    return replace(limits, **given), rest
