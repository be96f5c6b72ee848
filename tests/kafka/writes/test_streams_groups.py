"""Writes to streams groups on the real broker: resets, undo, deletion."""

from pathlib import Path

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    fetch_offsets,
    produce,
    topic_id_of,
)
from tests.support.streams.heartbeats import hand_member, subtopology

pytestmark = pytest.mark.kafka


def ours(kafka: KafkaCluster, *args: str) -> Outcome:
    """The end of one of our commands, as JSON."""
    return run("-b", kafka.bootstrap, *args, "-o", "json")


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
            assert (outcome.exit_code, set(outcome.results)) == (4, {"refused"})
    reset = ours(kafka, *to_3)
    assert (reset.exit_code, reset.results) == (0, ["done", "done"])
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3, (topic, 1): 3}
    later = ours(kafka, "reset-offsets", group, "--to", "latest", "--all-topics", "--yes")
    assert later.results == ["done", "done"]
    back = ours(kafka, "reset-offsets", "--undo", "last", "--yes")
    assert back.results == ["done", "done"]
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3, (topic, 1): 3}
    elsewhere = ("--to-bootstrap-server", kafka.bootstrap, "--match", "records", "--yes")
    commit_offsets(kafka.bootstrap, {"streams-written-other": {(topic, 0): 5}})
    for pair in ((group, "streams-written-copy"), ("streams-written-other", group)):
        copied = ours(kafka, "copy-offsets", "--from", pair[0], "--to", pair[1], *elsewhere)
        assert copied.exit_code == 4, copied
        assert "is a streams group" in copied.stderr
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3, (topic, 1): 3}
    some = ours(kafka, "delete-offsets", group, "--topic", f"{topic}:1", "--yes")
    assert some.results == ["done"]
    assert fetch_offsets(kafka.bootstrap, group) == {(topic, 0): 3}
    gone = ours(kafka, "delete", group, "--yes")
    assert (gone.exit_code, gone.results) == (0, ["done"])
    assert ours(kafka, "describe", group).exit_code == 5
    assert topic_id_of(kafka.bootstrap, f"{group}-store-changelog")


def test_internal_topics_go_when_asked_for(
    kafka: KafkaCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told in a note first, deleted last; one that is not internal is refused at once."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    group, topic = "streams-inner", "streams-inner-t"
    state = f"{group}-store-changelog"
    create_topics(kafka.bootstrap, {topic: 1})

    def join() -> None:
        with hand_member(kafka.address(), group, [subtopology("0", [topic], state)]) as member:
            wait_until(lambda: member.beat() is not None and bool(member.active), "it has tasks")

    join()
    to_0 = ("reset-offsets", group, "--to", "earliest", "--topic", topic, "--yes")
    for strange in (topic, "streams-inner-no-changelog"):
        refused = ours(kafka, *to_0, "--delete-internal-topic", strange)
        assert refused.exit_code == 4
        assert f"`{strange}` is not an internal topic" in refused.stdout
    both = ("--delete-internal-topic", state, "--delete-all-internal-topics")
    assert ours(kafka, *to_0, *both).exit_code == 2
    plan = ours(kafka, *to_0, "--dry-run", "--delete-all-internal-topics")
    assert [note["code"] for note in plan.document["notes"]] == ["INTERNAL_TOPICS"]
    assert plan.document["summary"]["deleted_topics"] == []
    assert topic_id_of(kafka.bootstrap, state)
    reset = ours(kafka, *to_0, "--delete-internal-topic", state)
    assert (reset.exit_code, reset.results) == (0, ["done"])
    assert reset.document["summary"]["deleted_topics"] == [state]
    again = ours(kafka, *to_0, "--delete-internal-topic", state)
    assert again.exit_code == 5  # the topic is gone; the group stands there already
    assert again.results == ["skipped"]
    assert again.document["errors"][0]["code"] == "UNKNOWN_TOPIC_OR_PARTITION"
    join()  # the broker makes the topic anew
    gone = ours(kafka, "delete", group, "--delete-all-internal-topics", "--yes")
    assert (gone.exit_code, gone.results) == (0, ["done"])
    assert gone.document["summary"]["deleted_topics"] == [state]
    with ClusterAdmin(ClientSettings(kafka.bootstrap)) as admin:
        assert state not in admin.topic_names()
        assert topic in admin.topic_names()
