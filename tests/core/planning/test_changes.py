"""The texts of the what-if options become changes, or say what they should look like."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kgroups.core.errors import UsageError
from kgroups.core.planning.changes.apply import meant_in
from kgroups.core.planning.changes.kinds import (
    AddMembers,
    AddTopic,
    Change,
    Deploy,
    Pattern,
    RemoveMember,
    RemoveMembers,
    SetPartitions,
    Subscribe,
)
from kgroups.core.planning.changes.spelling import (
    parse_add_members,
    parse_add_topic,
    parse_pattern,
    parse_remove_member,
    parse_set_partitions,
    parse_subscribe,
)
from kgroups.core.snapshot import Group
from tests.support.planning.small_groups import group_of, member


@pytest.mark.parametrize(
    ("parse", "text", "change"),
    [
        (parse_add_members, "2", AddMembers(2)),
        (parse_add_members, "1:app", AddMembers(1, "app")),
        (parse_add_members, "3:app@rack-a", AddMembers(3, "app", "rack-a")),
        (parse_add_members, "3:@rack-a", AddMembers(3, None, "rack-a")),
        (parse_add_members, "1:a:b@c@rack", AddMembers(1, "a:b@c", "rack")),
        (parse_add_members, "2,client=sarama", AddMembers(2, library="sarama")),
        (
            parse_add_members,
            "2:app,client=librdkafka,rack=a,topics=orders+payments,static=app",
            AddMembers(2, "app", "a", "app", ("orders", "payments"), library="librdkafka"),
        ),
        (parse_add_members, "1:app@a,topics=o", AddMembers(1, "app", "a", topics=("o",))),
        (parse_add_members, "1:a,b@c", AddMembers(1, "a,b", "c")),
        (
            parse_add_members,
            "1:app,client=librdkafka,pattern=^a,b.*",
            AddMembers(1, "app", library="librdkafka", pattern=Pattern("^a,b.*", "librdkafka")),
        ),
        (parse_add_members, "1,pattern=re2:a", AddMembers(1, pattern=Pattern("a", "re2"))),
        (parse_remove_member, "app-1", RemoveMember("app-1")),
        (parse_remove_member, "2", RemoveMembers(2, "2")),
        (parse_set_partitions, "orders=12", SetPartitions("orders", 12)),
        (parse_add_topic, "a.b_c-d=1", AddTopic("a.b_c-d", 1)),
        (parse_subscribe, "a,b", Subscribe(("a", "b"))),
        (parse_subscribe, "+c", Subscribe(("c",), added=True)),
        (parse_subscribe, "app-1=a", Subscribe(("a",), member="app-1")),
        (parse_subscribe, "x=y=+a", Subscribe(("a",), added=True, member="x=y")),
        (lambda text: parse_pattern(text, "librdkafka"), "a.*", Pattern("a.*", "librdkafka")),
        (lambda text: parse_pattern(text, "java"), "re2:a.*", Pattern("a.*", "re2")),
    ],
)
def test_parse(parse: Callable[[str], Change], text: str, change: Change) -> None:
    """Each spelling means one change."""
    assert parse(text) == change


def test_a_number_can_be_a_member() -> None:
    """A number that is somebody's member id names that member, and else says how many leave."""
    read = [parse_remove_member("20250707")]
    assert meant_in(group_of(member("20250707", {})), read) == [RemoveMember("20250707")]
    assert meant_in(group_of(member("a", {}, instance_id="20250707")), read) == [
        RemoveMember("20250707")
    ]
    assert meant_in(group_of(member("a", {})), read) == read


def test_a_pattern_is_of_the_groups_dialect_unless_it_names_one() -> None:
    """The text is read once; what it leaves open each group decides."""
    texts = ["1,pattern=a", "1,client=java,pattern=a", "1,pattern=re2:a"]
    read: list[Change | Deploy] = [parse_pattern("a"), *map(parse_add_members, texts)]
    group = group_of(member("a", {}))

    def dialects(group: Group, leader: str | None = None) -> list[str]:
        patterns = [
            c.pattern if isinstance(c, AddMembers) else c for c in meant_in(group, read, leader)
        ]
        return [each.dialect for each in patterns if isinstance(each, Pattern)]

    assert dialects(group) == ["java", "java", "java", "re2"]
    assert dialects(group, "librdkafka") == ["librdkafka", "librdkafka", "java", "re2"]
    assert dialects(replace(group, type="consumer")) == ["re2", "re2", "java", "re2"]


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_add_members, ""),
        (parse_add_members, "0"),
        (parse_add_members, "-1"),
        (parse_add_members, "two"),
        (parse_add_members, "²"),
        (parse_add_members, "1:"),
        (parse_add_members, "1:app@"),
        (parse_add_members, "999999999"),
        (parse_add_members, "1,client=cobol"),
        (parse_add_members, "1,client=java,client=java"),
        (parse_add_members, "1,topics="),
        (parse_add_members, "1,topics=a++b"),
        (parse_add_members, "1,rak=a"),
        (parse_add_members, "client=java"),
        (parse_add_members, "1:app@a,rack=b"),
        (parse_remove_member, ""),
        (parse_remove_member, "0"),
        (parse_set_partitions, "orders"),
        (parse_set_partitions, "orders="),
        (parse_set_partitions, "=3"),
        (parse_set_partitions, "orders=-3"),
        (parse_set_partitions, "or ders=3"),
        (parse_add_topic, "orders=0"),
        (parse_subscribe, ""),
        (parse_subscribe, "a,,b"),
        (parse_subscribe, "=a"),
        (lambda text: parse_pattern(text, "java"), ""),
        (lambda text: parse_pattern(text, "java"), "re2:"),
    ],
)
def test_refuse(parse: Callable[[str], Change], text: str) -> None:
    """What cannot be understood is refused with the form that was expected."""
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.hint
