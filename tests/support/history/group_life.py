"""A random life of a group, and the log that is left of it: cleaned, or on a replica that was away.

The coordinator writes what it acknowledges; whoever asks it in between knows what was committed at
every moment. The log is cleaned as Kafka's LogCleaner does it.
"""

import struct
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final, NamedTuple

from kgroups.core.coordinator.admin_messages import DeleteGroupsRequest
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.effects import Write
from kgroups.core.coordinator.log.record_codec import encode_key, encode_value
from kgroups.core.coordinator.offsets.messages import (
    OffsetDeleteRequest,
    OffsetDeleteTopic,
    WriteTxnMarkerRequest,
)
from kgroups.core.history.sieve import Sieve, Take, Unread
from kgroups.core.protocol.batches import (
    BatchHeader,
    build_batch,
    is_commit_marker,
    place_batch,
    read_batch_header,
    read_records,
    thinned_batch,
)
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group
from tests.support.coordinator.coordinator_driver import Harness
from tests.support.coordinator.default_requests import commit, commit_in_transaction, fetched

GROUP: Final = "g"
PARTITION: Final = 3
"""Of `__consumer_offsets`, where the group is."""
DAY_MS: Final = 86_400_000
CONTROL, TRANSACTIONAL = 0x20, 0x10
_ATTRIBUTES, _PRODUCER = 21, 43
Commits = Mapping[int, int]


class Batch(NamedTuple):
    """A batch of the log with what is written over in tests."""

    header: BatchHeader
    data: bytes
    cleaned_ms: int | None = None  # when tombstones and markers in it were cleaned first

    @classmethod
    def of(cls, data: bytes, attributes: int, producer: int) -> "Batch":
        """A batch of a producer."""
        changed = bytearray(data)
        struct.pack_into(">h", changed, _ATTRIBUTES, attributes)
        struct.pack_into(">q", changed, _PRODUCER, producer)
        return cls(read_batch_header(bytes(changed)), bytes(changed))

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.header.base_offset + self.header.last_offset_delta + 1

    def is_of(self, kind: int) -> bool:
        """Whether it has this attribute."""
        return bool(self.header.attributes & kind)


class Writer(Harness):
    """A coordinator whose log is batches with times."""

    def __init__(self, config: CoordinatorConfig) -> None:
        super().__init__(config)
        self.batches: list[Batch] = []

    @property
    def end(self) -> int:
        """Of the log."""
        return self.batches[-1].end if self.batches else 0

    def _append(self, write: Write) -> None:
        super()._append(write)
        attributes = TRANSACTIONAL if write.producer_id >= 0 else 0
        if write.marker is not None:
            key = struct.pack(">hh", 0, int(write.marker))
            data = place_batch(build_batch([(key, b"")], self.now_ms), self.end, 0)
            self.batches.append(Batch.of(data, CONTROL | TRANSACTIONAL, write.producer_id))
        if write.records:
            rows = [(encode_key(one.key), encode_value(one)) for one in write.records]
            data = place_batch(build_batch(rows, self.now_ms), self.end, 0)
            self.batches.append(Batch.of(data, attributes, write.producer_id))


