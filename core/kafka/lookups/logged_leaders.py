"""Who leads a classic group: its own record in `__consumer_offsets`, looked for from the log's end.

A group's record is written when its leader has assigned, among the commits of every group on the
same partition. So the log is read backwards, in windows that grow: the last records first, then
ever more before them, until each group's newest record is found, the log has no more, or enough
was read.

Source: GroupMetadataManager (records of classic groups); `GroupMetadataValue.leader`.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kgroups.core.coordinator.log.record_bytes import RecordError
from kgroups.core.coordinator.log.record_codec import decode_record, encode_key
from kgroups.core.coordinator.log.records import GroupMetadataKey, GroupMetadataValue
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.deadline import Deadline
from kgroups.core.kafka.failures import BrokerFailure, only
from kgroups.core.kafka.reads.record_batches import find_records
from kgroups.core.kafka.transport import requests
from kgroups.core.kafka.transport.broker_connections import Cluster
from kgroups.core.kafka.transport.framing import decode_response, error_name
from kgroups.core.kafka.transport.lengths import Room
from kgroups.core.snapshot import Group

FIRST_WINDOW: Final = 2_000  # offsets
GROWTH: Final = 4
FETCH_BYTES: Final = 1 << 20
MAX_BYTES: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Reach:
    """How far back the log is read.

    Args:
        windows: None: as many as it takes.
        fetches: of one window.
        most_bytes: of one partition.
    """

    windows: int | None = None
    fetches: int | None = None
    most_bytes: int = MAX_BYTES


QUICK: Final = Reach(windows=1, fetches=1)
"""One look at the last records: two round trips."""


@dataclass(frozen=True, slots=True)
class LoggedLeader:
    """What a group's newest record says.

    Args:
        leader: member id.
        members: ids of those who were there.
    """

    leader: str | None
    protocol: str | None
    members: frozenset[str]


@dataclass(frozen=True, slots=True)
class LoggedLeaders:
    """What was found.

    Args:
        found: by group; None: its newest record deletes it.
        failures: Kafka's error name by partition of `__consumer_offsets` that could not be read.
        unread: partitions that hold more than was read, to the offset down to which they were.
    """

    found: Mapping[str, LoggedLeader | None] = field(default_factory=dict)
    failures: Mapping[int, str] = field(default_factory=dict)
    unread: Mapping[int, int] = field(default_factory=dict)

    def leader_of(self, group: Group) -> str | None:
        """The leader in the group's record, if that is of the members that are there."""
        logged = self.found.get(group.group)
        ids = {member.member_id for member in group.members or ()}
        return logged.leader if logged is not None and logged.members == ids else None


def logged_leaders(
    admin: ClusterAdmin, groups: Iterable[Group], reach: Reach = Reach()
) -> LoggedLeaders:
    """Who leads these groups, as their own records say; takes READ on `__consumer_offsets`.

    Args:
        groups: with coordinator and partition; others are left out.
    Raises:
        ClusterError: the cluster cannot be reached, or only through librdkafka.
    """
    wanted: dict[tuple[int, int], list[str]] = {}
    for group in groups:
        if group.coordinator is not None and group.offsets_partition is not None:
            wanted.setdefault((group.coordinator, group.offsets_partition), []).append(group.group)

    async def ask(cluster: Cluster, deadline: Deadline) -> list[LoggedLeaders]:
        return await asyncio.gather(
            *(
                _Search(cluster, broker, partition, names, reach, deadline).result()
                for (broker, partition), names in wanted.items()
            )
        )

    each = admin.over_wire(ask) if wanted else []
    return LoggedLeaders(
        {name: leader for one in each for name, leader in one.found.items()},
        {partition: code for one in each for partition, code in one.failures.items()},
        {partition: at for one in each for partition, at in one.unread.items()},
    )


