"""Who sent a request, and in which version."""

from typing import Any, NamedTuple

Body = dict[str, Any]
"""Fields by Kafka's name in snake case; times without their unit (`session_timeout`), in ms."""


class Sender(NamedTuple):
    """What a request tells besides its fields.

    Args:
        version: of the request's API.
        client_id: from the request header; empty if it has none.
        client_host: as Java prints an address: `/127.0.0.1`.
    """

    version: int
    client_id: str = ""
    client_host: str = ""


NO_OPERATIONS = -(2**31)
"""`authorizedOperations` where they were not asked for."""
