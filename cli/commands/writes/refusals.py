"""Why a group's state forbids a write: which members are alive, and on which hosts."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol, TypeVar

from kgroups.core.errors import KgroupsError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.offsets.change import members_text
from kgroups.core.offsets.result import WriteItem

LOOKED_UP: Final = 200
CODES: Final = frozenset(
    {"NON_EMPTY_GROUP", "UNKNOWN_MEMBER_ID", "GROUP_SUBSCRIBED_TO_TOPIC", "REBALANCE_IN_PROGRESS"}
)


class _OfGroup(WriteItem, Protocol):
    @property
    def group(self) -> str:
        """The group that is written to."""


Item = TypeVar("Item", bound=_OfGroup)


def explain(admin: ClusterAdmin, items: Sequence[Item], groups: Container[str]) -> list[Item]:
    """The items, where a refusal by the broker names the members that are alive.

    Args:
        groups: whose members are looked up.
    """
    members = _members_of(
        admin,
        (
            item.group
            for item in items
            if item.error is not None and item.error.code in CODES and item.group in groups
        ),
    )
    explained = []
    for item in items:
        text, error = members.get(item.group), item.error
        if text and error is not None and error.code in CODES and text not in error.message:
            item = item._replace(error=replace(error, message=f"{error.message}: {text}"))
        explained.append(item)
    return explained


def _members_of(admin: ClusterAdmin, groups: Iterable[str]) -> dict[str, str]:
    """`2 members: app-1 on /10.0.0.5, …` of each group that has some now, of the first few."""
    names = list(dict.fromkeys(groups))[:LOOKED_UP]
    if not names:
        return {}
    try:
        looked = admin.snapshot(names, offsets=False, log_offsets=False)
    except KgroupsError:
        return {}
    return {group.group: members_text(group.members) for group in looked.groups if group.members}
