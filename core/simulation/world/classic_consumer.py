"""A member of a classic group: its library's defaults and ways in front of the client half."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from random import Random
from typing import Final

from kgroups.core.coordinator.classic.messages import NO_GENERATION
from kgroups.core.coordinator.client.classic.client import ClassicClient
from kgroups.core.coordinator.client.classic.states import STABLE, ClientState
from kgroups.core.coordinator.client.default_assignors import client_assignors
from kgroups.core.coordinator.client.effects import Subscribe
from kgroups.core.coordinator.client.ports import ClientAssignor, ClientPorts, Positions
from kgroups.core.coordinator.topology import Topology
from kgroups.core.simulation.clients.libraries import LIBRARIES, LibraryTraits
from kgroups.core.simulation.scenario.scenario_model import GroupPlan, MemberPlan
from kgroups.core.simulation.scenario.subscriptions import offered, pattern_matches
from kgroups.core.simulation.world.actors import Refresh
from kgroups.core.simulation.world.client_settings import client_config
from kgroups.core.simulation.world.group_consumer import GroupConsumer

LEAVING: Final = frozenset({ClientState.UNSUBSCRIBING, ClientState.LEAVING})
SILENT: Final = frozenset({*LEAVING, ClientState.CLOSED, ClientState.FAILED})
# AbstractCoordinator.MemberState; while it prepares to join, a member is what it was before.
JAVA_STATES: Final[Mapping[object, str]] = {
    ClientState.UNJOINED: "UNJOINED",
    ClientState.JOINING: "PREPARING_REBALANCE",
    ClientState.SYNCING: "COMPLETING_REBALANCE",
    ClientState.ASSIGNING: "STABLE",
    ClientState.CLOSED: "UNJOINED",
    ClientState.FAILED: "UNJOINED",
}
POLL_MATTERS: Final = frozenset({ClientState.UNJOINED, ClientState.STABLE})


@cache
def assignors_of(names: tuple[str, ...], library: str) -> tuple[ClientAssignor, ...]:
    """The assignors of these names, made once.

    Raises:
        AssignorError: there is none of such a name.
    """
    return client_assignors(names, library)


def stretched(traits: LibraryTraits, chance: Random, before: float | None) -> float:
    """By what a back-off is longer than its attempt has it; None before: it is the first."""
    if not traits.jitter_adds_up:
        before = 1.0
    elif before is None:
        return 1.0
    return before * chance.uniform(1 - traits.backoff_jitter, 1 + traits.backoff_jitter)


class ClassicConsumer(GroupConsumer):
    """A member of a classic group.

    Args:
        chance: of its back-offs.
    """

    _client: ClassicClient
    java_states = JAVA_STATES
    _cooperative: bool
    # A pattern is resolved anew before each JoinGroup, as ensureFreshMetadata does.
    _fresh: bool
    _asking: bool
    # Topics of a pattern that is resolved once.
    _found: tuple[str, ...] | None

    def __init__(
        self,
        group: GroupPlan,
        plan: MemberPlan,
        sender: str,
        positions: Positions,
        chance: Random | None = None,
    ) -> None:
        super().__init__(group, plan, sender, positions)
        self._stretch: Callable[[float | None], float] | None = None
        if chance is not None:
            self._stretch = partial(stretched, LIBRARIES[plan.library], chance)

    def _make(self, now_ms: int) -> ClassicClient:
        assignors = assignors_of(offered(self.group, self.plan), self.plan.library)
        self._fresh, self._asking, self._found = True, False, None
        self._cooperative = all(assignor.cooperative for assignor in assignors)
        ports = ClientPorts(assignors, self.positions, self._stretch)
        return ClassicClient(client_config(self.group, self.plan), ports, now_ms=now_ms)

    def _subscription(self, topology: Topology) -> Subscribe:
        """Topics by name, with those that the pattern stands for among the topics known."""
        if self._found is not None:
            return Subscribe(self._found, self.plan.pattern)
        names = dict.fromkeys(self.plan.topics)
        matches = pattern_matches(self.group, self.plan)
        if matches is not None:
            names.update(dict.fromkeys(name for name in sorted(topology.topics) if matches(name)))
        if matches is not None and LIBRARIES[self.plan.library].patterns == "once":
            self._found = tuple(names)
        return Subscribe(tuple(names), self.plan.pattern)

    def subscribe(
        self, now_ms: int, topics: tuple[str, ...], pattern: str | None, topology: Topology
    ) -> None:
        """As every member's; metadata of the new topics are fetched before it joins."""
        self._found, self._fresh = None, True
        super().subscribe(now_ms, topics, pattern, topology)

    def poll(self, now_ms: int) -> None:
        """As every member's; before it joins by a pattern most wait for fresh metadata."""
        refreshes = LIBRARIES[self.plan.library].refreshes_to_join
        if self.plan.pattern is None or not (refreshes and self._joins):
            super().poll(now_ms)
        elif self._fresh:
            self._fresh = False
            super().poll(now_ms)
        elif not self._asking:
            self._asking = True
            self.outputs.append(Refresh())

    def update_topics(self, now_ms: int, topology: Topology) -> None:
        self._fresh, self._asking = self._asking, False
        super().update_topics(now_ms, topology)

    def put_off_beat(self, until_ms: int) -> None:
        self._client.put_off_beat(until_ms)

    @property
    def _joins(self) -> bool:
        """Whether its next poll begins a rebalance."""
        client = self._client
        if client.state not in POLL_MATTERS or not client.subscribed:
            return False
        return client.rejoin_reason is not None or client.generation == NO_GENERATION

    @property
    def _is_leaving(self) -> bool:
        return self._client.state in LEAVING

    @property
    def _poll_is_due(self) -> bool:
        return self._joins and not self._asking

    @property
    def gives_records(self) -> bool:
        """Not while an eager member commits before it gives everything up, nor while it leaves."""
        state = self._client.state
        if self._listens:
            return False
        return state not in SILENT and (state is not ClientState.PREPARING or self._cooperative)

    @property
    def settled(self) -> bool:
        """Stable, with nothing on its mind."""
        client = self._client
        if client.state is not STABLE or client.rejoin_reason is not None:
            return self.idle
        if self._callbacks or self._lookup.wanted:
            return False
        return self.listener is None or self.listener.callback is None

    @property
    def idle(self) -> bool:
        """Unsubscribed, and everything given up."""
        client = self._client
        if client.subscribed or client.state is not ClientState.UNJOINED:
            return False
        return not (self._callbacks or self._listens)

    @property
    def closed(self) -> bool:
        """Left, or not to leave because static."""
        return self._client.state is ClientState.CLOSED
