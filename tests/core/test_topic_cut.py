"""A snapshot seen from a topic."""

from kgroups.core.topic_cut import cut_to_topics
from tests.support.cli.clusters import shop


def test_only_groups_that_read_it() -> None:
    """By commit, by assignment or by subscription; the rest of them is left out."""
    cut = cut_to_topics(shop(), {"audit"})
    assert [group.group for group in cut.groups] == ["audit réports, nightly", "shipping"]
    assert set(cut.topics) == {"audit"}
    shipping = cut.groups[1]
    assert shipping.offsets == {}
    assert shipping.members is not None
    assert [dict(member.assignment or {}) for member in shipping.members] == [{"audit": (0,)}]


def test_a_topic_of_nobody_and_one_that_is_gone() -> None:
    """No group; a topic that only a commit still names."""
    assert cut_to_topics(shop(), {"nothing"}).groups == ()
    cut = cut_to_topics(shop(), {"gone"})
    assert [group.group for group in cut.groups] == ["shipping"]
    assert set(cut.groups[0].offsets or ()) == {"gone"}
    assert cut.topics == {}
