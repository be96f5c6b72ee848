"""Who owns what of one group over virtual time, and the figures that follow; whatever the protocol.

Counted as it happens, so that nothing grows with time. Source of every entry are the members' own
`Hold` and `Release` outputs and what the service stored.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kgroups.core.coordinator.client.effects import TopicPartition

# A picture cannot show more.
MAX_OWNED: Final = 2_000


class Highest:
    """How far each partition of a group was ever read: what is read below that is read again.

    Attributes:
        elsewhere: where partitions are read since an application sought in them, until that is
            as far as they were ever read.
        done_ms: of applications that poll on: when what was handed over of a partition is done.
        dropped: offsets that were not done when a process ended, until it is known where the
            partition is read on.
        lost: records that nobody has done, or will.
        out_of_order: records that began before an earlier one of their partition was done.
        skipped: records that an application passed over, as they were too old.
    """

    def __init__(self) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self.elsewhere: dict[TopicPartition, int] = {}
        self.read = 0
        self.read_again = 0
        self.done_ms: dict[TopicPartition, float] = {}
        self.dropped: dict[TopicPartition, list[int]] = {}
        self.lost = self.out_of_order = self.skipped = 0

    def note(self, partition: TopicPartition, begin: int, end: int) -> None:
        """Records from `begin` up to `end` were handed to an application."""
        offsets = self.offsets
        highest = offsets.get(partition, begin)
        self.read += end - begin
        if begin < highest:
            self.read_again += (end if end < highest else highest) - begin
        if end > highest:
            offsets[partition] = end
        if self.elsewhere and partition in self.elsewhere:
            self.elsewhere[partition] = end
            if end >= highest:
                del self.elsewhere[partition]

    def work(self, partition: TopicPartition, begins_ms: float, done_ms: float) -> None:
        """The next record that was handed over is in work from then to then."""
        before_ms = self.done_ms.get(partition, begins_ms)
        self.out_of_order += begins_ms < before_ms
        self.done_ms[partition] = max(before_ms, done_ms)

    def drop(self, partition: TopicPartition, offset: int, now_ms: float) -> None:
        """A record will not be done by the process that had it."""
        self.dropped.setdefault(partition, []).append(offset)
        self.done_ms[partition] = now_ms

    def go_on(self, positions: Mapping[TopicPartition, int]) -> None:
        """Partitions are read on from there: what was dropped before is lost."""
        for partition in self.dropped.keys() & positions.keys():
            lost = [o for o in self.dropped.pop(partition) if o < positions[partition]]
            self.lost += len(lost)


class BrokenInvariant(Exception):
    """An invariant is broken: a bug in the coordinator, the client half or the simulation.

    Args:
        seed: of the run; the same scenario with it breaks again.
    """

    def __init__(self, what: str, *, seed: int, at_ms: int) -> None:
        super().__init__(f"{what} (seed {seed}, at {at_ms} ms)")
        self.what, self.seed, self.at_ms = what, seed, at_ms


class Stretch:
    """How long something was so, in all and at most at once; counted while it goes on.

    Attributes:
        total_ms: finished stretches, added up.
        longest_ms: the longest finished one.
    """

    def __init__(self) -> None:
        self.total_ms = self.longest_ms = 0
        self.since_ms: int | None = None

    def begin(self, now_ms: int) -> None:
        """It is so from now on, if it was not already."""
        if self.since_ms is None:
            self.since_ms = now_ms

    def until(self, now_ms: int) -> int:
        """How long it was in all, with what goes on."""
        return self.total_ms if self.since_ms is None else self.total_ms + now_ms - self.since_ms

    def end(self, now_ms: int) -> int:
        """It is so no more; how long it was, 0 if it was not."""
        if self.since_ms is None:
            return 0
        lasted = now_ms - self.since_ms
        self.since_ms = None
        self.total_ms += lasted
        self.longest_ms = max(self.longest_ms, lasted)
        return lasted


class Account:
    """One partition: who owns it now, who did last.

    Attributes:
        owners: names of the lives that own it now; more than one is split brain, or a member
            that has not heard yet that it was thrown out.
        last: name of the seat that owned it last; None before anybody did.
    """

    def __init__(self) -> None:
        self.owners: set[str] = set()
        self.last: str | None = None
        self.unowned = Stretch()
        self.doubled = Stretch()


class Owned(NamedTuple):
    """A partition was a seat's from one time to another."""

    partition: TopicPartition
    seat: str
    from_ms: int
    to_ms: int


