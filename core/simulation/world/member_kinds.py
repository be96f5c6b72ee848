"""Which consumer sits in a process: by the protocol of its group, or one that is in none."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.client.ports import Positions
from kgroups.core.simulation.clients.libraries import LIBRARIES
from kgroups.core.simulation.scenario.member_settings import Protocol
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.world.actors import Consumer
from kgroups.core.simulation.world.classic_consumer import ClassicConsumer
from kgroups.core.simulation.world.kip848_consumer import Kip848Consumer
from kgroups.core.simulation.world.manual_consumer import ManualConsumer
from kgroups.core.simulation.world.zookeeper_consumer import ZookeeperMember

Maker = Callable[[GroupPlan, MemberPlan, str, Positions, Callable[[], UUID]], Consumer]


def _classic(
    group: GroupPlan,
    plan: MemberPlan,
    life: str,
    positions: Positions,
    new_id: Callable[[], UUID],
) -> Consumer:
    # Where nothing is drawn, no id is taken for it.
    chance = Random(new_id().int) if LIBRARIES[plan.library].backoff_jitter else None
    return ClassicConsumer(group, plan, life, positions, chance)


MAKERS: Final[Mapping[Protocol, Maker]] = {
    "eager": _classic,
    "cooperative": _classic,
    "consumer": Kip848Consumer,
    "zookeeper": ZookeeperMember,
}


def make_consumer(
    group: GroupPlan,
    plan: MemberPlan,
    life: str,
    positions: Positions,
    new_id: Callable[[], UUID],
) -> Consumer:
    """The consumer of a new process.

    Args:
        life: its name, unique in the run.
        positions: next offsets of the application.
        new_id: random ids, for members that make their own.
    """
    if plan.assign:
        return ManualConsumer(group, plan, life, positions)
    return MAKERS[group.protocol](group, plan, life, positions, new_id)
