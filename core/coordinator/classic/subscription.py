"""The topic names in a member's subscription bytes, read as forgivingly as Kafka reads them.

The one lenient reader, for a coordinator that needs the names only; the exact codec of all fields
is `kgroups.assignors.wire`.

The bytes are taken for version 0 whatever version they name: an int16, an array of strings, user
data. What newer versions put behind (owned partitions, generation, rack) does not matter for
which topics count. Source: `ConsumerProtocol.deserializeConsumerProtocolSubscription`.
"""

from struct import error as StructError
from struct import unpack_from


class SubscriptionError(ValueError):
    """The bytes are no subscription."""


def read_topics(raw: bytes) -> tuple[str, ...]:
    """Topics subscribed to, in the member's order; what is not UTF-8 in a name is replaced.

    Raises:
        SubscriptionError: the bytes end too early, or something that must be there is null.
    """
    topics: list[str] = []
    try:
        _, count = unpack_from(">hi", raw)
        at = 6
        if not 0 <= count <= len(raw):
            raise SubscriptionError(f"{count} topics are announced")
        for _ in range(count):
            (size,) = unpack_from(">h", raw, at)
            at += 2 + size
            if size < 0 or at > len(raw):
                raise SubscriptionError(f"a name of {size} bytes is announced")
            topics.append(raw[at - size : at].decode(errors="replace"))
        (size,) = unpack_from(">i", raw, at)
    except StructError as broken:
        raise SubscriptionError("the bytes end too early") from broken
    if at + 4 + size > len(raw):
        raise SubscriptionError(f"{size} bytes of user data are announced")
    return tuple(topics)
