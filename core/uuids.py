"""Kafka's Uuid as text: 22 characters of URL-safe base64, the only form that ids have here.

Topic ids, cluster ids and the ids of KIP-848 members are written so. Brokers send topic ids as 16
bytes, which messages have as a `UUID`; assignors order topics by those bytes, so a text of another
form would silently give another order. Ids from outside are converted here.

Source: org.apache.kafka.common.Uuid (toString, fromString).
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from uuid import UUID


def uuid_text(value: UUID | bytes) -> str:
    """The id as Kafka writes it.

    Args:
        value: its 16 bytes, or what has them.
    """
    data = value if isinstance(value, bytes) else value.bytes
    return urlsafe_b64encode(data).decode().rstrip("=")


def uuid_from(text: str) -> UUID:
    """The id that a text spells.

    Raises:
        ValueError: it spells none.
    """
    return UUID(bytes=_bytes_of(text))


def parse_uuid(text: str) -> str:
    """The text, if it spells an id.

    Raises:
        ValueError: it spells none.
    """
    _bytes_of(text)
    return text


def _bytes_of(text: str) -> bytes:
    data = urlsafe_b64decode(f"{text}==")
    if uuid_text(data) != text or len(data) != 16:  # base64 leaves out what it does not know
        raise ValueError(f"`{text}` is not the id of a topic")
    return data
