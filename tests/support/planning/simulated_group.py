"""A classic group in the simulation: a client half and our coordinator, in virtual time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kgroups.core.coordinator.groups import GroupSnapshot
from kgroups.core.kafka.reads.member_subscriptions import classic_member
from kgroups.core.planning.moves import ownership
from kgroups.core.simulation.clients.libraries import Library
from kgroups.core.simulation.engine.network import START_MS
from kgroups.core.simulation.engine.run import Run
from kgroups.core.simulation.scenario.member_settings import MemberSettings, Protocol
from kgroups.core.simulation.scenario.scenario_events import Crash, ScaleIn, Scheduled
from kgroups.core.simulation.scenario.scenario_model import (
    GroupPlan,
    MemberPlan,
    Network,
    Scenario,
    TopicPlan,
)
from kgroups.core.simulation.scenario.spread import Spread
from kgroups.core.snapshot import ClusterSnapshot, Group, Member
from tests.support.planning.ends import End
from tests.support.planning.small_groups import topics_of

GROUP: Final = "g"
REST_MS: Final = 60_000
SESSION_MS: Final = 10_000
PROTOCOLS: Final[Mapping[str, Protocol]] = {"sticky": "eager", "cooperative-sticky": "cooperative"}


@dataclass(frozen=True)
class Life:
    """What happens to a group that is at rest; members by name, which is their client id too.

    Args:
        topics: name to partitions.
        members: who is there, and what each reads.
        joins: who joins: what it reads, and how many ms later.
        leaves, crashes: who goes, and how many ms later.
        loss: share of packets that are lost and sent again, so that members are late.
        session_ms: of each member.
        library: of all of them.
    """

    strategy: str
    topics: Mapping[str, int]
    members: Mapping[str, Sequence[str]]
    joins: Mapping[str, tuple[Sequence[str], int]] = field(default_factory=dict)
    leaves: Mapping[str, int] = field(default_factory=dict)
    crashes: Mapping[str, int] = field(default_factory=dict)
    loss: float = 0.0
    session_ms: int = SESSION_MS
    library: Library = "java"


def lived(life: Life, seed: int) -> tuple[ClusterSnapshot, End]:
    """The group before anything happens, and who has what when all is over, by client id."""
    settings = MemberSettings(session_timeout_ms=life.session_ms, assignors=(life.strategy,))

    def plan(name: str, topics: Sequence[str], start_ms: int) -> MemberPlan:
        return MemberPlan(
            name,
            topics=tuple(topics),
            client_id=name,
            start_ms=start_ms,
            settings=settings,
            library=life.library,
        )

    members = [plan(name, topics, 0) for name, topics in life.members.items()]
    members += [plan(name, read, REST_MS + ms) for name, (read, ms) in life.joins.items()]
    gone = [
        Scheduled(ScaleIn(GROUP, members=(name,)), at_ms=REST_MS + ms)
        for name, ms in life.leaves.items()
    ]
    gone += [Scheduled(Crash(GROUP, name), at_ms=REST_MS + ms) for name, ms in life.crashes.items()]
    scenario = Scenario(
        "lives",
        tuple(TopicPlan(name, count) for name, count in life.topics.items()),
        (GroupPlan(GROUP, PROTOCOLS[life.strategy], tuple(members)),),
        tuple(gone),
        network=Network(Spread(2.0), life.loss),
        until_ms=2 * REST_MS,
    )
    run = Run(scenario, seed)
    seen: list[Group] = []

    def look() -> None:
        found = run.world.brokers.snapshot_of(GROUP)
        assert found is not None
        seen.append(_group(found))

    run.world.agenda.at(START_MS + REST_MS - 1, look)
    run.world.agenda.at(START_MS + 2 * REST_MS - 1, look)
    run.carry_out()
    before, after = seen
    return ClusterSnapshot(0, (before,), topics_of(life.topics)), shares_of(after)


def shares_of(group: Group) -> End:
    """Who has what, by client id."""
    return ownership({member.client_id: member.assignment or {} for member in group.members or ()})


def _group(found: GroupSnapshot) -> Group:
    """The group as DescribeGroups shows it."""
    assert found.state == "Stable"
    members = []
    for one in found.members:
        protocols = one.facts["protocols"]
        assert isinstance(protocols, tuple)
        known = Member(one.member_id, one.client_id, one.client_host)
        members.append(classic_member(known, protocols[0].metadata, one.assignment))
    return Group(GROUP, "classic", found.state, "consumer", found.protocol, members=tuple(members))
