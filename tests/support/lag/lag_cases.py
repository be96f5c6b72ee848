"""One table of lag cases, run as pure Python and as Spark columns."""

from typing import Any, NamedTuple

from kgroups.core.lag.rules import LagStatus


class LagCase(NamedTuple):
    """Facts of one partition and what follows from them.

    `facts` are arguments of `partition_lag`; what is not given is not known.
    """

    id: str
    facts: dict[str, Any]
    lag: int | None
    status: LagStatus
    lost: int | None


def facts(
    committed: int | None = None, start: int | None = None, end: int | None = None, **more: Any
) -> dict[str, Any]:
    """Arguments of `partition_lag`, short enough for a table."""
    return {"committed": committed, "log_start": start, "log_end": end, **more}


MISSING = "UNKNOWN_TOPIC_OR_PARTITION"
LEADERLESS = "LEADER_NOT_AVAILABLE"

LAG_CASES = [
    LagCase("at the head", facts(100, 0, 100), 0, "ok", 0),
    LagCase("a share group is done with most", facts(40, 0, 100, lag_told=7), 7, "ok", 0),
    LagCase("more told than there is", facts(40, 0, 100, lag_told=90), 60, "ok", 0),
    LagCase("told beyond the end", facts(120, 0, 100, lag_told=5), 0, "beyond_end", 0),
    LagCase("told below log start", facts(9, 10, 100, lag_told=20), 20, "below_log_start", 1),
    LagCase(
        "told to the log end, read to the last stable offset",
        facts(40, 0, 100, lag_told=30, last_stable=90, isolation="read_committed"),
        20,
        "ok",
        0,
    ),
    LagCase("behind", facts(40, 0, 100), 60, "ok", 0),
    LagCase("an empty log read to its end", facts(0, 0, 0), 0, "ok", 0),
    LagCase("at log start exactly", facts(10, 10, 100), 90, "ok", 0),
    LagCase("all records expired, commit at the end", facts(100, 100, 100), 0, "ok", 0),
    LagCase("one record expired unread", facts(9, 10, 100), 90, "below_log_start", 1),
    LagCase("everything expired unread", facts(10, 100, 100), 0, "below_log_start", 90),
    LagCase("beyond the end of a truncated log", facts(120, 0, 100), 0, "beyond_end", 0),
    LagCase("topic recreated with smaller offsets", facts(5_000, 0, 7), 0, "beyond_end", 0),
    LagCase("topic recreated and passed again", facts(5_000, 0, 9_000), 4_000, "ok", 0),
    LagCase("group recreated, committed at 0", facts(0, 0, 9_000), 9_000, "ok", 0),
    LagCase("never committed", facts(None, 0, 100), None, "no_commit", None),
    LagCase("minus one is no commit", facts(-1, 0, 100), None, "no_commit", None),
    LagCase("never committed, empty log", facts(None, 0, 0), None, "no_commit", None),
    LagCase(
        "never committed, taken to stand at the start",
        facts(None, 30, 100, uncommitted="start"),
        70,
        "no_commit",
        None,
    ),
    LagCase(
        "never committed, taken to stand at the end",
        facts(None, 30, 100, uncommitted="end"),
        0,
        "no_commit",
        None,
    ),
    LagCase(
        "never committed and the log's end not known",
        facts(None, 30, None, uncommitted="end"),
        None,
        "no_commit",
        None,
    ),
    LagCase("topic deleted", facts(40, error=MISSING), None, "topic_missing", None),
    LagCase("topic deleted, never committed", facts(error=MISSING), None, "topic_missing", None),
    LagCase("partition without a leader", facts(40, error=LEADERLESS), None, "leaderless", None),
    LagCase(
        "without a leader and never committed, whatever the policy",
        facts(None, error=LEADERLESS, uncommitted="end"),
        None,
        "leaderless",
        None,
    ),
    LagCase(
        "no right to read the topic",
        facts(40, error="TOPIC_AUTHORIZATION_FAILED"),
        None,
        "unknown",
        None,
    ),
    LagCase("bounds not asked for", facts(40), None, "unknown", None),
    LagCase("log start not known", facts(40, None, 100), None, "unknown", None),
    LagCase("log end not known", facts(40, 0, None), None, "unknown", None),
    LagCase(
        "commits not readable, whatever the policy",
        facts(None, 0, 100, commits_known=False, uncommitted="end"),
        None,
        "unknown",
        None,
    ),
    LagCase(
        "read committed measures to the last stable offset",
        facts(40, 0, 100, last_stable=90, isolation="read_committed"),
        50,
        "ok",
        0,
    ),
    LagCase(
        "read committed, commit inside the open transaction",
        facts(95, 0, 100, last_stable=90, isolation="read_committed"),
        0,
        "ok",
        0,
    ),
    LagCase(
        "read committed, commit beyond the end",
        facts(120, 0, 100, last_stable=90, isolation="read_committed"),
        0,
        "beyond_end",
        0,
    ),
    LagCase(
        "read committed without a last stable offset",
        facts(40, 0, 100, isolation="read_committed"),
        None,
        "unknown",
        None,
    ),
    LagCase(
        "read committed, expired unread",
        facts(5, 10, 100, last_stable=90, isolation="read_committed"),
        80,
        "below_log_start",
        5,
    ),
    LagCase(
        "read committed, never committed, from the start",
        facts(None, 10, 100, last_stable=90, isolation="read_committed", uncommitted="start"),
        80,
        "no_commit",
        None,
    ),
    LagCase(
        "offsets beyond 32 bits",
        facts(2**40, 0, 2**53 + 1),
        2**53 + 1 - 2**40,
        "ok",
        0,
    ),
]
