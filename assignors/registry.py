"""Strategies by name: what `--assignor NAME` means.

Client-side and server-side (KIP-848) strategies have registries of their own, because both have
a `range`.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from kgroups.assignors.by_lag.lags import LagAssignor, StickyLagAssignor
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.java.roundrobin import RoundRobinAssignor
from kgroups.assignors.java.sticky import StickyAssignor
from kgroups.assignors.kip848.broker_ranges import ServerRangeAssignor
from kgroups.assignors.kip848.uniform import UniformAssignor
from kgroups.assignors.other_clients.variants import VARIANTS
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.assignors.user.examples import BroadcastAssignor, RandomAssignor
from kgroups.assignors.user.user_defined import load_assignor, user_defined_names


def _by_name(*strategies: Assignor) -> Mapping[str, Assignor]:
    return MappingProxyType({strategy.name: strategy for strategy in strategies})


CLIENT_ASSIGNORS: Mapping[str, Assignor] = _by_name(
    RangeAssignor(),
    RoundRobinAssignor(),
    StickyAssignor(),
    StickyAssignor("cooperative-sticky", cooperative=True),
    LagAssignor(),
    StickyLagAssignor(),
    RandomAssignor(),
    BroadcastAssignor(),
)
SERVER_ASSIGNORS: Mapping[str, Assignor] = _by_name(UniformAssignor(), ServerRangeAssignor())


LEADERS = ("java", *VARIANTS)

_CLIENT_PACKAGE, _SERVER_PACKAGE = (
    "org.apache.kafka.clients.consumer.",
    "org.apache.kafka.coordinator.group.assignor.",
)
CLASSES: Mapping[str, str] = MappingProxyType(
    {
        f"{_CLIENT_PACKAGE}RangeAssignor": "range",
        f"{_CLIENT_PACKAGE}RoundRobinAssignor": "roundrobin",
        f"{_CLIENT_PACKAGE}StickyAssignor": "sticky",
        f"{_CLIENT_PACKAGE}CooperativeStickyAssignor": "cooperative-sticky",
        f"{_SERVER_PACKAGE}UniformAssignor": "uniform",
        f"{_SERVER_PACKAGE}RangeAssignor": "range",
    }
)
"""Names of Kafka's classes, as `partition.assignment.strategy` has them -> of their strategies."""


def assignor(name: str, leader: str = "java") -> Assignor:
    """The client-side strategy of this name: built in, or the user's own.

    Args:
        name: of the strategy; `package.module:Class` or an entry point of the group
            `kgroups.assignors` is loaded and guarded (`user_defined`).
        leader: client library of the group's leader, one of `LEADERS`; `variants.is_exact` tells
            whether that library's choice of partitions is known or only their number. Where no
            variant of our own is known, Java's stands in for it.

    Raises:
        AssignorError: there is no such strategy or library.
    """
    if leader not in LEADERS:
        raise AssignorError(
            f"unknown client library `{leader}`", hint="known: " + ", ".join(LEADERS)
        )
    variant = VARIANTS.get(leader, {}).get(name)
    if variant is not None:
        return variant
    if ":" in name or (name not in CLIENT_ASSIGNORS and name in user_defined_names()):
        return load_assignor(name)
    return _named(name, CLIENT_ASSIGNORS)


def server_assignor(name: str) -> Assignor:
    """The KIP-848 strategy of this name.

    Raises:
        AssignorError: there is none.
    """
    return _named(name, SERVER_ASSIGNORS)


def _named(name: str, assignors: Mapping[str, Assignor]) -> Assignor:
    chosen = assignors.get(CLASSES.get(name, name))
    if chosen is None:
        close = get_close_matches(
            name.rpartition(".")[2].removesuffix("Assignor").lower(), assignors, 1
        )
        guess = f"did you mean `{close[0]}`? " if close else ""
        raise AssignorError(
            f"unknown assignor `{name}`", hint=f"{guess}known: {', '.join(sorted(assignors))}"
        )
    return chosen
