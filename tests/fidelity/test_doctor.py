"""Faults that real clients cause on a real broker, and what `kgroups doctor` finds of them."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

import pytest
from confluent_kafka import Consumer, Producer

from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_for_thread, wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, delete_topics, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real faults; each detector by itself: tests/core/doctor/test_detectors.py"),
]

OVER: Final = ("--over", "10s")
POLL_MS: Final = 6_000
REBALANCES: Final = 8
PATIENCE_S: Final = 150


class Fault(NamedTuple):
    """What is to be found in a group.

    Args:
        where: part of it.
        beside: other findings that belong to the same fault.
    """

    code: str
    level: str
    where: dict[str, Any]
    beside: frozenset[str] = frozenset()


FAULTS: Final = {
    "nobody": Fault("NO_CONSUMER", "error", {}),
    "stuck": Fault("STALLED_PARTITION", "error", {"topic": "doc-stuck", "client_id": "stuck-1"}),
    "lost": Fault("DATA_LOST", "error", {"topic": "doc-lost"}, frozenset({"NO_CONSUMER"})),
    "gone": Fault("TOPIC_MISSING", "warning", {"topic": "doc-gone"}),
    "spare": Fault("IDLE_MEMBERS", "info", {}),
    "mixed": Fault("MIXED_APPLICATIONS", "warning", {}),
    "slow": Fault("REBALANCE_STORM", "error", {"client_id": "slow-1"}),
    "back": Fault("COMMIT_BACKWARDS", "warning", {"topic": "doc-back"}),
}
SHORT: Final = {"session.timeout.ms": str(POLL_MS)}
WELL: Final = ("well-classic", "well-consumer")


class Running:
    """Something that goes on in a thread until it is ended."""

    def __init__(self) -> None:
        self.ends = threading.Event()
        self.failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.go_on()
        except BaseException as failure:
            self.failures.append(failure)

    def go_on(self) -> None:
        """What it does."""
        raise NotImplementedError

    def end(self) -> None:
        """Let it end."""
        self.ends.set()
        wait_for_thread(self._thread)
        assert self.failures == []


class SlowPoller(Running):
    """A consumer whose application takes longer for its records than it may."""

    def __init__(self, address: str) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": address,
                "group.id": "doc-slow",
                "client.id": "slow-1",
                "session.timeout.ms": POLL_MS,
                "max.poll.interval.ms": POLL_MS,
                "auto.offset.reset": "earliest",
                "auto.commit.interval.ms": 500,
                "log_level": 0,
            }
        )
        super().__init__()

    def go_on(self) -> None:
        """Poll until there is something, then be busy."""
        self._consumer.subscribe(["doc-slow"])
        while not self.ends.is_set():
            for _ in range(30):
                self._consumer.poll(0.1)
            self.ends.wait(POLL_MS / 1_000 + 1.5)
        self._consumer.close()


class Trickle(Running):
    """A producer that goes on writing."""

    def __init__(self, address: str, topics: tuple[str, ...]) -> None:
        self._producer = Producer({"bootstrap.servers": address, "log_level": 0})
        self._topics = topics
        super().__init__()

    def go_on(self) -> None:
        """A record in each topic, again and again."""
        while not self.ends.wait(0.1):
            for topic in self._topics:
                self._producer.produce(topic, b"x", partition=0)
            self._producer.poll(0)
        assert self._producer.flush(30) == 0, "what was written arrives"


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """All groups at once."""
    address = kafka.bootstrap
    names = (*FAULTS, "mixed-2", *WELL)
    create_topics(address, {f"doc-{name}": 2 for name in names})
    produce(address, {(f"doc-{name}", n): 5 for name in names for n in range(2)})
    whole = {name: {(f"doc-{name}", n): 5 for n in range(2)} for name in names}
    behind = {"stuck": 2, "nobody": 3, "lost": 1}
    commit_offsets(
        address,
        {
            f"doc-{name}": {at: behind.get(name, 5) if at[1] == 0 else 5 for at in whole[name]}
            for name in (*FAULTS, *WELL)
        },
    )
    line = ("delete-records", "doc-lost:0", "--before", "4", "--yes", "-b", address)
    assert run(*line).exit_code == 0
    delete_topics(address, ["doc-gone"])
    with ExitStack() as held:
        held.callback(Trickle(address, ("doc-nobody",)).end)
        held.callback(SlowPoller(address).end)
        for name, count in (("stuck", 1), ("spare", 3)):
            members = [MemberSpec(f"{name}-{n}", (f"doc-{name}",)) for n in range(1, count + 1)]
            held.enter_context(LiveGroup(address, f"doc-{name}", members)).wait_stable(2)
        fine = [MemberSpec("fine", ("doc-slow",))]
        held.enter_context(LiveGroup(address, "doc-slow", fine, settings=SHORT))
        apart = [MemberSpec("one", ("doc-mixed",)), MemberSpec("other", ("doc-mixed-2",))]
        held.enter_context(LiveGroup(address, "doc-mixed", apart)).wait_stable(4)
        # A classic member of librdkafka tells topics only that are there.
        both = [MemberSpec("g", ("doc-gone", "doc-spare"))]
        gone = LiveGroup(address, "doc-gone", both, protocol="consumer")
        held.enter_context(gone).wait_stable(2)
        back = held.enter_context(LiveGroup(address, "doc-back", [MemberSpec("b", ("doc-back",))]))
        back.wait_stable(2)
        (member,) = back.members
        member.commit({("doc-back", 0): 5})
        member.commit({("doc-back", 0): 2})
        member.commit({("doc-back", 0): 5})
        for name, protocol in zip(WELL, ("classic", "consumer"), strict=True):
            members = [MemberSpec(f"{name}-{n}", (f"doc-{name}",)) for n in range(2)]
            held.enter_context(
                LiveGroup(address, f"doc-{name}", members, protocol=protocol)  # type: ignore[arg-type]
            ).wait_stable(2)
        wait_until(
            lambda: rebalances(address) >= REBALANCES,
            "the slow member has left and come back often enough",
            timeout_s=PATIENCE_S,
            pause_s=2,
        )
        yield address


def rebalances(address: str) -> int:
    """Of the group with the slow member, as its log has them."""
    items = run("history", "doc-slow", "-b", address, "-o", "json").document["items"]
    return sum(item["kind"] == "rebalance" for item in items)


@pytest.fixture(scope="module")
def examined(address: str) -> dict[str, list[dict[str, Any]]]:
    """The findings by group, of one look at all."""
    outcome = run("doctor", "doc-*", *OVER, "-b", address, "-o", "json", "--timeout", "60s")
    assert outcome.exit_code == 6, outcome.stderr
    return {item["group"]: item["findings"] for item in outcome.document["items"]}


@pytest.mark.parametrize("name", FAULTS)
def test_it_is_found(examined: dict[str, list[dict[str, Any]]], name: str) -> None:
    """By its code, level and object; nothing else is said of the group."""
    fault, findings = FAULTS[name], examined[f"doc-{name}"]
    (found,) = [each for each in findings if each["code"] == fault.code]
    assert found["level"] == fault.level
    assert fault.where.items() <= found["where"].items()
    others = {each["code"] for each in findings if each["level"] != "info"} - {fault.code}
    assert others <= fault.beside


@pytest.mark.parametrize("name", WELL)
def test_a_healthy_group_is_left_in_peace(
    examined: dict[str, list[dict[str, Any]]], name: str
) -> None:
    """Steady members that have read everything."""
    assert examined[f"doc-{name}"] == []


def test_the_cause_of_the_storm(examined: dict[str, list[dict[str, Any]]]) -> None:
    """The application takes longer between two polls than it may."""
    (found,) = [each for each in examined["doc-slow"] if each["code"] == "REBALANCE_STORM"]
    assert found["evidence"]["cause"] == "poll_timeout"
