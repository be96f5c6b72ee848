"""Ids that are drawn at random, and where in an order they can stand.

An id's first 48 random bits decide its place among ids that exist; between two of those there
nearly always is room. The bits behind them decide its bucket in a Java hash table. So an id can be
made for every place and every bucket, and how likely each is follows from the sizes.

Source: GroupMetadataManager.generateMemberId (`<client or instance id>-<uuid>`); Uuid.randomUuid
(KIP-848 members and topics).
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from typing import Any, Final
from uuid import UUID

from kgroups.assignors.kip848.target import uuid_halves, uuid_hash
from kgroups.assignors.order.java_order import spread, string_hash, utf16_key
from kgroups.core.uuids import uuid_text

HEAD_BITS: Final = 48
HEADS: Final = 1 << HEAD_BITS
_TAIL_BITS: Final = 80
_CHARS: Final = 8  # of base64 that hold the head

# Base 64 for URLs in the order of the characters, which is not that of their values.
_VALUES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_IN_ORDER: Final = "".join(sorted(_VALUES))
_VALUE_OF: Final = [_VALUES.index(char) for char in _IN_ORDER]


@dataclass(frozen=True, slots=True)
class IdSpace:
    """All ids of one kind, in order.

    Args:
        spell: a head, counted in the order of the ids, and other random bits -> the id.
        order_key: by what ids are ordered.
        code: an id -> the hash code that hash tables spread.
        name: equal for spaces of the same ids.
    """

    spell: Callable[[int, int], str]
    order_key: Callable[[str], Any]
    code: Callable[[str], int]
    name: str

    def gaps(self, known: Sequence[object]) -> list[tuple[int, int]]:
        """From which head to which, not with it, ids stand before the first of `known`, and so on.

        Args:
            known: order keys of ids that exist, ascending.
        Returns:
            One pair more than there are keys; the two are equal where there is no room.
        """
        edges = [0]
        for key in known:
            edges.append(
                bisect_left(
                    range(HEADS), True, edges[-1], key=lambda head: self._is_after(head, key)
                )
            )
        edges.append(HEADS)
        return list(pairwise(edges))

    def _is_after(self, head: int, key: object) -> bool:
        return bool(self.order_key(self.spell(head, 0)) > key)

    def made(self, head: int, bucket: int | None, capacity: int, seed: str) -> str:
        """An id with this head, in this bucket of a hash table (None: any); always the same."""
        for number in count():
            digest = hashlib.sha256(f"{seed}/{self.name}/{head}/{number}".encode()).digest()
            found = self.spell(head, int.from_bytes(digest[:10], "big"))
            if bucket is None or spread(self.code(found)) & (capacity - 1) == bucket:
                return found
        raise AssertionError("a count has no end")


def _uuid(head: int, rest: int) -> UUID:
    return UUID(int=head << _TAIL_BITS | rest, version=4)


def classic_ids(prefix: str) -> IdSpace:
    """Ids that a coordinator gives to classic members with this client or instance id."""
    return IdSpace(
        lambda head, rest: f"{prefix}-{_uuid(head, rest)}",
        utf16_key,
        string_hash,
        f"classic {prefix}",
    )


def kip848_ids() -> IdSpace:
    """Ids that KIP-848 members make for themselves."""
    return IdSpace(_kip848_id, utf16_key, string_hash, "consumer")


def _kip848_id(head: int, rest: int) -> str:
    value = 0
    for place in range(_CHARS - 1, -1, -1):
        value = value << 6 | _VALUE_OF[head >> 6 * place & 63]
    return uuid_text(_uuid(value, rest))


def topic_ids() -> IdSpace:
    """Ids of topics, which server-side strategies order as signed numbers."""
    return IdSpace(
        lambda head, rest: uuid_text(_uuid(head ^ 1 << HEAD_BITS - 1, rest)),
        uuid_halves,
        lambda text: uuid_hash(uuid_halves(text)),
        "topics",
    )
