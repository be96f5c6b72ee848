"""`plan` of share groups on the real broker: what its members then get is what was planned."""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.planning.holders import plan_shared
from kgroups.core.snapshot import ClusterSnapshot
from tests.support.cli.runner import run
from tests.support.fidelity.doing import grow_topic
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.share_members import ShareMembers
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.share_groups import Sharer
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import create_topics

pytestmark = pytest.mark.kafka

Held = set[tuple[str, int, str]]
Change = tuple[tuple[str, str], Callable[[], None]]
"""How it is said to `plan`, and what makes it."""


@pytest.fixture(scope="module")
def hosts() -> Iterator[HostPool]:
    """Kafka's own share consumers live in it."""
    with HostPool() as members:
        yield members


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
    assert item["assignment_interval_seconds"] == 1.0
    said = f"`{group}`: the coordinator assigns at most every 1 s"
    assert said in [note["message"] for note in outcome.document["notes"]]
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
        others = f"{topic}-unread"
        create_topics(kafka.bootstrap, {others: 2})
        assert planned(kafka, group, "--set-partitions", f"{others}=3")[1] == before
        there = run("-b", kafka.bootstrap, "plan", group, "--add-topic", f"{others}=3")
        assert (there.exit_code, "already exists" in there.stderr) == (2, True)
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
    refused = run("-b", kafka.bootstrap, "plan", group, "--fail-on", "moved > 0")
    assert refused.stderr == "error: `--fail-on` does not work with share groups\n"
    assert refused.exit_code == 2
    wait_until(lambda: held(kafka, group) == set(), "nobody is left")
    empty = run("-b", kafka.bootstrap, "plan", group)
    assert (empty.exit_code, "has no members" in empty.stderr) == (0, True)


def _partitions(found: Held) -> set[tuple[str, int]]:
    return {(topic, number) for topic, number, _ in found}


@dataclass
class Walk:
    """Random changes of a share group: each is said to `plan`, then made.

    Args:
        speakers: who may join: whether in Java.
    """

    kafka: KafkaCluster
    group: str
    members: ShareMembers
    seed: int
    speakers: tuple[bool, ...]
    counts: dict[str, int]
    joined: int = 0

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    def step(self) -> None:
        """Makes a change, and waits until it has come to what was planned."""
        kinds = [self._grow, self._subscribe]
        kinds += [self._join] * 2 if len(self.members.names) < 6 else []
        kinds += [self._leave] * 2 if len(self.members.names) > 1 else []
        before = self.snapshot()
        change, make = self.draw.choice(kinds)()
        item, wanted = planned(self.kafka, self.group, *change)
        done = f"{' '.join(change)} (seed {self.seed})"
        make()
        self.settle(done)
        if change[0] == "--add-members":
            assert item["member_count"] == len(self.members.names), done
            known = self._known(before)  # ids may decide how many members share a partition, too
            assert _partitions(wanted) == _partitions(known), done
            wanted = known
        else:
            assert item["confidence"] == "exact", done
        self.wait(lambda: held(self.kafka, self.group) == wanted, f"{done}: {wanted} by {before}")

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Until then; members are polled meanwhile."""

        def come() -> bool:
            self.members.poll()
            return condition()

        wait_until(come, what)

    def settle(self, after: str) -> None:
        """Until every member has what the last assignment gives it.

        What a member was told to subscribe to counts, not what the coordinator knows of it yet: a
        plan made in between would be of a group that is about to change.
        """

        def settled() -> bool:
            found = self.snapshot().groups  # none before the first member is there
            members = [member for group in found for member in group.members or ()]
            epochs = {epoch for group in found for epoch in (group.group_epoch, group.target_epoch)}
            epochs.update(member.member_epoch for member in members)
            read = {member.client_id: set(member.subscription or ()) for member in members}
            wanted = {
                (topic, number)
                for topic in set().union(*read.values())
                for number in range(self.counts[topic])
            }
            has = {
                (topic, number)
                for member in members
                for topic, numbers in (member.assignment or {}).items()
                for number in numbers
            }
            return len(epochs) == 1 and read == self.members.topics and has == wanted

        self.wait(settled, f"{after}: settled")

    def snapshot(self) -> ClusterSnapshot:
        """The group now."""
        with ClusterAdmin(ClientSettings(self.kafka.bootstrap)) as admin:
            return admin.snapshot([self.group])

    def _known(self, before: ClusterSnapshot) -> Held:
        """What was to come, told with the newcomer's id and place, which nobody knew then."""
        after = self.snapshot()
        (then,), (now,) = before.groups, after.groups
        had = {member.member_id: member for member in then.members or ()}
        joined = [
            had.get(member.member_id, replace(member, assignment={}))
            for member in now.members or ()
        ]
        plan = plan_shared(after, replace(now, members=tuple(joined)), [])
        assert plan.confidence == "exact"
        return {(*at, name) for at, names in plan.after.items() for name in names}

    def _join(self) -> Change:
        self.joined += 1
        name, topics = f"m{self.joined}", self._some_topics()
        in_java = self.draw.choice(self.speakers)
        change = ("--add-members", f"1:{name},topics={'+'.join(topics)}")
        return change, lambda: self.members.join(name, topics, in_java=in_java)

    def _leave(self) -> Change:
        name = self.draw.choice(self.members.names)
        return ("--remove-member", name), lambda: self.members.leave(name)

    def _grow(self) -> Change:
        topic = self.draw.choice(list(self.counts))
        count = self.counts[topic] = self.counts[topic] + self.draw.randint(1, 3)
        change = ("--set-partitions", f"{topic}={count}")
        return change, lambda: grow_topic(self.kafka.bootstrap, topic, count)

    def _subscribe(self) -> Change:
        name, topics = self.draw.choice(self.members.names), self._some_topics()
        change = ("--subscribe", f"{name}={','.join(topics)}")
        return change, lambda: self.members.subscribe(name, topics)

    def _some_topics(self) -> list[str]:
        return self.draw.sample(list(self.counts), self.draw.randint(1, 2))


@pytest.mark.slow("a JVM of share consumers; quick twin: the first test of this module")
@pytest.mark.parametrize("seed", [3, 17, 23])
@pytest.mark.parametrize("speakers", [(True,), (True, False)], ids=["java", "both"])
def test_random_changes(
    kafka: KafkaCluster, hosts: HostPool, speakers: tuple[bool, ...], seed: int
) -> None:
    """Members come, go and subscribe anew, topics grow: each time as planned."""
    group = f"share-walk-{len(speakers)}-{seed}"
    counts = {f"{group}-{side}": 2 for side in ("left", "right")}
    create_topics(kafka.bootstrap, counts)
    with ShareMembers(kafka.bootstrap, group, hosts) as members:
        walk = Walk(kafka, group, members, seed, speakers, counts)
        for number, in_java in enumerate((*speakers, True)):
            members.join(f"first{number}", list(counts), in_java=in_java)
        walk.settle(f"seed {seed}")
        for _ in range(8):
            walk.step()
