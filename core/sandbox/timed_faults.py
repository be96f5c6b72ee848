"""Carries out what a fault file plans for a time: brokers down and up, moves, expired members."""

import asyncio
from collections.abc import Sequence

from kgroups.core.errors import KgroupsError
from kgroups.core.sandbox.cluster_state import ClusterState
from kgroups.core.sandbox.faults.fault_file import TimedFault


async def run_timed_faults(cluster: ClusterState, faults: Sequence[TimedFault]) -> None:
    """Have each fault happen at its time after now; one that fails is only noted."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for fault in sorted(faults, key=lambda one: one.at_ms):
        await asyncio.sleep(max(begun + fault.at_ms / 1000 - loop.time(), 0))
        try:
            await carry_out(cluster, fault)
        except KgroupsError as error:
            cluster.events.add("incident", f"{fault.kind} failed: {error.message}")


async def carry_out(cluster: ClusterState, fault: TimedFault) -> None:
    """Have a fault happen now.

    Raises:
        NotFoundError: the broker, group or member does not exist.
    """
    match fault.kind:
        case "broker_down":
            await cluster.stop_broker(fault.broker or 0)
        case "broker_up":
            await cluster.start_broker(fault.broker or 0)
        case "move_coordinator":
            cluster.move_coordinator(fault.group or "", fault.broker)
        case "expire_member":
            await cluster.expire_member(fault.group or "", fault.member or "")
        case "advance_clock":
            cluster.advance_clock(fault.ms)
        case "freeze_clock":
            cluster.freeze_clock(frozen=fault.frozen)
