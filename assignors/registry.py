"""Strategies by name: what `--assignor NAME` means.

Client-side and server-side (KIP-848) strategies have registries of their own, because both have
a `range`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kgroups.assignors.ranges import RangeAssignor
from kgroups.assignors.roundrobin import RoundRobinAssignor
from kgroups.assignors.spec import Assignor, AssignorError

CLIENT_ASSIGNORS: Mapping[str, Assignor] = MappingProxyType(
    {strategy.name: strategy for strategy in (RangeAssignor(), RoundRobinAssignor())}
)


def assignor(name: str) -> Assignor:
    """The client-side strategy of this name.

    Raises:
        AssignorError: there is none.
    """
    found = CLIENT_ASSIGNORS.get(name)
    if found is None:
        raise AssignorError(
            f"no assignor is called `{name}`", hint="known: " + ", ".join(sorted(CLIENT_ASSIGNORS))
        )
    return found
