"""Member orders of other client libraries' leaders."""

import pytest

from kgroups.assignors.other_clients.variants import (
    by_member_id,
    kafka_python_order,
    librdkafka_order,
    static_first,
)
from kgroups.assignors.registry import assignor
from kgroups.assignors.spec import (
    AssignmentRequest,
    AssignorError,
    MemberSubscription,
    TopicPartitions,
)

MIXED = [
    MemberSubscription("b", ("t",)),
    MemberSubscription("z", ("t",), "1"),
    MemberSubscription("a", ("t",)),
    MemberSubscription("c", ("t",), "0"),
]
ORDERS = [
    (by_member_id, "a b c z"),
    (static_first, "c z a b"),
    (librdkafka_order, "a b c z"),
    (kafka_python_order, "c a"),
]


@pytest.mark.parametrize(("rule", "order"), ORDERS)
def test_member_order(rule: object, order: str) -> None:
    """Static members first, by id alone, or as far as the library remembers them."""
    assert callable(rule)
    assert " ".join(MIXED[index].member_id for index in rule(MIXED)) == order


def test_two_static_members_go_by_instance_in_librdkafka() -> None:
    """Instance ids decide between static members only."""
    members = [MIXED[1], MIXED[3]]
    assert [members[i].member_id for i in librdkafka_order(members)] == ["c", "z"]


def test_sarama_deals_in_text_order() -> None:
    """t-10 comes before t-2; members that do not read the topic are passed by."""
    members = [MemberSubscription("a", ("t", "u")), MemberSubscription("b", ("t",))]
    topics = {"t": TopicPartitions(11), "u": TopicPartitions(2)}
    result = assignor("roundrobin", "sarama").assign(AssignmentRequest(members, topics))
    assert result.partitions_of("a")[:3] == [("t", 0), ("t", 10), ("t", 3)]
    assert result.partitions_of("a")[-2:] == [("u", 0), ("u", 1)]


def test_kafka_python_fails_where_a_member_must_be_passed_by() -> None:
    """Its roundrobin serves equal subscriptions only."""
    strategy = assignor("roundrobin", "kafka-python")
    topics = {"t": TopicPartitions(2), "u": TopicPartitions(1)}
    alike = [MemberSubscription("a", ("t",)), MemberSubscription("b", ("t",))]
    assert strategy.assign(AssignmentRequest(alike, topics)).partitions_of("b") == [("t", 1)]
    mixed = [MemberSubscription("a", ("t",)), MemberSubscription("b", ("t", "u"))]
    with pytest.raises(AssignorError, match="KeyError"):
        strategy.assign(AssignmentRequest(mixed, topics))


def test_librdkafka_cooperative_moves_as_many_as_java() -> None:
    """Sizes and the number of moves agree; fresh groups agree to the list."""
    topics = {"t": TopicPartitions(9), "u": TopicPartitions(4)}
    fresh = [MemberSubscription(f"rdkafka-{n}", ("t", "u")) for n in range(3)]
    request = AssignmentRequest(fresh, topics)
    java = assignor("cooperative-sticky").assign(request)
    ours = assignor("cooperative-sticky", "librdkafka").assign(request)
    assert dict(ours.items()) == dict(java.items())
    owned = [
        MemberSubscription(m.member_id, m.topics, owned=list(held.items()), generation=1)
        for m, (_, held) in zip(
            sorted(fresh, key=lambda m: m.member_id), sorted(java.items()), strict=True
        )
    ]
    joined = AssignmentRequest([*owned, MemberSubscription("rdkafka-9", ("t", "u"))], topics)
    sizes = []
    for leader in ("java", "librdkafka"):
        result = assignor("cooperative-sticky", leader).assign(joined)
        sizes.append(sorted(len(result.partitions_of(m.member_id)) for m in joined.members))
    assert sizes == [[0, 3, 3, 4], [0, 3, 3, 4]]
