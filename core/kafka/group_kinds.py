"""How groups of each type are described, read and written: a row a type."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.snapshot import GroupType


class GroupKind(NamedTuple):
    """The APIs of groups of one type.

    Args:
        describer: tells their state and members.
        fetcher: tells where they stand: what they committed, or their start offsets.
        committer: puts them elsewhere.
        deleter: forgets where they stand.
    """

    describer: Api
    fetcher: Api = Api.OFFSET_FETCH
    committer: Api = Api.OFFSET_COMMIT
    deleter: Api = Api.OFFSET_DELETE


KINDS: Final[Mapping[GroupType, GroupKind]] = {
    "classic": GroupKind(Api.DESCRIBE_GROUPS),
    "consumer": GroupKind(Api.CONSUMER_GROUP_DESCRIBE),
    "share": GroupKind(
        Api.SHARE_GROUP_DESCRIBE,
        Api.DESCRIBE_SHARE_GROUP_OFFSETS,
        Api.ALTER_SHARE_GROUP_OFFSETS,
        Api.DELETE_SHARE_GROUP_OFFSETS,
    ),
    "streams": GroupKind(Api.STREAMS_GROUP_DESCRIBE),
}


def kind_of(types: Mapping[str, GroupType], group: str) -> GroupKind:
    """The kind of a group; one of unknown type commits offsets."""
    return KINDS[types.get(group, "classic")]
