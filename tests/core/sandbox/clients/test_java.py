"""Kafka's own programs on the embedded cluster: the consumer-groups tool and the Java consumer."""

import re

import pytest

from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.config.settings import ClientSettings
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.fidelity.java_members import JavaMembers
from tests.support.kafka.child import run_program
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.official_tools import WarmTools
from tests.support.kafka.waiting import wait_until
from tests.support.sandbox.librdkafka_members import Member, produce

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
JAVA_TIMEOUT_S = 90


def table(text: str) -> list[dict[str, str]]:
    """Rows of a tool's table by column; what stands before the heading is passed over."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    at = next(index for index, line in enumerate(lines) if line[0] == "GROUP")
    return [dict(zip(lines[at], line, strict=False)) for line in lines[at + 1 :]]


@pytest.fixture(scope="module")
def lively(cluster: Sandbox) -> Sandbox:
    """A cluster with records and a group `java-g` that has read 40 of 60."""
    servers = cluster.bootstrap_servers
    cluster.create_topic("jt", 4)
    produce(servers, "jt", 40)
    with Member(servers, "java-g", ["jt"], "m") as member:
        wait_until(lambda: len(member.values) == 40, what="40 records")
    produce(servers, "jt", 20)
    return cluster


def test_the_tool_lists_and_describes(lively: Sandbox, official: WarmTools) -> None:
    """--list, --describe with lag, --state and --members of a group that lives."""
    servers = lively.bootstrap_servers
    listed = official.groups_tool(servers, "--list")
    assert listed.status == 0, listed
    assert "java-g" in listed.stdout.split()
    described = official.groups_tool(servers, "--describe", "--group", "java-g")
    rows = {row["PARTITION"]: row for row in table(described.stdout)}
    assert {row["LAG"] for row in rows.values()} == {"5"}
    assert {row["CURRENT-OFFSET"] for row in rows.values()} == {"10"}
    with Member(servers, "java-live", ["jt"], "alive") as member:
        wait_until(lambda: len(member.partitions()) == 4, what="the partitions")
        members = official.groups_tool(
            servers, "--describe", "--group", "java-live", "--members", "--verbose"
        )
        (row,) = table(members.stdout)
        assert row["CLIENT-ID"] == "alive"
        assert row["#PARTITIONS"] == "4"
        state = official.groups_tool(servers, "--describe", "--group", "java-live", "--state")
        assert "Stable" in state.stdout


def test_the_tool_describes_a_consumer_group(lively: Sandbox, official: WarmTools) -> None:
    """A KIP-848 group with its epochs."""
    servers = lively.bootstrap_servers
    with Member(servers, "java-848", ["jt"], "alive", group_protocol="consumer") as member:
        wait_until(lambda: len(member.partitions()) == 4, what="the partitions")
        answer = official.groups_tool(
            servers, "--describe", "--group", "java-848", "--members", "--verbose"
        )
        assert answer.status == 0, answer
        (row,) = table(answer.stdout)
        assert row["CURRENT-EPOCH"] == row["TARGET-EPOCH"]


def test_the_tool_resets_and_deletes(lively: Sandbox, official: WarmTools) -> None:
    """--reset-offsets, --delete-offsets and --delete change what they say."""
    servers = lively.bootstrap_servers
    group = ("--group", "java-admin")
    reset = official.groups_tool(
        servers, "--reset-offsets", *group, "--topic", "jt", "--to-offset", "3", "--execute"
    )
    assert reset.status == 0, reset
    described = official.groups_tool(servers, "--describe", *group)
    assert {row["CURRENT-OFFSET"] for row in table(described.stdout)} == {"3"}
    gone = official.groups_tool(servers, "--delete-offsets", *group, "--topic", "jt:0")
    assert gone.status == 0, gone
    described = official.groups_tool(servers, "--describe", *group)
    assert {row["PARTITION"] for row in table(described.stdout)} == {"1", "2", "3"}
    deleted = official.groups_tool(servers, "--delete", *group)
    assert "java-admin" in deleted.stdout
    assert deleted.status == 0, deleted
    listed = official.groups_tool(servers, "--list")
    assert "java-admin" not in listed.stdout.split()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_the_java_consumer_reads(lively: Sandbox, protocol: str) -> None:
    """It joins in either protocol, reads from the beginning, commits and leaves."""
    group = f"java-{protocol}"
    done = run_program(java_command(
            class_path(),
            CONSOLE_CONSUMER,
            "--bootstrap-server", lively.bootstrap_servers,
            "--topic", "jt",
            "--group", group,
            "--from-beginning",
            "--max-messages", "60",
            "--timeout-ms", "60000",
            "--command-property", f"group.protocol={protocol}",
        ), timeout_s=JAVA_TIMEOUT_S)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 60
    lines = [str(line) for line in lively.events if f"group {group}:" in str(line)]
    assert any(re.search(r": member \S+ removed: left", line) for line in lines), lines


@pytest.mark.slow("jars of another release; those of the newest with tools are in every run")
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_of_kafka_clients_4_4_share_a_topic(lively: Sandbox, protocol: str) -> None:
    """Two of them join, have two partitions each, commit and leave."""
    group = f"java-4-4-{protocol}"
    config = {
        "bootstrap.servers": lively.bootstrap_servers,
        "group.id": group,
        "group.protocol": protocol,
        "auto.offset.reset": "earliest",
    }
    with (
        JavaMembers("4.4") as java,
        ClusterAdmin(ClientSettings(lively.bootstrap_servers)) as admin,
    ):

        def shares() -> tuple[list[int], int]:
            """Partitions of each member, and the sum of the commits."""
            groups = admin.snapshot([group]).groups
            members = groups[0].members or () if groups else ()
            commits = (groups[0].offsets or {}).get("jt", {}) if groups else {}
            owned = sorted(len((each.assignment or {}).get("jt", ())) for each in members)
            return owned, sum(one.offset for one in commits.values())

        for name in ("one", "two"):
            java.open(name, config | {"client.id": name}, {"topics": ["jt"]})
        wait_until(lambda: shares() == ([2, 2], 60), what="two partitions each, all read")
        for name in ("one", "two"):
            java.close(name)
        wait_until(lambda: shares() == ([], 60), what="both have left")
