"""`plan` of share groups on the real broker: what its members then get is what was planned."""

from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.cli.runner import run
from tests.support.fidelity.doing import grow_topic
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.share_groups import Sharer
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics

pytestmark = pytest.mark.kafka

Held = set[tuple[str, int, str]]


def held(kafka: KafkaCluster, group: str) -> Held:
    """Topic, partition and member for all that members have now."""
    outcome = run("-b", kafka.bootstrap, "describe", group, "--members", "-o", "json")
    return {
        (topic, number, member["member_id"])
        for item in outcome.document["items"]
        for member in item["members"]
        for topic, numbers in (member["assignment"] or {}).items()
        for number in numbers
    }


def planned(kafka: KafkaCluster, group: str, *changes: str) -> Any:
    """The plan of the group, and the member of each partition after it."""
    outcome = run("-b", kafka.bootstrap, "plan", group, *changes, "-o", "json")
    assert outcome.exit_code == 0, outcome.stderr
    (item,) = outcome.document["items"]
    rows = item["partitions"]
    return item, {(row["topic"], row["partition"], row["to"]) for row in rows if row["to"]}


def members_of(found: Held) -> dict[str, int]:
    """How many partitions each member has."""
    names = [name for _, _, name in found]
    return {name: names.count(name) for name in set(names)}


def test_plans_come_true(kafka: KafkaCluster) -> None:
    """A member that leaves and a topic that grows change what was planned; one more joins."""
    group, topic = "share-planned", "share-planned-t"
    create_topics(kafka.bootstrap, {topic: 5})
    with ExitStack() as stack:
        sharers = [
            stack.enter_context(Sharer(kafka.bootstrap, group, topic, f"sharer-{number}"))
            for number in range(3)
        ]
        last = stack.enter_context(ExitStack())

        def settled(count: int) -> bool:
            for sharer in sharers:
                sharer.consumer.poll(0.1)
            found = held(kafka, group)
            return len(members_of(found)) == count and found == planned(kafka, group)[1]

        wait_until(lambda: settled(3), "three members share the partitions")
        before = held(kafka, group)
        grown, to_grow = planned(kafka, group, "--set-partitions", f"{topic}=9")
        assert (grown["confidence"], grown["member_count"]) == ("exact", 3)
        grow_topic(kafka.bootstrap, topic, 9)
        wait_until(lambda: settled(3) and held(kafka, group) == to_grow, "it came true")
        assert len(to_grow) > len(before)
        one_more, joined = planned(kafka, group, "--add-members", "1")
        assert one_more["member_count"] == 4
        sharers.append(last.enter_context(Sharer(kafka.bootstrap, group, topic, "sharer-3")))
        wait_until(lambda: settled(4), "the fourth has its share")
        sizes = [sorted(members_of(each).values()) for each in (held(kafka, group), joined)]
        assert sizes[0] == sizes[1]
        clients = run("-b", kafka.bootstrap, "describe", group, "--members", "-o", "json")
        (leaver,) = (
            member["member_id"]
            for member in clients.document["items"][0]["members"]
            if member["client_id"] == "sharer-3"
        )
        _, without = planned(kafka, group, "--remove-member", leaver)
        sharers.pop()
        last.close()
        wait_until(lambda: settled(3) and held(kafka, group) == without, "it came true again")
        table = run("-b", kafka.bootstrap, "plan", group, "--output", "csv").stdout.splitlines()
        assert table[0] == "group,topic,partition,from,to,kind"
        assert len(table) == 1 + len(without)
    refused = run("-b", kafka.bootstrap, "plan", group, "--rolling-restart", "all")
    assert (refused.exit_code, "are not restarted" in refused.stderr) == (2, True)
    wait_until(lambda: held(kafka, group) == set(), "nobody is left")
    empty = run("-b", kafka.bootstrap, "plan", group)
    assert (empty.exit_code, "has no members" in empty.stderr) == (0, True)
