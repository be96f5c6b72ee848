"""The classic examples of strategies of one's own: `random` and `broadcast`.

Source: ConsumerPartitionAssignor's Javadoc names both as what a user may want.
"""

from collections.abc import Iterator
from typing import ClassVar

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView
from kgroups.assignors.spec import AssignmentRequest, AssignorError

LONG = 0xFFFFFFFFFFFFFFFF


def split_mix(seed: int) -> Iterator[int]:
    """SplitMix64: the same 64-bit numbers for a seed everywhere and for ever.

    Source: Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014.
    """
    state = seed & LONG
    while True:
        state = (state + 0x9E3779B97F4A7C15) & LONG
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & LONG
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & LONG
        yield mixed ^ (mixed >> 31)


class RandomAssignor:
    """`random`: each partition to one of its subscribers, drawn with the option `seed`.

    Partitions are drawn for by topic and number, subscribers stand by member id.
    """

    name = "random"
    waives: ClassVar[frozenset[str]] = frozenset({"balanced", "sticky"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics.

        Raises:
            AssignorError: the option `seed` is not a whole number.
        """
        seed = request.options.get("seed", 0)
        if not isinstance(seed, int):
            raise AssignorError(
                f"the `seed` of `random` is {seed!r}", hint="expected a whole number"
            )
        view = LeaderView(request)
        lists: list[list[int]] = [[] for _ in view.members]
        by_id = sorted(range(len(lists)), key=view.ranks.__getitem__)
        numbers = split_mix(seed)
        readers = view.subscribers_in(by_id)
        for topic, base in enumerate(view.table.bases):
            for partition in range(view.table.counts[topic]):
                chosen = next(numbers) * len(readers[topic]) >> 64
                lists[readers[topic][chosen]].append(base + partition)
        return CompactAssignment.of_lists(view.member_ids, view.table, lists)


class BroadcastAssignor:
    """`broadcast`: every member gets every partition of its topics.

    Members of one group overwrite each other's commits then, because offsets belong to the group.
    """

    name = "broadcast"
    waives: ClassVar[frozenset[str]] = frozenset({"unique", "balanced"})

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, once for each subscriber."""
        view = LeaderView(request)
        lists: list[list[int]] = [[] for _ in view.members]
        for topic, readers in enumerate(view.subscribers):
            base, count = view.table.bases[topic], view.table.counts[topic]
            for member in readers:
                lists[member].extend(range(base, base + count))
        return CompactAssignment.of_lists(view.member_ids, view.table, lists)
