"""What changed about topics and subscriptions, as clauses that name them."""

from collections.abc import Iterable, Mapping
from typing import Final

from kgroups.core.coordinator.topology import TopicInfo

SUBSCRIBED: Final = ("subscribed to", "unsubscribed from")
MATCHED: Final = ("the pattern matches", "the pattern no longer matches")
# A reason is a line: the others are counted.
MAX_NAMED: Final = 3


def named(names: Iterable[str]) -> str:
    """`a, b, c and 2 more`."""
    found = sorted(names)
    more = f" and {len(found) - MAX_NAMED} more" if len(found) > MAX_NAMED else ""
    return ", ".join(found[:MAX_NAMED]) + more


def topics_read(
    before: Iterable[str], after: Iterable[str], verbs: tuple[str, str] = SUBSCRIBED
) -> str:
    """`subscribed to bills, unsubscribed from orders`; empty if they are the same."""
    old, new = set(before), set(after)
    sides = zip(verbs, (new - old, old - new), strict=True)
    return ", ".join(f"{verb} {named(names)}" for verb, names in sides if names)


def partitions_changed(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """`orders has 9 partitions instead of 6`; topic -> partitions, 0 for one that is not there."""
    changed = sorted(name for name in before if before[name] != after[name])
    parts = [_partitions(name, before[name], after[name]) for name in changed[:MAX_NAMED]]
    more = f", and {len(changed) - MAX_NAMED} more changed" if len(changed) > MAX_NAMED else ""
    return ", ".join(parts) + more


def _partitions(name: str, before: int, after: int) -> str:
    if not after:
        return f"topic {name} is gone"
    if not before:
        return f"topic {name} was created"
    return f"{name} has {after} partitions instead of {before}"


def topics_changed(
    names: Iterable[str], before: Mapping[str, TopicInfo], after: Mapping[str, TopicInfo]
) -> str:
    """The same of these topics as two topologies have them."""
    counts = [
        {name: topics[name].partitions if name in topics else 0 for name in names}
        for topics in (before, after)
    ]
    return partitions_changed(*counts) or f"metadata of {named(names)} changed"
