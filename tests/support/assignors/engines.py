"""Every way in which a strategy is computed, with the family of cases that it must satisfy."""

from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.java.roundrobin import RoundRobinAssignor
from kgroups.assignors.java.sticky import StickyAssignor
from kgroups.assignors.kip848.broker_ranges import ServerRangeAssignor
from kgroups.assignors.kip848.simple import SimpleAssignor
from kgroups.assignors.kip848.uniform import UniformAssignor
from kgroups.assignors.spec import Assignor

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
    "server simple": ("server-simple", SimpleAssignor()),
}
FAMILIES = tuple(dict.fromkeys(family for family, _ in ENGINES.values()))
SLOW = frozenset({"sticky by statement", "cooperative-sticky by statement"})
