"""Carries out what a fault file plans for a time: brokers down and up, moves, expired members."""

import asyncio
from collections.abc import Sequence

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.cluster_state import ClusterState
from kgroups.core.sandbox.faults.fault_file import TimedFault


async def run_incidents(cluster: ClusterState, incidents: Sequence[TimedFault]) -> None:
    """Have each incident happen at its time after now; one that fails is only noted."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for incident in sorted(incidents, key=lambda one: one.at_ms):
        await asyncio.sleep(max(begun + incident.at_ms / 1000 - loop.time(), 0))
        try:
            await carry_out(cluster, incident)
        except KgroupsError as error:
            cluster.events.add("incident", f"{incident.kind} failed: {error.message}")


async def carry_out(cluster: ClusterState, incident: TimedFault) -> None:
    """Have an incident happen now.

    Raises:
        NotFoundError: the broker, group or member does not exist.
    """
    match incident.kind:
        case "broker_down":
            await cluster.stop_broker(incident.broker or 0)
        case "broker_up":
            await cluster.start_broker(incident.broker or 0)
        case "move_coordinator":
            cluster.move_coordinator(incident.group or "", incident.broker)
        case "expire_member":
            await cluster.expire_member(incident.group or "", incident.member or "")
        case "advance_clock":
            cluster.advance_clock(incident.ms)
        case "freeze_clock":
            cluster.freeze_clock(frozen=incident.frozen)
