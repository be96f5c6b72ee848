"""`kgroups transactions` on a real broker: what is open is shown, and exactly one is ended."""

import json
import os
import pty
import re
import struct
import termios
from collections.abc import Iterator, Mapping
from fcntl import ioctl
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException

from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from tests.support.cli.process import PROGRAM, TIMEOUT_S
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.child import Child, read_until
from tests.support.kafka.hung_transactions import (
    STRANGER,
    end_hung_offsets,
    hang,
    hang_offsets,
    left_open,
    unverified,
)
from tests.support.kafka.transactional_logs import readable
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import commit_offsets, create_topics, produce

pytestmark = pytest.mark.kafka

TOPIC, GROUP = "aborts", "aborts-app"
YOUNG_TOPIC, WAITING = "aborts-young", "aborts-waiting"
OLD_S = 7_200
HUNG, OF_OFFSETS, YOUNG, KEEPS_WAITING = range(STRANGER + 100, STRANGER + 104)


@pytest.fixture(scope="module")
def address(kafka: KafkaCluster) -> Iterator[str]:
    """Transactions that hang, behind two records of each partition, and a record behind them."""
    address = kafka.bootstrap
    create_topics(address, {TOPIC: 3, YOUNG_TOPIC: 2})
    places = [(TOPIC, 0), (TOPIC, 1), (TOPIC, 2), (YOUNG_TOPIC, 0), (YOUNG_TOPIC, 1)]
    produce(address, dict.fromkeys(places, 2))
    commit_offsets(address, dict.fromkeys((GROUP, WAITING), dict.fromkeys(places[:3], 2)))
    with unverified(address, 1):
        hang(address, (TOPIC, 0), HUNG, records=3, age_s=OLD_S)
        hang(address, (TOPIC, 1), HUNG, records=3, age_s=OLD_S)
        hang(address, (YOUNG_TOPIC, 0), YOUNG)
        hang_offsets(address, GROUP, {(TOPIC, 0): 5}, OF_OFFSETS)
        hang_offsets(address, WAITING, {(TOPIC, 2): 2}, KEEPS_WAITING)
    produce(address, dict.fromkeys(places, 1))
    yield address
    end_hung_offsets(address, GROUP, OF_OFFSETS)
    end_hung_offsets(address, WAITING, KEEPS_WAITING)


def said(
    address: str, *words: str, exit_code: int = 0, env: Mapping[str, str] | None = None
) -> Outcome:
    """What `kgroups transactions` says."""
    line = ("transactions", *words, "-b", address, "-o", "json", "--timeout", "60s")
    outcome = run(*line, env=env)
    assert outcome.exit_code == exit_code, outcome
    return outcome


def open_now(address: str, group: str = GROUP) -> dict[int, list[tuple[str, int]]]:
    """The producers of the group's open transactions, and where they are open."""
    return {
        item["producer_id"]: [(at["topic"], at["partition"]) for at in item["partitions"]]
        for item in said(address, group).document["items"]
    }


def held(address: str) -> tuple[list[str], list[str]]:
    """What `describe` says of transactions that hold the group back, and of its partitions."""
    document = run("describe", GROUP, "-b", address, "-o", "json").document
    notes = [each["message"] for each in document["notes"] if each["code"] == "HELD_BY_TRANSACTION"]
    (item,) = document["items"]
    statuses = [row["lag_status"] for row in item["offsets"]]
    (row,) = run("top", GROUP, "--once", "-b", address, "-o", "json").document["items"]
    counts = {each["held_partitions"] for each in (item, document["summary"], row)}
    assert counts == {statuses.count("held")}
    elsewhere = run("describe", GROUP, "--where", "lag < 0", "-b", address, "-o", "json")
    assert "HELD_BY_TRANSACTION" not in elsewhere.note_codes
    return notes, statuses


def held_in_details(address: str) -> None:
    """Wait until the details of the group in `top` show a partition that is held."""
    leader, follower = pty.openpty()
    ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 160, 0, 0))
    with Child(
        [PROGRAM, "top", GROUP, "-b", address], stdin=follower, stdout=follower, stderr=follower
    ) as process:
        os.close(follower)
        read_until(leader, re.compile(rb"> aborts").search, "the group", timeout_s=TIMEOUT_S)
        os.write(leader, b"\n")
        read_until(leader, re.compile(rb"(?s)STATUS.*held").search, "held", timeout_s=TIMEOUT_S)
        os.write(leader, b"qq")
        read_until(leader, re.compile(rb"\?1049l").search, "the end", timeout_s=TIMEOUT_S)
        assert process.wait(TIMEOUT_S) == 0
    os.close(leader)


def held_partitions(address: str, condition: str) -> int:
    """The exit code of a check; every command that takes the condition counts alike."""
    words = ("-b", address, "-o", "json")
    checked = run("check", GROUP, "--fail-on", condition, *words)
    waited = run("wait", GROUP, "--until", condition, "--deadline", "1ms", *words)
    listed = run("list", GROUP, "--where", condition, *words).document["items"]
    described = run("describe", "--where", f"group = '{GROUP}' and {condition}", *words)
    failed = checked.exit_code == 6
    assert (waited.exit_code == 0, len(listed) == 1) == (failed, failed)
    assert bool(described.document["items"]) is failed
    return checked.exit_code


