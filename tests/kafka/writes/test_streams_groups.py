"""Writes to streams groups on the real broker: resets, undo, deletion."""

from pathlib import Path

import pytest

from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics, fetch_offsets, produce, topic_id_of
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = pytest.mark.kafka


def ours(kafka: KafkaCluster, *args: str) -> Outcome:
    """The end of one of our commands, as JSON."""
    return run("-b", kafka.bootstrap, *args, "-o", "json")


def results(outcome: Outcome) -> list[str]:
    """What became of each item."""
    return [row["result"] for row in outcome.document["items"]]


def test_reset_undo_and_deletion(
    kafka: KafkaCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused while a member is there; then as of consumer groups. Internal topics stay."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    group, topic = "streams-written", "streams-written-t"
    create_topics(kafka.bootstrap, {topic: 2})
    produce(kafka.bootstrap, {(topic, 0): 10, (topic, 1): 10})
    part = subtopology("0", [topic], f"{group}-store-changelog")
    to_3 = ("reset-offsets", group, "--to", "3", "--topic", topic, "--yes")
    with hand_member(kafka.address(), group, [part]) as member:
        wait_until(lambda: member.beat() is not None and bool(member.active), "it has tasks")
        for line in (to_3, ("delete", group, "--yes")):
            outcome = ours(kafka, *line)
            assert (outcome.exit_code, set(results(outcome))) == (4, {"refused"})
    reset = ours(kafka, *to_3)
    assert (reset.exit_code, results(reset)) == (0, ["done", "done"])
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3, (topic, 1): 3}
    later = ours(kafka, "reset-offsets", group, "--to", "latest", "--all-topics", "--yes")
    assert results(later) == ["done", "done"]
    back = ours(kafka, "reset-offsets", "--undo", "last", "--yes")
    assert results(back) == ["done", "done"]
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3, (topic, 1): 3}
    some = ours(kafka, "delete-offsets", group, "--topic", f"{topic}:1", "--yes")
    assert results(some) == ["done"]
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3}
    gone = ours(kafka, "delete", group, "--yes")
    assert (gone.exit_code, results(gone)) == (0, ["done"])
    assert ours(kafka, "describe", group).exit_code == 5
    assert topic_id_of(kafka.bootstrap, f"{group}-store-changelog")
