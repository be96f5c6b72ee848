"""Who leads a group, out of the cluster's `__consumer_offsets`: found, gone, far back, or denied.

The same on the embedded cluster: `tests/core/sandbox/suites`.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from kgroups.core.coordinator.placement import offsets_partition
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.logged_leaders import QUICK, logged_leaders
from kgroups.core.kafka.lookups.newest_records import Reach
from kgroups.core.snapshot import Group
from tests.support.cli.runner import run
from tests.support.fidelity.driven_group import DrivenGroup, MemberSpec
from tests.support.fidelity.hosts.pool import HostPool
from tests.support.fidelity.libraries import Library
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import admin_of, commit_offsets, create_topics

pytestmark = pytest.mark.kafka

PARTITIONS = 200
ROUNDS = 40


@pytest.fixture(scope="module")
def hosts() -> Iterator[HostPool]:
    """Programs that hold members."""
    with HostPool() as pool:
        yield pool


@pytest.fixture
def admin(cluster_address: str) -> Iterator[ClusterAdmin]:
    """Questions to the cluster."""
    with ClusterAdmin(settings_from_text("", cluster_address), timeout_ms=60_000) as asked:
        yield asked


def mixed(
    hosts: HostPool, bootstrap: str, name: str, libraries: tuple[Library, ...]
) -> DrivenGroup:
    """A classic group whose members joined one after the other, the first one leading."""
    topics = {f"{name}-t": 4}
    create_topics(bootstrap, topics)
    group = DrivenGroup(hosts, bootstrap, name, "classic", "range", topics)
    for number, library in enumerate(libraries, 1):
        group.join([MemberSpec(f"m{number}", library, tuple(topics))])
        stable(bootstrap, name, number)
    return group


def stable(bootstrap: str, name: str, members: int) -> Group:
    """The group when it is Stable with so many members."""
    with ClusterAdmin(settings_from_text("", bootstrap), timeout_ms=30_000) as asked:

        def settled() -> Group | None:
            groups = asked.snapshot([name]).groups
            whole = (
                groups and groups[0].state == "Stable" and len(groups[0].members or ()) == members
            )
            return groups[0] if whole else None

        found = wait_until(settled, f"{name} is stable with {members} members", timeout_s=240)
        assert found is not None
        return found


def id_of(group: Group, client_id: str) -> str:
    """Member id of the only member with this client id."""
    (found,) = (m.member_id for m in group.members or () if m.client_id == client_id)
    return found


@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("ll-java", ("java", "librdkafka")),
        ("ll-rdkafka", ("librdkafka", "java")),
    ],
)
def test_the_record_names_the_leader(
    hosts: HostPool,
    cluster_address: str,
    tmp_path: Path,
    name: str,
    libraries: tuple[Library, ...],
) -> None:
    """Members of two libraries: one quick look names the one that joined first, unasked.

    A snapshot holds that, and what the leader has assigned: a plan from it is the live one.
    """
    with mixed(hosts, cluster_address, name, libraries):
        group = stable(cluster_address, name, 2)
        with ClusterAdmin(settings_from_text("", cluster_address)) as asked:
            led = logged_leaders(asked, [group], QUICK).led(group)
        assert led.leader == id_of(group, "m1")
        told = run("-b", cluster_address, "plan", name, "--add-members", "1", "-o", "json")
        (item,) = told.document["items"]
        assert item["leader_member_id"] == id_of(group, "m1")
        assert item["leader_client"] == libraries[0]
        assert "`__consumer_offsets` names the leader" in item["confidence_reason"]
        for file in (tmp_path / "s.json", tmp_path / "s.jsonl.zst"):
            assert run("-b", cluster_address, "snapshot", "save", str(file)).exit_code == 0
            saved = run("plan", name, "--from", str(file), "--add-members", "1", "-o", "json")
            assert saved.document["items"] == [item]


def test_a_deleted_group(cluster_address: str, admin: ClusterAdmin, hosts: HostPool) -> None:
    """Its newest record deletes it."""
    with mixed(hosts, cluster_address, "ll-gone", ("librdkafka",)) as driven:
        group = stable(cluster_address, "ll-gone", 1)
        assert logged_leaders(admin, [group], QUICK).found["ll-gone"] is not None
        driven.leave(["m1"])
    broker = admin_of(cluster_address)
    wait_until(
        lambda: broker.delete_consumer_groups(["ll-gone"])["ll-gone"].exception() is None,
        "the empty group is deleted",
    )
    assert logged_leaders(admin, [group], QUICK).found == {"ll-gone": None}
    assert logged_leaders(admin, [group]).found == {"ll-gone": None}


def test_what_the_leader_has_assigned(
    hosts: HostPool, cluster_address: str, admin: ClusterAdmin
) -> None:
    """A static leader that came back has assigned nothing yet, and the next round then."""
    name = "ll-back"
    with mixed(hosts, cluster_address, name, ()) as driven:
        topics = tuple(driven.topics)
        first = MemberSpec("m1", "librdkafka", topics, instance="k-m1")
        driven.join([first])
        stable(cluster_address, name, 1)
        driven.join([MemberSpec("m2", "librdkafka", topics)])
        before = stable(cluster_address, name, 2)
        led_before = led_now(admin, before)
        assert [len(led.members or ()) for led in led_before.led] == [1, 2]
        assert not led_before.leader_is_back
        driven.leave(["m1"])
        driven.join([first])
        leads = id_of(before, "m1")
        back = wait_until(
            lambda: other_leader(admin, stable(cluster_address, name, 2), leads),
            "the log names the leader by its new id",
        )
        assert back is not None
        assert (back.led, back.leader_is_back) == ((), True)
        driven.join([MemberSpec("m3", "librdkafka", topics)])
        after = led_now(admin, stable(cluster_address, name, 3))
        assert after.leader == back.leader == id_of(after, "m1")
        assert not after.leader_is_back
        (led,) = after.led
        assert {m.member_id: m.assignment for m in led.members or ()} == {
            m.member_id: m.assignment for m in after.members or ()
        }


def led_now(admin: ClusterAdmin, group: Group) -> Group:
    """The group with what one quick look at the log shows of its leader."""
    return logged_leaders(admin, [group], QUICK).led(group)


def other_leader(admin: ClusterAdmin, group: Group, than: str) -> Group | None:
    """The group, if the log names a leader with another id."""
    found = led_now(admin, group)
    return found if found.leader not in (None, than) else None


def neighbour(group: str, partitions: int) -> str:
    """Another group on the same partition."""
    wanted = offsets_partition(group, partitions)
    names = (f"ll-beside-{number}" for number in count())
    return next(name for name in names if offsets_partition(name, partitions) == wanted)


def test_far_back_in_a_long_log(cluster_address: str, admin: ClusterAdmin, hosts: HostPool) -> None:
    """A quick look does not find it behind thousands of commits; reading on does, up to a bound."""
    create_topics(cluster_address, {"ll-wide": PARTITIONS})
    with mixed(hosts, cluster_address, "ll-far", ("librdkafka",)):
        group = stable(cluster_address, "ll-far", 1)
        beside = neighbour("ll-far", 50)
        for number in range(ROUNDS):
            commits = {("ll-wide", partition): number for partition in range(PARTITIONS)}
            commit_offsets(cluster_address, {beside: commits})
        quick = logged_leaders(admin, [group], QUICK)
        assert quick.found == {}
        assert list(quick.unread) == [group.offsets_partition]
        bounded = logged_leaders(admin, [group], Reach(most_bytes=1))
        assert bounded.found == {}
        assert bounded.unread.keys() == quick.unread.keys()
        led = logged_leaders(admin, [group]).led(group)
        assert led.leader == id_of(group, "m1")
        told = run("-b", cluster_address, "plan", "ll-far", "--leader-from-log", "-o", "json")
        assert told.document["items"][0]["leader_member_id"] == id_of(group, "m1")


def test_a_group_that_was_never_there(
    admin: ClusterAdmin, hosts: HostPool, cluster_address: str
) -> None:
    """Nothing is found, and everything was read; a broker that does not have it says so."""
    with mixed(hosts, cluster_address, "ll-here", ("librdkafka",)):
        group = stable(cluster_address, "ll-here", 1)
        absent = replace(group, group=neighbour("ll-here", 50))
        answer = logged_leaders(admin, [group, absent])
        assert set(answer.found) == {"ll-here"}
        assert answer.unread == {}
        assert answer.failures == {}
        nowhere = replace(group, offsets_partition=10_000)
        failed = logged_leaders(admin, [nowhere])
        assert failed.failures == {10_000: "UNKNOWN_TOPIC_OR_PARTITION"}


def test_the_options_that_exclude_each_other(cluster_address: str) -> None:
    """Both say who leads; a file has no log."""
    both = run("-b", cluster_address, "plan", "g", "--as", "java", "--leader-from-log")
    assert both.exit_code == 2
    assert "cannot be used together" in both.stderr


def test_a_file_has_no_log(tmp_path: Path) -> None:
    """Refused before anything is read."""
    refused = run("plan", "--from", str(tmp_path / "s.json"), "--leader-from-log")
    assert refused.exit_code == 2
    assert "cannot be used together" in refused.stderr
