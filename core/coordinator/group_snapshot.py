"""The state of groups as plain values: what tests compare and what the sandbox can show."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgroups.core.coordinator.log.records import OffsetCommitValue


@dataclass(frozen=True, slots=True)
class MemberSnapshot:
    """One member of either protocol.

    Args:
        assignment: classic: the bytes from the leader; empty for a consumer group's member.
        epoch: classic: the generation it is in; consumer: its member epoch.
        waiting_for: `join`, `sync` or None: the parked request.
        facts: whatever else the protocol keeps, by name.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    assignment: bytes = b""
    epoch: int = -1
    waiting_for: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """One group of either protocol, with its offsets.

    Args:
        epoch: generation or group epoch.
        members: in the order in which Kafka walks them.
        offsets: topic -> partition -> commit; filled in by `Coordinator.snapshot`.
        facts: whatever else the protocol keeps, by name.
    """

    group_id: str
    kind: str
    state: str
    protocol_type: str | None
    protocol: str | None
    epoch: int
    leader: str | None
    members: tuple[MemberSnapshot, ...]
    offsets: Mapping[str, Mapping[int, OffsetCommitValue]] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)
