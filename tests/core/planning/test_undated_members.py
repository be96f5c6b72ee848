"""Members whose subscriptions have no generation: what a franz-go leader makes of them."""

import pytest

from kgroups.core.planning.changes.kinds import RemoveMember
from kgroups.core.planning.moves import ownership
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import Group
from tests.support.planning.ends import ends
from tests.support.planning.small_groups import Held, cluster_of, group_of, member

FRESH_GO, FRESH_SARAMA = b"\0\0\0\0", b"\xff\xff\xff\xff"
LEADER = "k-z6-0193da46-fef7-4d4c-bc51-d5fed7d7bb21"

# As a broker showed them: sarama's members are told of brokers of 2.8, but for the one that leaves.
SEEN: tuple[tuple[str, str, int, Held], ...] = (
    ("x3-02e4b674-a664-42c9-b38d-8b0db5dac3cb", "deg", 3, {"d": [5], "e": [2], "g": [2]}),
    ("a5-e33fa597-9e20-47db-b9ae-33762d49b115", "deg", 1, {"d": [2], "e": [1], "g": [1]}),
    ("c2-19071837-cfb6-4e92-a935-d07e7ec0f8a0", "deg", 3, {"d": [3], "e": [4], "g": [3]}),
    ("y4-15941bb7-7367-4c8f-ba87-1516bc299407", "deg", 2, {"d": [4], "e": [5, 6]}),
    (LEADER, "eg", 3, {"e": [0], "g": [0]}),
    ("y1-8b2e80b9-7edf-43be-ae6f-43c5e84a2766", "de", 1, {"d": [0, 1], "e": [3]}),
)
CAME: dict[str, Held] = {
    "x3": {"d": [5], "e": [2], "g": [2]},
    "a5": {"d": [0, 4], "e": [1, 6]},
    "c2": {"d": [3], "e": [4], "g": [3]},
    "k-z6": {"e": [0], "g": [0, 1]},
    "y1": {"d": [1, 2], "e": [3, 5]},
}


def seen(*, dated: bool) -> Group:
    """The group; `dated`: as if all of sarama's members said a generation."""
    members = []
    for name, topics, version, held in SEEN:
        told = max(version, 2) if dated else version
        sent = FRESH_GO if version == 3 else FRESH_SARAMA
        shown = member(
            name,
            held,
            topics=tuple(topics),
            instance_id="k-z6" if name == LEADER else None,
            client_id=name.partition("-")[0],
            version=told,
            user_data=sent,
            generation=-1 if told > 1 else None,
        )
        members.append(shown)
    return group_of(*members, assignor="cooperative-sticky", leader=LEADER, wrote=(0, None))


@pytest.mark.parametrize("dated", [False, True])
def test_it_does_not_see_what_they_have(dated: bool) -> None:
    """Seen on a broker, twice: what they had was dealt anew. Otherwise they would keep it."""
    group = seen(dated=dated)
    plan = plan_group(
        cluster_of(group, {"d": 6, "e": 7, "g": 4}), group, [RemoveMember("y4")], leader="franz-go"
    )
    ids = {each.member_id.rsplit("-", 5)[0]: each.member_id for each in group.members or ()}
    came = ownership({ids[name]: held for name, held in CAME.items()})
    assert (came in ends(plan)) is not dated
