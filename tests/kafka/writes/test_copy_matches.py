"""`copy-offsets --match records` on random logs in two clusters, whose true places are known."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Producer

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import (
    commit_offsets,
    create_topics,
    expire_records,
    fetch_offsets,
)

pytestmark = pytest.mark.kafka

TOPIC, PREFIX = "match-t", "east."
BASE_MS = 1_790_000_000_000
SEED = 37
LOGS = 6
GROUPS = 25


class Log(NamedTuple):
    """A partition in both clusters.

    Args:
        source: the number of each record by offset; numbers are in the order of writing.
        target: likewise; None: a record of somebody else.
        start, target_start: where the logs start, as older records have expired.
        alike: numbers of records that are the same as another one.
    """

    source: list[int]
    target: list[int | None]
    start: int
    target_start: int
    alike: frozenset[int]


def make_log(dice: random.Random) -> Log:
    """Records of which some are compacted away on either side, some alike, some replicated late."""
    numbers = range(dice.randint(60, 200))
    source = [number for number in numbers if dice.random() < 0.9]
    target: list[int | None] = [None] * dice.randint(0, 30)
    upto = dice.choice([len(numbers), len(numbers) - 20])
    target += [number for number in numbers if number < upto and dice.random() < 0.9]
    alike = frozenset(n for n in numbers if n and dice.random() < 0.08)
    return Log(source, target, dice.choice([0, 15]), dice.choice([0, 25]), alike)


def write(address: str, topic: str, partition: int, log: Log, numbers: list[Any]) -> None:
    """The records; several are of one millisecond, and some the same as the one before."""
    producer = Producer({"bootstrap.servers": address, "log_level": 0, "compression.type": "lz4"})
    for offset, number in enumerate(numbers):
        strange = number is None
        one = -offset if strange else number
        while one in log.alike:
            one -= 1
        producer.produce(
            *(topic, b"strange" if strange else b"value"),
            key=b"k%d" % (one % 7),
            partition=partition,
            timestamp=BASE_MS + (-1_000 if strange else 10 * (one // 4)),
            headers=[("number", b"%d" % one)],
        )
    assert producer.flush(60) == 0


@pytest.fixture(scope="module")
def logs() -> list[Log]:
    """The partitions."""
    dice = random.Random(SEED)
    return [make_log(dice) for _ in range(LOGS)]


@pytest.fixture(scope="module")
def address(cluster_address: str, logs: list[Log]) -> str:
    """The source."""
    create_topics(cluster_address, {TOPIC: LOGS})
    for partition, log in enumerate(logs):
        write(cluster_address, TOPIC, partition, log, list(log.source))
    starts = {(TOPIC, n): log.start for n, log in enumerate(logs) if log.start}
    expire_records(cluster_address, starts)
    return cluster_address


@pytest.fixture(scope="module")
def elsewhere(logs: list[Log]) -> Iterator[str]:
    """The target, where the topic has another name."""
    with Sandbox(topics={PREFIX + TOPIC: LOGS}) as cluster:
        there = cluster.bootstrap_servers
        for partition, log in enumerate(logs):
            write(there, PREFIX + TOPIC, partition, log, log.target)
        starts = {(PREFIX + TOPIC, n): log.target_start for n, log in enumerate(logs)}
        expire_records(there, {at: start for at, start in starts.items() if start})
        yield there


def copy(address: str, there: str, folder: Path, *args: str) -> Outcome:
    """The end of a copy by records, as JSON."""
    line = ("copy-offsets", "--match", "records", "--to-bootstrap-server", there)
    names = ("--topic-prefix", PREFIX, "--undo-dir", str(folder), "-o", "json")
    return run("-b", address, *line, *names, *args)


def check(log: Log, commit: int, item: dict[str, Any]) -> None:
    """What was planned against what is known of both logs."""
    place = item["new_offset"]
    unread = log.source[max(commit, log.start) :]
    read = log.source[log.start : commit]
    below = log.target[log.target_start : place]
    above = log.target[place:]
    story = (commit, place, unread[:3], read[-3:], item)
    skipped = [n for n in below if n is not None and unread and n >= unread[0]]
    assert skipped == [] or not set(skipped) & set(unread), ("skipped", skipped, story)
    again = [n for n in above if n in read]
    if item["match"] == "exact":
        assert again == [], ("read again", again, story)
        if unread and unread[0] in log.target[log.target_start :]:
            assert log.target[place] == unread[0], story


def test_random_logs(address: str, elsewhere: str, logs: list[Log], tmp_path: Path) -> None:
    """Exact is exact; where records are alike none is skipped; most are found."""
    dice = random.Random(SEED + 1)
    commits = {
        f"match-{n}": {
            (TOPIC, number): dice.randint(0, len(log.source)) for number, log in enumerate(logs)
        }
        for n in range(GROUPS)
    }
    commit_offsets(address, commits)
    line = ("--from", "match-*", "--keep-going", "--yes", "--verify")
    outcome = copy(address, elsewhere, tmp_path, *line)
    items = outcome.document["items"]
    assert len(items) == GROUPS * LOGS
    verdicts: dict[str, int] = {}
    for item in items:
        verdicts[item["match"]] = verdicts.get(item["match"], 0) + 1
        number = item["partition"]
        if item["match"] == "not there":
            assert (item["result"], item["error"]) == ("failed", "NO_SAME_RECORD")
            continue
        assert item["result"] in ("done", "skipped"), item
        check(logs[number], commits[item["group"]][TOPIC, number], item)
    assert verdicts["exact"] > 0.7 * len(items), verdicts
    assert fetch_offsets(elsewhere, "match-0") == {
        (PREFIX + TOPIC, item["partition"]): item["new_offset"]
        for item in items
        if item["group"] == "match-0" and item["new_offset"] is not None
    }
