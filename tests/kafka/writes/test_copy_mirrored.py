"""`copy-offsets --match records` behind a real MirrorMaker 2: 10,000 commits, each checked."""

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer

from kgroups.core.snapshot import TopicPartition
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.mirror_maker import mirror_maker
from tests.support.kafka.transactional_logs import compact, readable, write_in_transactions
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    expire_records,
    fetch_offsets,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow(
        "two brokers and MirrorMaker; twin: tests/core/sandbox/suites/test_own_copy_matches.py"
    ),
    pytest.mark.timeout(1_500),  # of which the jars of MirrorMaker may take a few minutes, once
]

TXN, SQUEEZED = "mir-txn", "mir-squeezed"
PARTITIONS = {TXN: 3, SQUEEZED: 2}
PLACES = [(topic, number) for topic, count in PARTITIONS.items() for number in range(count)]
GROUPS = 2_000
SEED = 37
Records = dict[TopicPartition, list[tuple[int, bytes]]]
"""Offsets and values, ascending."""
Commits = dict[str, dict[TopicPartition, int]]


class Clusters(NamedTuple):
    """Two addresses, what was committed in east, and what checkpoints made of it in west."""

    east: str
    west: str
    commits: Commits
    checkpoints: Commits


def write(address: str, seed: int, rounds: int) -> None:
    """Plain records and transactions."""
    dice = random.Random(seed)

    def give(producer: Producer, turn: int) -> None:
        for number, (topic, partition) in enumerate(PLACES * 3):
            producer.produce(
                *(topic, b"%d-%d-%d" % (seed, turn, number)),
                key=b"k%d" % dice.randrange(700),
                partition=partition,
                headers=[("turn", b"%d" % (turn % 10))],
            )

    write_in_transactions(address, "mir", rounds, dice, give)


def all_of(address: str, prefix: str = "") -> Records:
    """What a reader of committed records gets of each partition."""
    return {
        (topic, number): [
            (message.offset() or 0, bytes(message.value() or b""))
            for message in readable(address, (prefix + topic, number))
        ]
        for topic, number in PLACES
    }


@pytest.fixture(scope="module")
def clusters(kafka: KafkaCluster) -> Iterator[Clusters]:
    """East, partly compacted before it was mirrored; west, compacted and expired afterwards."""
    east = kafka.bootstrap
    create_topics(east, PARTITIONS)
    write(east, 1, 150)
    compact(east, SQUEEZED, PARTITIONS[SQUEEZED], keep=0.9)
    write(east, 2, 150)
    with KafkaCluster() as other:
        west = other.bootstrap
        create_topics(west, {f"east.{topic}": count for topic, count in PARTITIONS.items()})
        produce_strangers(west)
        ends = {at: records[-1][1] for at, records in all_of(east).items()}
        with mirror_maker(east, west, "mir-.*") as child:

            def is_mirrored() -> bool:
                assert child.poll() is None, "MirrorMaker has ended"
                there = all_of(west, "east.")
                return all(ends[at] in {value for _, value in there[at]} for at in PLACES)

            wait_until(is_mirrored, "all is mirrored")
            here, dice = all_of(east), random.Random(SEED)
            commits = {
                f"mir-{n:04}": {
                    at: dice.randint(here[at][0][0], here[at][-1][0] + 1) for at in here
                }
                for n in range(GROUPS)
            }
            commit_offsets(east, commits)

            def checkpoints() -> Commits | None:
                assert child.poll() is None, "MirrorMaker has ended"
                found = checkpoints_in(west)
                return found if len(found) > 0.9 * GROUPS else None

            translated = (
                wait_until(checkpoints, "groups have checkpoints", timeout_s=300, pause_s=3) or {}
            )
        compact(west, f"east.{SQUEEZED}", PARTITIONS[SQUEEZED], keep=0.9)
        expire_records(east, {(TXN, 0): all_of(east)[TXN, 0][40][0]})
        expire_records(west, {("east." + TXN, 1): all_of(west, "east.")[TXN, 1][60][0]})
        yield Clusters(east, west, commits, translated)


def checkpoints_in(west: str) -> Commits:
    """What would be committed in west by MirrorMaker's checkpoints, by the names in east."""
    words = ("copy-offsets", "--from", "mir-[0-9]*", "--checkpoints", "east.checkpoints.internal")
    outcome = run("-b", west, *words, "--dry-run", "--keep-going", "-o", "json")
    found: Commits = {}
    for item in outcome.document["items"]:
        if item["new_offset"] is not None:
            at = (item["topic"].removeprefix("east."), item["partition"])
            found.setdefault(item["group"], {})[at] = item["new_offset"]
    return found


def produce_strangers(west: str) -> None:
    """Records that are in the target before, so that offsets differ."""
    producer = Producer({"bootstrap.servers": west, "log_level": 0})
    for number, (topic, partition) in enumerate(PLACES):
        for turn in range(17 * (number + 1)):
            producer.produce("east." + topic, b"stranger %d" % turn, b"s", partition)
    assert producer.flush(60) == 0


