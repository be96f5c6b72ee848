"""`describe --deliveries`: what members made of records, as the coordinator has written it."""

from collections import Counter, defaultdict
from typing import Any, Final

import pytest
from confluent_kafka import AcknowledgeType, Message

from kgroups.core.deliveries import STATE_TOPIC, StateRecord, decode_state
from kgroups.core.kafka.admin import ClusterAdmin
from kgroups.core.kafka.lookups.offsets_log import OffsetsLog
from kgroups.core.kafka.lookups.record_walk import Allowance, Spot, Stand, read_each, walk
from kgroups.core.kafka.lookups.topic_bounds import topics_with_bounds
from kgroups.core.protocol.batches import Record
from kgroups.core.protocol.kafka_json import to_json
from kgroups.core.protocol.table import tables_of
from kgroups.core.uuids import uuid_text
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.child import run_program
from tests.support.kafka.formatters import TOOLS, formatted
from tests.support.kafka.jars import class_path
from tests.support.kafka.java import java_command
from tests.support.kafka.settings import settings_from_text
from tests.support.kafka.share_groups import FROM_THE_START, Sharer, accept, configure_group
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

LIMIT: Final = 5


class Decisions:
    """What a member says of records: most are accepted, one in ten rejected, one in ten released.

    Of those released half are accepted when they come again, the others released until the end.
    """

    def __init__(self) -> None:
        self.seen: Counter[tuple[int, int]] = Counter()
        self.states: dict[tuple[int, int], tuple[str, int]] = {}

    def __call__(self, message: Message) -> AcknowledgeType:
        """The next decision."""
        offset = message.offset() or 0
        at = message.partition() or 0, offset
        self.seen[at] += 1
        count = self.seen[at]
        if offset % 10 == 1:
            self.states[at] = "archived", count
            return AcknowledgeType.REJECT
        if offset % 10 == 0 and (count == 1 or offset % 20 == 0):
            self.states[at] = ("archived" if count == LIMIT else "available"), count
            return AcknowledgeType.RELEASE
        self.states[at] = "acknowledged", count
        return AcknowledgeType.ACCEPT


def deliveries(kafka: KafkaCluster, group: str) -> list[dict[str, Any]]:
    """The rows of a group."""
    line = ("-b", kafka.bootstrap, "describe", group, "--deliveries", "--offsets", "-o", "json")
    (item,) = run(*line).document["items"]
    lags = {row["partition"]: row["lag"] for row in item["offsets"]}
    for row in item["deliveries"]:
        done = row["acknowledged"] + row["archived"]
        assert row["log_end_offset"] - row["start_offset"] - done == lags[row["partition"]], row
    return list(item["deliveries"])


def shown(rows: list[dict[str, Any]]) -> dict[tuple[int, int], tuple[str, int]]:
    """State and deliveries of every record that has some."""
    return {
        (row["partition"], offset): (each["state"], each["delivery_count"])
        for row in rows
        for each in row["ranges"]
        for offset in range(each["first_offset"], each["last_offset"] + 1)
    }


def told(rows: list[dict[str, Any]], decisions: Decisions) -> dict[tuple[int, int], Any]:
    """The same, of what a member said of the records that the rows are about."""
    starts = {row["partition"]: row["start_offset"] for row in rows}
    return {at: each for at, each in decisions.states.items() if at[1] >= starts[at[0]]}


def test_a_member_and_what_it_said(kafka: KafkaCluster) -> None:
    """Counts and ranges are those of its decisions; the broker's lag is what they leave."""
    group, topic = "deliveries", "delivered"
    create_topics(kafka.bootstrap, {topic: 2})
    produce(kafka.bootstrap, {(topic, 0): 60, (topic, 1): 30})
    configure_group(kafka.bootstrap, group, FROM_THE_START)
    decisions = Decisions()
    with Sharer(kafka.bootstrap, group, topic) as member:
        member.take(90, decisions)
    produce(kafka.bootstrap, {(topic, 0): 5})
    wait_until(
        lambda: shown(rows := deliveries(kafka, group)) == told(rows, decisions),
        "all is written that the member said",
    )
    rows = deliveries(kafka, group)
    assert [row["no_state"] for row in rows] == [5, 0]
    assert {row["delivery_count_limit"] for row in rows} == {LIMIT}
    table = run("-b", kafka.bootstrap, "describe", group, "--deliveries")
    assert table.exit_code == 0
    assert "GAVE-UP" in table.stdout
    chosen = ("--fields", "partition,no_state", "-o", "csv")
    table = run("-b", kafka.bootstrap, "describe", group, "--deliveries", *chosen)
    assert table.stdout.split() == ["partition,no_state", "0,5", "1,0"]
    configure_group(kafka.bootstrap, group, {"share.delivery.count.limit": "2"})
    assert sum(row["last_delivery"] for row in deliveries(kafka, group)) == sum(
        row["available"] for row in deliveries(kafka, group)
    )


