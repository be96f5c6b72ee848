"""`kgroups history --captures`: what members did, event for event, though the log is compacted.

Without the cluster, too. What captures do not know is not made up.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.sandbox import Sandbox
from tests.kafka.reads.test_history import Event, member_events
from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, MemberSpec, Protocol

LIMITS = Limits(offsets_log_bytes=20_000)
COMMITS = 300
PROTOCOLS: tuple[Protocol, ...] = ("classic", "consumer")


class Recorded:
    """A cluster whose group was driven, captured after each step, and its log compacted.

    Attributes:
        done: what members did after the first capture; `since` of it after the compaction.
    """

    def __init__(self, servers: str, folder: Path, protocol: Protocol) -> None:
        self.servers, self.folder = servers, folder
        self.name = f"captured-{protocol}"
        self.done: list[Event] = []
        with LiveGroup(servers, self.name, [MemberSpec("a", ("t",))], protocol=protocol) as group:
            group.wait_stable(2)
            self.capture()
            for client in ("b", "c"):
                group.add(MemberSpec(client, ("t",)))
                group.wait_stable(2)
                self.step((client,), ())
            second = group.members[1]
            own = sorted(second.owned)[0]
            for offset in (9, 4):
                second.commit({own: offset})
                self.capture()
            group.remove(second)
            group.wait_stable(2)
            self.step((), ("b",))
            self.compact()
            group.add(MemberSpec("d", ("t",)))
            group.wait_stable(2)
            self.step(("d",), ())

    def step(self, joined: tuple[str, ...], left: tuple[str, ...]) -> None:
        """What was done just now."""
        self.done.append(("rebalance", joined, left, ()))
        self.capture()

    def capture(self) -> None:
        """One capture."""
        outcome = run("-b", self.servers, "lag", "collect", str(self.folder))
        assert outcome.exit_code == 0, outcome.stderr

    def compact(self) -> None:
        """Commits of another group on the same partition, until the log is compacted."""
        partition = offsets_partition(self.name, 50)
        neighbour = next(
            name for n in count() if offsets_partition(name := f"x{n}", 50) == partition
        )
        other = Consumer({"bootstrap.servers": self.servers, "group.id": neighbour, "log_level": 0})
        for number in range(COMMITS):
            other.commit(offsets=[TopicPartition("t", 0, number)], asynchronous=False)
        other.close()

    def history(self, *words: str) -> Any:
        """The document."""
        outcome = run("history", self.name, *words, "-o", "json")
        assert outcome.exit_code == 0, outcome.stderr
        return outcome.document


@pytest.fixture(scope="module", params=PROTOCOLS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Recorded]:
    """One for each protocol."""
    folder = tmp_path_factory.mktemp("captures") / "captures"
    with Sandbox(brokers=1, topics={"t": 2}, limits=LIMITS) as cluster:
        yield Recorded(cluster.bootstrap_servers, folder, request.param)


def test_records_and_captures_together(recorded: Recorded) -> None:
    """Each event once, those that compaction removed by captures; members left at the end."""
    words = ("-b", recorded.servers, "--captures", str(recorded.folder))
    document = recorded.history(*words)
    assert member_events(document["items"])[: len(recorded.done)] == recorded.done
    sources = [item["source"] for item in document["items"] if item["kind"] == "rebalance"]
    assert sources[0] == "captures"
    assert "records" in sources
    for item in document["items"]:
        is_captured = item["source"] == "captures"
        assert (item["within_seconds"] is not None) == is_captured
        if is_captured and item["kind"] == "rebalance":
            assert item["certainty"] == "likely"


def test_records_alone(recorded: Recorded) -> None:
    """The generations that compaction removed are a gap, and what came after is told as ever."""
    document = recorded.history("-b", recorded.servers)
    gap = next(item for item in document["items"] if item["kind"] == "gap")
    assert gap["cause"] == "compaction"
    left = {client for *_, gone, _ in member_events(document["items"]) for client in gone}
    assert left == {"a", "c", "d"}
    assert [note["code"] for note in document["notes"]] == ["HISTORY_COMPACTED"]
    (summary,) = document["summary"]["groups"]
    assert summary["whole_since_at"] is not None


def test_captures_alone(recorded: Recorded) -> None:
    """Without a cluster: all that happened between the first capture and the last."""
    document = recorded.history("--captures", str(recorded.folder))
    assert member_events(document["items"]) == recorded.done
    assert {item["source"] for item in document["items"]} == {"captures"}
    assert [note["code"] for note in document["notes"]] == ["LOG_UNREAD"]
    (commits,) = (item["commits"] for item in document["items"] if item["commits"])
    assert (commits["count"], commits["backwards"]) == (2, 1)
    numbers = [
        item["generation"] or item["epoch"]
        for item in document["items"]
        if item["kind"] == "rebalance"
    ]
    assert None not in numbers
    assert numbers == sorted(set(numbers))
