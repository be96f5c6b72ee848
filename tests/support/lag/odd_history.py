"""Random captures with everything odd: gaps, clocks set back, recreated topics, died collectors.

Each cluster is a case of its own, so that one report holds as many cases as one likes.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgroups.core.lag.captures.delta_table import append, dated
from kgroups.core.lag.captures.table_columns import arrow_schema
from tests.support.lag.capture_writer import NOTHING, table_of, write_finished

START_MS = 1_760_000_000_000
MINUTE_MS = 60_000
TOPICS = ("orders", "audit")
NOBODY = dict.fromkeys(arrow_schema("members").names)
Row = dict[str, Any]


@dataclass
class Capture:
    """One capture of one cluster.

    Args:
        is_whole: False where the collector died after the members.
        period: the hour or day that it is rolled up into, and which one.
    """

    cluster: str
    at_ms: int
    rows: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    is_whole: bool = True
    period: tuple[str, int] | None = None


@dataclass
class _Log:
    """A partition; `end` and what readers see of it."""

    start: int
    end: int
    speed: int
    held: int = 0
    error: str | None = None


@dataclass
class _Group:
    """A group: what it reads, where it stands, who is in it."""

    name: str
    topics: tuple[str, ...]
    members: int
    speed: int
    commits: dict[tuple[str, int], int | None] = field(default_factory=dict)
    commits_known: bool = True
    born: int = 0

    @property
    def shares(self) -> bool:
        """Whether it is a share group."""
        return self.speed % 5 == 0

    def lag_told(self, commit: int | None, log: _Log, step: int) -> int | None:
        """What the coordinator of a share group says, now and then."""
        if not self.shares or commit is None or step % 5 == 0:
            return None
        return max(log.end - commit, 0) * (step % 4) // 3


def odd_captures(seed: int, clusters: int) -> list[Capture]:
    """Captures of so many clusters, each with a history of its own; by cluster and time."""
    found: list[Capture] = []
    for number in range(clusters):
        rng = random.Random(f"{seed}/{number}")
        found += _cluster(rng, f"c{number:04}")
    return found


def moved(captures: Iterable[Capture], by_ms: int) -> list[Capture]:
    """The same captures at another time."""
    return [
        Capture(
            capture.cluster,
            capture.at_ms + by_ms,
            [row | {"captured_at_ms": capture.at_ms + by_ms} for row in capture.rows],
            [row | {"captured_at_ms": capture.at_ms + by_ms} for row in capture.members],
            capture.is_whole,
        )
        for capture in captures
    ]


def _cluster(rng: random.Random, cluster: str) -> list[Capture]:
    count = rng.choice([1, 2, 3, 5, 8, 13, 25, 70, 130])
    beat_ms = rng.choice([1_000, 10_000, MINUTE_MS])
    logs = {
        (topic, number): _Log(
            rng.choice([0, 0, 500]), 500 + rng.randrange(1_500), rng.randrange(90)
        )
        for topic in TOPICS
        for number in range(rng.randrange(1, 4))
    }
    groups = [_group(rng, f"g{n}", logs, count) for n in range(rng.randrange(1, 4))]
    moments: dict[int, Capture] = {}
    at_ms = START_MS + rng.randrange(5) * MINUTE_MS
    for step in range(count):
        if rng.random() < 0.05:
            at_ms -= rng.randrange(1, 5) * beat_ms + 7  # the clock was set back
        elif rng.random() < 0.04:
            at_ms += rng.randrange(20, 60) * beat_ms  # nobody collected
        else:
            at_ms += beat_ms
        for log in logs.values():
            _produce(rng, log)
        for group in groups:
            _consume(rng, group, logs)
        if at_ms not in moments:
            moments[at_ms] = _capture(rng, cluster, at_ms, step, logs, groups)
    found = [moments[at_ms] for at_ms in sorted(moments)]
    for capture in found:
        capture.is_whole = rng.random() > 0.04
    if rng.random() < 0.15:  # it died at last, with other members there
        found[-1].is_whole = False
        found[-1].members = [{**m, "member_id": "ghost"} for m in found[-1].members]
    if rng.random() < 0.1:  # every group is gone
        found.append(Capture(cluster, found[-1].at_ms + beat_ms))
    return found


def _group(rng: random.Random, name: str, logs: dict[Any, _Log], count: int) -> _Group:
    topics = tuple(rng.sample(TOPICS, rng.randrange(1, 3)))
    group = _Group(name, topics, rng.choice([0, 1, 1, 2, 4]), rng.randrange(120))
    group.commits_known = rng.random() > 0.04
    group.born = rng.choice([0, 0, 0, count // 2, count - 1])
    for at, log in logs.items():
        if at[0] in topics:
            never = rng.random() < 0.15
            group.commits[at] = None if never else rng.randrange(log.start // 2, log.end + 1)
    return group


def _produce(rng: random.Random, log: _Log) -> None:
    odd = rng.random()
    log.end += rng.randrange(log.speed + 1)
    log.error = None
    if odd < 0.02:  # deleted and made again
        log.start, log.end = 0, rng.randrange(log.speed + 1)
    elif odd < 0.05:
        log.start = min(log.end, log.start + rng.randrange(3 * log.speed + 1))
    elif odd < 0.07:
        log.error = rng.choice(["LEADER_NOT_AVAILABLE", "UNKNOWN_TOPIC_OR_PARTITION"])
    elif odd < 0.08:
        log.error = "TOPIC_AUTHORIZATION_FAILED"
    log.held = rng.choice([0, 0, 0, rng.randrange(40)])


def _consume(rng: random.Random, group: _Group, logs: dict[Any, _Log]) -> None:
    if rng.random() < 0.1:
        group.members = rng.choice([0, 1, 2, 4])
    for at, commit in group.commits.items():
        log = logs[at]
        odd = rng.random()
        if odd < 0.02:
            group.commits[at] = rng.choice([None, 0, log.start])
        elif odd < 0.03:
            group.commits[at] = log.end + 50
        elif odd < 0.06 and commit is None:
            group.commits[at] = log.end
        elif commit is not None and group.members and odd < 0.9:
            group.commits[at] = max(min(commit + rng.randrange(group.speed + 1), log.end), 0)


def _capture(
    rng: random.Random,
    cluster: str,
    at_ms: int,
    step: int,
    logs: dict[Any, _Log],
    groups: list[_Group],
) -> Capture:
    capture = Capture(cluster, at_ms)
    for group in groups:
        if step < group.born or rng.random() < 0.02:
            continue
        names = [f"{group.name}-m{n}" for n in range(group.members)]
        facts = {
            "captured_at_ms": at_ms,
            "cluster": cluster,
            "group": group.name,
            "group_type": "share" if group.shares else "classic",
            "assignor": "range" if names else None,
        }
        who = {n: {"client_id": f"app{i % 2}", "host": f"/h{i % 3}"} for i, n in enumerate(names)}
        for place, (at, commit) in enumerate(sorted(group.commits.items())):
            log = logs[at]
            # Fewer hands than partitions and the other way round; some are nobody's.
            member = names[place % len(names)] if names and rng.random() > 0.05 else None
            if commit is None and member is None:
                continue
            known = log.error is None
            capture.rows.append(
                NOTHING
                | facts
                | (who[member] if member else {})
                | {
                    "group_state": "Stable" if names else "Empty",
                    "topic": at[0],
                    "partition": at[1],
                    "commits_known": group.commits_known,
                    "committed_offset": commit if group.commits_known else None,
                    "log_start_offset": log.start if known else None,
                    "log_end_offset": log.end if known else None,
                    "last_stable_offset": max(log.end - log.held, log.start) if known else None,
                    "member_id": member,
                    "error": log.error,
                    "lag_told": group.lag_told(commit, log, step) if group.commits_known else None,
                }
            )
        for ordinal, name in enumerate(names):
            member_facts = {"ordinal": ordinal, "member_id": name, "subscription": [], "owned": []}
            capture.members.append(NOBODY | facts | who[name] | member_facts)
    return capture


def write_captures(folder: Path, captures: list[Capture], *, every: int = 3) -> None:
    """Tables as collectors leave them; of those that died members, or rows too, and no more.

    Args:
        every: of so many clusters one has a commit a capture, the others one of all of them.
    """
    clusters: dict[str, list[Capture]] = {}
    for capture in captures:
        clusters.setdefault(capture.cluster, []).append(capture)
    for number, (cluster, own) in enumerate(clusters.items(), start=1):
        parts = [[capture] for capture in own] if number % every == 0 else [own]
        for part in parts:
            members = table_of("members", (row for c in part for row in c.members))
            if members.num_rows:
                append(folder, "members", dated(members))
            whole = [capture for capture in part if capture.is_whole]
            died = [c for c in part if not c.is_whole and c.rows and c.at_ms % 2]
            for capture in died:
                append(folder, "rows", dated(table_of("rows", capture.rows)))
            if whole:
                rows = [row for capture in whole for row in capture.rows]
                write_finished(folder, cluster, rows, [capture.at_ms for capture in whole])
