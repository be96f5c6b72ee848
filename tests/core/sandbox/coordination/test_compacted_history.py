"""`kgroups history` of a log that is compacted: what is gone is said, the rest is whole."""

from itertools import count

from confluent_kafka import Consumer, TopicPartition

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.sandbox.limits import Limits
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, MemberSpec

LIMITS = Limits(offsets_log_bytes=20_000)
COMMITS = 300
PARTITION = offsets_partition("g", 50)


def test_what_compaction_removed_is_said() -> None:
    """The generations before it are a gap, and what came after is told as ever."""
    neighbour = next(name for n in count() if offsets_partition(name := f"x{n}", 50) == PARTITION)
    with Sandbox(brokers=1, topics={"t": 2}, limits=LIMITS) as cluster:
        servers = cluster.bootstrap_servers
        with LiveGroup(servers, "g", [MemberSpec("a", ("t",))]) as group:
            group.wait_stable(2)
            group.add(MemberSpec("b", ("t",)))
            group.wait_stable(2)
            settings = {"bootstrap.servers": servers, "group.id": neighbour, "log_level": 0}
            other = Consumer(settings)
            for number in range(COMMITS):
                other.commit(offsets=[TopicPartition("t", 0, number)], asynchronous=False)
            other.close()
            group.remove(group.members[1])
            group.wait_stable(2)
            document = run("-b", servers, "history", "g", "-o", "json").document
    first, *_ = document["items"]
    assert (first["kind"], first["cause"]) == ("gap", "compaction")
    *_, last = (item for item in document["items"] if item["kind"] == "rebalance")
    assert [one["client_id"] for one in last["left"]] == ["b"]
    assert [note["code"] for note in document["notes"]] == ["HISTORY_COMPACTED"]
    (summary,) = document["summary"]["groups"]
    assert summary["whole_since_at"] is not None