class Life:
    """What has happened so far.

    Args:
        chance: decides what happens.
        cleans: whether the log is cleaned.
    Attributes:
        told: what was committed, from each time on.
        captures: of the group, as `lag collect` takes them.
    """

    def __init__(self, chance: Random, *, cleans: bool) -> None:
        self.chance = chance
        config = CoordinatorConfig(
            offsets_retention_ms=2 * DAY_MS, offsets_retention_check_interval_ms=DAY_MS // 2
        )
        self.writer = Writer(config)
        self.told: list[tuple[int, Commits]] = []
        self.captures: list[ClusterSnapshot] = []
        self.away: tuple[int, list[Batch]] | None = None
        self._open: set[int] = set()
        self._cleans = cleans

    def live(self, steps: int) -> "Life":
        """So much happens."""
        deeds = (self._commit, self._others, self._begin, self._finish, self._delete, self._capture)
        for _ in range(steps):
            deed = self.chance.choices(deeds, (8, 4, 4, 4, 1, 2))[0]
            deed()
            self._tell()
            if self.chance.random() < 0.03:
                self.writer.ask(DeleteGroupsRequest(version=2, groups_names=(GROUP,)))
            self._tell()
            if self._cleans and self.chance.random() < 0.15:
                self._clean()
            if self._cleans and self.chance.random() < 0.04 and self.away is None:
                self.away = self.writer.now_ms, list(self.writer.batches)
            self.writer.advance(self._while())
            self._tell()
        return self

    def committed_at(self, at_ms: int) -> Commits:
        """What was committed at a moment."""
        return next((said for then, said in reversed(self.told) if then <= at_ms), {})

    def held_at(self, at_ms: int, number: int) -> set[int | None]:
        """What was committed for a partition at some time in a millisecond."""
        within = {said.get(number) for then, said in self.told if then == at_ms}
        return within or {self.committed_at(at_ms).get(number)}

    def read(self, take: Take) -> Unread:
        """Read the log; that of a replica which was away for a while, if there is one.

        It has what it had, and what was left of the rest when it was back.
        """
        batches, unread = self.writer.batches, Unread()
        if self.away is not None and self.writer.now_ms - self.away[0] < DAY_MS:
            had = self.away[1]
            end = had[-1].end if had else 0
            batches = [*had, *(one for one in batches if one.header.base_offset >= end)]
        sieve = Sieve([GROUP], take, unread)
        for batch in batches:
            sieve.pass_batch(batch.header, batch.data)
        sieve.end(self._stable())
        return unread

    def _while(self) -> int:
        """Milliseconds until something else happens: none, a moment, seldom days."""
        kind = self.chance.random()
        if kind < 0.1:
            return 0
        return self.chance.randint(1, 3 * DAY_MS if kind > 0.97 else 60_000)

    def _tell(self) -> None:
        found = fetched(self.writer, group_id=GROUP)
        said = {number: offset for number, (offset, _) in found.items() if offset >= 0}
        self.told.append((self.writer.now_ms, said))

    def _offsets(self) -> dict[int, int]:
        some = self.chance.sample(range(4), self.chance.randint(1, 3))
        return {number: self.chance.randint(0, 10**6) for number in some}

    def _commit(self) -> None:
        self.writer.ask(commit(self._offsets(), GROUP))

    def _others(self) -> None:
        self.writer.ask(commit({0: self.chance.randint(0, 9)}, "other"))

    def _begin(self) -> None:
        producer = self.chance.randint(7, 9)
        self.writer.ask(commit_in_transaction(self._offsets(), producer, GROUP))
        self._open.add(producer)

    def _finish(self) -> None:
        if self._open:
            producer = self._open.pop()
            committed = self.chance.random() < 0.6
            self.writer.ask(
                WriteTxnMarkerRequest(
                    version=1,
                    producer_id=producer,
                    producer_epoch=0,
                    partition=PARTITION,
                    committed=committed,
                )
            )

    def _delete(self) -> None:
        topics = (OffsetDeleteTopic("t", (self.chance.randrange(4),)),)
        self.writer.ask(OffsetDeleteRequest(version=0, group_id=GROUP, topics=topics))

    def _capture(self) -> None:
        at_ms, said = self.told[-1] if self.told else (self.writer.now_ms, {})
        if said and at_ms == self.writer.now_ms:
            commits = {number: CommittedOffset(offset) for number, offset in said.items()}
            group = Group(GROUP, "classic", "Empty", members=(), offsets={"t": commits})
            self.captures.append(ClusterSnapshot(at_ms, (group,), {}))

    def _stable(self) -> int:
        """The last stable offset."""
        begun: dict[int, int] = {}
        for one in self.writer.batches:
            if one.is_of(CONTROL):
                begun.pop(one.header.producer_id, None)
            elif one.is_of(TRANSACTIONAL):
                begun.setdefault(one.header.producer_id, one.header.base_offset)
        return min(begun.values(), default=self.writer.end)

    def _clean(self) -> None:
        """Up to some batch before the last, and before the last stable offset."""
        batches = self.writer.batches
        ends = [one.header.base_offset for one in batches if one.end <= self._stable()][1:]
        if ends:
            end = self.chance.choice(ends)
            below = [one for one in batches if one.end <= end]
            self.writer.batches = [*cleaned(below, self.writer.now_ms), *batches[len(below) :]]


def cleaned(batches: list[Batch], now_ms: int) -> list[Batch]:
    """What the cleaner leaves of these.

    Aborted records go, and supersede nothing; tombstones, and the markers of transactions that have
    no batch any more, go a day after they were cleaned first.
    Source: Cleaner.cleanSegments, CleanedTransactionMetadata.
    """
    aborted = _aborted(batches)
    data = [one for one in batches if not one.is_of(CONTROL) and one not in aborted]
    latest = {record.key: record.offset for one in data for record in read_records(one.data)}
    left: list[Batch] = []
    seen: set[int] = set()
    for one in batches:
        is_old = one.cleaned_ms is not None and now_ms - one.cleaned_ms > DAY_MS
        marked = one._replace(cleaned_ms=now_ms if one.cleaned_ms is None else one.cleaned_ms)
        if one.is_of(CONTROL):
            if one.header.producer_id in seen or not is_old:
                left.append(marked)
            seen.discard(one.header.producer_id)
            continue
        if one in aborted:
            continue
        if one.is_of(TRANSACTIONAL):
            seen.add(one.header.producer_id)
        records = list(read_records(one.data))
        kept = [
            each
            for each in records
            if latest[each.key] == each.offset and (each.value is not None or not is_old)
        ]
        if kept == records:
            left.append(marked)
        elif kept:
            header = one.header
            thin = Batch.of(thinned_batch(header, kept), header.attributes, header.producer_id)
            left.append(thin._replace(cleaned_ms=marked.cleaned_ms))
    return left


def _aborted(batches: list[Batch]) -> list[Batch]:
    """The batches of transactions that were aborted."""
    found: list[Batch] = []
    open_batches: dict[int, list[Batch]] = {}
    for one in batches:
        if one.is_of(CONTROL):
            mine = open_batches.pop(one.header.producer_id, [])
            if not all(map(is_commit_marker, read_records(one.data))):
                found += mine
        elif one.is_of(TRANSACTIONAL):
            open_batches.setdefault(one.header.producer_id, []).append(one)
    return found


def moments(life: Life, chance: Random, count: int) -> Iterator[int]:
    """Times at which something happened, and between."""
    for _ in range(count):
        at_ms, _ = chance.choice(life.told)
        yield max(0, at_ms + chance.choice([-1, 0, 0, 1, 5_000]))
