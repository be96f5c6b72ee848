"""Every record of some groups in `__consumer_offsets`, from the oldest to the newest, as a stream.

A group's records are in one partition, among those of other groups. That partition is read once,
whole: what a group was at any time is in its oldest records.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.history.sieve import Sieve, Take, Unread
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.answers import Placement
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog, code_of
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.protocol.batches import CorruptBatch, whole_batches

FETCH_BYTES: Final = 4 << 20


@dataclass(slots=True)
class GroupLogs:
    """How the reading went.

    Args:
        failures: Kafka's error name by group whose partition could not be read to its end.
    """

    failures: dict[str, str] = field(default_factory=dict)
    unread: Unread = field(default_factory=Unread)


def read_group_logs(admin: ClusterAdmin, placement: Placement, take: Take) -> GroupLogs:
    """Read the records of every group that has a place; takes READ on `__consumer_offsets`.

    Args:
        take: as of `Sieve`.
    """
    logs = GroupLogs()
    places: dict[tuple[int, int], list[str]] = {}
    for name, broker in placement.coordinators.items():
        partition = offsets_partition(name, placement.partitions or 1)
        places.setdefault((broker.id, partition), []).append(name)

    async def ask(cluster: Cluster, deadline: Deadline) -> None:
        await asyncio.gather(
            *(
                _read(OffsetsLog(cluster, broker, partition, deadline), names, take, logs)
                for (broker, partition), names in places.items()
            )
        )

    if places:
        admin.over_wire(ask)
    return logs


async def _read(log: OffsetsLog, names: Iterable[str], take: Take, logs: GroupLogs) -> None:
    """Read one partition."""
    sieve = Sieve(names, take, logs.unread)
    try:
        offset, end = await log.bounds()
        stable = -1
        while offset < end:
            part = await log.fetch(offset, FETCH_BYTES)
            if part is None:  # held back by a quota: the next answer comes when it may
                continue
            stable = part.last_stable_offset
            last = offset
            for header, batch in whole_batches(bytes(part.records or b"")):
                sieve.pass_batch(header, batch)
                last = header.base_offset + header.last_offset_delta + 1
            if last <= offset:  # compaction left nothing up to the end
                break
            offset = last
        sieve.end(stable)
    except (BrokerFailure, CorruptBatch) as failure:
        logs.failures.update(dict.fromkeys(sieve.groups.values(), code_of(failure)))
