"""Share groups and streams groups whose brokers serve them no more: every command says why."""

import shlex
from collections.abc import Iterator

import pytest

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.features import set_features
from tests.support.kafka.share_groups import Sharer, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, produce
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("a broker of its own; quick twin: tests/core/kafka/test_odd_brokers.py"),
]

STREAMS, SHARE, TOPIC = "off-streams", "off-share", "off"
WHY = {STREAMS: "the feature `streams.version` is off", SHARE: "the feature `share.version` is off"}
LINES = (
    "describe {}",
    "describe {} --tasks --deliveries",
    "plan {}",
    "reset-offsets {} --to earliest --all-topics --yes",
    "delete-offsets {} --all-topics --yes",
    "copy-offsets --from {} --to off-copy --dry-run",
    "check {} --fail-on lag>5",
    "doctor {} --over 100ms",
    "peek {}",
    "remove-members {} --all --yes",
    "config {}",
)


@pytest.fixture(scope="module")
def off() -> Iterator[KafkaCluster]:
    """A cluster whose features were lowered after it had a group of each type."""
    with KafkaCluster(ClusterSpec()) as cluster:
        create_topics(cluster.bootstrap, {TOPIC: 1})
        produce(cluster.bootstrap, {(TOPIC, 0): 5})
        configure_group(cluster.bootstrap, SHARE, {"share.auto.offset.reset": "earliest"})
        with Sharer(cluster.bootstrap, SHARE, TOPIC) as sharer:
            sharer.take(5)
        with hand_member(cluster.address(), STREAMS, [subtopology("0", [TOPIC])]) as member:
            member.beat()
        set_features(cluster.address(), {"share.version": 0, "streams.version": 0})
        wait_until(lambda: _is_off(cluster), "the broker serves them no more")
        yield cluster


def _is_off(cluster: KafkaCluster) -> bool:
    return all(
        run("-b", cluster.bootstrap, "describe", group).exit_code == 1 for group in (STREAMS, SHARE)
    )


@pytest.mark.parametrize("group", [STREAMS, SHARE])
@pytest.mark.parametrize("line", LINES)
def test_a_command_names_the_feature(off: KafkaCluster, line: str, group: str) -> None:
    """In one sentence; that the group is not there is nowhere said."""
    outcome = run("-b", off.bootstrap, *shlex.split(line.format(group)), "--timeout", "60s")
    assert outcome.exit_code == 1
    assert outcome.stderr.count(WHY[group]) == 1
    assert "no such group" not in outcome.stderr


def test_official_tools(off: KafkaCluster) -> None:
    """The tool of the type is told that it is not served; that of another finds no such group."""
    where = ("--bootstrap-server", off.bootstrap, "--describe", "--group", SHARE)
    share = run("official", "kafka-share-groups.sh", *where)
    consumer = run("official", "kafka-consumer-groups.sh", *where)
    assert (share.exit_code, consumer.exit_code) == (1, 1)
    assert "UnsupportedVersionException" in share.stderr
    assert f"GroupIdNotFoundException: Group {SHARE} not found." in consumer.stderr


def test_others(off: KafkaCluster) -> None:
    """`list` has them; a group that is not there is not found."""
    items = run("-b", off.bootstrap, "list", "-o", "json").document["items"]
    assert [item["type"] for item in items] == ["share", "streams"]
    assert run("-b", off.bootstrap, "describe", "off-nobody").exit_code == 5


def test_dead_letters_of_share_version_1() -> None:
    """The brokers take their configurations and write none: `config` and `describe` say so."""
    group, name, letters = "off-letters", "errors.deadletterqueue.topic.name", "dlq.off"
    with KafkaCluster(ClusterSpec()) as cluster:
        create_topics(cluster.bootstrap, {TOPIC: 1, letters: 1})
        produce(cluster.bootstrap, {(TOPIC, 0): 2})
        configure_group(cluster.bootstrap, group, {"share.auto.offset.reset": "earliest"})
        with Sharer(cluster.bootstrap, group, TOPIC) as sharer:
            sharer.take(2)
        line = ("config", group, "--set", f"{name}={letters}", "--yes", "--no-undo")
        shown = ("describe", group, "--deliveries", "-o", "json")
        assert "NO_DEAD_LETTERS" not in _codes(cluster, *line, "-o", "json")
        assert "NO_DEAD_LETTERS" not in _codes(cluster, *shown)
        item = run("-b", cluster.bootstrap, *shown).document["items"][0]
        assert {row["dead_letter_topic"] for row in item["deliveries"]} == {letters}
        table = run("-b", cluster.bootstrap, *shown[:-2], "--verbose").stdout
        assert "DEAD-LETTERS" in table
        assert letters in table
        set_features(cluster.address(), {"share.version": 1})
        wait_until(lambda: "NO_DEAD_LETTERS" in _codes(cluster, *shown), "the feature is lowered")
        told = run("-b", cluster.bootstrap, "config", group)
        why = "the feature `share.version` is 1, dead letters require 2"
        assert f"no dead letters of `{group}` are written: {why}" in told.stderr
        assert "NO_DEAD_LETTERS" in _codes(
            cluster, *line[:3], f"{name}=x", "--dry-run", "-o", "json"
        )


def test_brokers_of_4_3() -> None:
    """What needs 4.4 says so: the nodes of a topology, and where dead letters go."""
    with KafkaCluster(ClusterSpec(release="4.3")) as cluster:
        create_topics(cluster.bootstrap, {TOPIC: 1})
        with hand_member(cluster.address(), STREAMS, [subtopology("0", [TOPIC])]) as member:
            member.beat()
            shown = run("-b", cluster.bootstrap, "describe", STREAMS, "--tasks", "--verbose")
        assert (shown.exit_code, shown.stdout.count("\n")) == (0, 2)
        assert "no topology nodes of `off-streams`: requires brokers of Kafka 4.4" in shown.stderr
        line = ("config", SHARE, "--set", "errors.deadletterqueue.topic.name=dlq", "--yes")
        refused = run("-b", cluster.bootstrap, *line)
        assert refused.exit_code == 5
        why = "the brokers have no group configuration `errors.deadletterqueue.topic.name`"
        assert f"error: {why}\n\nhint: Kafka 4.4 has it" in refused.stderr


def _codes(cluster: KafkaCluster, *line: str) -> set[str]:
    outcome = run("-b", cluster.bootstrap, *line)
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.note_codes
