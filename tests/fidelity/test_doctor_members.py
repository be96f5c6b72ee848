"""Faults of members that take each other's place or hold each other up, on a real broker."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Message

from tests.support.cli.runner import run
from tests.support.doctor.findings import Finding, findings, of_code, only
from tests.support.fidelity.doing import grow_topic
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.live_members import LiveGroup, MemberSpec
from tests.support.kafka.waiting import wait_for_thread, wait_until
from tests.support.kafka.workload import create_topics, produce

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("real faults; each detector by itself: tests/core/doctor/test_detectors.py"),
]

OVER: Final = ("--over", "30s")
TURNS: Final = 4
PATIENCE_S: Final = 120


class Worker:
    """A consumer in a thread of its own, as an application runs it; made anew when it fails."""

    def __init__(self, address: str, group: str, client: str, **settings: str | int) -> None:
        self.settings: dict[str, Any] = {
            "bootstrap.servers": address,
            "group.id": f"dm-{group}",
            "client.id": client,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6_000,
            "heartbeat.interval.ms": 300,
            "topic.metadata.refresh.interval.ms": 500,
            "log_level": 0,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        if self.settings.get("group.protocol") == "consumer":
            del self.settings["session.timeout.ms"], self.settings["heartbeat.interval.ms"]
        self.topic = f"dm-{group}"
        self.ends = threading.Event()
        self.lives = 0
        self.processed: Callable[[Message], None] = lambda message: None
        self.failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> "Worker":
        """Begin; the application is complete."""
        self._thread.start()
        return self

    def end(self) -> None:
        """End it."""
        self.ends.set()
        wait_for_thread(self._thread)
        assert self.failures == []

    def _run(self) -> None:
        try:
            while not self.ends.is_set():
                self.lives += 1
                self.live()
        except BaseException as failure:
            self.failures.append(failure)

    def live(self) -> None:
        """One life: until it is ended or its consumer fails for good."""
        consumer = Consumer(self.settings)
        consumer.subscribe([self.topic], on_revoke=lambda _, __: None)
        try:
            while not self.ends.is_set():
                message = consumer.poll(0.2)
                if message is None:
                    continue
                if (error := message.error()) is not None:
                    if error.code() == KafkaError._FATAL:
                        return
                    continue
                self.processed(message)
                consumer.commit(message=message, asynchronous=False)
        except (KafkaException, Poisoned):
            return
        finally:
            consumer.close()


class Poisoned(Exception):
    """The application cannot process a record."""


def refuse_the_third(message: Message) -> None:
    """An application that fails at one record of one partition."""
    if (message.partition(), message.offset()) == (1, 3):
        raise Poisoned


def examined(address: str, name: str, *words: str) -> list[Finding]:
    """What is found in a group."""
    (found,) = findings(address, f"dm-{name}", *words).values()
    return found


def described(address: str, name: str) -> tuple[str, list[dict[str, Any]]]:
    """The state of a group, and its partitions."""
    item = run("describe", f"dm-{name}", "-b", address, "-o", "json").document["items"][0]
    return item["state"], item["offsets"] or []


@pytest.fixture
def held() -> Iterator[ExitStack]:
    """What goes on until the test ends."""
    with ExitStack() as stack:
        yield stack


def topic_of(address: str, name: str, records: Mapping[int, int], partitions: int = 2) -> None:
    """The topic of a group, with so many records in its partitions."""
    create_topics(address, {f"dm-{name}": partitions})
    produce(address, {(f"dm-{name}", n): count for n, count in records.items()})


def test_an_instance_id_that_two_members_use(kafka: KafkaCluster, held: ExitStack) -> None:
    """Each comes back when it is fenced; the broker's log makes it certain."""
    address, name = kafka.bootstrap, "twins"
    topic_of(address, name, {0: 3})
    twins = [
        Worker(address, name, client, group_instance_id="pod-0").start()
        for client in ("left", "right")
    ]
    for twin in twins:
        held.callback(twin.end)
    wait_until(
        lambda: min(twin.lives for twin in twins) > TURNS,
        "both were fenced often enough",
        timeout_s=PATIENCE_S,
    )
    found = only(examined(address, name), "INSTANCE_ID_CONFLICT")
    # the broker keeps name and host of the first: it may be one that crashes
    assert (found["level"], found["certainty"]) == ("info", "possible")
    assert found["where"] == {"instance_id": "pod-0"}
    assert found["evidence"]["replaced"] >= TURNS
    log = ("--log", str(kafka.log_path()))
    found = only(examined(address, name, *log), "INSTANCE_ID_CONFLICT")
    assert (found["level"], found["certainty"]) == ("error", "certain")
    assert found["evidence"]["fenced_members"] >= 2


