"""Fetches of one consumer in bytes: one request a broker at a time, answered as a broker does.

Source: `AbstractFetch`, `FetchCollector` and the broker's `DelayedFetch`. A broker answers when
`fetch.min.bytes` are there or `fetch.max.wait.ms` is over; an answer has at most
`max.partition.fetch.bytes` of a partition and `fetch.max.bytes` in all, but a record at least. A
partition with records that the application has not got yet is in no request.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Final

from kgroups.core.coordinator.client.effects import TopicPartition
from kgroups.core.simulation.scenario.member_settings import MemberSettings
from kgroups.core.simulation.world.partition_logs import NEVER, Records

HAIR_MS: Final = 0.001
HALVINGS: Final = 40

Taken = tuple[TopicPartition, int, int]


class _Node:
    """A fetch request to one broker.

    Attributes:
        sent_ms: when the request that is under way was sent; None if none is.
        asked: its partitions with the offsets it asks for.
        first: the partition that an answer begins with next.
        stale: what is to be fetched has changed since: the next answer counts, though empty.
    """

    def __init__(self) -> None:
        self.sent_ms: float | None = None
        self.asked: list[tuple[TopicPartition, Records, int]] = []
        self.first = 0
        self.stale = False


class Fetcher:
    """The requests of one consumer, and what it has fetched and not handed over.

    Args:
        brokers: partition n of a topic is led by broker n modulo these.
        sizes: bytes of a record by topic.
    """

    def __init__(
        self, settings: MemberSettings, one_way_ms: float, brokers: int, sizes: Mapping[str, int]
    ) -> None:
        self._settings, self._one_way_ms, self._sizes = settings, one_way_ms, sizes
        self._nodes = [_Node() for _ in range(brokers)]
        self._order: dict[TopicPartition, Records] = {}
        self._buffer: deque[Taken] = deque()

    def arrange(self, order: Sequence[tuple[TopicPartition, Records]]) -> None:
        """Fetch these from now on; what was fetched of others is thrown away."""
        self._order = dict(order)
        self._buffer = deque(taken for taken in self._buffer if taken[0] in self._order)
        for node in self._nodes:
            node.stale = node.sent_ms is not None

    def begin_anew(self) -> None:
        """Requests under way are not answered, and what was fetched is thrown away."""
        self._buffer.clear()
        for node in self._nodes:
            node.sent_ms = None

    def take(
        self, at_ms: float, room: int, positions: Mapping[TopicPartition, int], dry_ms: float
    ) -> list[Taken]:
        """The records of a poll now, at most `room`; then the next requests are sent.

        Args:
            positions: next offset to hand over of each partition.
            dry_ms: nothing that is sent before then arrives.
        """
        self._catch_up(at_ms)
        self._receive(at_ms)
        taken: list[Taken] = []
        while self._buffer and room:
            partition, begin, end = self._buffer.popleft()
            if positions.get(partition) != begin:
                continue  # sought elsewhere meanwhile
            stop = min(end, begin + room)
            taken.append((partition, begin, stop))
            room -= stop - begin
            if stop < end:
                self._buffer.appendleft((partition, stop, end))
        ahead = {partition: end for partition, _, end in taken}
        self._send(max(at_ms, dry_ms), {**positions, **ahead})
        return taken

    def next_ms(self, at_ms: float) -> float:
        """When the next poll gives records; infinity for never."""
        if self._buffer:
            return at_ms
        return min((self._arrival(node) for node in self._nodes), default=NEVER)

    # ------------------------------------------------------------------ requests

    def _send(self, at_ms: float, positions: Mapping[TopicPartition, int]) -> None:
        fetched = {partition for partition, _, _ in self._buffer}
        idle = [node for node in self._nodes if node.sent_ms is None]
        for node in idle:
            node.asked = []
        for partition, records in self._order.items():
            node = self._nodes[partition.partition % len(self._nodes)]
            if node.sent_ms is None and partition not in fetched and partition in positions:
                node.asked.append((partition, records, positions[partition]))
        for node in idle:
            node.sent_ms, node.stale = at_ms if node.asked else None, False

    def _catch_up(self, at_ms: float) -> None:
        """Where an empty answer counts: begin with the round that goes on now."""
        for node in self._nodes:
            if node.stale and node.sent_ms is not None and self._arrival(node) > at_ms:
                node.sent_ms += max(0, floor((at_ms - node.sent_ms) / self._round_ms)) * (
                    self._round_ms
                )

    @property
    def _round_ms(self) -> float:
        """From one request to the next where nothing comes."""
        return max(2 * self._one_way_ms + self._settings.fetch_max_wait_ms, HAIR_MS)

    def _receive(self, at_ms: float) -> None:
        for node in self._nodes:
            if node.sent_ms is not None and self._arrival(node) <= at_ms:
                self._buffer.extend(self._answer(node, self._arrival(node) - self._one_way_ms))
                node.sent_ms = None

    def _arrival(self, node: _Node) -> float:
        """When the next answer with records arrives; empty ones are asked for anew before it."""
        if node.sent_ms is None:
            return NEVER
        wait_ms, there_ms = self._settings.fetch_max_wait_ms, node.sent_ms + self._one_way_ms
        first_ms = min((records.time_of(at) for _, records, at in node.asked), default=NEVER)
        if not node.stale:
            if first_ms == NEVER:
                return NEVER
            if first_ms > there_ms + wait_ms:
                # Rounds that are over before the first record is there bring nothing.
                rounds = ceil((first_ms - there_ms - wait_ms) / self._round_ms)
                there_ms += rounds * self._round_ms
        return self._ready(node, there_ms, there_ms + wait_ms) + self._one_way_ms

    def _ready(self, node: _Node, from_ms: float, to_ms: float) -> float:
        """When the broker answers a request that it has from the one time to the other."""
        least = self._settings.fetch_min_bytes
        if self._bytes(node, from_ms) >= least:
            return from_ms
        if self._bytes(node, to_ms) < least:
            return to_ms
        low, high = from_ms, to_ms
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if high - low < HAIR_MS:
                break
            if self._bytes(node, middle) >= least:
                high = middle
            else:
                low = middle
        return high

    def _bytes(self, node: _Node, at_ms: float) -> int:
        """Bytes that a broker counts for a request."""
        sizes, most = self._sizes, self._settings.max_partition_fetch_bytes
        return sum(
            min((records.end(at_ms) - begin) * sizes[partition.topic], most)
            for partition, records, begin in node.asked
        )

    def _answer(self, node: _Node, at_ms: float) -> list[Taken]:
        """The broker's answer at this time; the next one begins with another partition."""
        settings, taken = self._settings, list[Taken]()
        room = settings.fetch_max_bytes
        asked = node.asked[node.first :] + node.asked[: node.first]
        for partition, records, begin in asked:
            size = self._sizes[partition.topic]
            there = records.end(at_ms + HAIR_MS) - begin
            count = min(there, floor(min(settings.max_partition_fetch_bytes, room) / size))
            if count <= 0 < there and not taken:
                count = 1  # a record that is longer than the limits is sent all the same (KIP-74)
            if count > 0:
                taken.append((partition, begin, begin + count))
                room = max(0, room - count * size)
        node.first = (node.first + 1) % max(1, len(node.asked))
        return taken


def fetches_matter(settings: MemberSettings, sizes: Mapping[str, int]) -> bool:
    """Whether limits in bytes can be felt: else polls give whatever has come."""
    if not sizes:
        return False
    least, most = min(sizes.values()), max(sizes.values())
    enough = max(settings.max_poll_records, 500)
    limit = min(settings.max_partition_fetch_bytes, settings.fetch_max_bytes)
    return settings.fetch_min_bytes > least or limit // most < enough
