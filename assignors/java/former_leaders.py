"""How a Java leader of a former release computes a strategy of today's name.

Compared with the classes of kafka-clients 1.0.2 to 4.2.0, release by release: `range` (but for
members that name a topic twice) and `roundrobin` of all of them; `sticky` and `cooperative-sticky`
from 3.8 on, before which they were other algorithms (KAFKA-16277 and older changes) that are not
known here.

Source: KIP-345 (static members first, 2.4), KIP-881 (racks, 3.5).
"""

from collections.abc import Mapping
from typing import Final

from kgroups.assignors.java.leader_view import OrderRule
from kgroups.assignors.java.ranges import RangeAssignor
from kgroups.assignors.java.roundrobin import RoundRobinAssignor
from kgroups.assignors.order.java_order import utf16_key
from kgroups.assignors.spec import Assignor, AssignorError

RELEASES: Final = tuple(
    f"{major}.{minor}"
    for major, last in ((1, 1), (2, 8), (3, 9), (4, 4))
    for minor in range(last + 1)
)
BY_MEMBER_ID: Final = OrderRule(
    lambda members: sorted(range(len(members)), key=lambda at: utf16_key(members[at].member_id))
)
STATIC_FIRST_SINCE: Final = RELEASES.index("2.4")
RACKS_SINCE: Final = RELEASES.index("3.5")
TODAY_SINCE: Final = RELEASES.index("3.8")

_STICKY: Final = ("sticky", "cooperative-sticky")
_WITHOUT_RACKS: Final[Mapping[str, Assignor]] = {"range": RangeAssignor(racks=False)}
_BY_MEMBER_ID: Final[Mapping[str, Assignor]] = {
    "range": RangeAssignor(member_order=BY_MEMBER_ID, racks=False),
    "roundrobin": RoundRobinAssignor(member_order=BY_MEMBER_ID),
}


def release_of(version: str) -> str:
    """The release that a version is of: 2.3 of `2.3.1`.

    Raises:
        AssignorError: there was none, or it is not known here.
    """
    release = ".".join(version.split(".")[:2])
    if release not in RELEASES:
        raise AssignorError(
            f"`{version}` is not a release of the Java client whose assignors are known",
            hint="known: 1.0 and 1.1, 2.0 to 2.8, 3.0 to 3.9, 4.0 to 4.4",
        )
    return release


def java_before(release: str, name: str) -> Assignor | None:
    """The strategy as leaders of this release computed it; None where today's is the same.

    Raises:
        AssignorError: it was another one, which is not known here.
    """
    place = RELEASES.index(release)
    if name in _STICKY and place < TODAY_SINCE:
        raise AssignorError(
            f"what `{name}` of Java {release} assigns is not known",
            hint="known: range and roundrobin of every release, and all assignors from 3.8 on",
        )
    if place < STATIC_FIRST_SINCE:
        return _BY_MEMBER_ID.get(name)
    return _WITHOUT_RACKS.get(name) if place < RACKS_SINCE else None