def test_an_instance_id_that_is_taken_in_kip_848(kafka: KafkaCluster, held: ExitStack) -> None:
    """Who comes second is refused, which leaves no record: the broker's log tells."""
    address, name = kafka.bootstrap, "taken"
    topic_of(address, name, {0: 3})
    members = [MemberSpec("first", (f"dm-{name}",), "pod-0")]
    first = held.enter_context(LiveGroup(address, f"dm-{name}", members, protocol="consumer"))
    first.wait_stable(2)
    second = Worker(
        address, name, "second", group_protocol="consumer", group_instance_id="pod-0"
    ).start()
    held.callback(second.end)
    line = f"GroupId dm-{name}] Static member"
    wait_until(
        lambda: (
            kafka.log_path().read_text(errors="replace").count(line) >= 2 * TURNS
            or second.lives > TURNS
        ),
        "the second was refused often enough",
        timeout_s=PATIENCE_S,
    )
    assert examined(address, name) == []
    found = only(examined(address, name, "--log", str(kafka.log_path())), "INSTANCE_ID_CONFLICT")
    assert found["certainty"] == "certain"


def test_a_topic_that_is_not_there(kafka: KafkaCluster, held: ExitStack) -> None:
    """The group reads another one too: a warning."""
    address, name = kafka.bootstrap, "gone"
    topic_of(address, name, {})
    # A classic member of librdkafka tells topics only that are there.
    members = [MemberSpec("g", (f"dm-{name}", "dm-missing"))]
    group = LiveGroup(address, f"dm-{name}", members, protocol="consumer")
    held.enter_context(group).wait_stable(2)
    found = only(examined(address, name), "TOPIC_MISSING")
    assert (found["level"], found["where"]) == ("warning", {"topic": "dm-missing"})


def test_a_static_member_that_restarts(kafka: KafkaCluster) -> None:
    """Twice: no other one has its instance id."""
    address, name = kafka.bootstrap, "restarts"
    topic_of(address, name, {0: 3})
    members = [MemberSpec("only", (f"dm-{name}",), "pod-0")]
    for _ in range(3):
        with LiveGroup(address, f"dm-{name}", members) as group:
            group.wait_stable(2)
    assert examined(address, name, "--log", str(kafka.log_path())) == []


def test_a_roll_to_a_strategy_that_the_others_lack(kafka: KafkaCluster, held: ExitStack) -> None:
    """The new member comes in only when the last old one has left."""
    address, name = kafka.bootstrap, "roll"
    topic_of(address, name, {0: 3})
    old = [MemberSpec(client, (f"dm-{name}",)) for client in ("app-1", "app-2")]
    with LiveGroup(address, f"dm-{name}", old, assignor="range") as group:
        group.wait_stable(2)
        group.remove(group.members[0])
        group.wait_stable(2)
        new = Worker(address, name, "app-1", partition_assignment_strategy="roundrobin").start()
        held.callback(new.end)
        wait_until(lambda: new.lives > 0, "the new one has started", timeout_s=PATIENCE_S)
        assert examined(address, name) == []
    wait_until(
        lambda: of_code(examined(address, name), "ASSIGNOR_CONFLICT"),
        "the new one is in the group",
        timeout_s=PATIENCE_S,
        pause_s=1,
    )
    found = only(examined(address, name), "ASSIGNOR_CONFLICT")
    assert (found["level"], found["certainty"]) == ("info", "possible")  # it took no minute
    assert found["evidence"]["old_assignor"] == "range"
    assert found["evidence"]["new_assignor"] == "roundrobin"


