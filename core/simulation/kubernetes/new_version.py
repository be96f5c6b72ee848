"""A group and its members in the version that a deploy brings."""

from dataclasses import replace
from typing import Any

from kgroups.core.simulation.kubernetes.deploy_event import Change
from kgroups.core.simulation.scenario.member_settings import LIBRARY_DEFAULTS
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan


def changed_group(group: GroupPlan, change: Change) -> GroupPlan:
    """The group as the new members see it."""
    return group if change.protocol is None else replace(group, protocol=change.protocol)


def changed_member(group: GroupPlan, plan: MemberPlan, change: Change) -> MemberPlan:
    """A member of the new version in the place of one of the old version."""
    settings = plan.settings
    if change.library is not None and change.library != plan.library:
        before, after = LIBRARY_DEFAULTS[plan.library], LIBRARY_DEFAULTS[change.library]
        settings = settings.on_other_defaults(before, after)
    if change.protocol not in (None, group.protocol):
        settings = replace(settings, assignors=())
    new: dict[str, Any] = {
        name: value
        for name in ("library", "client_id", "rack", "record", "poll")
        if (value := getattr(change, name)) is not None
    }
    if change.topics or change.pattern is not None:
        new |= {"topics": change.topics, "pattern": change.pattern, "assign": ()}
    if change.static is not None:
        new["instance_id"] = plan.name if change.static else None
    return replace(plan, settings=replace(settings, **dict(change.settings)), **new)
