"""Kafka's Uuid as text: 22 characters of URL-safe base64, the only form that ids have here.

Topic ids, cluster ids and the ids of KIP-848 members are written so. Brokers send topic ids as 16
bytes, which kio reads as a `UUID`; assignors order topics by those bytes, so a text of another
form would silently give another order. Ids from outside are converted here.

Source: org.apache.kafka.common.Uuid (toString, fromString).
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final
from uuid import UUID

LENGTH: Final = 22


def uuid_text(value: "UUID | bytes") -> str:
    """The id as Kafka writes it.

    Args:
        value: its 16 bytes, or what has them.
    """
    data = value if isinstance(value, bytes) else value.bytes
    return urlsafe_b64encode(data).decode().rstrip("=")


def uuid_from(text: str) -> "UUID":
    """The id that a text spells, in Kafka's form or, as older snapshot files have it, a UUID's.

    Raises:
        ValueError: it is neither.
    """
    if len(text) != LENGTH:
        return UUID(text)
    found = UUID(bytes=urlsafe_b64decode(f"{text}=="))
    if uuid_text(found) != text:  # base64 leaves out what it does not know
        raise ValueError(f"`{text}` is not base64 for URLs")
    return found


def parse_uuid(text: str) -> str:
    """The id in Kafka's form.

    Raises:
        ValueError: the text is no id.
    """
    return uuid_text(uuid_from(text))
