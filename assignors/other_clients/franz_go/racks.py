"""franz-go's strategies where the application says `BalanceRacks`: partitions led near a member.

A partition is in the rack of its leader, whatever the racks of its other replicas.

Source: KIP-881; kgo/group_balancer.go (rangeBalancer.Balance, buildPartitionRacks) and
internal/sticky/sticky.go (initRacks) of franz-go 1.22.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgroups.assignors.compact import CompactAssignment
from kgroups.assignors.java.leader_view import LeaderView, OrderRule
from kgroups.assignors.other_clients.choices import Choices
from kgroups.assignors.other_clients.go_maps import ONE_GROUP, any_order, rotations
from kgroups.assignors.spec import AssignmentRequest, MemberSubscription, TopicPartitions

NO_RACK = 0


class FranzGoRackRange:
    """`range` of a franz-go leader that balances racks.

    Of each topic, members take what is led in their rack first, and then what is left, in order.
    """

    name = "range"
    waives = frozenset({"balanced", "sticky"})

    def __init__(self, member_order: OrderRule) -> None:
        self._order = member_order

    def assign(self, request: AssignmentRequest) -> CompactAssignment:
        """Every partition of the subscribed topics, by topic and number."""
        view = LeaderView(request, self._order)
        table = view.table
        lists: list[list[int]] = [[] for _ in view.members]
        for topic, readers in enumerate(view.subscribers):
            racks = leader_racks(request.topics[table.names[topic]])
            for reader, numbers in _deal(readers, [view.racks[r] for r in readers], racks):
                lists[reader] += [table.bases[topic] + number for number in sorted(numbers)]
        return CompactAssignment.of_lists(view.member_ids, table, lists)


def _deal(
    readers: Sequence[int], member_racks: Sequence[str | None], racks: Sequence[str | None]
) -> list[tuple[int, list[int]]]:
    """Each reader of one topic with its partitions."""
    quota, extra = divmod(len(racks), len(readers))
    left = list(range(len(racks)))
    dealt = []
    for place, (reader, rack) in enumerate(zip(readers, member_racks, strict=True)):
        near = [number for number in left if rack and racks[number] == rack]
        dealt.append((reader, near[: quota + (place < extra)]))
        left = [number for number in left if number not in dealt[-1][1]]
    for place, (_, numbers) in enumerate(dealt):
        room = quota + (place < extra) - len(numbers)
        numbers += left[:room]
        del left[:room]
    return dealt


@dataclass(frozen=True, slots=True)
class Racks:
    """Racks by number, from 1 on; `NO_RACK` where there is none.

    Args:
        count: how many there are.
    """

    count: int = 0
    members: Sequence[int] = ()
    partitions: Sequence[int] = ()


def leader_racks(topic: TopicPartitions) -> list[str | None]:
    """The rack of each partition's leader; None where that is not known."""
    given = list(topic.leader_racks[: topic.partitions])
    return [rack or None for rack in given] + [None] * (topic.partitions - len(given))


def number_racks(
    members: Sequence[MemberSubscription],
    topics: Mapping[str, TopicPartitions],
    names: Sequence[str],
    choices: Choices,
) -> Racks | None:
    """The racks of a group in the order in which a sticky leader meets them; None if none count.

    Those of members come first, then the others as they are met in a map of topics.

    Args:
        topics: by name, in the order of their partitions' numbers.
        names: their names in the order of the leader's map.
        choices: decides from where the map is walked.
    """
    ranked = dict.fromkeys(member.rack for member in members if member.rack)
    led = {name: leader_racks(topic) for name, topic in topics.items()}
    named = [rack for racks in led.values() for rack in racks if rack]
    if not ranked or not named:
        return None
    walks = rotations(names) if len(names) <= ONE_GROUP else [tuple(any_order(names, choices))]
    orders = dict.fromkeys(
        tuple(dict.fromkeys(r for name in walk for r in led[name] if r and r not in ranked))
        for walk in walks
    )
    number = {rack: at for at, rack in enumerate((*ranked, *choices.pick(list(orders))), 1)}
    return Racks(
        len(number),
        [number.get(member.rack or "", NO_RACK) for member in members],
        [number.get(rack or "", NO_RACK) for racks in led.values() for rack in racks],
    )
