"""The question of a lag report: of a capture, or of captures over a window."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from kgroups.core.conditions.condition import Condition
from kgroups.core.lag.rules import Isolation, Uncommitted
from kgroups.core.snapshot import Group

DEFAULT_TOP = 100
EngineName = Literal["spark", "duckdb"]
"""Who computes reports."""

# What `--by` groups rows by. A member's rows carry its client and host along.
KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "group": ("cluster", "group"),
        "topic": ("cluster", "topic"),
        "partition": ("cluster", "group", "topic", "partition"),
        "member": ("cluster", "group", "member_id", "client_id", "host"),
        "client": ("cluster", "client_id"),
        "host": ("cluster", "host"),
        "assignor": ("cluster", "assignor"),
    }
)


@dataclass(frozen=True, slots=True)
class LagQuery:
    """A question about a capture.

    Args:
        groups: only these; None: every group.
        by: `group`, `topic`, `partition`, `member`, `client`, `host` or `assignor` (the one in
            use); with `assignors` neither `topic` nor `partition`.
        assignors: names of strategies to plan every group with.
        leader_of: the client library that leads a classic group, where it is planned with
            `assignors`; `planning.leaders.guess.infer_leader` finds the likeliest.
        top: most rows that the answer may have.
        sort: column to sort by, the most first; None: lag, or what planning would change.
        sql: only rows of which this is true: a SQL condition on the columns of the report.
        fail_on: conditions on its columns that no row may meet.
        uncommitted, isolation: as in `group_lag.offset_rows`.
        pictures: whether rows for charts are wanted too.
        times: whether lag in seconds is wanted of a single capture, from record times.
        compare_ms: how long before a window of captures the one lies that it is compared with; 0:
            with none.
    """

    groups: Collection[str] | None = None
    by: str = "group"
    assignors: Sequence[str] = ()
    leader_of: Callable[[Group], str] = lambda _group: "java"
    top: int = DEFAULT_TOP
    sort: str | None = None
    sql: str | None = None
    fail_on: Sequence[Condition] = ()
    uncommitted: Uncommitted | None = None
    isolation: Isolation = "read_uncommitted"
    pictures: bool = False
    times: bool = False
    compare_ms: int = 0
