"""What `--to-protocol` calls refused by brokers, beside what a real broker refuses and says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from kio.schema.errors import ErrorCode

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.planning.changes.kinds import MoveToProtocol, Pattern
from kgroups.core.planning.deploys.deploy import plan_changes
from kgroups.core.planning.plan import Blocker, Plan
from tests.support.fidelity.moving_group import rules_of
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.broker_requests import WireConnection
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics
from tests.support.official.stuck import assignment, beat, join, sync

pytestmark = pytest.mark.kafka

REFUSED = ErrorCode.group_id_not_found


@pytest.fixture(scope="module")
def disabled() -> Iterator[KafkaCluster]:
    """A broker that converts no group."""
    with KafkaCluster(
        ClusterSpec(properties={"group.consumer.migration.policy": "disabled"})
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def small() -> Iterator[KafkaCluster]:
    """A broker that upgrades groups of one member."""
    properties = {"group.consumer.migration.policy": "upgrade", "group.consumer.max.size": "1"}
    with KafkaCluster(ClusterSpec(properties=properties)) as cluster:
        yield cluster


def planned(bootstrap: str, group: str, *changes: Pattern) -> Plan:
    """The plan of a move to KIP-848."""
    with ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=30_000) as admin:
        snapshot = admin.snapshot([group], more_topics=lambda name: True)
        (found,) = snapshot.groups
        return plan_changes(
            snapshot, found, [*changes, MoveToProtocol("consumer")], rules=rules_of(admin, found)
        )


def refused(plan: Plan) -> list[Blocker]:
    """Blockers that the brokers refuse."""
    return [blocker for blocker in plan.blockers if blocker.refused_by == "broker"]


@contextmanager
def stable_group(bootstrap: str, group: str, topic: str, data: bytes) -> Iterator[WireConnection]:
    """A classic group of one member, whose leader gave it this assignment."""
    create_topics(bootstrap, {topic: 2})
    with WireConnection(bootstrap) as connection:
        sync(connection, group, join(connection, group, [topic]), data)
        yield connection


@pytest.mark.slow("a broker of its own")
def test_the_policy(disabled: KafkaCluster) -> None:
    """The plan names it before, and the broker refuses the member."""
    with stable_group(disabled.bootstrap, "g", "t", assignment("t", [0, 1])) as connection:
        plan = planned(disabled.bootstrap, "g")
        (blocker,) = refused(plan)
        assert (blocker.code, plan.stages) == ("MIGRATION_POLICY", ())
        assert "is disabled" in blocker.message
        answer = beat(connection, "g", "m", "t", error=REFUSED)
        assert "online upgrade is disabled" in str(answer.error_message)


@pytest.mark.slow("a broker of its own")
def test_more_members_than_allowed(small: KafkaCluster) -> None:
    """`group.consumer.max.size`."""
    create_topics(small.bootstrap, {"t": 2})
    specs = [MemberSpec(client_id, ("t",)) for client_id in ("a", "b")]
    with LiveGroup(small.bootstrap, "g", specs) as group:
        group.wait_stable(2)
        assert [blocker.code for blocker in refused(planned(small.bootstrap, "g"))] == [
            "GROUP_MAX_SIZE"
        ]
        with WireConnection(small.bootstrap) as connection:
            answer = beat(connection, "g", "m", "t", error=REFUSED)
        assert "exceeds the consumer group maximum size" in str(answer.error_message)


@pytest.mark.parametrize(
    ("name", "data", "codes"),
    [
        ("plain", None, []),
        ("empty", b"", []),
        ("mine", b"mine", ["ASSIGNMENT_USER_DATA"]),
    ],
)
def test_user_data_in_assignments(
    kafka: KafkaCluster, name: str, data: bytes | None, codes: list[str]
) -> None:
    """Refused if, and only if, the plan says so."""
    group, topic = f"blk-{name}", f"blk-{name}-t"
    held = assignment(topic, [0, 1], data)
    with stable_group(kafka.bootstrap, group, topic, held) as connection:
        plan = planned(kafka.bootstrap, group)
        assert [blocker.code for blocker in refused(plan)] == codes
        assert bool(plan.stages) is not bool(codes)
        answer = beat(connection, group, "m", topic, error=REFUSED if codes else ErrorCode.none)
        if codes:
            assert "unsupported custom assignor" in str(answer.error_message)
        else:
            beat(connection, group, "m", topic, -1)


@pytest.mark.slow("members of librdkafka; what else is refused is in every run")
def test_cooperative_groups_of_librdkafka(kafka: KafkaCluster) -> None:
    """From the second rebalance on assignments carry what members own, which brokers refuse."""
    create_topics(kafka.bootstrap, {"blk-coop-t": 4})
    first, second = (MemberSpec(client_id, ("blk-coop-t",)) for client_id in ("a", "b"))
    with LiveGroup(kafka.bootstrap, "blk-coop", [first], assignor="cooperative-sticky") as group:
        group.wait_stable(4)
        group.add(second)
        group.wait_stable(4)
        plan = planned(kafka.bootstrap, "blk-coop")
        with WireConnection(kafka.bootstrap) as connection:
            answer = beat(connection, "blk-coop", "m", "blk-coop-t", error=REFUSED)
        assert {blocker.code for blocker in refused(plan)} == {"ASSIGNMENT_USER_DATA"}
        assert "unsupported custom assignor" in str(answer.error_message)


@pytest.mark.slow("members of librdkafka; what else is refused is in every run")
def test_patterns_of_librdkafka(kafka: KafkaCluster) -> None:
    """The same text matches a beginning in a classic group and whole names in the other."""
    topics: Mapping[str, int] = {"blk-re": 1, "blk-re-more": 1}
    create_topics(kafka.bootstrap, topics)
    spec = MemberSpec("a", ("^blk-re",))
    with LiveGroup(kafka.bootstrap, "blk-re", [spec]) as classic:
        classic.wait_stable(2)
        plan = planned(kafka.bootstrap, "blk-re", Pattern("blk-re", "librdkafka"))
        (blocker,) = plan.blockers
        assert (blocker.code, blocker.refused_by) == ("REGULAR_EXPRESSION", None)
        assert "no longer blk-re-more" in blocker.message
    with LiveGroup(kafka.bootstrap, "blk-re", [spec], protocol="consumer") as moved:
        wait_until(
            lambda: moved.members[0].assignment == {("blk-re", 0)},
            "the broker reads the pattern as RE2",
        )
