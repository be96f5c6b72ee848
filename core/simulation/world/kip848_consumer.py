"""A member of a consumer group (KIP-848) in front of its client half."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from kgroups.core.coordinator.client.effects import Subscribe
from kgroups.core.coordinator.client.kip848.client import Kip848Client
from kgroups.core.coordinator.client.kip848.member import STABLE, MemberState
from kgroups.core.coordinator.client.ports import Positions
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.world.client_settings import client_config
from kgroups.core.simulation.world.group_consumer import GroupConsumer

LEAVING: Final = frozenset({MemberState.PREPARE_LEAVING, MemberState.LEAVING})
# MemberState of KIP-848; one that is closed has left.
JAVA_STATES: Final[Mapping[object, str]] = {
    state: state.name for state in MemberState if state is not MemberState.CLOSED
}


class Kip848Consumer(GroupConsumer):
    """A member of a consumer group.

    Args:
        new_id: a member makes its own id.
    """

    _client: Kip848Client
    java_states = JAVA_STATES

    def __init__(
        self,
        group: GroupPlan,
        plan: MemberPlan,
        sender: str,
        positions: Positions,
        new_id: Callable[[], UUID],
    ) -> None:
        super().__init__(group, plan, sender, positions)
        self._id = str(new_id())

    def _make(self, now_ms: int) -> Kip848Client:
        return Kip848Client(
            client_config(self.group, self.plan),
            self._id,
            now_ms=now_ms,
            assignor=self.plan.settings.remote_assignor,
            positions=self.positions,
        )

    def _subscription(self, topology: Topology) -> Subscribe:
        """Names, and a pattern that the coordinator resolves."""
        return Subscribe(self.plan.topics, self.plan.pattern)

    def _lookup_identity(self) -> tuple[str | None, int]:
        return self._client.member_id, self._client.epoch

    @property
    def _is_leaving(self) -> bool:
        return self._client.state in LEAVING

    @property
    def _poll_is_due(self) -> bool:
        return self._client.poll_is_due

    @property
    def gives_records(self) -> bool:
        """Not while it commits before it gives something up."""
        return not self._client.is_giving_up and not self._listens

    @property
    def settled(self) -> bool:
        stable = self._client.state is STABLE or self.idle
        return stable and not (self._callbacks or self._lookup.wanted or self._listens)

    @property
    def idle(self) -> bool:
        """Unsubscribed, and everything given up."""
        client = self._client
        return client.state is MemberState.UNSUBSCRIBED and not client.subscribed

    @property
    def closed(self) -> bool:
        return self._client.state is MemberState.CLOSED
