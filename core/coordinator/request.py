"""Fields that every request carries.

Names are those of Kafka's message schemas in snake case; times are milliseconds. A request tells
the version it came in, because some answers depend on it; a response holds everything that any
version can show, and whoever puts it on the wire drops what the version does not have. The
requests are in `classic.messages`, `kip848.messages`, `offsets.messages` and `admin_messages`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Version and sender of a request; base of all.

    Args:
        version: of the request's API.
        client_id: from the request header.
        client_host: as Java prints an address: `/127.0.0.1`.
    """

    version: int
    client_id: str = ""
    client_host: str = ""
