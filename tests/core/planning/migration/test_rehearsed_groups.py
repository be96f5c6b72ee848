"""Rehearsals of groups as they are described, beside the coordinator that those groups live on.

That one knows who came first, which decides where members stand that share a slot of its tables.
KGROUPS_FUZZ_PLANS=1000 and KGROUPS_FUZZ_SEED for others.
"""

import os
import random
from collections.abc import Mapping
from uuid import UUID

import pytest

from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.planning.migration.rehearsal import Rehearsal, Terms
from kgroups.core.snapshot import Group
from kgroups.core.uuids import uuid_text
from tests.support.planning.coordinated_group import CoordinatedGroup

GROUPS = int(os.environ.get("KGROUPS_FUZZ_PLANS", "40"))
SEED = os.environ.get("KGROUPS_FUZZ_SEED", "")


def shares(group: Group) -> Mapping[str, Mapping[str, frozenset[int]]]:
    """Member to topic to partitions."""
    return {
        member.member_id: {
            topic: frozenset(numbers) for topic, numbers in (member.assignment or {}).items()
        }
        for member in group.members or ()
    }


@pytest.mark.share(2)
@pytest.mark.timeout(14_400 if GROUPS > 100 else 600)
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_members_that_leave(assignor: str) -> None:
    """Random groups that two members leave one after the other: everybody else gets the same."""
    dice = random.Random(f"leaving/{assignor}{SEED}")

    def drawn() -> UUID:
        return UUID(int=dice.getrandbits(128), version=4)

    for _ in range(GROUPS):
        topics = {f"t{number}": (drawn(), dice.randint(1, 7)) for number in range(2)}
        real = CoordinatedGroup(topics, assignor)
        for _ in range(dice.randint(3, 9)):
            real.join(uuid_text(drawn()), sorted(topics))
            group = real.settle()
        for _ in range(2):
            names = [member.member_id for member in group.members or ()]
            terms = Terms("range", dict.fromkeys(names, assignor))
            play = Rehearsal(real.snapshot(group).topics, group, terms, CoordinatorConfig())
            leaver = dice.choice(names)
            play.leave(leaver)
            real.leave(leaver)
            group = real.settle()
            assert shares(play.settle().group) == shares(group)