class _Search:
    """The search through one partition."""

    def __init__(
        self,
        cluster: Cluster,
        broker: int,
        partition: int,
        groups: Sequence[str],
        reach: Reach,
        deadline: Deadline,
    ) -> None:
        self._cluster, self._broker, self._partition = cluster, broker, partition
        self._left = {encode_key(GroupMetadataKey(name)): name for name in groups}
        self._reach, self._deadline = reach, deadline
        self._bytes = 0
        self._found: dict[str, LoggedLeader | None] = {}

    async def result(self) -> LoggedLeaders:
        try:
            lowest, start = await self._search()
        except (BrokerFailure, RecordError) as failure:
            code = failure.code if isinstance(failure, BrokerFailure) else "CORRUPT_MESSAGE"
            return LoggedLeaders(self._found, {self._partition: code})
        unread = {self._partition: lowest} if self._left and lowest > start else {}
        return LoggedLeaders(self._found, unread=unread)

    async def _search(self) -> tuple[int, int]:
        """Down to which offset was read, and where the log starts."""
        start, high = await asyncio.gather(
            self._bound(requests.EARLIEST), self._bound(requests.LATEST)
        )
        width, windows = FIRST_WINDOW, 0
        while self._left and high > start and windows != self._reach.windows:
            low = max(start, high - width)
            if not await self._read(low, high):
                break
            high, width, windows = low, width * GROWTH, windows + 1
        return high, start

    async def _read(self, low: int, high: int) -> bool:
        """Read a window; False if not all of it could be, so that nothing is known of it."""
        newest: dict[bytes, bytes | None] = {}
        offset, fetches = low, 0
        while offset < high:
            if fetches == self._reach.fetches or self._bytes >= self._reach.most_bytes:
                return False
            if self._deadline.left_s <= 0:
                return False
            data = await self._fetch(offset)
            if data is None:  # held back by a quota: the next answer comes when it may
                continue
            fetches, self._bytes = fetches + 1, self._bytes + len(data)
            batches = find_records(data, self._left)
            newest.update((one.key, one.value) for one in batches.found if one.offset < high)
            if batches.next_offset is None:  # compaction left nothing up to the end
                break
            offset = max(offset + 1, batches.next_offset)
        for key, value in newest.items():
            self._found[self._left.pop(key)] = _leader(key, value)
        return True

    async def _fetch(self, offset: int) -> bytes | None:
        """What the log holds there; None where a quota has emptied the answer (KIP-219)."""
        body = requests.fetch(OFFSETS_TOPIC, self._partition, offset, FETCH_BYTES)
        until = self._deadline.at
        _, answer = await self._cluster.ask(self._broker, "fetch", body, until, _passing)
        code = error_name(answer.error_code) if hasattr(answer, "error_code") else None
        if code is not None:
            raise BrokerFailure(code)
        if not answer.responses and answer.throttle_time:
            return None
        part = only(only(answer.responses).partitions)
        code = error_name(part.error_code)
        if code is not None:
            raise BrokerFailure(code)
        return bytes(part.records or b"")

    async def _bound(self, which: int) -> int:
        body = requests.list_offsets({OFFSETS_TOPIC: [self._partition]}, which)
        _, answer = await self._cluster.ask(self._broker, "list_offsets", body, self._deadline.at)
        part = only(only(answer.topics).partitions)
        code = error_name(part.error_code)
        if code is not None:
            raise BrokerFailure(code)
        return int(part.offset)


def _passing(api: str, version: int, frame: bytes, _: Room) -> Any:
    """An answer that is searched and let go: it takes nothing of the memory that others share."""
    return decode_response(api, version, frame)


def _leader(key: bytes, value: bytes | None) -> LoggedLeader | None:
    record = decode_record(key, value)
    if record is None or not isinstance(record.value, GroupMetadataValue):
        return None
    members = frozenset(member.member_id for member in record.value.members)
    return LoggedLeader(record.value.leader, record.value.protocol, members)
