"""A group of real consumers that move from one protocol to the other, one after the other."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.broker_settings import broker_settings, broker_support
from kgroups.core.planning.changes.kinds import MoveToProtocol
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.migration.broker_rules import ASKED_FOR, BrokerRules, rules_from
from kgroups.core.planning.plan import Plan
from kgroups.core.snapshot import ClusterSnapshot, Group, MemberProtocol
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.judging import Owned, as_set, clients_of, owned_by_client
from tests.support.fidelity.libraries import Library
from tests.support.kafka.waiting import wait_until

SETTLE_S = 90.0
PROTOCOLS: tuple[MemberProtocol, ...] = ("classic", "consumer")


@dataclass(frozen=True)
class Mover:
    """A consumer that moves; `instance_id` empty for a dynamic one."""

    client_id: str
    library: Library
    instance_id: str = ""


@dataclass(frozen=True)
class MoveCase:
    """A group to move, there and back.

    Args:
        strategy: assignor of its members while they are classic.
        assignor: the server-side one that they ask for then.
    """

    name: str
    movers: tuple[Mover, ...]
    topics: Mapping[str, int]
    strategy: str
    assignor: str


class MovingGroup:
    """The members of one group; a context manager that closes them."""

    def __init__(self, bootstrap: str, case: MoveCase, pool: HostPool) -> None:
        self.case = case
        self._topics = dict(case.topics)
        self._driven = {
            protocol: DrivenGroup(
                pool, bootstrap, case.name, protocol, self._assignor(protocol), self._topics
            )
            for protocol in PROTOCOLS
        }
        self._exits = ExitStack()

    def __enter__(self) -> Self:
        for driven in self._driven.values():
            self._exits.enter_context(driven)
        return self

    def __exit__(self, *_: object) -> None:
        for driven in self._driven.values():  # before either gives up the programs that both use
            driven.leave(list(driven.members), orderly=False)
        self._exits.close()

    def join(self, mover: Mover, protocol: MemberProtocol) -> None:
        """A consumer joins by this protocol."""
        topics = tuple(self._topics)
        spec = MemberSpec(mover.client_id, mover.library, topics, instance=mover.instance_id)
        self._driven[protocol].join([spec])

    def leave(self, mover: Mover) -> None:
        """A consumer ends; a static one stays in the group."""
        for driven in self._driven.values():
            if mover.client_id in driven.members:
                driven.leave([mover.client_id])

    def settled(self, admin: ClusterAdmin) -> ClusterSnapshot:
        """The group once it is at rest: thrice the same, complete, and so its members believe."""
        wanted = {(name, p) for name, count in self._topics.items() for p in range(count)}
        seen: list[Owned] = []

        def at_rest() -> ClusterSnapshot | None:
            snapshot = admin.snapshot([self.case.name])
            owned = owned_by_client(snapshot.groups[0]) if snapshot.groups else {}
            held = [partition for each in owned.values() for partition in each]
            whole = len(held) == len(wanted) and set(held) == wanted
            if not whole or not _is_stable(snapshot.groups[0]) or owned != self._believed():
                seen.clear()
                return None
            seen.append(owned)
            return snapshot if len(seen) > 2 and seen[-1] == seen[-3] else None

        found = wait_until(
            at_rest, f"{self.case.name} is at rest", timeout_s=SETTLE_S, pause_s=0.25
        )
        assert found is not None
        return found

    def _believed(self) -> Owned:
        return {
            client_id: held
            for driven in self._driven.values()
            for client_id, held in driven.owned().items()
        }

    def _assignor(self, protocol: MemberProtocol) -> str:
        return self.case.strategy if protocol == "classic" else self.case.assignor


def _is_stable(group: Group) -> bool:
    if group.state != "Stable":
        return False
    if group.type == "classic":
        return True
    return all(
        member.member_epoch == group.group_epoch == group.target_epoch
        and member.assignment == member.target_assignment
        for member in group.members or ()
    )


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


def move(
    admin: ClusterAdmin, group: MovingGroup, protocol: MemberProtocol
) -> tuple[Plan, list[Seen]]:
    """Move every member, and what was told and what came of each step."""
    case = group.case
    asked = case.assignor if protocol == "consumer" else case.strategy
    snapshot = group.settled(admin)
    plan, clients = planned_move(admin, snapshot, protocol, asked), clients_of(snapshot.groups[0])
    seen: list[Seen] = []
    for mover in _in_order(case.movers):
        fresh, now = planned_move(admin, snapshot, protocol, asked), clients_of(snapshot.groups[0])
        group.leave(mover)
        number = 0
        if not mover.instance_id and len(clients_of(snapshot.groups[0])) > 1:
            snapshot = group.settled(admin)
            seen.append(_seen(plan, clients, fresh, now, number, len(seen), snapshot))
            number += 1
        elif not mover.instance_id:
            raise AssertionError("a group of one member has nothing to compare")
        group.join(mover, protocol)
        snapshot = group.settled(admin)
        seen.append(_seen(plan, clients, fresh, now, number, len(seen), snapshot))
    return plan, seen


def _in_order(movers: Sequence[Mover]) -> list[Mover]:
    return sorted(movers, key=lambda mover: mover.instance_id or mover.client_id)


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
