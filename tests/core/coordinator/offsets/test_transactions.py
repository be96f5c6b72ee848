"""Offsets committed in a transaction: pending until its end, then they count or never did."""

from typing import Any
from uuid import UUID

import pytest

from kgroups.core.coordinator.classic.messages import LeaveGroupRequest, MemberIdentity
from kgroups.core.coordinator.config import CoordinatorConfig
from kgroups.core.coordinator.kip848.messages import ConsumerGroupHeartbeatRequest
from kgroups.core.coordinator.offsets.messages import (
    OffsetCommitPartition,
    OffsetCommitTopic,
    TxnOffsetCommitRequest,
    WriteTxnMarkerRequest,
)
from kgroups.core.coordinator.topology import Topology
from kgroups.core.coordinator.wire import WIRE_FORMS
from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.tables.api_keys import Api
from tests.support.coordinator.coordinator_driver import TOPICS, Harness
from tests.support.coordinator.default_requests import (
    commit,
    commit_in_transaction,
    fetched,
    join,
    stable_group,
)


def marker(producer_id: int, *, committed: bool, partition: int = 3) -> WriteTxnMarkerRequest:
    """The end of a transaction; group g lives on partition 3 of 50."""
    return WriteTxnMarkerRequest(
        version=1,
        producer_id=producer_id,
        producer_epoch=0,
        partition=partition,
        committed=committed,
    )


def error_of(harness: Harness, request: TxnOffsetCommitRequest) -> int:
    """The one error code of the answer."""
    answer = harness.ask(request)
    (code,) = {code for topic in answer.topics for _, code in topic.partitions}
    return int(code)


@pytest.mark.parametrize(("committed", "offset"), [(True, 8), (False, 5)])
def test_a_transaction_counts_when_it_commits(committed: bool, offset: int) -> None:
    """Before its end readers see what was there, or that it is unstable if they ask."""
    harness = Harness()
    harness.ask(commit({0: 5}))
    assert error_of(harness, commit_in_transaction({0: 8}, 7)) == 0
    assert fetched(harness, 0) == {0: (5, 0)}
    assert fetched(harness, 0, require_stable=True) == {0: (-1, 88)}
    assert fetched(harness, require_stable=True) == {0: (-1, 88)}
    assert harness.ask(marker(7, committed=committed)).error_code is ErrorCode.NONE
    assert fetched(harness, 0, require_stable=True) == {0: (offset, 0)}
    (write,) = harness.markers
    assert (write.producer_id, write.marker, write.partition) == (7, committed, 3)
    harness.assert_replica_is_equal()


def test_a_plain_commit_written_later_wins() -> None:
    """The transaction's end does not turn back time."""
    harness = Harness()
    harness.ask(commit_in_transaction({0: 8}, 7))
    harness.ask(commit({0: 9}))
    harness.ask(marker(7, committed=True))
    assert fetched(harness, 0) == {0: (9, 0)}
    harness.assert_replica_is_equal()


def test_of_two_transactions_the_later_commit_wins() -> None:
    """Whichever ends first."""
    harness = Harness()
    harness.ask(commit_in_transaction({0: 8}, 7))
    harness.ask(commit_in_transaction({0: 9}, 8))
    harness.ask(marker(8, committed=True))
    harness.ask(marker(7, committed=True))
    assert fetched(harness, 0) == {0: (9, 0)}


CHECKS = [
    ("an unknown group is made for nobody in particular", {"group_id": "new"}, 0),
    (
        "an unknown group has no generations",
        {"group_id": "new", "generation_id_or_member_epoch": 1},
        22,
    ),
    ("anybody may commit without member and generation", {}, 0),
    ("an unknown member", {"member_id": "ghost"}, 25),
    (
        "the wrong generation",
        {"member_id": f"c-{UUID(int=1)}", "generation_id_or_member_epoch": 9},
        22,
    ),
    ("no group id", {"group_id": None}, 24),
]


@pytest.mark.parametrize(
    ("fields", "code"), [case[1:] for case in CHECKS], ids=[case[0] for case in CHECKS]
)
def test_checks_of_a_transactional_commit(fields: dict[str, Any], code: int) -> None:
    """The state of the group does not matter, the member does."""
    harness = Harness()
    stable_group(harness)
    assert error_of(harness, commit_in_transaction({0: 1}, 7, **fields)) == code


