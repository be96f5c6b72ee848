"""Ids that are made for newcomers are those that Kafka 4.4 may draw."""

from itertools import pairwise
from uuid import UUID

import pytest

from kgroups.core.coordinator.releases import V4_4_0, draw_id
from kgroups.core.planning.outcomes.ids import assumed_id, drawn_id
from kgroups.core.planning.outcomes.newcomer_ids import HEADS, IdSpace, member_ids, topic_ids
from kgroups.core.uuids import uuid_from, uuid_text

STEPS = 500


def is_drawn(drawn: UUID) -> bool:
    """Whether Kafka 4.4 would not draw another one."""
    asked = iter([drawn, UUID(int=0)])
    return draw_id(asked.__next__, V4_4_0) == drawn


@pytest.mark.parametrize("space", [member_ids(None), topic_ids()], ids=lambda it: str(it.name))
def test_ids_of_a_space_are_drawn_by_the_rule_and_in_order(space: IdSpace) -> None:
    """From the first head to the last one."""
    made = [space.made(HEADS * n // STEPS, n % 16, 16, "seed") for n in range(STEPS)]
    assert all(is_drawn(uuid_from(text)) for text in made)
    keys = [space.order_key(text) for text in made]
    assert all(first < second for first, second in pairwise(keys))


def test_assumed_ids_are_drawn_by_the_rule() -> None:
    """Those of members and of topics; a classic member's id has hyphens as before."""
    drawn = [assumed_id(f"g{n}", None, n) for n in range(STEPS)]
    drawn += [uuid_text(drawn_id("topic", n)) for n in range(STEPS)]
    assert all(is_drawn(uuid_from(text)) for text in drawn)
    assert len(set(drawn)) == 2 * STEPS
    assert assumed_id("g", "app", 1).count("-") == 5
