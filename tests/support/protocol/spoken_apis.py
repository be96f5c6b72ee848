"""The APIs that the adapter speaks, by name (`list_groups`)."""

from typing import NamedTuple

from kgroups.core.kafka.transport import messages
from kgroups.core.protocol.tables.api_keys import Api

NEWER_THAN_KIO = {(Api.API_VERSIONS, 5), (Api.DELETE_GROUPS, 3), (Api.STREAMS_GROUP_DESCRIBE, 1)}
"""Versions of ours that kio has not."""


class Known(NamedTuple):
    """An API that the adapter speaks: its key and versions."""

    key: int
    lowest: int
    highest: int


APIS = {
    api.name.lower(): Known(int(api), spoken.lowest, spoken.highest)
    for api, spoken in messages.APIS.items()
}


def api_of(name: str) -> Api:
    """The API of a name."""
    return Api[name.upper()]