def test_a_member_commits_even_while_the_group_completes_a_rebalance() -> None:
    """Where a plain commit is told to join again."""
    harness = Harness()
    joined = harness.ask(join())
    member = {"member_id": joined.member_id, "generation_id_or_member_epoch": joined.generation_id}
    assert harness.state_of("g") == "CompletingRebalance"
    assert error_of(harness, commit_in_transaction({0: 1}, 7, **member)) == 0
    plain = commit({0: 1}, member_id=joined.member_id, generation_id_or_member_epoch=1)
    (topic,) = harness.ask(plain).topics
    assert topic.partitions[0].error_code is ErrorCode.REBALANCE_IN_PROGRESS


@pytest.mark.parametrize(("version", "stale", "missing"), [(5, 22, 22), (6, 113, 69)])
def test_version_6_has_topic_ids_and_the_errors_of_kip_848(
    version: int, stale: int, missing: int
) -> None:
    """KIP-1319, and OffsetMetadataManager.validateTransactionalOffsetCommit of Kafka 4.4."""
    harness = Harness()
    by_id = {"topics": (OffsetCommitTopic("", (OffsetCommitPartition(0, 8),), UUID(int=11)),)}
    topics = by_id if version == 6 else {}
    joining = ConsumerGroupHeartbeatRequest(
        version=1,
        client_id="c",
        client_host="/h",
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=("t",),
        topic_partitions=(),
    )
    epoch = harness.ask(joining).member_epoch

    def told(epoch: int, group_id: str = "g") -> int:
        asked = commit_in_transaction(
            {0: 8},
            7,
            group_id,
            version=version,
            member_id="m",
            generation_id_or_member_epoch=epoch,
            **topics,
        )
        return error_of(harness, asked)

    assert told(epoch) == 0
    assert told(epoch + 1) == stale
    assert told(1, "none") == missing
    harness.ask(marker(7, committed=True))
    assert fetched(harness, 0) == {0: (8, 0)}


def test_unknown_topics_are_told_without_asking_the_group() -> None:
    """Nothing valid remains, so no group comes into being."""
    harness = Harness(topology=Topology())
    assert error_of(harness, commit_in_transaction({0: 1}, 7)) == 3
    assert harness.state_of("g") is None


def test_a_marker_for_a_partition_of_somebody_else_is_refused() -> None:
    """16, and nothing happens."""
    harness = Harness()
    harness.coordinator.resign(harness.now_ms, 3)
    assert harness.ask(marker(7, committed=True)).error_code is ErrorCode.NOT_COORDINATOR
    assert harness.ask(marker(7, committed=True, partition=99)).error_code is (
        ErrorCode.NOT_COORDINATOR
    )
    assert not harness.markers


def test_an_open_transaction_keeps_group_and_offset_from_expiring() -> None:
    """Until it has ended; then the next look takes both."""
    config = CoordinatorConfig(
        classic_initial_rebalance_delay_ms=0,
        offsets_retention_ms=1000,
        offsets_retention_check_interval_ms=2000,
    )
    harness = Harness(config)
    harness.ask(commit({0: 5, 1: 5}))
    harness.ask(commit_in_transaction({0: 8}, 7))
    harness.advance(2000)
    assert fetched(harness, 0, 1) == {0: (5, 0), 1: (-1, 0)}
    harness.ask(marker(7, committed=False))
    harness.advance(2000)
    assert harness.state_of("g") is None
    harness.assert_replica_is_equal()


def test_a_group_with_nothing_but_an_open_transaction_stays() -> None:
    """It would come back with the marker."""
    config = CoordinatorConfig(offsets_retention_ms=1000, offsets_retention_check_interval_ms=2000)
    harness = Harness(config)
    harness.ask(commit_in_transaction({0: 8}, 7))
    harness.advance(10_000)
    assert harness.state_of("g") == "Empty"


def test_deleting_a_topic_deletes_what_is_pending_for_it() -> None:
    """Its commit comes too late then."""
    harness = Harness()
    harness.ask(commit({0: 5}))
    harness.ask(commit_in_transaction({0: 8, 1: 8}, 7))
    only_u = Topology.of([TOPICS.topics["u"]], version=2)
    harness.coordinator.update_topology(harness.now_ms, only_u)
    harness.collect()
    harness.ask(marker(7, committed=True))
    assert fetched(harness) == {}
    harness.assert_replica_is_equal()


def test_leaving_an_unknown_group_in_an_old_version_lifts_the_error() -> None:
    """Versions before 3 know one member and one error: so it is written."""
    request = LeaveGroupRequest(version=2, group_id="nobody", members=(MemberIdentity("m"),))
    written = WIRE_FORMS[Api.LEAVE_GROUP].answer(Harness().ask(request), request.version)
    assert written.error_code is ErrorCode.UNKNOWN_MEMBER_ID
