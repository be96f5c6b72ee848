"""Share groups with real members: what `describe` says of them, and the writes of their offsets."""

import time
from pathlib import Path

import pytest
from confluent_kafka import AcknowledgeType, Message, Producer

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.kafka.writes.group_writes import write_commits
from kgroups.core.snapshot import CommittedOffset
from kgroups.core.snapshot_file import read_snapshot, write_snapshot
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.share_groups import FROM_THE_START, Sharer, accept, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

TOPIC = "shared"
RELEASED = range(10, 13)


def decide(message: Message) -> AcknowledgeType:
    """Three records of each partition are released, two rejected, the others accepted."""
    if message.offset() in RELEASED:
        return AcknowledgeType.RELEASE
    return AcknowledgeType.REJECT if message.offset() in (20, 21) else AcknowledgeType.ACCEPT


@pytest.fixture(scope="module")
def topic(kafka: KafkaCluster) -> str:
    """A topic of 100 and 50 records."""
    create_topics(kafka.bootstrap, {TOPIC: 2})
    produce(kafka.bootstrap, {(TOPIC, 0): 100, (TOPIC, 1): 50})
    return TOPIC


@pytest.fixture
def group(kafka: KafkaCluster, topic: str, request: pytest.FixtureRequest) -> str:
    """A group that is done with all records but the three that it released in each partition."""
    name = f"share-{request.node.name.removeprefix('test_')}"
    configure_group(kafka.bootstrap, name, FROM_THE_START)
    with Sharer(kafka.bootstrap, name, topic) as member:
        member.take(150, decide)
    return name


def ours(kafka: KafkaCluster, *line: str) -> Outcome:
    """What the command answers as JSON."""
    return run("-b", kafka.bootstrap, *line, "-o", "json")


def lags(kafka: KafkaCluster, group: str) -> list[int | None]:
    """The lag of each partition."""
    (item,) = ours(kafka, "describe", group).document["items"]
    return [row["lag"] for row in item["offsets"]]


def starts(kafka: KafkaCluster, group: str) -> list[int | None]:
    """The start offset of each partition."""
    (item,) = ours(kafka, "describe", group).document["items"]
    return [row["committed_offset"] for row in item["offsets"]]


def test_described(kafka: KafkaCluster, group: str, tmp_path: Path) -> None:
    """Lag is what is left, not what follows the start offset; a snapshot file keeps it."""
    with Sharer(kafka.bootstrap, group, TOPIC):
        wait_until(
            lambda: ours(kafka, "list", group).document["items"][0]["state"] == "Stable",
            "it is Stable",
        )
    wait_until(lambda: lags(kafka, group) == [3, 3], "all is acknowledged but what was released")
    assert all(start is not None and start <= 10 for start in starts(kafka, group))
    assert ours(kafka, "check", group, "--fail-on", "lag > 6").exit_code == 0
    assert ours(kafka, "check", group, "--fail-on", "lag > 5").exit_code == 6
    with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
        named, every = admin.snapshot([group]), admin.snapshot()
        assert every.group(group) == named.group(group)
        assert admin.snapshot([group]).group(group) == named.group(group)
    for name in ("share.json", "share.jsonl"):
        write_snapshot(named, tmp_path / name)
        assert read_snapshot(tmp_path / name).groups == named.groups
        (item,) = run("describe", group, "--from", str(tmp_path / name), "-o", "json").document[
            "items"
        ]
        assert (item["type"], item["lag"]) == ("share", 6)


def test_reset(kafka: KafkaCluster, group: str) -> None:
    """The plan counts what is delivered again, also where the start offset stays; undo says what
    it does not bring back.
    """
    wait_until(lambda: lags(kafka, group) == [3, 3], "all is acknowledged but what was released")
    before = starts(kafka, group)
    line = ("reset-offsets", group, "--topic", TOPIC, "--to", "earliest")
    planned = ours(kafka, *line, "--dry-run").document
    assert [row["read_again"] for row in planned["items"]] == [97, 47]
    assert {row["result"] for row in planned["items"]} == {"planned"}
    done = ours(kafka, *line, "--yes")
    assert (done.exit_code, done.document["summary"]["done"]) == (0, 2)
    assert "ACKNOWLEDGEMENTS_LOST" in done.note_codes
    assert (starts(kafka, group), lags(kafka, group)) == ([0, 0], [100, 50])
    again = ours(kafka, *line, "--yes").document
    assert {row["result"] for row in again["items"]} == {"skipped"}
    undo_file = done.document["summary"]["undo_file"]
    for _ in range(2):  # what the start offsets were may be what they are: once more, and all are
        undone = ours(kafka, "reset-offsets", "--undo", undo_file, "--yes")
        assert undone.exit_code == 0
        assert starts(kafka, group) == before
        assert "ACKNOWLEDGEMENTS_LOST" in undone.note_codes
    assert "NOTHING_TO_DO" in undone.note_codes
    assert undone.stderr.count("no acknowledgements") == 1


