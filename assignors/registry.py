"""Strategies by name: what `--assignor NAME` means.

Client-side and server-side (KIP-848) strategies have registries of their own, because both have
a `range`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kgroups.assignors.ranges import RangeAssignor
from kgroups.assignors.roundrobin import RoundRobinAssignor
from kgroups.assignors.server_ranges import ServerRangeAssignor
from kgroups.assignors.spec import Assignor, AssignorError
from kgroups.assignors.sticky import StickyAssignor
from kgroups.assignors.uniform import UniformAssignor


def _by_name(*strategies: Assignor) -> Mapping[str, Assignor]:
    return MappingProxyType({strategy.name: strategy for strategy in strategies})


CLIENT_ASSIGNORS: Mapping[str, Assignor] = _by_name(
    RangeAssignor(),
    RoundRobinAssignor(),
    StickyAssignor(),
    StickyAssignor("cooperative-sticky", cooperative=True),
)
SERVER_ASSIGNORS: Mapping[str, Assignor] = _by_name(UniformAssignor(), ServerRangeAssignor())


def assignor(name: str) -> Assignor:
    """The client-side strategy of this name.

    Raises:
        AssignorError: there is none.
    """
    return _named(name, CLIENT_ASSIGNORS)


def server_assignor(name: str) -> Assignor:
    """The KIP-848 strategy of this name.

    Raises:
        AssignorError: there is none.
    """
    return _named(name, SERVER_ASSIGNORS)


def _named(name: str, known: Mapping[str, Assignor]) -> Assignor:
    found = known.get(name)
    if found is None:
        raise AssignorError(
            f"no assignor is called `{name}`", hint="known: " + ", ".join(sorted(known))
        )
    return found
