"""What can be told of each request that goes to a broker: facts about it, never what is in it."""

from collections.abc import Callable
from typing import NamedTuple


class RequestTrace(NamedTuple):
    """One request and its answer.

    Args:
        broker: `host:port`.
        api: in Kafka's spelling: `ListGroups`.
        version: of the API.
        duration_ms: from the request to the answer, or to giving up.
        sent_bytes, received_bytes: with headers, without the four bytes of the length; librdkafka
            counts a few bytes more or less. None where nothing came, or it does not tell.
        failure: why there is no answer; None if there is one.
    """

    broker: str
    api: str
    version: int
    duration_ms: float
    sent_bytes: int | None
    received_bytes: int | None
    failure: str | None = None


Trace = Callable[[RequestTrace], None]
