"""One scenario of Kafka's own test suites for these tools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.support.kafka.workload import Offsets

BOTH: Final = ("live-classic", "live-kip848")
"""A live group of each protocol, for what the Java test runs for both."""


@dataclass(frozen=True)
class Scenario:
    """One call and what has to come of it.

    Args:
        suite: Java test class.
        what: the scenario.
        line: official options without the cluster's address; `{f}` is a folder.
        rows: cells that rows of stdout must begin with.
        count: how many lines that are no header and not empty; None for any.
        err: what stderr must hold; empty: stderr must be empty.
        status: exit code.
        before: commits of groups, made first.
        after: commits of groups as they must be then.
        absent: cells that no row may begin with.
    """

    suite: str
    what: str
    line: str
    rows: tuple[str, ...] = ()
    count: int | None = None
    err: str = ""
    status: int = 0
    before: Mapping[str, Offsets] = field(default_factory=dict)
    after: Mapping[str, Offsets] = field(default_factory=dict)
    absent: tuple[str, ...] = ()
