"""Every way in which a strategy is computed, with the family of cases that it must satisfy."""

from kgroups.assignors.ranges import RangeAssignor
from kgroups.assignors.roundrobin import RoundRobinAssignor
from kgroups.assignors.server_ranges import ServerRangeAssignor
from kgroups.assignors.spec import Assignor
from kgroups.assignors.sticky import StickyAssignor
from kgroups.assignors.uniform import UniformAssignor

COOPERATIVE = "cooperative-sticky"

ENGINES: dict[str, tuple[str, Assignor]] = {
    "range with lists": ("range", RangeAssignor()),
    "range with arrays": ("range", RangeAssignor(vector_from=1)),
    "roundrobin with lists": ("roundrobin", RoundRobinAssignor()),
    "roundrobin with arrays": ("roundrobin", RoundRobinAssignor(vector_from=1)),
    "sticky": ("sticky", StickyAssignor()),
    "cooperative-sticky": (COOPERATIVE, StickyAssignor(COOPERATIVE, cooperative=True)),
    "sticky with arrays": ("sticky", StickyAssignor(vector_from=0)),
    "cooperative-sticky with arrays": (
        COOPERATIVE,
        StickyAssignor(COOPERATIVE, cooperative=True, vector_from=0),
    ),
    "sticky by statement": ("sticky", StickyAssignor(literal=True)),
    "cooperative-sticky by statement": (
        COOPERATIVE,
        StickyAssignor(COOPERATIVE, cooperative=True, literal=True),
    ),
    "server uniform": ("server-uniform", UniformAssignor()),
    "server range": ("server-range", ServerRangeAssignor()),
}
FAMILIES = tuple(dict.fromkeys(family for family, _ in ENGINES.values()))
SLOW = frozenset({"sticky by statement", "cooperative-sticky by statement"})
