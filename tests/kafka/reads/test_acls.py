"""ACLs that show some groups and topics only: the others are rows of errors, and nothing fails."""

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin._acl import AclOperation
from confluent_kafka.admin._resource import ResourceType
from pyspark.sql import SparkSession

from kgroups.cli.commands.lag.lag_answer import lag_document, show_and_end
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.cli.source import take_snapshot
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.kafka.lookups.topic_retention import topic_retentions
from kgroups.core.lag.report import LagQuery, lag_report
from tests.support.cli.runner import Outcome, check_document, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.guarded import (
    CLOSED,
    LIVE,
    MINE,
    OPEN,
    SEEN,
    THEIRS,
    allow,
    write_properties,
)
from tests.support.kafka.hung_transactions import left_open
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.share_groups import Sharer, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, fetch_offsets, produce

pytestmark = pytest.mark.kafka

GROUP, TOPIC = "GROUP_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED"
HIDDEN = {**dict.fromkeys(THEIRS, GROUP), LIVE: TOPIC}


class As:
    """The command line as one user sees the guarded cluster."""

    def __init__(self, cluster: KafkaCluster, user: str, folder: Path) -> None:
        self.file = folder / user
        way = write_properties(cluster, self.file, ("SASL_SSL", "SCRAM-SHA-512", user))
        self.options = (*way, "--timeout", "20s")
        self.undo = ("--undo-dir", str(folder / "undo"))

    def run(self, *args: str) -> Outcome:
        """The end of a command, as JSON."""
        return run(*self.options, *args, "-o", "json")


@pytest.fixture
def alice(guarded_kafka: KafkaCluster, tmp_path: Path) -> As:
    """Who sees the names of all groups."""
    return As(guarded_kafka, "alice", tmp_path)


@pytest.fixture
def bob(guarded_kafka: KafkaCluster, tmp_path: Path) -> As:
    """Who sees the names of his own."""
    return As(guarded_kafka, "bob", tmp_path)


@pytest.fixture
def own(guarded_kafka: KafkaCluster, request: pytest.FixtureRequest) -> str:
    """A group that the test may change."""
    name = f"mine-{request.node.name}"
    commit_offsets(guarded_kafka.bootstrap, {name: {(OPEN, 0): 3, (OPEN, 1): 4}})
    return name


def codes(document: dict[str, Any]) -> dict[str, str]:
    """Target and code of each error."""
    return {error["target"]: error["code"] for error in document["errors"]}


def shown(outcome: Outcome) -> set[str]:
    """The groups of a document that were there before any test."""
    names = {item["group"] for item in outcome.document["items"]}
    return names & {*MINE, *SEEN, *THEIRS, LIVE}


