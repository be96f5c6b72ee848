"""The adapter and Kafka's own tool, asked side by side, row by row."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.snapshot import ClusterSnapshot, Group, Member
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.workload import commit_offsets, create_topics, expire_records, produce

pytestmark = pytest.mark.kafka

TOPIC, OTHER = "agree-orders", "agree-audit"
GROUPS = ("agree-classic", "agree-empty", "agree-kip848", "agree-static")


@pytest.fixture(scope="module")
def snapshot(kafka: KafkaCluster) -> Iterator[ClusterSnapshot]:
    """The adapter's picture of groups that are alive, and stay so while the tests run."""
    bootstrap = kafka.bootstrap
    create_topics(bootstrap, {TOPIC: 12, OTHER: 3})
    produce(bootstrap, {(TOPIC, number): 5 * number for number in range(12)})
    expire_records(bootstrap, {(TOPIC, 11): 30})
    commit_offsets(
        bootstrap,
        {"agree-empty": {(TOPIC, 11): 10, (TOPIC, 2): 500, (OTHER, 0): 0, (TOPIC, 10): 50}},
    )
    groups = [
        LiveGroup(
            bootstrap,
            "agree-classic",
            [MemberSpec("one", (TOPIC, OTHER)), MemberSpec("two", (TOPIC,))],
        ),
        LiveGroup(
            bootstrap,
            "agree-kip848",
            [MemberSpec("one", (TOPIC,)), MemberSpec("two", (TOPIC, OTHER))],
            protocol="consumer",
        ),
        LiveGroup(
            bootstrap,
            "agree-static",
            [
                MemberSpec("one", (OTHER,), instance_id="instance-1"),
                MemberSpec("two", (OTHER,)),
                MemberSpec("idle", (OTHER,)),
                MemberSpec("idler", (OTHER,)),
            ],
        ),
    ]
    with ExitStack() as stack:
        for group in groups:
            stack.enter_context(group)
        for group, partitions in zip(groups, (15, 15, 3), strict=True):
            group.wait_stable(partitions)
        for group in groups[:2]:
            owner = next(m for m in group.members if (TOPIC, 3) in m.assignment)
            owner.commit({(TOPIC, 3): 7})
        commit_offsets(bootstrap, {"agree-moved": {(TOPIC, 0): 0}})
        with ClusterAdmin(ClientSettings(bootstrap)) as admin:
            yield admin.snapshot(GROUPS)


def _official(kafka: KafkaCluster, official: WarmTools, *views: str) -> list[list[str]]:
    """Cells of the tool's rows for our groups, headers left out."""
    names = [word for group in GROUPS for word in ("--group", group)]
    answer = official.groups_tool(kafka.bootstrap, "--describe", *views, *names)
    lines = [line.split() for line in answer.stdout.splitlines()]
    return sorted(cells for cells in lines if cells and cells[0] in GROUPS)


def _text(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def _assignment(partitions: dict[str, tuple[int, ...]] | None) -> str:
    """An assignment as the tool writes it."""
    if not partitions:
        return "-"
    return ";".join(
        f"{topic}:{','.join(map(str, sorted(numbers)))}"
        for topic, numbers in sorted(partitions.items())
    )


def _members(group: Group) -> tuple[Member, ...]:
    assert group.members is not None
    return group.members


def test_listing_agrees(
    kafka: KafkaCluster, official: WarmTools, snapshot: ClusterSnapshot
) -> None:
    """Group, type and state of every group that the tool lists."""
    answer = official.groups_tool(kafka.bootstrap, "--list", "--state", "--type")
    theirs = {
        tuple(cells)
        for line in answer.stdout.splitlines()
        if (cells := line.split()) and cells[0].startswith("agree-")
    }
    with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
        ours = {
            (group.group, group.type.capitalize(), group.state)
            for group in admin.list_groups().groups
            if group.group.startswith("agree-")
        }
    assert len(ours) == len(GROUPS) + 1
    assert ours == theirs


def test_offsets_agree(kafka: KafkaCluster, official: WarmTools, snapshot: ClusterSnapshot) -> None:
    """Every row: partition, epoch, commit, end, lag as the tool counts it, and the owner."""
    ours = []
    for group in snapshot.groups:
        owners = {
            (topic, number): member
            for member in _members(group)
            for topic, numbers in (member.assignment or {}).items()
            for number in numbers
        }
        commits = {
            (topic, number): commit
            for topic, numbers in (group.offsets or {}).items()
            for number, commit in numbers.items()
        }
        for key in {*owners, *commits}:
            commit, owner = commits.get(key), owners.get(key)
            end = snapshot.topics[key[0]].partitions[key[1]].log_end_offset
            assert end is not None
            ours.append(
                [
                    group.group,
                    key[0],
                    str(key[1]),
                    _text(commit and commit.leader_epoch),
                    _text(commit and commit.offset),
                    str(end),
                    _text(commit and end - commit.offset),
                    _text(owner and owner.member_id),
                    _text(owner and owner.host),
                    _text(owner and owner.client_id),
                ]
            )
    theirs = _official(kafka, official, "--offsets", "--verbose")
    assert len(theirs) == 15 + 15 + 3 + 4
    assert sorted(ours) == theirs


def test_members_agree(kafka: KafkaCluster, official: WarmTools, snapshot: ClusterSnapshot) -> None:
    """Every member: ids, host, count, epochs and both assignments."""
    ours = []
    for group in snapshot.groups:
        for member in _members(group):
            count = sum(map(len, (member.assignment or {}).values()))
            row = [group.group, member.member_id]
            row += [member.instance_id] if member.instance_id else []
            row += [member.host, member.client_id, str(count), _text(member.member_epoch)]
            row += [_assignment(dict(member.assignment or {})), _text(group.target_epoch)]
            row += [_assignment(dict(member.target_assignment or {}))]
            ours.append(row)
    theirs = _official(kafka, official, "--members", "--verbose")
    assert len(theirs) == 2 + 2 + 4
    assert sorted(ours) == theirs


def test_members_are_in_the_tools_order(
    kafka: KafkaCluster, official: WarmTools, snapshot: ClusterSnapshot
) -> None:
    """The order of the broker's answer is kept: it decides what later rebalances do."""
    for group in snapshot.groups:
        answer = official.groups_tool(
            kafka.bootstrap, "--describe", "--members", "--group", group.group
        )
        rows = [line.split() for line in answer.stdout.splitlines()]
        theirs = [cells[1] for cells in rows if cells and cells[0] == group.group]
        assert [member.member_id for member in _members(group)] == theirs


def test_states_agree(kafka: KafkaCluster, official: WarmTools, snapshot: ClusterSnapshot) -> None:
    """Coordinator, assignor, state, epochs and number of members."""
    ours = []
    for group in snapshot.groups:
        broker = snapshot.broker(group.coordinator)
        assert broker is not None
        ours.append(
            [
                group.group,
                f"{broker.host}:{broker.port}",
                f"({broker.id})",
                _text(group.assignor),
                str(group.state),
                _text(group.group_epoch),
                _text(group.target_epoch),
                str(len(_members(group))),
            ]
        )
    assert sorted(ours) == _official(kafka, official, "--state", "--verbose")
