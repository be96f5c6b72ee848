"""Months in miniature: captures made from a seed, as the collector would have left them."""

import random
from typing import Any

from kgroups.core.lag.stores.places import Place
from tests.support.lag.capture_writer import captured_row, write_finished

START_MS = 1_760_000_000_000
STEP_MS = 30_000

SHAPES = (
    "keeps up",
    "falls behind",
    "catches up",
    "stands still",
    "stopped",
    "rewinds",
    "rewinds and recovers",
    "idle topic",
    "flat then busy",
    "never commits",
    "expires",
    "topic recreated",
    "topic deleted",
    "clock jumps",
    "appears late",
)


def captures(seed: int, count: int = 30, copies: int = 2) -> list[dict[str, Any]]:
    """Rows of `count` captures of one group a shape, with a partition a copy."""
    rng = random.Random(seed)
    rows = []
    for shape in SHAPES:
        for partition in range(copies):
            rows += _series(rng, shape, partition, count)
    return rows


def _series(rng: random.Random, shape: str, partition: int, count: int) -> list[dict[str, Any]]:
    """One partition's life."""
    speed = rng.randrange(50, 500)
    start, end, committed = 0, rng.randrange(1_000, 5_000), None
    committed = 0 if shape in ("catches up", "expires") else end - 10
    rows: list[dict[str, Any]] = []
    owner = {"member_id": f"m{partition}", "client_id": "c", "host": "/h"}
    if shape == "stopped":
        owner = {}
    for i in range(count):
        at_ms = START_MS + i * STEP_MS
        if shape == "clock jumps" and count // 3 < i < count // 2:
            at_ms -= 20 * STEP_MS
        produced = rng.randrange(speed // 2, speed)
        if shape == "idle topic" or (shape == "flat then busy" and i % 10 < 6):
            produced = 0
        end += produced
        committed = _consume(rng, shape, i, count, committed, end, speed)
        if shape == "expires":
            start = max(start, min(end, (i - 4) * speed))
        if shape == "topic recreated" and i == count // 2:
            start, end, committed = 0, speed, speed // 3
        gone = shape == "topic deleted" and i > count - 3
        if shape == "appears late" and i < count - 2:
            continue
        commit = None if shape == "never commits" else committed
        rows.append(
            captured_row(
                at_ms,
                cluster="c1",
                group=shape,
                topic="t1" if partition else "t2",
                partition=partition,
                committed_offset=commit,
                log_start_offset=None if gone else start,
                log_end_offset=None if gone else end,
                error="UNKNOWN_TOPIC_OR_PARTITION" if gone else None,
                **owner,
            )
        )
    return rows


def _consume(
    rng: random.Random, shape: str, i: int, count: int, committed: int, end: int, speed: int
) -> int:
    """Where the group stands after this step."""
    if shape in ("stands still", "stopped", "topic deleted", "idle topic"):
        return committed
    if shape in ("falls behind", "expires"):
        return min(committed + rng.randrange(speed // 3), end)
    if shape == "catches up":
        return min(committed + 2 * speed, end - 5)
    if shape == "rewinds" and i == count - 5:
        return committed // 2
    if shape == "rewinds" and i > count - 5:
        return committed + 1
    if shape == "rewinds and recovers" and i == count - 6:
        return committed - 40
    return max(committed, end - rng.randrange(speed))


def write_rows(folder: Place, rows: list[dict[str, Any]]) -> None:
    """Captures as `collect` leaves them: a commit each."""
    by_time: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_time.setdefault(row["captured_at_ms"], []).append(row)
    for at_ms, captured in by_time.items():
        write_finished(folder, captured[0]["cluster"], captured, [at_ms])
