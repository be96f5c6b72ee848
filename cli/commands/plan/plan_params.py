"""The options of `kgroups plan`, as types: what is changed, which tables, the fleet."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Grouping = Literal["member", "group", "client", "host", "assignor"]
_Texts = list[str] | None


def _option(flag: str, help: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(flag, metavar=metavar, help=help, **more)


Groups = Annotated[_Texts, typer.Argument(metavar="[GROUP]...", help="Group names.")]
AllGroups = Annotated[bool, _option("--all-groups", "Every group of the cluster.")]
Assignors = Annotated[_Texts, _option("--assignor", "Plan with these assignors.", "NAME")]
LeaderClient = Annotated[
    str | None, _option("--as", "Client library of the group's leader.", "CLIENT")
]
LeaderFromLog = Annotated[
    bool, _option("--leader-from-log", "Read who leads from __consumer_offsets.")
]
Source = Annotated[Path | None, _option("--from", "Read a snapshot or a scenario instead.", "FILE")]

Faithful = Annotated[bool, _option("--faithful", "Reproduce faults of Java's assignors.")]

# What is shown.
ShowMetrics = Annotated[bool, _option("--metrics", "Show balance metrics.")]
ShowMembers = Annotated[bool, _option("--members", "Show each member's assignment.")]
ShowMoves = Annotated[bool, _option("--moves", "Show partitions that change owner.")]
ShowRounds = Annotated[
    bool, _option("--rounds", "Show what is revoked and assigned in each round.")
]
ShowOutcomes = Annotated[bool, _option("--outcomes", "Show every possible outcome.")]
ShowStages = Annotated[bool, _option("--steps", "Show each step of a deploy.")]
ShowBlockers = Annotated[
    bool, _option("--blockers", "Show what blocks a move to another protocol.")
]
Explained = Annotated[
    _Texts, _option("--explain", "Explain why this partition goes where it goes.", "TOPIC:N")
]
Checks = Annotated[
    _Texts, _option("--fail-on", "Exit with 6 if this holds: 'moved > 10%'.", "EXPR")
]
CheckedAssignor = Annotated[
    str | None, _option("--check-assignor", "Test an assignor on generated groups.", "NAME")
]

# The fleet.
FleetReport = Annotated[bool, _option("--report", "Plan the fleet with Spark.")]
GroupedBy = Annotated[Grouping | None, _option("--by", "Group rows by this.", "KEY")]
TopRows = Annotated[int, _option("--top", "Show only the first N rows.", "N", min=1)]
Master = Annotated[str | None, _option("--master", "Spark master.", "URL")]
Remote = Annotated[str | None, _option("--remote", "Spark Connect server.", "URL")]
Conf = Annotated[_Texts, _option("--conf", "A setting of Spark; repeatable.", "KEY=VALUE")]
