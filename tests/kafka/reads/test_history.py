"""`kgroups history` says what members did, event for event, and reads what Kafka's formatters read.

The same on the embedded cluster: `tests/core/sandbox/suites`.
"""

import gzip
from pathlib import Path
from typing import Any

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from tests.support.cli.runner import run
from tests.support.kafka.live_members import LiveGroup, LiveMember, MemberSpec, Protocol
from tests.support.kafka.protocols import PROTOCOLS
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.workload import commit_offsets, create_topics

pytestmark = pytest.mark.kafka

PARTITIONS = 4
Event = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]


def history(bootstrap: str, *words: str) -> Any:
    """The document."""
    outcome = run("-b", bootstrap, "history", *words, "-o", "json", "--timeout", "60s")
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.document


def names(members: list[Any]) -> tuple[str, ...]:
    """Client ids."""
    return tuple(sorted(one["client_id"] for one in members))


def member_events(items: list[Any]) -> list[Event]:
    """Kind, and who joined, left and was replaced, of the changes in which anybody did."""
    found = [
        (item["kind"], *(names(item[what]) for what in ("joined", "left", "replaced")))
        for item in items
    ]
    return [event for event in found if any(event[1:])]


class Driven:
    """A group that is driven, and what was done to it."""

    def __init__(self, bootstrap: str, name: str, protocol: Protocol) -> None:
        create_topics(bootstrap, {f"{name}-t": PARTITIONS})
        self.group = LiveGroup(bootstrap, name, (), protocol=protocol)
        self.done: list[Event] = []
        self.topic = f"{name}-t"

    def join(self, client: str, instance: str = "") -> LiveMember:
        """One member joins."""
        member = self.group.add(MemberSpec(client, (self.topic,), instance))
        self.group.wait_stable(PARTITIONS)
        self.done.append(("rebalance", (client,), (), ()))
        return member

    def leave(self, member: LiveMember) -> None:
        """One leaves."""
        self.group.remove(member)
        if self.group.members:
            self.group.wait_stable(PARTITIONS)
        self.done.append(("rebalance", (), (member.spec.client_id,), ()))

    def return_as(self, member: LiveMember) -> LiveMember:
        """A static member restarts: it keeps its place."""
        self.group.remove(member)
        back = self.group.add(member.spec)
        self.group.wait_stable(PARTITIONS)
        self.done.append(("members", (), (), (member.spec.client_id,)))
        return back


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_event_for_event(cluster_address: str, protocol: Protocol) -> None:
    """Members join, leave, come back and commit, also backwards; then the group is deleted."""
    name = f"hist-{protocol}"
    driven = Driven(cluster_address, name, protocol)
    with driven.group:
        first = driven.join("app-1")
        second = driven.join("app-2")
        own = sorted(second.owned)[0]
        second.commit({own: 5})
        second.commit({own: 3})
        driven.leave(second)
        driven.join("app-2")
        described = run("-b", cluster_address, "describe", name, "--members", "-o", "json")
        so_far = history(cluster_address, name)
        driven.leave(first)
        driven.leave(driven.group.members[0])
    with ClusterAdmin(settings_from_text("", cluster_address)) as admin:
        admin.delete_groups([name])
    document = history(cluster_address, name)
    items = document["items"]
    assert member_events(items) == driven.done
    assert items[-1]["kind"] == "deleted"
    numbers = [
        item["generation" if protocol == "classic" else "epoch"]
        for item in items
        if item["kind"] == "rebalance"
    ]
    assert numbers == sorted(set(numbers))
    commits = [item["commits"] for item in items if item["commits"] and item["commits"]["count"]]
    assert [(one["count"], one["backwards"]) for one in commits] == [(2, 1)]
    (setback,) = commits[0]["setbacks"]
    place = (setback["topic"], setback["partition"])
    assert (place, setback["old_offset"], setback["new_offset"]) == (own, 5, 3)
    (group,) = described.document["items"]
    *_, last = (item for item in so_far["items"] if item["kind"] == "rebalance")
    assert last["member_count"] == len(group["members"])
    assert {one["member_id"] for one in last["joined"]} <= {
        one["member_id"] for one in group["members"]
    }
    assert document["summary"]["groups"][0]["most_changes"] == {
        "client_id": "app-2",
        "rebalances": 4,
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_static_member_restarts(cluster_address: str, protocol: Protocol) -> None:
    """No rebalance: a change of members within the generation or epoch."""
    driven = Driven(cluster_address, f"hist-static-{protocol}", protocol)
    with driven.group:
        member = driven.join("app-1", "one")
        driven.return_as(member)
        document = history(cluster_address, driven.group.group)
    assert member_events(document["items"]) == driven.done
    causes = [item["cause"] for item in document["items"]]
    # a coordinator may learn of a topic after its first reader has joined
    assert [one for one in causes if one != "topics_changed"] == ["created", "static_return"]


def test_several_groups(cluster_address: str) -> None:
    """One that only commits, one that never was, and one in whose window nothing happened."""
    create_topics(cluster_address, {"hist-t": 1})
    commit_offsets(cluster_address, {"hist-a": {("hist-t", 0): 4}, "hist-b": {("hist-t", 0): 1}})
    outcome = run("-b", cluster_address, "history", "hist-a", "hist-none", "-o", "json")
    assert outcome.exit_code == 5
    (item,) = outcome.document["items"]
    assert (item["group"], item["kind"], item["commits"]["count"]) == ("hist-a", "commits", 1)
    (error,) = outcome.document["errors"]
    assert (error["target"], error["code"]) == ("hist-none", "GROUP_ID_NOT_FOUND")
    later = history(cluster_address, "hist-b", "--since", "2100-01-01T00:00Z")
    assert later["items"] == []
    assert [note["code"] for note in later["notes"]] == ["NOTHING_HAPPENED"]
    table = run("-b", cluster_address, "history", "hist-a", "hist-b")
    assert table.exit_code == 0
    assert [line.split()[0] for line in table.stdout.splitlines()] == ["GROUP", "hist-a", "hist-b"]


def test_a_log_beside_the_records(cluster_address: str, tmp_path: Path) -> None:
    """Of something else, or of the group's own member, whose leave it explains."""
    name = "hist-explained"
    driven = Driven(cluster_address, name, "classic")
    with driven.group:
        driven.leave(driven.join("app-1"))
    (left,) = (one for item in history(cluster_address, name)["items"] for one in item["left"])
    line = (
        f"[2026-11-21 06:00:00,000] INFO [GroupCoordinator id=1] [Group {name}] Member"
        f" {left['member_id']} has left group through explicit `LeaveGroup` request; client reason:"
        " consumer poll timeout has expired. (org.apache.kafka.X)\n"
    )
    words = ("-b", cluster_address, "history", name, "-o", "json")
    other = tmp_path / "server.log"
    other.write_text("[2026-11-21 06:00:00,000] INFO nothing of the group\n" * 9)
    outcome = run(*words, "--log", "-", "--log", str(other), stdin=line)
    document = outcome.document
    *_, last = document["items"]
    assert (last["cause"], last["certainty"]) == ("poll_timeout", "certain")
    assert last["left"][0]["reason"] == "consumer poll timeout has expired."
    assert [note["code"] for note in document["notes"]] == ["LOG_READ", "LOG_UNMATCHED"]
    assert [log["lines_matched"] for log in document["summary"]["logs"]] == [1, 0]
    torn = tmp_path / "torn.gz"
    torn.write_bytes(gzip.compress(line.encode())[:-9])
    for bad in (str(torn), str(tmp_path), str(tmp_path / "none.log")):
        assert run(*words, "--log", bad).exit_code == 2
    assert run(*words, "--log", "-", "--log", "-").exit_code == 2