def test_list(alice: As, bob: As) -> None:
    """Brokers leave out what is hidden, or show its name only: neither is a failure."""
    everything = alice.run("list")
    own = bob.run("list")
    assert (everything.exit_code, own.exit_code) == (0, 0)
    assert shown(everything) == {*MINE, *SEEN, *THEIRS, LIVE}
    assert shown(own) == {*MINE, *SEEN, LIVE}


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_describe_all(alice: As, bob: As) -> None:
    """What may be seen is described, the rest is an error row; exit code 3."""
    for user, hidden in ((alice, HIDDEN), (bob, {LIVE: TOPIC})):
        told = user.run("describe", "--all-groups")
        assert (told.exit_code, codes(told.document)) == (3, hidden)
        # the listing knows state and coordinator of a hidden group, and no more is known
        unread = {item["group"] for item in told.document["items"] if item["offsets"] is None}
        assert shown(told) - unread == {*MINE, *SEEN}
        assert unread <= set(hidden)
        first = next(item for item in told.document["items"] if item["group"] == "mine-a")
        rows = {(row["topic"], row["partition"]): row["lag"] for row in first["offsets"]}
        assert rows == {(OPEN, 0): 7, (OPEN, 1): 6}  # brokers hide commits of hidden topics
        hints = {error["hint"] for error in told.document["errors"]}
        assert hints == {"ask for an ACL, or check that the right user is configured"}


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_describe_named(alice: As) -> None:
    """A hidden group beside one of ours, in each view."""
    for view in ("--offsets", "--members", "--state"):
        told = alice.run("describe", "theirs-a", "mine-b", view)
        assert (told.exit_code, shown(told)) == (3, {"mine-b"})
        assert codes(told.document) == {"theirs-a": GROUP}


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_snapshot_and_plan(alice: As, tmp_path: Path) -> None:
    """A snapshot holds what could be learned, with the errors; a plan of it is made."""
    file = tmp_path / "all.json"
    saved = run(*alice.options, "snapshot", "save", str(file))
    assert saved.exit_code == 3
    document = json.loads(file.read_text())
    assert {item["group"] for item in document["items"]} >= {*MINE, *SEEN}
    assert codes(document) == HIDDEN
    changes = ("--add-members", "1", "--subscribe", OPEN, "--assignor", "range")
    planned = alice.run("plan", "mine-a", "theirs-a", *changes)
    assert codes(planned.document) == {"theirs-a": GROUP}
    assert shown(planned) == {"mine-a"}