@pytest.mark.parametrize("written", [100, 0])
def test_a_partition_that_is_added_and_read_from_its_end(
    kafka: KafkaCluster, held: ExitStack, written: int
) -> None:
    """What was written before the group noticed it is skipped; where nothing was, nothing is."""
    address, name = kafka.bootstrap, f"grows-{written}"
    topic_of(address, name, {0: 3})
    worker = Worker(
        address, name, "tail", topic_metadata_refresh_interval_ms=3_000, auto_offset_reset="latest"
    )
    read: set[int] = set()
    worker.processed = lambda message: read.add(message.partition() or 0)
    held.callback(worker.start().end)

    def written_to(*partitions: int) -> Callable[[], bool]:
        def go_on() -> bool:
            produce(address, {(f"dm-{name}", n): 1 for n in partitions})
            return read >= set(partitions)

        return go_on

    wait_until(written_to(0, 1), "it reads both partitions", timeout_s=PATIENCE_S, pause_s=1)
    grow_topic(address, f"dm-{name}", 3)
    if written:
        produce(address, {(f"dm-{name}", 2): written})
    else:
        wait_until(
            lambda: sum(row["member_id"] is not None for row in described(address, name)[1]) == 3,
            "it owns the new partition",
            timeout_s=PATIENCE_S,
            pause_s=1,
        )
    wait_until(written_to(2), "it reads the new one", timeout_s=PATIENCE_S, pause_s=1)
    each = examined(address, name)
    if not written:
        assert of_code(each, "NEW_PARTITIONS_SKIPPED") == []
        return
    found = only(each, "NEW_PARTITIONS_SKIPPED")
    assert (found["level"], found["certainty"]) == ("info", "possible")
    assert found["where"] == {"topic": f"dm-{name}", "partition": 2}
    assert found["evidence"]["records"] >= written


def test_a_record_that_the_application_cannot_process(kafka: KafkaCluster, held: ExitStack) -> None:
    """It ends at the record, is started again, and ends again."""
    address, name = kafka.bootstrap, "poison"
    topic_of(address, name, {0: 3, 1: 6})
    worker = Worker(address, name, "app")
    worker.processed = refuse_the_third
    held.callback(worker.start().end)
    wait_until(lambda: worker.lives > TURNS, "it ended often enough", timeout_s=PATIENCE_S)
    storms = ("REBALANCE_STORM", "REBALANCE_STUCK")
    found = only(examined(address, name), "STALLED_PARTITION", *storms)
    assert (found["level"], found["certainty"]) == ("error", "likely")
    assert (found["where"]["topic"], found["where"]["partition"]) == (f"dm-{name}", 1)
    assert (found["evidence"]["committed_offset"], found["evidence"]["lag"]) == (3, 3)
    assert found["evidence"]["client_ids"] == ["app"]


@pytest.mark.parametrize(
    ("protocol", "state", "code"),
    [
        ("classic", "PreparingRebalance", "REBALANCE_STUCK"),
        ("consumer", "Reconciling", "SLOW_REVOCATION"),
    ],
)
def test_a_member_that_does_not_give_up_its_partitions(
    kafka: KafkaCluster, held: ExitStack, protocol: str, state: str, code: str
) -> None:
    """It is busy with a record, and does not poll; the new member waits for half of its share."""
    address, name = kafka.bootstrap, f"holds-{protocol}"
    topic_of(address, name, {0: 1})
    busy, rest = threading.Event(), threading.Event()

    def take_long(_: Message) -> None:
        busy.set()
        rest.wait(PATIENCE_S)

    slow = Worker(address, name, "slow", group_protocol=protocol, max_poll_interval_ms=600_000)
    slow.processed = take_long
    slow.start()
    held.callback(slow.end)
    held.callback(rest.set)
    wait_until(busy.is_set, "it is busy", timeout_s=PATIENCE_S)
    new = Worker(address, name, "new", group_protocol=protocol).start()
    held.callback(new.end)
    wait_until(
        lambda: described(address, name)[0] == state,
        "the new one waits",
        timeout_s=PATIENCE_S,
        pause_s=1,
    )
    found = only(examined(address, name, *OVER), code, "STALLED_PARTITION")
    assert found["level"] == "warning"
    if code == "SLOW_REVOCATION":
        assert found["where"]["client_id"] == "slow"
        assert found["evidence"]["waiting_partitions"] == 1
    else:
        assert found["evidence"]["state"] == state
