"""Requests of a member to find its coordinator, to join, to sync and to stay.

Source: `AbstractCoordinator`; KIP-394 (member id first), KIP-345 (static members), KIP-429
(cooperative rebalancing), KIP-800 (reasons), KIP-814 (a static leader that may skip assigning).
"""

from kgroups.core.coordinator.classic.messages import (
    HeartbeatRequest,
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
    SyncGroupAssignment,
    SyncGroupRequest,
)
from kgroups.core.coordinator.client.classic.member import ClientMember
from kgroups.core.coordinator.client.effects import ClientEventKind
from kgroups.core.coordinator.client.ports import Joining, PortError
from kgroups.core.coordinator.client.reactions import Api
from kgroups.core.coordinator.client.requests import find_request
from kgroups.core.errors import counted

PROTOCOL_TYPE = "consumer"
JOIN_VERSION, SYNC_VERSION, HEARTBEAT_VERSION = 9, 5, 4


def send_find(member: ClientMember) -> None:
    """Ask any broker where the group's coordinator is."""
    member.send(Api.FIND, find_request(member.config))


def send_join(member: ClientMember) -> None:
    """Join, offering every assignor with the subscription that it writes."""
    config = member.config
    if member.rejoin_reason is not None:
        member.join_reason, member.rejoin_reason = member.rejoin_reason, None
    joining = Joining(
        tuple(sorted(set(member.topics))),
        member.owned,
        member.generation,
        config.client_rack,
        member.last,
        member.last_generation,
        member.last_bytes,
    )
    try:
        protocols = tuple(
            JoinGroupProtocol(a.name, a.subscribe(joining)) for a in member.ports.assignors
        )
    except PortError as failed:
        member.fail(str(failed))
        return
    request = JoinGroupRequest(
        version=JOIN_VERSION,
        client_id=config.client_id,
        client_host=config.client_host,
        group_id=config.group_id,
        session_timeout_ms=config.session_timeout_ms,
        rebalance_timeout_ms=config.rebalance_ms,
        member_id=member.member_id,
        group_instance_id=config.group_instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocols=protocols,
        reason=member.join_reason,
    )
    patience = max(config.request_timeout_ms, config.rebalance_ms + config.join_grace_ms)
    member.send(Api.JOIN, request, timeout_ms=patience)


def send_sync(member: ClientMember, joined: JoinGroupResponse) -> None:
    """Sync; a leader decides first and sends what everybody gets."""
    config = member.config
    assignments: tuple[SyncGroupAssignment, ...] = ()
    member.watched = None
    if joined.leader == joined.member_id:
        try:
            assignments = _decide(member, joined)
        except PortError as broken:
            member.fail(str(broken))
            return
    request = SyncGroupRequest(
        version=SYNC_VERSION,
        client_id=config.client_id,
        client_host=config.client_host,
        group_id=config.group_id,
        generation_id=member.generation,
        member_id=member.member_id,
        group_instance_id=config.group_instance_id,
        protocol_type=PROTOCOL_TYPE,
        protocol_name=member.protocol,
        assignments=assignments,
    )
    member.send(Api.SYNC, request)


def send_heartbeat(member: ClientMember) -> None:
    """Tell the coordinator that the member is alive."""
    config, beat = member.config, member.beat
    current = beat is not None and beat.generation_id == member.generation
    if beat is None or not current or beat.member_id != member.member_id:
        beat = member.beat = HeartbeatRequest(
            version=HEARTBEAT_VERSION,
            client_id=config.client_id,
            client_host=config.client_host,
            group_id=config.group_id,
            generation_id=member.generation,
            member_id=member.member_id,
            group_instance_id=config.group_instance_id,
        )
    member.send(Api.HEARTBEAT, beat)


def _decide(member: ClientMember, joined: JoinGroupResponse) -> tuple[SyncGroupAssignment, ...]:
    """Everybody's assignment; a static leader that came back keeps the old one but watches on."""
    assignor = member.assignors[member.protocol or ""]
    decided = assignor.decide(joined.members, member.cluster_topics, member.last_generation)
    member.watched = count_partitions(member, decided.topics)
    if joined.skip_assignment:
        return ()
    reason = f"{assignor.name} for {counted(len(joined.members), 'member')}"
    member.tell(ClientEventKind.ASSIGNMENT_COMPUTED, reason, *sorted(decided.topics))
    return tuple(SyncGroupAssignment(who, raw) for who, raw in decided.assignments.items())


def count_partitions(member: ClientMember, topics: frozenset[str] | set[str]) -> dict[str, int]:
    """Topic -> number of partitions in the cluster; 0 for one that is not there."""
    topics_now = member.cluster_topics
    return {name: topics_now[name].partitions if name in topics_now else 0 for name in topics}
