"""In which orders a Go program can walk a map, and a franz-go leader its topics.

A map of up to eight entries is walked from a place of its own each time, around; a larger one in
an order that differs from map to map.

Source: runtime/map.go up to Go 1.23, internal/runtime/maps since; franz-go 1.22, kgo
group_balancer.go (balanceGroup).
"""

from collections.abc import Sequence

from kgroups.assignors.order.scala_order import scala_set_order
from kgroups.assignors.other_clients.choices import Choices

ONE_GROUP = 8


def rotations(entries: Sequence[str]) -> list[tuple[str, ...]]:
    """The orders in which a small map can be walked whose entries were added in this order."""
    listed = tuple(entries)
    return [listed[start:] + listed[:start] for start in range(len(listed))] or [()]


def topic_orders(
    topics: Sequence[str], leaders: Sequence[frozenset[str]]
) -> list[tuple[str, ...]] | None:
    """The orders in which a franz-go leader can number topics; None if it is any order.

    It counts the partitions of its own topics first, and then those of the others.

    Args:
        topics: in the order in which members name them, members in order.
        leaders: topics of each member that may lead.
    """
    if len(topics) > ONE_GROUP:
        return None
    orders: dict[tuple[str, ...], None] = {}
    for own in dict.fromkeys(frozenset(topics) & leader for leader in leaders):
        mine = rotations([topic for topic in topics if topic in own])
        rest = [topic for topic in topics if topic not in own]
        others = dict.fromkeys([*rotations(rest), tuple(scala_set_order(rest))])
        for first in mine:
            for second in others:
                orders.update(dict.fromkeys(rotations(first + second)))
    return list(orders)


def any_order(topics: Sequence[str], choices: Choices) -> list[str]:
    """The topics in an order of chance."""
    left = list(topics)
    order: list[str] = []
    while left:
        order.append(choices.pick(left))
        left.remove(order[-1])
    return order