class Ledger:
    """All partitions that a group reads.

    Attributes:
        accounts: by partition.
        committed: what the service stored last.
        highest: how far the group ever read.
        moved: partitions that went over to another seat.
        free: partitions that nobody owns now.
        shared: partitions that several own now.
        outside: offsets that applications have stored outside Kafka.
        rewound: partitions in which an application has sought: commits may go backwards there.
        unordered: whether several may commit the same partition, so that commits go backwards.
        retired: accounts of partitions that the group reads no more.
        owned: who owned what from when to when, for a picture; the first `MAX_OWNED` of a run.
    """

    def __init__(self, group: str, committed: Mapping[str, Mapping[int, int]]) -> None:
        self.group = group
        self.accounts: dict[TopicPartition, Account] = {}
        self.committed = {
            TopicPartition(topic, number): offset
            for topic, offsets in committed.items()
            for number, offset in offsets.items()
        }
        self.outside = dict(self.committed)
        self.rewound: set[TopicPartition] = set()
        self.unordered = False
        self.highest = Highest()
        self.moved = 0
        self.free: set[TopicPartition] = set()
        self.shared: set[TopicPartition] = set()
        self.first_owned_ms: int | None = None
        self.retired: list[Account] = []
        self.owned: list[Owned] = []
        # The only topics that it reads from some time on; None: whatever was expected.
        self._only: set[str] | None = None
        self._since: dict[tuple[TopicPartition, str], tuple[str, int]] = {}

    def expect(self, partitions: Iterable[TopicPartition], now_ms: int, *, count: bool) -> None:
        """The group is to read these from now on.

        Args:
            count: whether their time without an owner counts before the first one has them.
        """
        for partition in partitions:
            if self._only is not None:
                self._only.add(partition.topic)
            if partition not in self.accounts:
                account = self._open(partition)
                if count:
                    account.unowned.begin(now_ms)

    def _open(self, partition: TopicPartition) -> Account:
        account = self.accounts[partition] = Account()
        self.free.add(partition)
        return account

    def hold(
        self, partitions: Iterable[TopicPartition], seat: str, life: str, now_ms: int
    ) -> list[tuple[TopicPartition, frozenset[str]]]:
        """A life owns these too; gives back where it is not the only one, with the others."""
        shared: list[tuple[TopicPartition, frozenset[str]]] = []
        for partition in partitions:
            account = self.accounts.get(partition) or self._open(partition)
            if account.owners:
                if life in account.owners:
                    continue
                shared.append((partition, frozenset(account.owners)))
                account.doubled.begin(now_ms)
                self.shared.add(partition)
            joins = self.unordered and bool(account.owners)
            account.owners.add(life)
            self._since[partition, life] = (seat, now_ms)
            account.unowned.end(now_ms)
            self.free.discard(partition)
            if account.last is not None and account.last != seat and not joins:
                self.moved += 1
            account.last = seat
            if self.first_owned_ms is None:
                self.first_owned_ms = now_ms
        return shared

    def release(self, partitions: Iterable[TopicPartition], life: str, now_ms: int) -> None:
        """A life owns these no more."""
        for partition in partitions:
            account = self.accounts.get(partition)
            if account is None or life not in account.owners:
                continue
            account.owners.discard(life)
            self._draw(partition, life, now_ms)
            if len(account.owners) == 1:
                account.doubled.end(now_ms)
                self.shared.discard(partition)
            elif not account.owners:
                account.unowned.begin(now_ms)
                self.free.add(partition)
                if self._only is not None and partition.topic not in self._only:
                    self._retire(partition, now_ms)

    def store(self, offsets: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        """Commits were stored; gives back those that went backwards."""
        committed = self.committed
        backwards = [p for p, at in offsets.items() if p in committed and at < committed[p]]
        if self.unordered:
            backwards = []
        elif self.rewound:
            backwards = [partition for partition in backwards if partition not in self.rewound]
        committed.update(offsets)
        return backwards

    def seek(self, positions: Mapping[TopicPartition, int]) -> None:
        """An application reads on from here, which may be anywhere."""
        self.rewound.update(positions)
        self.highest.elsewhere.update(positions)

    def retire(self, topics: Iterable[str], now_ms: int) -> None:
        """The group reads only these topics from now on, and what is still owned of others."""
        only = self._only = set(topics)
        for partition in [partition for partition in self.free if partition.topic not in only]:
            self._retire(partition, now_ms)

    def _retire(self, partition: TopicPartition, now_ms: int) -> None:
        account = self.accounts.pop(partition)
        account.unowned.end(now_ms)
        self.free.discard(partition)
        self.retired.append(account)

    def totals(self, now_ms: int) -> tuple[int, int]:
        """Time without an owner, and with two, until now; added up over partitions."""
        accounts = (*self.accounts.values(), *self.retired)
        unowned_ms = sum(account.unowned.until(now_ms) for account in accounts)
        return unowned_ms, sum(account.doubled.until(now_ms) for account in accounts)

    def _draw(self, partition: TopicPartition, life: str, now_ms: int) -> None:
        began = self._since.pop((partition, life), None)
        if began is not None and len(self.owned) < MAX_OWNED:
            seat, since_ms = began
            self.owned.append(Owned(partition, seat, since_ms, now_ms))

    def finish(self, now_ms: int) -> None:
        """The run is over: stretches that go on end here, and nobody reads on."""
        self.highest.go_on({p: self.committed.get(p, 0) for p in self.highest.dropped})
        for partition, life in list(self._since):
            self._draw(partition, life, now_ms)
        for account in self.accounts.values():
            account.unowned.end(now_ms)
            account.doubled.end(now_ms)
