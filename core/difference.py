"""Changes between two looks at the same groups, from their JSON items: pure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

Item = Mapping[str, Any]

GROUP_FIELDS: Final = ("type", "state", "assignor", "group_epoch", "coordinator")
PARTITION_FIELDS: Final = ("committed_offset", "lag", "lag_status", "member_id", "error")


class Difference(NamedTuple):
    """One fact that is another one now.

    Args:
        topic, partition: of a fact about a partition.
        member_id: of a fact about a member.
        what: the field; `group`, `member` where the whole came or went.
        before, now: None where it was not there, or is not any more.
    """

    group: str
    topic: str | None
    partition: int | None
    member_id: str | None
    what: str
    before: Any
    now: Any


Place = tuple[str, str | None, int | None, str | None]
Facts = dict[Place, dict[str, Any]]


def differences(before: Iterable[Item], now: Iterable[Item]) -> list[Difference]:
    """The changes, by group, then partition, then member.

    Args:
        before, now: items of `list` or `describe`, of the same view.
    """
    old, new = facts_of(before), facts_of(now)
    rows: list[Difference] = []
    for place in [*new, *(place for place in old if place not in new)]:
        was, is_ = old.get(place), new.get(place)
        whole = _whole(place)
        if whole is not None and (was is None or is_ is None):
            before_word = None if was is None else was[whole]
            now_word = None if is_ is None else is_[whole]
            rows.append(Difference(*place, whole, before_word, now_word))
            continue
        was, is_ = was or {}, is_ or {}
        rows += [
            Difference(*place, field, was.get(field), is_.get(field))
            for field in dict.fromkeys((*is_, *was))
            if field not in ("group", "member") and was.get(field) != is_.get(field)
        ]
    return sorted(rows, key=_order)


def facts_of(items: Iterable[Item]) -> Facts:
    """The facts that are watched, by what they are about."""
    facts: Facts = {}
    for item in items:
        group = item["group"]
        own = {field: item[field] for field in GROUP_FIELDS if field in item}
        if "coordinator" in own and own["coordinator"] is not None:
            own["coordinator"] = own["coordinator"]["id"]
        facts[group, None, None, None] = {"group": item.get("state") or "there", **own}
        for row in item.get("offsets") or ():
            place = (group, row["topic"], row["partition"], None)
            facts[place] = {field: row[field] for field in PARTITION_FIELDS}
        for member in item.get("members") or ():
            assignment = member["assignment"]
            facts[group, None, None, member["member_id"]] = {
                "member": member["host"],
                "assignment": assignment,
            }
    return facts


def _whole(place: Place) -> str | None:
    """The word for the whole thing at a place, where its coming and going is told as one."""
    if place[3] is not None:
        return "member"
    return "group" if place[1] is None else None


def _order(difference: Difference) -> tuple[str, str, int, str]:
    group, topic, partition, member, *_ = difference
    return group, topic or "", -1 if partition is None else partition, member or ""
