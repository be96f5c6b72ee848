"""Which client library leads a group, told from what its members send and its leader wrote."""

from collections import Counter
from dataclasses import dataclass, replace

import pytest

from kgroups.core.planning.changes.kinds import AddMembers
from kgroups.core.planning.leaders.evidence import Evidence
from kgroups.core.planning.leaders.guess import infer_leader
from kgroups.core.planning.leaders.libraries import Trace, traces_of
from kgroups.core.planning.plan import plan_group
from kgroups.core.snapshot import Group, Member
from tests.support.planning.member_bytes import (
    COOPERATIVE,
    EMPTY_V1,
    KAFKAJS,
    NUMBER,
    PREFIXED,
    UNDATED,
    V1,
    ZERO,
)
from tests.support.planning.small_groups import cluster_of, group_of, member


@dataclass(frozen=True)
class Case:
    """What members send, and the libraries that the leader can be, the likeliest first.

    Args:
        wrote: version and user data of the assignment, which the leader wrote.
    """

    id: str
    protocol: str
    version: int | None
    rack: str | None
    user_data: bytes | None
    expected: tuple[str, ...]
    client_id: str = "app"
    wrote: tuple[int, bytes | None] | None = None


CASES = [
    Case("nothing known can be anybody", "range", None, None, None,
         ("java", "librdkafka", "franz-go", "sarama", "kafka-python", "aiokafka")),
    Case("an empty rack is librdkafka's", "range", 3, "", b"", ("librdkafka",)),
    Case("no rack is Java's or franz-go's", "range", 3, None, None, ("java", "franz-go")),
    Case("a client id that names a library", "range", 3, None, None, ("franz-go",), "kgo"),
    Case("kafka-python's, with its version", "range", 0, None, b"", ("kafka-python",),
         "kafka-python-3.0.12"),
    Case("aiokafka's", "roundrobin", 0, None, b"", ("aiokafka",), "aiokafka-0.14.0"),
    Case("an application that is called so", "range", 0, None, b"",
         ("java", "librdkafka", "kafka-python", "aiokafka"), "kafka-python-orders"),
    Case("a name that its bytes deny", "range", 3, "", b"", ("librdkafka",), "sarama"),
    Case("Java's is a hint: applications are called so", "range", 3, None, None,
         ("java", "franz-go"), "consumer-app-1"),
    Case("with a rack, no bytes are librdkafka's", "range", 3, "r1", b"", ("librdkafka",)),
    Case("and null is not", "range", 3, "r1", None, ("java", "franz-go")),
    Case("Java writes its own version", "range", 3, None, None, ("java",), wrote=(3, None)),
    Case("franz-go writes version 0", "range", 3, None, None, ("franz-go",), wrote=(0, None)),
    Case("a generation alone is Java's", COOPERATIVE, 3, None, NUMBER, ("java",)),
    Case("zeros are franz-go's", COOPERATIVE, 3, None, ZERO, ("franz-go",)),
    Case("sticky's layout is franz-go's", COOPERATIVE, 3, None, V1, ("franz-go",)),
    Case("and librdkafka's", COOPERATIVE, 3, "", V1, ("librdkafka",)),
    Case("librdkafka's first join has no bytes", COOPERATIVE, 3, "", b"", ("librdkafka",)),
    Case("with a rack too", COOPERATIVE, 3, "r1", b"", ("librdkafka",)),
    Case("kafka-python's never has", COOPERATIVE, 1, None, b"", ("librdkafka", "kafka-python")),
    Case("but writes version 1", COOPERATIVE, 1, None, b"", ("kafka-python",), wrote=(1, b"")),
    Case("previous partitions are not franz-go's", "sticky", 3, None, V1, ("java",)),
    Case("none may be", "sticky", 3, None, EMPTY_V1, ("java", "franz-go")),
    Case("no data is not", "sticky", 3, None, None, ("java",)),
    Case("sarama leads with shares", "sticky", 1, None, V1, ("sarama",), wrote=(0, V1)),
    Case("an older Java leads with none", "sticky", 1, None, V1, ("java",), wrote=(1, None)),
    Case("sarama cooperates like an older Java", COOPERATIVE, 1, None, NUMBER, ("java", "sarama")),
    Case("but writes version 0", COOPERATIVE, 1, None, NUMBER, ("sarama",), wrote=(0, None)),
    Case("sarama for newer brokers", "range", 2, None, None, ("java", "sarama")),
    Case("sarama for newer brokers leads", "range", 2, None, None, ("sarama",), wrote=(0, None)),
    Case("and cooperates", COOPERATIVE, 2, None, NUMBER, ("sarama",), wrote=(0, None)),
    Case("and is sticky", "sticky", 2, None, V1, ("sarama",), wrote=(0, V1)),
    Case("aiokafka that had nothing", "sticky", 0, None, EMPTY_V1[:4] + b"\xff" * 4, ("aiokafka",)),
    Case("aiokafka gives no generation", "sticky", 0, None, UNDATED, ("aiokafka",)),
    Case("kafka-python writes a version first", "sticky", 0, None, PREFIXED, ("kafka-python",)),
    Case("version 1", "range", 1, None, None, ("java", "sarama")),
    Case("version 1 of sarama", "range", 1, None, None, ("sarama",), "sarama"),
    Case("version 1 led by sarama", "range", 1, None, None, ("sarama",), wrote=(0, None)),
    Case("version 0", "range", 0, None, b"",
         ("java", "librdkafka", "kafka-python", "aiokafka"), wrote=(0, b"")),
    Case("kafkajs by its strategy", KAFKAJS, 0, None, b"", ("kafkajs",)),
    Case("a future version", "range", 9, "", b"", ("librdkafka",)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_members_show_tells_the_library(case: Case) -> None:
    """Version, rack, user data, client id and what the leader wrote leave few libraries."""
    one = member("m", {"t": [0]}, client_id=case.client_id, version=case.version, rack=case.rack,
                 user_data=case.user_data)  # fmt: skip
    guess = infer_leader(Evidence(group_of(one, assignor=case.protocol, wrote=case.wrote)))
    assert guess.libraries == case.expected
    assert not guess.said
    assert guess.reason


JAVA_MEMBER = member("a", {"t": [0]}, version=3)
RDKAFKA_MEMBER = member("b", {"t": [1]}, version=3, rack="", user_data=b"")


def led(group: Group, leader: str | None = None, **wrote: object) -> Group:
    """The group with what its leader wrote, and perhaps who that is."""
    members = tuple(replace(one, **wrote) for one in group.members or ())  # type: ignore[arg-type]
    return replace(group, members=members, leader=leader)


def test_in_a_mixed_group_the_leader_of_now_is_one_that_writes_so() -> None:
    """Java and librdkafka are both there; the assignment is of one of them."""
    mixed = group_of(JAVA_MEMBER, RDKAFKA_MEMBER)
    assert set(infer_leader(Evidence(mixed)).libraries) == {"java", "franz-go", "librdkafka"}
    java = led(mixed, assignment_version=3, assignment_user_data=None)
    assert infer_leader(Evidence(java)).libraries == ("java",)
    rdkafka = led(mixed, assignment_version=0, assignment_user_data=b"")
    assert infer_leader(Evidence(rdkafka)).libraries == ("librdkafka",)


def test_who_follows_a_leader_that_leaves() -> None:
    """The first of the others in the coordinator's order, which shows its own library."""
    mixed = led(group_of(JAVA_MEMBER, RDKAFKA_MEMBER), assignment_version=3)
    assert infer_leader(Evidence(mixed), gone={"a"}).libraries == ("librdkafka",)
    assert infer_leader(Evidence(mixed), gone={"b"}).libraries == ("java",)
    assert infer_leader(Evidence(mixed), gone={"a", "b"}, newcomers=["sarama"]).libraries == (
        "sarama",
    )


def test_the_record_names_the_leader() -> None:
    """Where `__consumer_offsets` was read, who leads is no guess."""
    mixed = group_of(JAVA_MEMBER, RDKAFKA_MEMBER)
    assert infer_leader(Evidence(led(mixed, leader="b"))).libraries == ("librdkafka",)
    assert infer_leader(Evidence(led(mixed, leader="b")), gone={"b"}).libraries == (
        "java",
        "franz-go",
    )
    assert infer_leader(Evidence(led(mixed, leader="b")), gone={"a"}).libraries == ("librdkafka",)


def test_what_a_member_says_of_its_past_tells_the_library() -> None:
    """Java repeats the generation of its user data; librdkafka with partitions has user data."""
    silent = replace(member("a", {"t": [0]}, user_data=V1, version=2), generation=-1)
    assert infer_leader(Evidence(group_of(silent, assignor="sticky"))).libraries == ("sarama",)
    repeats = replace(silent, generation=3)
    assert infer_leader(Evidence(group_of(repeats, assignor="sticky"))).libraries == (
        "java",
        "sarama",
    )
    holds = replace(member("a", {"t": [0]}, user_data=b"", version=1), owned={"t": (0,)})
    assert infer_leader(Evidence(group_of(holds, assignor=COOPERATIVE))).libraries == (
        "kafka-python",
    )
    begins = replace(holds, owned={})
    found = infer_leader(Evidence(group_of(begins, assignor=COOPERATIVE))).libraries
    assert found == ("librdkafka", "kafka-python")


def test_a_plan_reads_the_bytes_of_each_member_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many outcomes are played: everybody is handed the same evidence."""
    read: Counter[str] = Counter()

    def counted(one: Member, strategy: str | None) -> frozenset[Trace]:
        read[one.member_id] += 1
        return traces_of(one, strategy)

    monkeypatch.setattr("kgroups.core.planning.leaders.evidence.traces_of", counted)
    members = [
        member(name, {"t": [place]}, version=1, user_data=EMPTY_V1)
        for place, name in enumerate("abc")
    ]
    group = group_of(*members, assignor=COOPERATIVE)
    plan = plan_group(cluster_of(group, {"t": 6}), group, [AddMembers(2)])
    assert len(plan.outcomes.each) > 1
    assert read == dict.fromkeys("abc", 1)
