"""Former Java leaders: who gets what as the classes of their releases gave it."""

import pytest

from kgroups.assignors.java.former_leaders import RELEASES, java_before, release_of
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)

RACKS = [["a"], ["b"], ["a"], ["b"]]
MEMBERS = [
    MemberSubscription("m1", ("t",), instance_id="z", rack="b"),
    MemberSubscription("m2", ("t",), instance_id="y", rack="a"),
]


@pytest.mark.parametrize(
    ("release", "ranges", "dealt"),
    [
        ("1.0", [0, 1], [0, 2]),
        ("2.3", [0, 1], [0, 2]),
        ("2.4", [2, 3], [1, 3]),
        ("3.4", [2, 3], [1, 3]),
        ("3.5", [1, 3], [1, 3]),
        ("4.4", [1, 3], [1, 3]),
    ],
)
def test_static_members_and_racks(release: str, ranges: list[int], dealt: list[int]) -> None:
    """Instance ids count from 2.4 on, racks from 3.5 on: what m1 gets by both assignors."""
    request = AssignmentRequest(MEMBERS, {"t": TopicPartitions(4, RACKS)})
    for name, expected in (("range", ranges), ("roundrobin", dealt)):
        answer = (java_before(release, name) or assignor(name)).assign(request)
        assert [number for _, number in answer.partitions_of("m1")] == expected, name


def test_sticky_assignors_of_former_releases_are_not_known() -> None:
    """Nothing is shown that such a leader may not do."""
    assert java_before("3.8", "sticky") is None
    for name in ("sticky", "cooperative-sticky"):
        with pytest.raises(AssignorError, match=r"Java 3.7 assigns is not known"):
            java_before("3.7", name)


def test_releases() -> None:
    """A version is of a release; what never was is refused."""
    assert (release_of("2.3.1"), release_of("4.4"), len(RELEASES)) == ("2.3", "4.4", 26)
    for version in ("2.9", "0.9.0.1", "5", "1.2.0"):
        with pytest.raises(AssignorError, match="not a release"):
            release_of(version)
