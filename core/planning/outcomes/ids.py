"""Member ids of members that do not exist yet.

A coordinator or client draws them at random, so a dry run assumes some: the same for the same
group every time. What an id begins with is known: a static member's is `<instance id>-<uuid>`, a
dynamic classic one's `<client id>-<uuid>`; KIP-848 clients draw a plain uuid, by the rule of the
newest release, which earlier ones take as well.

Source: GroupMetadataManager.generateMemberId; KIP-848 (member ids are made by the client).
"""

import hashlib
import uuid
from collections.abc import Sequence
from functools import lru_cache
from itertools import count, pairwise

from kgroups.assignors.order.java_order import hash_order, spread, string_hash, utf16_key
from kgroups.core.coordinator.releases import RELEASES, draw_id
from kgroups.core.snapshot import Group
from kgroups.core.uuids import uuid_text

LARGEST_TABLE = 1 << 20


def drawn_uuid(seed: str, *numbers: int) -> uuid.UUID:
    """A random-looking version 4 UUID that depends on nothing but the arguments."""
    text = "/".join((seed, *map(str, numbers)))
    return uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4)


def drawn_id(seed: str, *numbers: int) -> uuid.UUID:
    """The id of a topic or of a KIP-848 member, always the same for the same arguments."""
    draws = (drawn_uuid(seed, *numbers, *range(tries)) for tries in count())
    return draw_id(draws.__next__, RELEASES[-1])


def classic_id(prefix: str, drawn: uuid.UUID) -> str:
    """The id that a coordinator gives to a classic member with this client or instance id."""
    return f"{prefix}-{drawn}"


def bucket(member_id: str, capacity: int) -> int:
    """Where a Java HashMap of this capacity keeps the id."""
    return spread(string_hash(member_id)) & (capacity - 1)


def assumed_id(group: str, prefix: str | None, number: int) -> str:
    """An id that a member of this group may draw, always the same.

    Args:
        prefix: what classic ids begin with; None for a KIP-848 member.
    """
    if prefix is None:
        return uuid_text(drawn_id(group, 0, number))
    return classic_id(prefix, drawn_uuid(group, 0, number))


def table_capacity_of(member_ids: Sequence[str]) -> int | None:
    """Capacity of the HashMap that iterates in this order: the smallest that fits.

    A table grows with its members and never shrinks, so it may be larger than they need.
    None if no HashMap iterates so: the order is not a broker's.
    """
    return _table_capacity_of(tuple(member_ids))


@lru_cache(maxsize=64)  # the same group is asked for at every round of every outcome
def _table_capacity_of(member_ids: tuple[str, ...]) -> int | None:
    capacity = 16
    while len(member_ids) * 4 > capacity * 3:
        capacity *= 2
    hashes = [spread(string_hash(member_id)) for member_id in member_ids]
    while capacity <= LARGEST_TABLE:
        buckets = [code & (capacity - 1) for code in hashes]
        if all(a <= b for a, b in pairwise(buckets)):
            return capacity
        capacity *= 2
    return None


def listing(group: Group, staying: Sequence[str], joining: Sequence[str]) -> list[str]:
    """Members in the order in which a group's coordinator will list them.

    Args:
        group: as it is.
        staying: ids of its members that stay, in its order.
        joining: ids of members that join.
    """
    if group.type != "classic":
        return [*staying, *joining]
    return broker_order([member.member_id for member in group.members or ()], staying, joining)


def broker_order(
    present: Sequence[str], remaining: Sequence[str], joined: Sequence[str]
) -> list[str]:
    """Members in the order in which the coordinator will list them at the next rebalance.

    Args:
        present: the group before the change, in DescribeGroups order.
        remaining: those of them that stay.
        joined: ids of the members that join.
    """
    members = [*remaining, *joined]
    capacity = table_capacity_of(present)
    if capacity is None:
        return members
    hashes = [string_hash(member_id) for member_id in members]
    return hash_order(members, hashes, capacity=capacity, order=utf16_key)
