"""Subscription and assignment bytes of consumers, in base64 as Kafka's JSON has them."""

from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from struct import pack, unpack_from

Owned = Iterable[tuple[str, Sequence[int]]]


def _string(text: str) -> bytes:
    raw = text.encode()
    return pack(">h", len(raw)) + raw


def _partitions(owned: Owned) -> bytes:
    topics = list(owned)
    out = pack(">i", len(topics))
    for topic, partitions in topics:
        out += _string(topic) + pack(f">i{len(partitions)}i", len(partitions), *partitions)
    return out


def subscription(
    topics: Sequence[str],
    version: int = 1,
    owned: Owned = (),
    generation: int = -1,
    user_data: bytes | None = None,
) -> str:
    """A ConsumerProtocolSubscription of this version, without a rack."""
    out = pack(">hi", version, len(topics)) + b"".join(_string(topic) for topic in topics)
    out += pack(">i", -1) if user_data is None else pack(">i", len(user_data)) + user_data
    if version >= 1:
        out += _partitions(owned)
    if version >= 2:
        out += pack(">i", generation)
    if version >= 3:
        out += pack(">h", -1)
    return b64encode(out).decode()


def assignment(owned: Owned, version: int = 1) -> str:
    """A ConsumerProtocolAssignment without user data."""
    return b64encode(pack(">h", version) + _partitions(owned) + pack(">i", -1)).decode()


def read_assignment(text: str | None) -> list[tuple[str, list[int]]]:
    """Topics and partitions of an assignment; nothing where it is too short to be one."""
    raw = b64decode(text or "")
    if len(raw) < 6:
        return []
    (count,) = unpack_from(">i", raw, 2)
    at, out = 6, []
    for _ in range(count):
        (size,) = unpack_from(">h", raw, at)
        topic = raw[at + 2 : at + 2 + size].decode()
        at += 2 + size
        (number,) = unpack_from(">i", raw, at)
        out.append((topic, list(unpack_from(f">{number}i", raw, at + 4))))
        at += 4 + 4 * number
    return out
