"""Members of seven client libraries share a topic of the embedded cluster, read, commit, leave.

Each runs where its language is found (tests/support/requirements.py).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from kgroups.core.protocol.errors import ErrorCode
from kgroups.core.protocol.tables.api_keys import Api
from kgroups.core.sandbox.faults.fault_rules import Fault
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.fidelity.hosts.pool import HostPool, present_libraries
from tests.support.fidelity.hosts.process import HostProcess
from tests.support.kafka.releases import NEWEST
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import fetch_offsets
from tests.support.sandbox.librdkafka_members import Member, produce
from tests.support.simulation_truth.asking import asked_of, topic_of
from tests.support.simulation_truth.rows import KINDS, Row

(WAITS,) = (kind for kind in KINDS if kind.name == "commits waited for")
# kafka-python never ends a join during which its poll, of a second, ran out of time.
SYNC: Final = replace(WAITS, settings={"heartbeat.interval.ms": 200})
KIP848: Final = replace(WAITS, protocol="consumer")
# One is a JVM for both protocols, one Go's, one in Python; librdkafka: test_confluent.py.
QUICK: Final = ("java", "franz-go", "kafka-python")
SLOW: Final = pytest.mark.slow("another program; three of them are in every run")
ROWS: Final = [
    pytest.param(Row(kind, name), marks=() if name in QUICK else SLOW, id=f"{name}-{kind.protocol}")
    for name in present_libraries()
    for kind in ((SYNC, KIP848) if name == "java" else (SYNC,))
]


class Members:
    """Those of all groups, and what they tell.

    Args:
        release: of kafka-clients.

    Attributes:
        owned: partitions of each member.
        read: partition and offset of each record, in the order in which they were handed over.
    """

    def __init__(self, release: str = NEWEST) -> None:
        self.pool = HostPool(self._hear, release)
        self.owned: dict[str, set[int]] = {}
        self.read: list[tuple[int, int]] = []
        self._hosts: dict[str, HostProcess] = {}

    def open(self, servers: str, row: Row, group: str, name: str) -> str:
        """A member begins; the name by which it tells."""
        asked = asked_of(row, name, servers=servers, group=group, store="")
        host = self._hosts[f"{group}/{name}"] = self.pool.shared(row.library, group)
        host.ask("open", **asked)
        return f"{group}/{name}"

    def close(self, name: str) -> None:
        """A member leaves."""
        self._hosts.pop(name).ask("close", name=name)
        self.owned.pop(name, None)

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for what members do; at an end where one of them has failed."""

        def holds() -> bool:
            for name, host in self._hosts.items():
                host.owned([name])
            return condition()

        wait_until(holds, what=what)

    def share(self, *counts: int) -> bool:
        """Whether members have so many partitions each, none of them twice."""
        shares = list(self.owned.values())
        sizes = sorted(map(len, shares))
        return sizes == sorted(counts) and len(set().union(*shares)) == sum(sizes)

    def _hear(self, told: Mapping[str, Any]) -> None:
        rows, own = told["partitions"], self.owned.setdefault(told["name"], set())
        match told["event"]:
            case "got":
                own.update(number for _, number in rows)
            case "gave":
                own.difference_update(number for _, number in rows)
            case "read":
                self.read += [(n, at) for _, n, begin, end in rows for at in range(begin, end)]


@pytest.fixture(scope="module")
def programs() -> Iterator[Members]:
    """The programs of the module's members."""
    found = Members()
    with found.pool:
        yield found


@pytest.fixture
def members(programs: Members) -> Members:
    """They have told nothing yet."""
    programs.owned.clear()
    programs.read.clear()
    return programs


@pytest.mark.parametrize("row", ROWS)
def test_join_share_leave(cluster: Sandbox, members: Members, row: Row) -> None:
    """Two share a topic and read it whole; one leaves; who comes later goes on after the commit.

    The first commit of eager members is refused, as one is that arrives during a rebalance.
    """
    share_and_read(cluster, members, row, f"own-{row.library}-{row.kind.protocol}")


def share_and_read(cluster: Sandbox, members: Members, row: Row, group: str) -> None:
    """What members of a row's group do, step by step."""
    servers = cluster.bootstrap_servers
    cluster.create_topic(topic_of(group), 4)
    produce(servers, topic_of(group), 40)
    late = Fault(Api.OFFSET_COMMIT, group=group, action=ErrorCode.REBALANCE_IN_PROGRESS)
    # Who keeps a partition does not commit again; kafkajs does not come to rest after it.
    has_late_commit = row.kind.protocol == "eager" and row.library != "kafkajs"
    if has_late_commit:
        cluster.add_fault(late)
    first = members.open(servers, row, group, "a")
    if has_late_commit:
        members.wait_until(lambda: late.hits == 1, "a commit that is refused")
    second = members.open(servers, row, group, "b")
    members.wait_until(lambda: members.share(2, 2), "two shares of two")
    everything = {(partition, offset) for partition in range(4) for offset in range(10)}
    members.wait_until(lambda: set(members.read) == everything, "40 records")
    whole = {(topic_of(group), partition): 10 for partition in range(4)}
    members.wait_until(lambda: fetch_offsets(servers, group) == whole, "their commits")
    members.close(second)
    members.wait_until(lambda: members.share(4), "all four")
    members.close(first)
    members.read.clear()
    produce(servers, topic_of(group), 8)
    again = members.open(servers, row, group, "c")
    new = [(partition, offset) for partition in range(4) for offset in (10, 11)]
    members.wait_until(lambda: set(new) <= set(members.read), "8 records after the commit")
    assert sorted(members.read) == new
    members.close(again)


@pytest.mark.slow("jars of another release; those of the newest with tools are in every run")
def test_kafka_clients_4_4(cluster: Sandbox) -> None:
    """The same of the newest release, in both protocols."""
    members = Members("4.4")
    with members.pool:
        for kind in (SYNC, KIP848):
            members.owned.clear()
            members.read.clear()
            share_and_read(cluster, members, Row(kind, "java"), f"own-4-4-{kind.protocol}")


def test_kafka_python_beside_librdkafka(cluster: Sandbox, members: Members) -> None:
    """Members of different libraries share a topic when both offer range."""
    servers, group, row = cluster.bootstrap_servers, "mixed", Row(SYNC, "kafka-python")
    topic = topic_of(group)
    cluster.create_topic(topic, 4)
    python = members.open(servers, row, group, "a")
    with Member(servers, group, [topic], "b", partition_assignment_strategy="range") as other:
        members.wait_until(lambda: members.share(2) and len(other.partitions()) == 2, "two shares")
        assert members.owned[python] | other.partitions() == set(range(4))
        produce(servers, topic, 40)
        members.wait_until(lambda: len(members.read) + len(other.values) == 40, "40 records")
        assert len(members.read) == len(other.values) == 20
    members.close(python)
