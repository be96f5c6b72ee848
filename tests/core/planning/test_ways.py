"""How many ways through a deploy are followed."""

from collections.abc import Sequence

import pytest

from kgroups.assignors.other_clients.choices import Choices
from kgroups.core.planning.deploys.deploy import Plans, find_ways
from kgroups.core.planning.deploys.walk import Walk
from kgroups.core.planning.plan import Stage
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.planning.small_groups import cluster_of, group_of, member

GROUP = group_of(member("a-1", {"t": [0]}))
CLUSTER: ClusterSnapshot = cluster_of(GROUP, {"t": 1})
STAGE = Stage("nothing happens", False, {}, (), None, "exact", None)


@pytest.mark.parametrize(
    ("steps", "ends", "ways", "complete"),
    [(2, 60, 60, True), (2, 300, 256, False), (10, 60, 51, False), (40, 60, 24, False)],
)
def test_longer_deploys_are_followed_fewer_times(
    steps: int, ends: int, ways: int, complete: bool
) -> None:
    """The last of the steps may end in so many ways."""

    def walked(taken: Sequence[int], _length: int, _plans: Plans) -> Walk:
        walk = Walk(CLUSTER, GROUP, choices=Choices(taken))
        walk.stages += [STAGE] * steps
        walk.choices.pick(range(ends))
        return walk

    found = find_ways(walked)
    assert (len(found.each), found.complete) == (ways, complete)
