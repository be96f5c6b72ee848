"""Lag: how far each commit of a group is behind the end of its log."""

from kgroups.core.lag.group_lag import LagSummary, OffsetRow, lag_summary, offset_rows, topics_read
from kgroups.core.lag.rules import (
    LAG_STATUSES,
    Isolation,
    LagStatus,
    Uncommitted,
    partition_lag,
)

__all__ = [
    "LAG_STATUSES",
    "Isolation",
    "LagStatus",
    "LagSummary",
    "OffsetRow",
    "Uncommitted",
    "lag_summary",
    "offset_rows",
    "partition_lag",
    "topics_read",
]
