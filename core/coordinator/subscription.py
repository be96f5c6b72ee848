"""The topic names in a member's subscription bytes.

Only what every version begins with is read: an int16 version and an array of strings. What comes
behind (user data, owned partitions, generation, rack) does not matter for which topics count.
Source: `ConsumerProtocol.deserializeConsumerProtocolSubscription`.
"""

from kgroups.core.coordinator.record_bytes import Reader, RecordError


class SubscriptionError(ValueError):
    """The bytes are no subscription."""


def read_topics(raw: bytes) -> tuple[str, ...]:
    """Topics subscribed to, in the member's order.

    Raises:
        SubscriptionError: the bytes end too early or have a negative version.
    """
    source = Reader(raw)
    try:
        if source.int16() < 0:
            raise SubscriptionError("the version is negative")
        return source.array(source.string)
    except RecordError as broken:
        raise SubscriptionError(str(broken)) from broken
