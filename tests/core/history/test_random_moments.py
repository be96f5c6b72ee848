"""Random lives of a group: what is told of a moment was acknowledged, or is unknown."""

import os
from collections import Counter
from functools import partial
from random import Random

import pytest

from kgroups.core.history.log_entry import LogEntry
from kgroups.core.history.moment import MomentReader, Standing, last_look
from tests.support.history.group_life import GROUP, Life, moments

LIVES = int(os.environ.get("KGROUPS_FUZZ_MOMENTS", "60"))
SEED = int(os.environ.get("KGROUPS_FUZZ_SEED", "1"))
MOMENTS = 12


def standings(life: Life, log: list[LogEntry], at_ms: int) -> dict[int, Standing]:
    """What is told of a moment, by partition."""
    reader = MomentReader(at_ms, last_look(GROUP, life.captures, at_ms))
    for entry in log:
        reader.take(entry)
    return {number: one for (_, number), one in reader.standings().items()}


def check(life: Life, log: list[LogEntry], at_ms: int) -> Counter[str]:
    """Every row is true: of the moment, or of the time up to which it is known."""
    told = standings(life, log, at_ms)
    true = life.committed_at(at_ms)
    for number, one in told.items():
        if one.exactness == "exact":
            assert (one.offset, one.known_ms) == (true.get(number), at_ms), number
        elif one.exactness == "at_the_latest":
            assert one.known_ms is not None
            assert one.known_ms <= at_ms
            assert one.offset in life.held_at(one.known_ms, number), number
        else:
            assert one == Standing(None, "unknown", None, None)
    return Counter(
        f"{told[number].exactness} {told[number].source}" if number in told else "absent"
        for number in told.keys() | true.keys()
    )


def _keep(log: list[LogEntry], _: str, entry: LogEntry) -> None:
    log.append(entry)


@pytest.mark.parametrize("cleans", [False, True])
def test_lives(cleans: bool) -> None:
    """With a whole log everything is exact; with a cleaned one, what is said is true."""
    counts: Counter[str] = Counter()
    for number in range(LIVES):
        seed = SEED * 100_000 + number
        chance = Random(seed)
        life = Life(chance, cleans=cleans).live(chance.randint(5, 60))
        log: list[LogEntry] = []
        life.read(partial(_keep, log))
        for at_ms in moments(life, chance, MOMENTS):
            try:
                counts += check(life, log, at_ms)
            except AssertionError as error:
                raise AssertionError(
                    f"life of seed {seed}, cleaned {cleans}, at {at_ms}"
                ) from error
    print(dict(counts))
    if cleans:
        assert {name.partition(" ")[0] for name in counts} >= {"exact", "at_the_latest", "unknown"}
    else:
        assert not {"unknown None", "absent"} & counts.keys()
        assert counts["exact records"] > 0.97 * counts.total()  # else deleted in a transaction
