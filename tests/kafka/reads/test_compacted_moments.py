"""What groups had committed at a moment, once a real cleaner has compacted their records."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Final, NamedTuple

import pytest

from kgroups.cli.exits import now_ms
from kgroups.core.coordinator.placement import OFFSETS_TOPIC
from kgroups.core.kafka.config.settings import read_settings
from kgroups.core.kafka.librdkafka.offsets_topic import OffsetsTopic
from kgroups.core.lag.window.commit_log import parse_record
from kgroups.core.snapshot import TopicPartition
from kgroups.core.times import parse_instant_ms, timestamp
from tests.support.cli.runner import run
from tests.support.kafka.broker import KafkaCluster
from tests.support.kafka.broker_config import ClusterSpec
from tests.support.kafka.waiting import wait_until
from tests.support.kafka.workload import (
    COMPACTED_AT_ONCE,
    commit_offsets,
    configure,
    create_topics,
    produce,
)

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.slow("a broker that compacts; quick twin: tests/cli/commands/test_moments.py"),
]

TOPIC, GROUP, GONE = "compacted", "compacted-app", "compacted-gone"
STILL: Final[TopicPartition] = (TOPIC, 3)
"""Committed once, at the beginning."""
ROUNDS: Final = 12
Commits = dict[TopicPartition, int]


class Told(NamedTuple):
    """What was acknowledged when; each time is after one commit and before the next.

    Args:
        looks: time and commits of `GROUP`, and of `GONE`, which is deleted at the end.
        captures: a folder with a capture that was taken in the middle.
    """

    address: str
    looks: dict[str, list[tuple[int, Commits]]]
    captures: str


def tick() -> int:
    """The time now, before all that follows."""
    at_ms = now_ms()
    wait_until(lambda: now_ms() > at_ms, "a millisecond has passed")
    return at_ms


def is_cleaned(address: str) -> bool:
    """Whether of each commit no more is left than the last two, of which one is not cleaned yet."""
    log = OffsetsTopic(read_settings(address, None))
    found = Counter(
        parse_record(record)[3:6]
        for part in log.slices()
        for records in log.read(part)
        for record in records
    )
    return max(count for at, count in found.items() if at[0] in (GROUP, GONE)) <= 2


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """Rounds of commits, of which the cleaner has left the last."""
    chance, folder = Random(7), str(tmp_path_factory.mktemp("captures") / "captures")
    spec = ClusterSpec(
        properties={"offsets.topic.num.partitions": "1", "log.cleaner.backoff.ms": "200"}
    )
    with KafkaCluster(spec) as cluster:
        address = cluster.bootstrap
        create_topics(address, {TOPIC: 4})
        produce(address, {(TOPIC, number): 50 for number in range(4)})
        now: dict[str, Commits] = {name: {STILL: 1} for name in (GROUP, GONE)}
        looks: dict[str, list[tuple[int, Commits]]] = {name: [] for name in now}
        commit_offsets(address, now)
        configure(address, OFFSETS_TOPIC, COMPACTED_AT_ONCE)
        for number in range(ROUNDS):
            for name in now:
                places = chance.sample(range(3), chance.randint(1, 3))
                fresh = {(TOPIC, place): chance.randint(1, 50) for place in places}
                commit_offsets(address, {name: fresh})
                now[name] |= fresh
                looks[name].append((tick(), dict(now[name])))
            if number == ROUNDS // 2:
                assert run("-b", address, "lag", "collect", folder).exit_code == 0
        assert run("delete", GONE, "-b", address, "--yes").exit_code == 0
        looks[GONE].append((tick(), {}))
        wait_until(lambda: is_cleaned(address), "the log is compacted", pause_s=0.5)
        yield Told(address, looks, folder)


def around(looks: list[tuple[int, Commits]], at_ms: int) -> list[Commits]:
    """What had been acknowledged just before a time, and just after: a commit lies between."""
    before = [commits for when, commits in looks if when <= at_ms]
    after = [commits for when, commits in looks if when >= at_ms]
    return [(before or [{STILL: 1}])[-1], *after[:1]]


@pytest.mark.parametrize("name", [GROUP, GONE])
def test_nothing_is_told_that_was_not_so(told: Told, name: str) -> None:
    """Of every moment: what is exact was acknowledged then, and what was so once was so then."""
    seen = set()
    for captures in ((), ("--captures", told.captures)):
        for at_ms, commits in told.looks[name]:
            words = ("describe", name, "--at", timestamp(at_ms), *captures)
            outcome = run(*words, "-b", told.address, "-o", "json")
            assert outcome.exit_code == 0, outcome
            (item,) = outcome.document["items"]
            for row in item["offsets"]:
                place, offset = (row["topic"], row["partition"]), row["committed_offset"]
                seen.add((row["exactness"], row["source"]))
                case = (name, timestamp(at_ms), row)
                if row["exactness"] == "exact":
                    assert offset == commits.get(place), case
                elif row["exactness"] == "at_the_latest":
                    known_ms = parse_instant_ms(row["known_at"], now_ms())
                    assert known_ms <= at_ms, case
                    sides = around(told.looks[name], known_ms)
                    assert offset in {commits.get(place) for commits in sides}, case
                else:
                    assert offset is None, case
    assert {("exact", "records"), ("unknown", None), ("at_the_latest", "captures")} <= seen


def test_the_way_back(told: Told) -> None:
    """To where it is exact; what compaction removed is refused, and the rest with it."""
    at_ms, _ = told.looks[GROUP][0]
    reset = partial(run, "reset-offsets", GROUP, "--to", f"committed@{timestamp(at_ms)}")
    words = ("-b", told.address, "--dry-run", "-o", "json")
    document = reset(*words).document
    rows = {row["partition"]: (row["error"], row["new_offset"]) for row in document["items"]}
    assert rows[STILL[1]] == (None, 1)
    assert "COMMIT_UNKNOWN" in {error for error, _ in rows.values()}