def test_skipped_and_delivered_again(kafka: KafkaCluster, group: str) -> None:
    """A plan counts both, each record for itself: those released are skipped, those done beyond
    the new offset come again.
    """
    wait_until(lambda: lags(kafka, group) == [3, 3], "all is acknowledged but what was released")
    line = ("reset-offsets", group, "--topic", f"{TOPIC}:0", "--to", "12", "--dry-run")
    planned = ours(kafka, *line).document
    (row,) = planned["items"]
    assert (row["skipped_records"], row["read_again"]) == (2, 87)
    assert planned["summary"]["skipped_records"] == 2
    assert planned["summary"]["read_again"] == 87
    assert not planned["notes"]


def test_delivered_again(kafka: KafkaCluster, group: str) -> None:
    """After a reset a member gets every record from there on."""
    line = ("reset-offsets", group, "--topic", f"{TOPIC}:1", "--to", "40", "--yes")
    assert ours(kafka, *line).exit_code == 0
    with Sharer(kafka.bootstrap, group, TOPIC) as member:
        taken = member.take(13, accept)
    assert [m.offset() for m in taken if m.partition() == 1] == [*range(40, 50)]
    assert {m.offset() for m in taken if m.partition() == 0} == {*RELEASED}


def test_delivered_again_after_a_deletion(kafka: KafkaCluster, group: str, tmp_path: Path) -> None:
    """The preview counts what the group is given again without its offsets; a saved plan, too."""
    wait_until(lambda: lags(kafka, group) == [3, 3], "all is acknowledged but what was released")
    path = str(tmp_path / "plan.json")
    line = ("delete-offsets", group, "--topic", TOPIC)
    planned = ours(kafka, *line, "--dry-run", "--plan", path).document
    assert [row["read_again"] for row in planned["items"]] == [97, 47]
    assert {row["note"] for row in planned["items"]} == {"restarts from earliest"}
    assert {row["skipped_records"] for row in planned["items"]} == {0}
    applied = ours(kafka, "apply", path, "--yes").document
    assert applied["summary"]["done"] == 2
    assert applied["summary"]["read_again"] == planned["summary"]["read_again"] == 144
    with Sharer(kafka.bootstrap, group, TOPIC) as member:
        taken = member.take(150)
    assert len({(m.partition(), m.offset()) for m in taken}) == 144 + 6


def test_one_topic_of_two(kafka: KafkaCluster, group: str) -> None:
    """What a group has read of other topics is not in the way of the counts; nothing is counted
    where members are.
    """
    other = f"{group}-other"
    create_topics(kafka.bootstrap, {other: 1})
    produce(kafka.bootstrap, {(other, 0): 10})
    reset = ("reset-offsets", group, "--topic", other, "--to", "earliest")
    with Sharer(kafka.bootstrap, group, [TOPIC, other]) as member:
        member.take(16)
        refused = ours(kafka, *reset, "--yes")
    assert (refused.exit_code, refused.document["notes"]) == (4, [])
    wait_until(lambda: lags(kafka, group) == [0, 0, 0], "all is acknowledged")
    for line in (reset, ("delete-offsets", group, "--topic", other)):
        planned = ours(kafka, *line, "--dry-run").document
        assert [row["read_again"] for row in planned["items"]] == [10]
        assert not planned["notes"]