@pytest.mark.slow("more commands of one who is shown some groups only")
@pytest.mark.spark
def test_lag_report(alice: As, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    """Spark reports what may be seen; the hidden groups are errors of the document, exit code 3."""
    options = GlobalOptions(command_config=alice.file, output="json")
    snapshot = take_snapshot(options)
    answer = lag_report([snapshot], LagQuery(by="group"), session=spark)
    with pytest.raises(SystemExit) as end:
        show_and_end(Printer(options), lag_document(snapshot, "group", answer))
    document = json.loads(capsys.readouterr().out)
    check_document(document)
    assert (end.value.code, codes(document)) == (3, HIDDEN)
    lags = {item["group"]: item["lag"] for item in document["items"]}
    assert {name: lags[name] for name in MINE} == {"mine-a": 13, "mine-b": 7}


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_reset(guarded_kafka: KafkaCluster, alice: As, own: str) -> None:
    """A hidden group keeps the others, unless `--keep-going` asks for them; both are said."""
    line = ("reset-offsets", own, "theirs-a", "--topic", OPEN, "--to", "latest", "--yes")
    told = alice.run(*line, *alice.undo)
    assert (told.exit_code, codes(told.document)) == (3, {"theirs-a": GROUP})
    assert fetch_offsets(guarded_kafka.bootstrap, own) == {(OPEN, 0): 3, (OPEN, 1): 4}
    told = alice.run(*line, "--keep-going", *alice.undo)
    assert (told.exit_code, codes(told.document)) == (3, {"theirs-a": GROUP})
    results = {(row["group"], row["partition"]): row["result"] for row in told.document["items"]}
    assert results == {(own, 0): "done", (own, 1): "done", ("theirs-a", None): "failed"}
    assert fetch_offsets(guarded_kafka.bootstrap, own) == {(OPEN, 0): 10, (OPEN, 1): 10}
    assert fetch_offsets(guarded_kafka.bootstrap, "theirs-a") == THEIRS["theirs-a"]


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_writes_to_what_may_only_be_seen(guarded_kafka: KafkaCluster, alice: As, own: str) -> None:
    """The broker refuses each partition of such a group; those of the other group are written."""
    reset = ("reset-offsets", "seen-a", own, "--topic", f"{OPEN}:0", "--to", "9", "--yes")
    told = alice.run(*reset, *alice.undo)
    rows = {row["group"]: (row["result"], row["error"]) for row in told.document["items"]}
    assert rows == {"seen-a": ("failed", GROUP), own: ("done", None)}
    assert (told.exit_code, codes(told.document)) == (3, {f"seen-a {OPEN}-0": GROUP})
    forget = alice.run("delete-offsets", "seen-a", "--topic", OPEN, "--yes", *alice.undo)
    assert (forget.exit_code, codes(forget.document)) == (3, {f"seen-a {OPEN}-0": GROUP})
    delete = alice.run("delete", "seen-a", own, "--yes")
    assert (delete.exit_code, codes(delete.document)) == (3, {"seen-a": GROUP})
    assert own not in {item["group"] for item in alice.run("list").document["items"]}
    assert fetch_offsets(guarded_kafka.bootstrap, "seen-a") == SEEN["seen-a"]


@pytest.mark.slow("more commands of one who is shown some groups only")
def test_hidden_topic(guarded_kafka: KafkaCluster, alice: As, own: str) -> None:
    """Offsets of a topic that is hidden cannot be moved; the topic is named, nothing is written."""
    told = run(
        *alice.options,
        *("reset-offsets", own, "--topic", CLOSED, "--topic", OPEN, "--to", "latest", "--yes"),
        *alice.undo,
    )
    assert told.exit_code == 3
    assert f"error: `{CLOSED}`: not authorized for this topic" in told.stderr
    assert fetch_offsets(guarded_kafka.bootstrap, own) == {(OPEN, 0): 3, (OPEN, 1): 4}


@pytest.mark.slow("a live group; without a broker: tests/core/doctor/test_detectors.py")
def test_a_hidden_topic_is_not_said_to_be_missing(guarded_kafka: KafkaCluster, alice: As) -> None:
    """A classic member reads a topic that alice may not describe: neither `doctor` nor `describe`
    says that it does not exist; one that really does not is named."""
    members = [MemberSpec("hides", (CLOSED,))]
    with LiveGroup(guarded_kafka.bootstrap, "mine-hides", members) as group:
        group.wait_stable(1)
        doctor = alice.run("doctor", "mine-hides")
        described = alice.run("describe", "mine-hides")
    for told in (doctor, described):
        assert (told.exit_code, codes(told.document)) == (3, {CLOSED: TOPIC})
    assert doctor.document["items"][0]["findings"] == []
    (row,) = described.document["items"][0]["offsets"]
    assert (row["lag_status"], row["error"]) == ("unknown", TOPIC)


@pytest.mark.slow("more rights; without a broker: tests/core/doctor/test_detectors.py")
def test_doctor_without_the_right_to_read_the_offsets_topic(
    guarded_kafka: KafkaCluster, bob: As
) -> None:
    """Whether commits expire is not examined, as the history is not."""
    names = ("REBALANCE_STORM", "COMMIT_BACKWARDS", "OFFSETS_EXPIRING")
    for reason in (
        "not authorized to describe `__consumer_offsets`",
        "`__consumer_offsets` cannot be read (TOPIC_AUTHORIZATION_FAILED)",
    ):
        (item,) = bob.run("doctor", "mine-b").document["items"]
        lacks = {each["code"]: each["reason"] for each in item["not_examined"]}
        assert {name: lacks.get(name) for name in names} == dict.fromkeys(names, reason)
        bootstrap, describe = guarded_kafka.bootstrap, AclOperation.DESCRIBE
        allow(bootstrap, "User:bob", ResourceType.TOPIC, "__consumer_offsets", describe)


@pytest.mark.slow("a transaction; without a broker: tests/core/doctor/test_cluster_detectors.py")
def test_doctor_without_rights_around_the_group(guarded_kafka: KafkaCluster, bob: As) -> None:
    """What the cluster does not tell is not examined, with the ACL that it takes."""
    address, read = guarded_kafka.bootstrap, AclOperation.READ
    create_topics(address, {"held": 1})
    allow(address, "User:bob", ResourceType.TOPIC, "held", read)
    commit_offsets(address, {"mine-held": {("held", 0): 0}})
    cluster = "requires DESCRIBE_CONFIGS on the cluster"
    wanted = {
        "HANGING_TRANSACTION": "requires DESCRIBE on the transactional id",
        "GROUP_NEAR_LIMIT": cluster,
        "THROTTLED": cluster,
        "ORPHAN_CONFIG": cluster,
    }

    def lacks(*words: str) -> dict[str, str]:
        items = {item["group"]: item for item in bob.run("doctor", *words).document["items"]}
        return {each["code"]: each["reason"] for each in items["mine-held"]["not_examined"]}

    producer = left_open(address, "hidden-id", {("held", 0): 1})
    try:
        wait_until(
            lambda: wanted.items() <= lacks("--all-groups", "--over", "1s").items(),
            "bob sees the topic, and not who holds it",
        )
        describe = AclOperation.DESCRIBE
        allow(address, "User:bob", ResourceType.TRANSACTIONAL_ID, "hidden-id", describe)
        wait_until(
            lambda: "HANGING_TRANSACTION" not in lacks("mine-held"), "bob may see who holds it"
        )
        with ClusterAdmin(read_settings(None, bob.file), timeout_ms=60_000) as admin:
            assert topic_retentions(admin, ["held"]) == ({}, {"held": TOPIC})
    finally:
        producer.abort_transaction(30)
        assert run("delete", "mine-held", "--yes", "-b", address).exit_code == 0


@pytest.mark.slow("secured brokers; with rights: tests/kafka/reads/test_deliveries.py")
def test_deliveries_without_the_right_to_read(guarded_kafka: KafkaCluster, bob: As) -> None:
    """Nothing is counted, and the right that is missing is named; a reset reckons from the lag."""
    address, group, topic = guarded_kafka.bootstrap, "mine-shared", "mine-shared-topic"
    create_topics(address, {topic: 1})
    for operation in (AclOperation.READ, AclOperation.DESCRIBE):
        allow(address, "User:bob", ResourceType.TOPIC, topic, operation)
    produce(address, {(topic, 0): 5})
    configure_group(address, group, {"share.auto.offset.reset": "earliest"})
    with Sharer(address, group, topic) as member:
        member.take(5)
    try:
        done = bob.run("describe", group, "--deliveries")
        (row,) = done.document["items"][0]["deliveries"]
        assert (row["error"], row["acknowledged"]) == (TOPIC, None)
        said = {note["code"]: note["message"] for note in done.document["notes"]}
        assert "READ is required" in said["DELIVERIES_UNKNOWN"]
        line = ("reset-offsets", group, "--topic", topic, "--to", "earliest", "--dry-run")
        planned = bob.run(*line).document
        assert [row["read_again"] for row in planned["items"]] == [5]
        assert "DELIVERIES_UNKNOWN" in {note["code"] for note in planned["notes"]}
        deletion = ("delete-offsets", group, "--topic", topic, "--dry-run")
        planned = bob.run(*deletion).document
        assert [row["read_again"] for row in planned["items"]] == [None]
        (note,) = (note for note in planned["notes"] if note["code"] == "DELIVERIES_UNKNOWN")
        assert "is unknown" in note["message"]
        (plan,) = bob.run("plan", group).document["items"]
        assert plan["assignment_interval_seconds"] is None
        (item,) = bob.run("doctor", group).document["items"]
        lacks = {each["code"]: each["reason"] for each in item["not_examined"]}
        assert lacks["RECORDS_ARCHIVED"] == "requires READ on topic `__share_group_state`"
        for operation in (AclOperation.READ, AclOperation.DESCRIBE):
            allow(address, "User:bob", ResourceType.TOPIC, "__share_group_state", operation)
        text = f"where `{group}` restarts is unknown (GROUP_AUTHORIZATION_FAILED)"
        wait_until(lambda: text in bob.run(*deletion).stderr, "only DESCRIBE_CONFIGS is missing")
    finally:
        assert run("delete", group, "--yes", "-b", address).exit_code == 0
