"""Writes of the adapter, over its own connections and through librdkafka: the same answers."""

from collections.abc import Iterator, Mapping, Sequence

import pytest

from kgroups.core.errors import ItemError
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.lookups.offsets_by_time import offsets_at, offsets_at_times
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.kafka.writes.commit_reads import read_until
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.kafka.writes.record_deletion import delete_records
from kgroups.core.offsets.read_back import Held
from kgroups.core.snapshot import CommittedOffset
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

TOPIC = "contract-w"


@pytest.fixture(scope="module")
def address(cluster_address: str) -> str:
    """A topic with records in two of three partitions."""
    create_topics(cluster_address, {TOPIC: 3})
    produce(cluster_address, {(TOPIC, 0): 40, (TOPIC, 1): 20})
    return cluster_address


@pytest.fixture(params=["wire", "librdkafka"])
def admin(address: str, request: pytest.FixtureRequest) -> Iterator[ClusterAdmin]:
    """The adapter by either way."""
    with ClusterAdmin(
        ClientSettings(address, through_librdkafka=request.param == "librdkafka"), timeout_ms=30_000
    ) as admin:
        yield admin


@pytest.fixture
def group(request: pytest.FixtureRequest) -> str:
    """A group's name of this test's own."""
    return f"contract {abs(hash(request.node.name))}"


def codes(answers: dict[tuple[str, str | None, int | None], ItemError | None]) -> dict[object, str]:
    """Error code by partition, empty where it was done."""
    return {key[1:]: "" if error is None else error.code for key, error in answers.items()}


def read_commits(admin: ClusterAdmin, groups: Sequence[str]) -> dict[str, Held | None]:
    """What these groups have committed, read once."""
    found: dict[str, Held | None] = {}

    def take(held: Mapping[str, Held | None]) -> Sequence[str]:
        found.update(held)
        return ()

    read_until(admin, groups, take)
    return found


def test_commits_are_written_and_read(admin: ClusterAdmin, group: str, address: str) -> None:
    """Offsets of several groups, with metadata and leader epoch, and none for an unknown group."""
    more = f"{group} ünï-日本"
    wanted = {
        group: {(TOPIC, 0): CommittedOffset(7, 0, "memo"), (TOPIC, 2): CommittedOffset(0)},
        more: {(TOPIC, 1): CommittedOffset(20)},
    }
    answers = write_commits(admin, wanted)
    assert set(answers.values()) == {None}
    assert len(answers) == 3
    assert fetch_offsets(address, group) == {(TOPIC, 0): 7, (TOPIC, 2): 0}
    assert fetch_offsets(address, more) == {(TOPIC, 1): 20}
    with ClusterAdmin(ClientSettings(address)) as wire:
        held = read_commits(wire, [group])[group]
    assert held is not None
    memo = "memo" if admin.notice is None else ""  # librdkafka's client would add a NUL to it
    assert held[TOPIC][0] == CommittedOffset(7, 0, memo)
    looked = read_commits(admin, [group, more, f"{group} nobody"])
    offsets = {
        name: {
            (topic, number): commit.offset
            for topic, rows in (topics or {}).items()
            for number, commit in rows.items()
        }
        for name, topics in looked.items()
    }
    assert offsets == {
        group: {(TOPIC, 0): 7, (TOPIC, 2): 0},
        more: {(TOPIC, 1): 20},
        f"{group} nobody": {},
    }


