"""Dry runs: what the next rebalance of a group does, and what follows from a change."""

from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    DropHost,
    Expire,
    Pattern,
    RemoveMember,
    RemoveMembers,
    Restart,
    SetPartitions,
    Subscribe,
    SwitchClient,
)
from kgroups.core.planning.metrics import Metrics
from kgroups.core.planning.moves import (
    Move,
    RoundStep,
)
from kgroups.core.planning.plan import (
    Blocker,
    Plan,
    PlannedMember,
    plan_group,
)

__all__ = [
    "AddMembers",
    "AddTopic",
    "Blocker",
    "Change",
    "DropHost",
    "Expire",
    "Metrics",
    "Move",
    "Pattern",
    "Plan",
    "PlannedMember",
    "RemoveMember",
    "RemoveMembers",
    "Restart",
    "RoundStep",
    "SetPartitions",
    "Subscribe",
    "SwitchClient",
    "plan_group",
]
