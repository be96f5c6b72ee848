"""Why a group's state forbids a write: which members are alive, and on which hosts."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from kgroups.core.errors import ItemError, KgroupsError
from kgroups.core.offsets.change import Change, members_text

if TYPE_CHECKING:
    from kgroups.core.kafka.admin import ClusterAdmin

LOOKED_UP: Final = 200
CODES: Final = frozenset(
    {"NON_EMPTY_GROUP", "UNKNOWN_MEMBER_ID", "GROUP_SUBSCRIBED_TO_TOPIC", "REBALANCE_IN_PROGRESS"}
)


def members_of(admin: "ClusterAdmin", groups: Iterable[str]) -> dict[str, str]:
    """`2 members: app-1 on /10.0.0.5, …` of each group that has some now, of the first few."""
    names = list(dict.fromkeys(groups))[:LOOKED_UP]
    if not names:
        return {}
    try:
        looked = admin.snapshot(names, offsets=False, log_offsets=False)
    except KgroupsError:
        return {}
    return {group.group: members_text(group.members) for group in looked.groups if group.members}


def explained(error: ItemError, group: str, members: dict[str, str]) -> ItemError:
    """The error with the group's members; the same where they are not known or not the reason."""
    text = members.get(group)
    if text is None or error.code not in CODES or text in error.message:
        return error
    return replace(error, message=f"{error.message}: {text}")


def explain_changes(admin: "ClusterAdmin", changes: Sequence[Change]) -> list[Change]:
    """The changes, where a refusal by the broker names the members that have come."""
    late = [change for change in changes if change.error is not None and change.error.code in CODES]
    if not late:
        return list(changes)
    members = members_of(admin, (change.group for change in late if change.topic is not None))
    return [
        change
        if change.error is None or change.topic is None
        else change._replace(error=explained(change.error, change.group, members))
        for change in changes
    ]