def test_exactly_one_is_ended(address: str, tmp_path: Path) -> None:
    """The oldest, in both its partitions; consumers go on there, and nowhere else."""
    alive = left_open(address, "aborts-alive", {(TOPIC, 0): 1, (TOPIC, 2): 1})
    before = open_now(address)
    (known,) = [each for each in before if each < STRANGER]
    assert {at[0] for at in before[OF_OFFSETS]} == {OFFSETS_TOPIC}
    assert before[HUNG] == [(TOPIC, 0), (TOPIC, 1)]
    assert said(address, GROUP).note_codes == {"OFFSETS_PENDING", "HANGING_TRANSACTIONS"}
    said_of_it = (
        f"an open transaction, not the consumer, holds `{GROUP}` back: 9 records of {TOPIC}:0-1; "
        f"`kgroups transactions {GROUP}` shows it"
    )
    assert held(address) == ([said_of_it], ["held", "held", "ok"])
    held_in_details(address)
    assert held_partitions(address, "held_partitions = 2") == 6
    assert held_partitions(address, "held_partitions > 2") == 0
    assert not readable(address, (TOPIC, 1), 2)
    one = ("abort", GROUP, "--producer-id", str(HUNG))
    dry = said(address, *one, "--dry-run")
    assert [item["result"] for item in dry.document["items"]] == ["planned"]
    said(address, *one, "--yes", exit_code=4, env={"KGROUPS_READ_ONLY": "1"})
    assert open_now(address) == before
    log = {"XDG_STATE_HOME": str(tmp_path), "KGROUPS_NO_AUDIT": ""}
    done = said(address, *one, "--yes", "--reason", "INC-7", env=log)
    (item,) = done.document["items"]
    assert (item["result"], item["partition_count"], item["error"]) == ("done", 2, None)
    assert open_now(address) == {at: where for at, where in before.items() if at != HUNG}
    (line,) = (tmp_path / "kgroups" / "audit.jsonl").read_text().splitlines()
    audited = json.loads(line)
    assert (audited["reason"], audited["results"]) == ("INC-7", {"done": 1})
    assert readable(address, (TOPIC, 1), 2)
    assert held_partitions(address, "held_partitions = 0") == 6
    said(address, *one, "--yes", exit_code=5)
    said(address, "abort", GROUP, "--yes", exit_code=2)
    said(address, "abort", GROUP, "--producer-id", str(known), "--yes", exit_code=4)
    alive.commit_transaction(30)


def test_young_ones_are_aborted_by_force(address: str) -> None:
    """Of a stranger that may yet be alive, and of one whose coordinator knows it."""
    young = ("abort", "--topic", f"{YOUNG_TOPIC}:0", "--yes")
    (item,) = said(address, *young, exit_code=4).document["items"]
    assert (item["result"], item["error"]) == ("refused", "TRANSACTION_MAY_END")
    alive = left_open(address, "aborts-fenced", {(YOUNG_TOPIC, 1): 2})
    other = left_open(address, "aborts-other", {(YOUNG_TOPIC, 1): 2})
    named = ("abort", "--topic", YOUNG_TOPIC, "--transactional-id", "aborts-fenced", "--yes")
    assert "alive" in said(address, *named, exit_code=4).document["errors"][0]["message"]
    assert said(address, *named, "--force").document["summary"]["done"] == 1
    with pytest.raises(KafkaException):
        alive.commit_transaction(30)
    other.commit_transaction(30)
    assert not readable(address, (YOUNG_TOPIC, 0), 2)
    assert said(address, *young, "--force").document["summary"]["done"] == 1
    assert readable(address, (YOUNG_TOPIC, 0), 2)


def test_a_group_whose_commits_wait_starts(address: str) -> None:
    """Its commits were pending for ever; afterwards its members read on from its last commit."""
    assert "OFFSETS_PENDING" in said(address, WAITING).note_codes
    one = ("abort", WAITING, "--producer-id", str(KEEPS_WAITING), "--yes", "--force")
    assert said(address, *one).document["summary"]["done"] == 1
    assert KEEPS_WAITING not in open_now(address, WAITING)
    assert "OFFSETS_PENDING" not in said(address, WAITING).note_codes
    settings = {"bootstrap.servers": address, "group.id": WAITING, "log_level": 0}
    member = Consumer(settings)
    member.subscribe([TOPIC])
    read = set()

    def reads() -> bool:
        message = member.poll(0.1)
        if message is not None and message.error() is None:
            read.add(message.partition())
        return 2 in read

    try:
        wait_until(reads, "the member reads the partition whose commit was pending")
    finally:
        member.close()


def test_one_of_them_is_named(address: str) -> None:
    """A group or a topic, not both; an id that is not open; nothing open, nothing to do."""
    said(address, "abort", GROUP, "--topic", TOPIC, "--yes", exit_code=2)
    said(address, "list", exit_code=2)
    said(address, "--topic", "aborts-no-topic", exit_code=5)
    create_topics(address, {"aborts-none": 1})
    assert said(address, "--topic", "aborts-none").note_codes == {"NO_TRANSACTIONS"}
    nothing = said(address, "abort", "--topic", "aborts-none", "--yes")
    assert nothing.note_codes == {"NOTHING_TO_DO"}