def test_given_up(kafka: KafkaCluster) -> None:
    """Records that a member releases as often as it gets them, behind one that another one holds:
    `describe` counts them, and `doctor` says so.
    """
    group, topic = "deliveries-given-up", "given-up"
    create_topics(kafka.bootstrap, {topic: 1})
    produce(kafka.bootstrap, {(topic, 0): 5})
    settings = {**FROM_THE_START, "share.record.lock.duration.ms": "60000"}
    configure_group(kafka.bootstrap, group, settings)
    seen: Counter[int] = Counter()

    def release(message: Message) -> AcknowledgeType:
        seen[message.offset() or 0] += 1
        return AcknowledgeType.RELEASE

    with Sharer(kafka.bootstrap, group, topic, "holder") as holder:
        wait_until(lambda: bool(holder.consumer.poll(0.2)), "the first records are held")
        produce(kafka.bootstrap, {(topic, 0): 10})
        with Sharer(kafka.bootstrap, group, topic) as member:
            while any(seen[offset] < LIMIT for offset in range(5, 15)):
                member.take(1, release)
        given_up = sum(count == LIMIT for count in seen.values())
        wait_until(
            lambda: [row["gave_up"] for row in deliveries(kafka, group)] == [given_up],
            "all is written that the member said",
        )
        looked = run("-b", kafka.bootstrap, "doctor", group, "-o", "json")
    (item,) = looked.document["items"]
    (finding,) = (each for each in item["findings"] if each["code"] == "RECORDS_ARCHIVED")
    assert finding["where"] == {"topic": topic, "partition": 0}
    assert finding["evidence"]["gave_up"] == given_up >= 10
    assert not item["not_examined"]


def test_locks_exhausted(kafka: KafkaCluster) -> None:
    """One member keeps the first record, another one is done with all that it gets behind it."""
    group, topic = "deliveries-locked", "locked"
    create_topics(kafka.bootstrap, {topic: 1})
    produce(kafka.bootstrap, {(topic, 0): 1})
    settings = {**FROM_THE_START, "share.record.lock.duration.ms": "60000"}
    configure_group(kafka.bootstrap, group, settings | {"share.partition.max.record.locks": "100"})

    def found() -> list[Any]:
        (item,) = run("-b", kafka.bootstrap, "doctor", group, "-o", "json").document["items"]
        return [each for each in item["findings"] if each["code"] == "LOCKS_EXHAUSTED"]

    with Sharer(kafka.bootstrap, group, topic, "holder") as holder:
        wait_until(lambda: bool(holder.consumer.poll(0.2)), "the first record is held")
        produce(kafka.bootstrap, {(topic, 0): 300})
        assert not found()
        with Sharer(kafka.bootstrap, group, topic) as member:
            member.take(99)
            wait_until(lambda: bool(found()), "all is written that the member said")
            (finding,) = found()
            assert not member.consumer.poll(0.2)
    assert finding["where"] == {"topic": topic, "partition": 0}
    assert finding["evidence"]["in_flight"] >= finding["evidence"]["record_lock_limit"] == 100
    assert finding["evidence"]["no_state"] > 0


def test_others_have_none(kafka: KafkaCluster) -> None:
    """A consumer group is said to be no share group."""
    create_topics(kafka.bootstrap, {"undelivered": 1})
    commit_offsets(kafka.bootstrap, {"undelivered-app": {("undelivered", 0): 0}})
    done = run("-b", kafka.bootstrap, "describe", "undelivered-app", "--deliveries", "-o", "json")
    assert done.document["items"][0]["deliveries"] is None
    assert "NO_DELIVERIES" in done.note_codes


def records(kafka: KafkaCluster) -> dict[Any, list[StateRecord]]:
    """Every record of the topic by what it is about, as we read it."""
    found = defaultdict(list)

    async def read(log: OffsetsLog, stand: Stand) -> None:
        def take(spot: Spot) -> bool:
            if isinstance(spot, Record):
                record = decode_state(spot.key or b"", spot.value)
                assert record is not None
                found[record.at].append(record)
            return False

        await walk(log, stand.log_start, Allowance(1 << 20, 1 << 30), take)

    with ClusterAdmin(settings_from_text("", kafka.bootstrap), timeout_ms=60_000) as admin:
        topics = topics_with_bounds(admin, [STATE_TOPIC]).topics
        stands = {
            (STATE_TOPIC, number): Stand(0, log.log_start_offset or 0, log.log_end_offset or 0)
            for number, log in topics[STATE_TOPIC].partitions.items()
        }
        answers = read_each(admin, topics, stands, read, isolation="read_uncommitted")
    assert set(answers.values()) == {None}
    return found


def printed(kafka: KafkaCluster) -> dict[Any, list[Any]]:
    """The same, as Kafka's own formatter prints it."""
    found = defaultdict(list)
    formatter = "group.share.ShareGroupStateMessageFormatter"
    for one in formatted(kafka.bootstrap, STATE_TOPIC, formatter, "--from-beginning"):
        key = one["key"]["data"]
        at = key["groupId"], key["topicId"], key["partition"]
        found[at].append((one["key"]["type"] == 0, one["value"] and one["value"]["data"]))
    return found