def test_10000_commits(clusters: Clusters, tmp_path: Path) -> None:
    """None is skipped and none read again; what is not there is gone there."""
    east, west, commits, _ = clusters
    here, there = all_of(east), all_of(west, "east.")
    outcome = run(
        *("-b", east, "copy-offsets", "--from", "mir-[0-9]*", "--match", "records", "-o", "json"),
        *("--to-bootstrap-server", west, "--topic-prefix", "east.", "--limit", "10m"),
        *("--timeout", "120s", "--keep-going", "--yes", "--undo-dir", str(tmp_path)),
    )
    items = outcome.document["items"]
    assert len(items) == GROUPS * len(PLACES)
    verdicts: dict[str, int] = {}
    known = {at: {value for _, value in there[at]} for at in PLACES}
    for item in items:
        at = (item["topic"].removeprefix("east."), item["partition"])
        verdicts[item["match"]] = verdicts.get(item["match"], 0) + 1
        check(item, commits[item["group"]][at], here[at], there[at], known[at])
    assert verdicts["exact"] > 0.9 * len(items), verdicts
    written = fetch_offsets(west, "mir-0000")
    assert written == {
        (item["topic"], item["partition"]): item["new_offset"]
        for item in items
        if item["group"] == "mir-0000" and item["new_offset"] is not None
    }


def check(
    item: dict[str, Any],
    commit: int,
    here: list[tuple[int, bytes]],
    there: list[tuple[int, bytes]],
    known: set[bytes],
) -> None:
    """A row against what readers of both logs get."""
    unread = [value for offset, value in here if offset >= commit]
    if item["match"] == "not there":
        assert not unread or unread[0] not in known, item
        return
    assert (item["match"], item["error"]) == ("exact", None), item
    place = item["new_offset"]
    assert misplaced(place, commit, here, there) == (0, 0), item
    if unread and unread[0] in known:
        assert dict(there)[place] == unread[0], item


def misplaced(
    place: int, commit: int, here: list[tuple[int, bytes]], there: list[tuple[int, bytes]]
) -> tuple[int, int]:
    """Records that a group at `place` there would skip, and read again, after a commit here."""
    read = {value for offset, value in here if offset < commit}
    unread = {value for offset, value in here if offset >= commit}
    skipped = {value for offset, value in there if offset < place}.intersection(unread)
    again = {value for offset, value in there if offset >= place}.intersection(read)
    return len(skipped), len(again)


def test_what_checkpoints_make_of_the_same_commits(clusters: Clusters) -> None:
    """They skip none, but read records again, which matching by record does not."""
    here, there = all_of(clusters.east), all_of(clusters.west, "east.")
    found = [
        misplaced(place, clusters.commits[group][at], here[at], there[at])
        for group, places in clusters.checkpoints.items()
        for at, place in places.items()
    ]
    again = [count for _, count in found]
    sys.stdout.write(
        f"checkpoints for {len(found):,} of {GROUPS * len(PLACES):,} commits; records read again: "
        f"{sum(again):,} ({sum(map(bool, again)):,} commits, {max(again):,} at most)\n"
    )
    assert sum(skipped for skipped, _ in found) == 0
    assert sum(again) > 0


def test_log_that_has_times_of_its_own(kafka: KafkaCluster, tmp_path: Path) -> None:
    """LogAppendTime: records are told by their content alone; --limit says how far it looked."""
    address = kafka.bootstrap
    create_topics(address, {"mir-own": 1})
    create_topics(address, {"east.mir-own": 1}, config={"message.timestamp.type": "LogAppendTime"})
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for topic, first in (("mir-own", 0), ("east.mir-own", -30)):
        for number in range(first, 400):
            time_ms = 1_790_000_000_000 + number
            producer.produce(topic, b"%d" % number, partition=0, timestamp=time_ms)
    assert producer.flush(60) == 0
    commit_offsets(address, {"mir-own-group": {("mir-own", 0): 250}})
    line = ("-b", address, "copy-offsets", "--from", "mir-own-group", "--to", "mir-own-copy")
    more = ("--to-bootstrap-server", address, "--topic-prefix", "east.", "--match", "records")
    keep = ("--undo-dir", str(tmp_path), "-o", "json")
    cut = run(*line, *more, *keep, "--limit", "170", "--dry-run")
    assert (cut.exit_code, cut.document["items"][0]["match"]) == (5, "not there")
    assert "as far as --limit allows" in cut.stderr
    outcome = run(*line, *more, *keep, "--yes")
    (item,) = outcome.document["items"]
    assert (item["match"], item["source_offset"], item["new_offset"]) == ("exact", 250, 280)
    assert item["matched_written_at"] != item["source_written_at"]
    assert fetch_offsets(address, "mir-own-copy") == {("east.mir-own", 0): 280}
