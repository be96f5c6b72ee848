"""librdkafka's `range` with racks: real groups on the embedded cluster, three brokers in racks.

`range` forgets what was before, so a plan of a group at rest is what it has, whoever leads. The
embedded cluster only carries the subscriptions; who gets what is decided by librdkafka.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka.cimpl import NewTopic

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.planning.plan import plan_group
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of

GROUPS = 6


@pytest.fixture(scope="module")
def racks() -> Iterator[Sandbox]:
    """Three brokers, each in a rack of its own."""
    with Sandbox(brokers=3, racks=("a", "b", "c")) as running:
        yield running


def make_topics(bootstrap: str, group: str, dice: random.Random) -> dict[str, int]:
    """Up to three topics, each partition on one or two of the brokers."""
    size = dice.randint(2, 7)
    topics = {
        f"{group}-t{number}": size if dice.random() < 0.5 else dice.randint(1, 8)
        for number in range(dice.randint(1, 3))
    }
    admin = admin_of(bootstrap)
    wanted = [NewTopic(name, count, dice.randint(1, 2)) for name, count in topics.items()]
    for done in admin.create_topics(wanted).values():
        done.result(60)
    return topics


def driven(bootstrap: str, number: int) -> tuple[str | None, str | None, object, object]:
    """Inferred leader, confidence of the plan, who has what, and who should have it."""
    dice, group = random.Random(f"racks {number}"), f"racked{number}"
    topics = make_topics(bootstrap, group, dice)
    members = [
        MemberSpec(
            f"m{index}",
            tuple(dice.sample(sorted(topics), dice.randint(1, len(topics)))),
            f"s{9 - index}" if dice.random() < 0.3 else "",
            {"client.rack": dice.choice("abcd")} if index else {},  # the first one has none
        )
        for index in range(dice.randint(2, 4))
    ]
    read = {topic for member in members for topic in member.topics}
    wanted = {(topic, p) for topic in read for p in range(topics[topic])}
    with (
        LiveGroup(bootstrap, group, members, assignor="range"),
        ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=20_000) as admin,
    ):

        def at_rest() -> ClusterSnapshot | None:
            snapshot = admin.snapshot([group])
            stable = [group for group in snapshot.groups if group.state == "Stable"]
            shown = (stable[0].members if stable else None) or ()
            held = {(t, p) for m in shown for t, ps in (m.assignment or {}).items() for p in ps}
            return snapshot if len(shown) == len(members) and held == wanted else None

        snapshot = wait_until(at_rest, f"{group} is at rest", pause_s=0.2)
    assert snapshot is not None
    plan = plan_group(snapshot, snapshot.groups[0], leader="librdkafka")
    told = plan_group(snapshot, snapshot.groups[0]).leader_client
    has = {m.member_id: m.assignment or {} for m in snapshot.groups[0].members or ()}
    should = {member.member_id: member.assignment for member in plan.members}
    return told, plan.confidence, _sets(has), _sets(should)


def _sets(held: Mapping[str, Mapping[str, Sequence[int]]]) -> set[tuple[str, str, int]]:
    return {
        (member, topic, number)
        for member, topics in held.items()
        for topic, numbers in topics.items()
        for number in numbers
    }


def test_range_with_racks(racks: Sandbox) -> None:
    """Every group has what the plan says, to the partition; its members tell the library."""
    with ThreadPoolExecutor(3) as pool:
        found = list(
            pool.map(lambda number: driven(racks.bootstrap_servers, number), range(GROUPS))
        )
    for leader, confidence, has, should in found:
        assert (leader, confidence) == ("librdkafka", "exact")
        assert has == should
