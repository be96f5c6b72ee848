"""A group of real consumers that move from one protocol to the other, one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.broker_settings import broker_settings, broker_support
from kgroups.core.planning.changes.kinds import MoveToProtocol
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.migration.broker_rules import ASKED_FOR, BrokerRules, rules_from
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import ClusterSnapshot, Group, MemberProtocol
from tests.support.fidelity.driven_group import MemberSpec
from tests.support.fidelity.judging import Owned, as_set, clients_of, owned_by_client
from tests.support.fidelity.resting import Rest

PROTOCOLS: tuple[MemberProtocol, ...] = ("classic", "consumer")


@dataclass(frozen=True)
class MoveCase:
    """A group to move, there and back.

    Args:
        strategy: assignor of its members while they are classic.
        assignor: the server-side one that they ask for then.
    """

    name: str
    movers: tuple[MemberSpec, ...]
    topics: Mapping[str, int]
    strategy: str
    assignor: str


def join(rest: Rest, case: MoveCase, mover: MemberSpec, protocol: MemberProtocol) -> None:
    """A consumer joins by this protocol."""
    classic = case.strategy if protocol == "classic" else ""
    rest.driven.join([replace(mover, topics=tuple(case.topics), classic=classic)])


def rules_of(admin: ClusterAdmin, group: Group) -> BrokerRules:
    """What the group's coordinator allows."""
    assert group.coordinator is not None
    (answer,) = broker_settings(admin, [group.coordinator], ASKED_FOR).values()
    support = broker_support(admin, {group.coordinator: group.group})
    return rules_from(answer.values, answer.failure, **support[group.coordinator]._asdict())


def planned_move(
    admin: ClusterAdmin, snapshot: ClusterSnapshot, protocol: MemberProtocol, assignor: str
) -> Plan:
    """The plan of a move of the snapshot's only group."""
    (group,) = snapshot.groups
    rules = rules_of(admin, group)
    return plan_changes(snapshot, group, [MoveToProtocol(protocol)], assignor, rules=rules)


def told_shares(plan: Plan, stage: int, clients: Mapping[str, str]) -> Owned:
    """Client id to partitions after a step.

    Args:
        clients: member id when the plan was made to client id.
    """
    return {clients[member]: as_set(held) for member, held in plan.stages[stage].assignment.items()}


@dataclass(frozen=True)
class Seen:
    """One step of a real move.

    Args:
        said: what the plan of the whole move told of it, and how sure it was.
        fresh: the same of the plan made just before this member moved.
    """

    event: str
    said: tuple[str | None, Owned]
    fresh: tuple[str | None, Owned]
    came: Owned


def move(rest: Rest, case: MoveCase, protocol: MemberProtocol) -> tuple[Plan, list[Seen]]:
    """Move every member, and what was told and what came of each step."""
    admin = rest.admin
    asked = case.assignor if protocol == "consumer" else case.strategy
    snapshot = rest.settled()
    plan, clients = planned_move(admin, snapshot, protocol, asked), clients_of(snapshot.groups[0])
    seen: list[Seen] = []
    for mover in _in_order(case.movers):
        fresh, now = planned_move(admin, snapshot, protocol, asked), clients_of(snapshot.groups[0])
        rest.driven.leave([mover.name])
        number = 0
        if not mover.instance and len(clients_of(snapshot.groups[0])) > 1:
            snapshot = rest.settled()
            seen.append(_seen(plan, clients, fresh, now, number, len(seen), snapshot))
            number += 1
        elif not mover.instance:
            raise AssertionError("a group of one member has nothing to compare")
        join(rest, case, mover, protocol)
        snapshot = rest.settled()
        seen.append(_seen(plan, clients, fresh, now, number, len(seen), snapshot))
    return plan, seen


def _in_order(movers: Sequence[MemberSpec]) -> list[MemberSpec]:
    return sorted(movers, key=lambda mover: mover.instance or mover.name)


def _seen(
    plan: Plan,
    clients: Mapping[str, str],
    fresh: Plan,
    now: Mapping[str, str],
    number: int,
    step: int,
    snapshot: ClusterSnapshot,
) -> Seen:
    stage, next_stage = plan.stages[step], fresh.stages[number]
    return Seen(
        stage.event,
        (stage.confidence, told_shares(plan, step, clients)),
        (next_stage.confidence, told_shares(fresh, number, now)),
        owned_by_client(snapshot.groups[0]),
    )