def console_member(kafka: KafkaCluster, group: str, topic: str, count: int, *said: str) -> None:
    """Kafka's own share consumer, in Java, takes so many records."""
    done = run_program(
        java_command(
            class_path(),
            f"{TOOLS}.ConsoleShareConsumer",
            *("--bootstrap-server", kafka.bootstrap, "--topic", topic, "--group", group),
            *("--max-messages", str(count), "--timeout-ms", "60000", *said),
        ),
        timeout_s=180,
    )
    assert done.stdout.count("\n") == count, done.stderr


def test_dead_letters_without_their_topic(kafka: KafkaCluster) -> None:
    """A note until the topic is there: of `config`, which sets its name, and of `describe`."""
    group, topic, letters = "deliveries-dead", "delivered-dead", "dlq.delivered"
    create_topics(kafka.bootstrap, {topic: 1})
    produce(kafka.bootstrap, {(topic, 0): 2})
    configure_group(kafka.bootstrap, group, FROM_THE_START)
    with Sharer(kafka.bootstrap, group, topic) as member:
        member.take(2)
    where = ("-b", kafka.bootstrap, "-o", "json")
    wanted = f"errors.deadletterqueue.topic.name={letters}"
    line = ("config", group, "--set", wanted, "--yes", "--no-undo", *where)
    missing = f"the dead letter topic `{letters}` of `{group}` does not exist: brokers create it"
    assert missing in run(*line).stdout
    shown = ("describe", group, "--deliveries", *where)
    wait_until(lambda: missing in run(*shown).stdout, "the coordinator has the topic's name")
    create_topics(kafka.bootstrap, {letters: 1})
    wait_until(lambda: "NO_DEAD_LETTERS" not in run(*shown).stdout, "the topic is there")


@pytest.mark.slow("a second broker; quick twin: the first test of this module")
def test_kafkas_formatter() -> None:
    """10,000 records accepted, released, rejected, expired, by librdkafka and Java: record by
    record what Kafka's formatter prints, and state by state what the members said.
    """
    group, topic, other = "deliveries-many", "delivered-many", "deliveries-java"
    properties = {
        "share.coordinator.snapshot.update.records.per.snapshot": "20",
        "group.share.min.record.lock.duration.ms": "1000",
    }
    with KafkaCluster(ClusterSpec(properties=properties)) as kafka:
        create_topics(kafka.bootstrap, {topic: 2})
        produce(kafka.bootstrap, {(topic, 0): 5_000, (topic, 1): 5_000})
        for name in (group, other):
            configure_group(kafka.bootstrap, name, FROM_THE_START)
        decisions = Decisions()
        with Sharer(kafka.bootstrap, group, topic) as member:
            member.take(10_000 + 500 + 4 * 500, decisions, seconds=300)
        wait_until(lambda: _lag(kafka, group) == 0, "all is done with")
        assert shown(rows := deliveries(kafka, group)) == told(rows, decisions)
        produce(kafka.bootstrap, {(topic, 0): 100})
        _expired(kafka, group, topic)
        console_member(kafka, other, topic, 1_000)
        console_member(kafka, other, topic, 500, "--reject")
        console_member(kafka, other, topic, 500, "--release")
        found, kafkas = records(kafka), printed(kafka)
        tables = dict(zip((True, False), tables_of("share_records")[1::2], strict=True))
        assert {
            (at[0], uuid_text(at[1]), at[2]): [
                (
                    each.is_snapshot,
                    each.value and to_json(tables[each.is_snapshot], 0, each.value),
                )
                for each in every
            ]
            for at, every in found.items()
        } == kafkas
        assert sum(map(len, kafkas.values())) > 100
        kinds = {each.is_snapshot for every in found.values() for each in every}
        assert kinds == {True, False}
        total = Counter(state for state, _ in shown(deliveries(kafka, other)).values())
        assert total["available"] >= 500, total  # the start offset has passed those rejected


def _lag(kafka: KafkaCluster, group: str) -> int:
    return sum(
        row["log_end_offset"] - row["start_offset"] - row["acknowledged"] - row["archived"]
        for row in deliveries(kafka, group)
    )


def _expired(kafka: KafkaCluster, group: str, topic: str) -> None:
    """A member takes records and says nothing of them until its locks are over."""
    configure_group(kafka.bootstrap, group, {"share.record.lock.duration.ms": "1000"})
    with Sharer(kafka.bootstrap, group, topic) as member:
        wait_until(lambda: bool(member.consumer.poll(0.2)), "records came")
        wait_until(
            lambda: any(row["available"] for row in deliveries(kafka, group)), "locks are over"
        )
    assert sum(row["available"] for row in deliveries(kafka, group)) > 0
    with Sharer(kafka.bootstrap, group, topic) as member:
        member.take(1, accept)
