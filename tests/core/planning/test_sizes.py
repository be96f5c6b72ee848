"""Whether sizes of shares are certain where members of a sticky group read different topics.

The truth are the strategies of all libraries: wherever sizes are called certain, each of them stops
at these, whatever it begins with.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from kgroups.assignors.other_clients.variants import VARIANTS
from kgroups.assignors.registry import assignor
from kgroups.assignors.rejoin import STICKY
from kgroups.core.planning.assignor_request import Assumed, build_request, first_round
from kgroups.core.planning.changes.apply import next_roster
from kgroups.core.planning.changes.kinds import AddMembers
from kgroups.core.planning.confidence import sizes_are_certain
from kgroups.core.planning.plan import plan_group
from kgroups.core.planning.roster import Roster
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUPS: Final = 40
LIBRARIES: Final = ("java", *(name for name, known in VARIANTS.items() if STICKY in known))


def roster_of(reads: Mapping[str, Sequence[str]], counts: Mapping[str, int]) -> Roster:
    """A group whose first member has everything that it reads, the others the rest."""
    left = {(topic, number) for topic, count in counts.items() for number in range(count)}
    members = []
    for name, topics in reads.items():
        held = {t: sorted(n for topic, n in left if topic == t) for t in topics}
        left = {(topic, number) for topic, number in left if topic not in topics}
        members.append(member(name, held, topics=topics))
    group = group_of(*members, assignor=STICKY)
    return next_roster(cluster_of(group, counts), group, [])


def sizes_of(roster: Roster, library: str) -> list[int]:
    """The sizes of the shares that this library's leader gives the members."""
    held = first_round(roster, "eager", library)
    request = build_request(roster, held, STICKY, Assumed(library))
    given = assignor(STICKY, library).assign(request)
    return sorted(sum(map(len, topics.values())) for _, topics in given.items())


def test_every_library_stops_where_sizes_are_certain() -> None:
    """Random groups; in about half of them they are."""
    dice = random.Random(16)
    certain = 0
    for _ in range(GROUPS):
        counts = {name: dice.randint(1, 6) for name in "tuv"}
        reads = {
            f"m{n}": sorted(dice.sample("tuv", dice.randint(1, 3)))
            for n in range(dice.randint(2, 5))
        }
        roster = roster_of(reads, counts)
        if not sizes_are_certain(roster):
            continue
        certain += 1
        found = {tuple(sizes_of(roster, library)) for library in LIBRARIES}
        assert len(found) == 1, (reads, counts, found)
    assert GROUPS // 4 < certain < GROUPS


@pytest.mark.parametrize(
    ("reads", "counts", "certain"),
    [
        ({"a": "t", "b": "t"}, {"t": 7}, True),
        ({"a": "t", "b": "tu"}, {"t": 4, "u": 2}, True),
        # One of two with `u` may have 3 and the other 2, so that what `a` lacks stays where it is.
        ({"a": "t", "b": "tu", "c": "tu"}, {"t": 2, "u": 4}, False),
    ],
)
def test_sizes_are_certain(reads: dict[str, str], counts: dict[str, int], certain: bool) -> None:
    """Only where no other sizes stop a strategy."""
    assert sizes_are_certain(roster_of(dict(reads), counts)) is certain


def test_what_is_dealt_at_random_has_certain_sizes() -> None:
    """Seen on a broker: three members of sarama join, and nobody had two of the four topics.

    There are thousands of ways, none of which is likely.
    """
    old = {"y1": {"a": [0], "e": [0, 1]}, "a3": {"a": [1], "e": [2, 3]}}
    members = [member(f"{name}-1", held, version=1) for name, held in old.items()]
    group = group_of(*members, assignor=STICKY)
    joins = [
        AddMembers(client_id=name, topics=("a", "b", "d", "e"), library="sarama")
        for name in ("z4", "x5", "x6")
    ]
    snapshot = cluster_of(group, {"a": 2, "b": 4, "d": 7, "e": 4})
    plan = plan_group(snapshot, group, joins, leader="sarama")
    assert plan.confidence == "counts"
    sizes = [sum(map(len, one.assignment.values())) for one in plan.members]
    assert sorted(sizes) == [3, 3, 3, 4, 4]