def test_each_partition_has_its_own_answer(admin: ClusterAdmin, group: str, address: str) -> None:
    """A topic that does not exist is refused, and the partition beside it is written."""
    wanted = {(TOPIC, 0): CommittedOffset(3), ("contract-nope", 0): CommittedOffset(1)}
    answers = codes(write_commits(admin, {group: wanted}))
    assert answers == {(TOPIC, 0): "", ("contract-nope", 0): "UNKNOWN_TOPIC_OR_PARTITION"}
    assert fetch_offsets(address, group) == {(TOPIC, 0): 3}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_at_work_is_refused(
    admin: ClusterAdmin, group: str, address: str, protocol: str
) -> None:
    """By its state: neither commits nor its deletion, and nothing is changed."""
    members = [MemberSpec("contract-app", (TOPIC,))]
    with LiveGroup(address, f"{group} {protocol}", members, protocol=protocol) as live:  # type: ignore[arg-type]
        live.wait_stable(3)
        answers = write_commits(admin, {live.group: {(TOPIC, 0): CommittedOffset(3)}})
        error = answers[live.group, TOPIC, 0]
        assert error is not None
        assert (error.code, error.exit_code) == ("UNKNOWN_MEMBER_ID", 4)
        (outcome,) = admin.delete_groups([live.group])
        assert outcome.result == "refused"
        assert fetch_offsets(address, live.group) == {}


def test_groups_are_deleted(admin: ClusterAdmin, group: str, address: str) -> None:
    """Those that are there; the others are not found."""
    commit_offsets(address, {group: {(TOPIC, 0): 1}})
    found = admin.delete_groups([group, f"{group} nobody"])
    assert [each.result for each in found] == ["done", "failed"]
    assert found[1].error is not None
    assert found[1].error.code == "GROUP_ID_NOT_FOUND"
    assert fetch_offsets(address, group) == {}


def test_deletion_of_commits(admin: ClusterAdmin, group: str, address: str) -> None:
    """librdkafka's client cannot do it and says so, row by row; a commit beside it is made."""
    commit_offsets(address, {group: {(TOPIC, 0): 1, (TOPIC, 1): 1}})
    answers = write_commits(admin, {group: {(TOPIC, 0): None, (TOPIC, 2): CommittedOffset(0)}})
    error = answers[group, TOPIC, 0]
    assert answers[group, TOPIC, 2] is None
    left = {(TOPIC, 1): 1, (TOPIC, 2): 0}
    if admin.notice is None:
        assert error is None
        assert fetch_offsets(address, group) == left
    else:
        assert error is not None
        assert error.message == "deleting committed offsets is not supported through librdkafka"
        assert fetch_offsets(address, group) == left | {(TOPIC, 0): 1}


def test_records_are_deleted(admin: ClusterAdmin, address: str) -> None:
    """Below an offset, to the end, beyond it, and in a partition that is not there."""
    name = f"contract-r-{'wire' if admin.notice is None else 'other'}"
    create_topics(address, {name: 3})
    produce(address, {(name, 0): 10, (name, 1): 10, (name, 2): 10})
    wanted = {(name, 0): 4, (name, 1): -1, (name, 2): 99, (name, 9): 1}
    assert delete_records(admin, wanted) == {
        (name, 0): 4,
        (name, 1): 10,
        (name, 2): "OFFSET_OUT_OF_RANGE",
        (name, 9): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    logs = topics_with_bounds(admin, [name, "contract-nope"]).topics
    assert set(logs) == {name}
    bounds = {
        n: (log.log_start_offset, log.log_end_offset) for n, log in logs[name].partitions.items()
    }
    assert bounds == {0: (4, 10), 1: (10, 10), 2: (0, 10)}


def test_offsets_at_a_time(admin: ClusterAdmin) -> None:
    """The first record that is not older, or none; a time for all, or one for each partition."""
    logs = topics_with_bounds(admin, [TOPIC]).topics
    assert offsets_at(admin, logs, 1_000) == {(TOPIC, 0): 0, (TOPIC, 1): 0, (TOPIC, 2): None}
    times = {(TOPIC, 0): 1_000, (TOPIC, 1): 32_503_680_000_000, (TOPIC, 2): 0, (TOPIC, 9): 5}
    assert offsets_at_times(admin, times) == {
        (TOPIC, 0): 0,
        (TOPIC, 1): None,
        (TOPIC, 2): None,
        (TOPIC, 9): "UNKNOWN_TOPIC_OR_PARTITION",
    }
    assert offsets_at_times(admin, {}) == {}