@pytest.mark.parametrize(
    ("reset", "skipped", "again"), [("latest", 5, 0), ("by_duration:PT1H", 0, 20)]
)
def test_restarted(kafka: KafkaCluster, reset: str, skipped: int, again: int) -> None:
    """A deletion counts from where the group restarts, and a member begins there: 20 records of
    two hours ago and 20 of now are acknowledged, 5 are not.
    """
    name = f"share-{reset[:6]}"
    create_topics(kafka.bootstrap, {name: 1})
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    for _ in range(20):
        producer.produce(name, b"old", partition=0, timestamp=time.time_ns() // 10**6 - 7_200_000)
    assert producer.flush(60) == 0
    produce(kafka.bootstrap, {(name, 0): 20})
    configure_group(kafka.bootstrap, name, FROM_THE_START)
    with Sharer(kafka.bootstrap, name, name) as member:
        member.take(40)
    produce(kafka.bootstrap, {(name, 0): 5})
    configure_group(kafka.bootstrap, name, {"share.auto.offset.reset": reset})
    wait_until(lambda: lags(kafka, name) == [5], "the others are acknowledged")
    done = ours(kafka, "delete-offsets", name, "--topic", name, "--yes").document
    (row,) = done["items"]
    assert (row["skipped_records"], row["read_again"]) == (skipped, again)
    assert (row["result"], row["note"]) == ("done", f"restarts from {reset}")
    with Sharer(kafka.bootstrap, name, name) as member:
        taken: list[Message] = []

        def has_come() -> bool:
            produce(kafka.bootstrap, {(name, 0): 1})
            taken.extend(member.consumer.poll(0.2))
            return bool(taken)

        wait_until(has_come, "a record comes")
    first = taken[0].offset()
    assert first == 20 if again else first is not None and first >= 45


def test_not_copied(kafka: KafkaCluster, group: str) -> None:
    """Its start offsets are no commits of a consumer, neither as source nor as target."""
    line = ("copy-offsets", "--from", group, "--to", f"{group}-copy", "--no-undo", "--yes")
    outcome = ours(kafka, *line)
    assert (outcome.exit_code, outcome.document["items"]) == (4, [])
    assert f"`{group}` is a share group" in outcome.stderr
    assert ours(kafka, "list", f"{group}-copy").document["items"] == []
    commit_offsets(kafka.bootstrap, {f"{group}-old": {(TOPIC, 0): 1}})
    before = starts(kafka, group)
    line = ("copy-offsets", "--from", f"{group}-old", "--to", group, "--no-undo", "--yes")
    assert ours(kafka, *line).exit_code == 4
    assert starts(kafka, group) == before


def test_members_are_in_the_way(kafka: KafkaCluster, group: str) -> None:
    """A group with members is refused here, and by the broker."""
    with Sharer(kafka.bootstrap, group, TOPIC):
        wait_until(
            lambda: ours(kafka, "list", group).document["items"][0]["state"] == "Stable",
            "it is Stable",
        )
        line = ("reset-offsets", group, "--topic", TOPIC, "--to", "latest", "--yes")
        refused = ours(kafka, *line)
        assert refused.exit_code == 4
        assert {error["code"] for error in refused.document["errors"]} == {"NON_EMPTY_GROUP"}
        kept = ours(kafka, "remove-members", group, "--all", "--yes")
        assert kept.exit_code == 4
        assert "Kafka cannot remove members of share groups" in kept.stderr
        with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
            admin.snapshot([group], log_offsets=False)
            written = {(TOPIC, 0): CommittedOffset(7), (TOPIC, 1): None}
            answers = write_commits(admin, {group: written})
        assert len(answers) == 2
        assert {error and error.code for error in answers.values()} == {"NON_EMPTY_GROUP"}


def test_deleted(kafka: KafkaCluster, group: str) -> None:
    """Offsets go topic by topic, groups whole; an undo file makes a share group again."""
    before = starts(kafka, group)
    part = ours(kafka, "delete-offsets", group, "--topic", f"{TOPIC}:1", "--yes")
    assert part.exit_code == 4
    assert part.document["errors"][0]["hint"] == f"use --topic {TOPIC}"
    gone = ours(kafka, "delete-offsets", group, "--topic", TOPIC, "--yes")
    assert gone.exit_code == 0
    (item,) = ours(kafka, "describe", group).document["items"]
    assert item["offsets"] == []
    assert ours(kafka, "delete", group, "--yes").exit_code == 0
    assert ours(kafka, "describe", group).exit_code == 5
    back = ours(kafka, "reset-offsets", "--undo", gone.document["summary"]["undo_file"], "--yes")
    assert back.exit_code == 0
    assert starts(kafka, group) == before
    (listed,) = ours(kafka, "list", group).document["items"]
    assert listed["type"] == "share"


def test_plan_applied(kafka: KafkaCluster, group: str, tmp_path: Path) -> None:
    """A saved plan of a share group is applied as it was saved, or refused on drift."""
    path = str(tmp_path / "plan.json")
    line = ("reset-offsets", group, "--topic", TOPIC, "--to", "latest", "--dry-run", "--plan", path)
    assert ours(kafka, *line).exit_code == 0
    assert ours(kafka, "apply", path, "--yes").exit_code == 0
    assert (starts(kafka, group), lags(kafka, group)) == ([100, 50], [0, 0])
    assert ours(kafka, "reset-offsets", group, "--all-topics", "--to", "5", "--yes").exit_code == 0
    assert ours(kafka, "apply", path, "--yes").exit_code == 4


def test_deleted_from_a_topic_of_one_partition(kafka: KafkaCluster) -> None:
    """The answer about the topic is one about its only partition."""
    name, narrow = "share-narrow", ("share-narrow", 0)
    create_topics(kafka.bootstrap, {name: 1})
    with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
        admin.types[name] = "share"
        wanted = {name: {narrow: CommittedOffset(0)}}
        wait_until(
            lambda: write_commits(admin, wanted) == {(name, *narrow): None},
            "the coordinator knows the new topic",
        )
        gone = write_commits(admin, {name: {narrow: None, ("no-such-topic", 0): None}})
    assert {key: error and error.code for key, error in gone.items()} == {
        (name, *narrow): None,
        (name, "no-such-topic", 0): "UNKNOWN_TOPIC_OR_PARTITION",
    }
