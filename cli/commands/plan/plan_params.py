"""The options of `kgroups plan`, as types: what is changed, which tables, the fleet."""

from pathlib import Path
from typing import Annotated, Literal

from kgroups.cli.choosing import AllGroups as AllGroups
from kgroups.cli.parsing.option import Argument, option

Grouping = Literal["member", "group", "client", "host", "assignor"]
_Texts = list[str] | None


Groups = Annotated[_Texts, Argument(metavar="[GROUP]...", help="Group names.")]
Assignors = Annotated[
    _Texts, option("--assignor", help="Plan with these assignors.", metavar="NAME")
]
LeaderClient = Annotated[
    str | None, option("--as", help="Client library of the group's leader.", metavar="CLIENT")
]
LeaderFromLog = Annotated[
    bool, option("--leader-from-log", help="Read who leads from __consumer_offsets.")
]
Source = Annotated[
    Path | None, option("--from", help="Read a snapshot or a scenario instead.", metavar="FILE")
]

Faithful = Annotated[bool, option("--faithful", help="Reproduce faults of Java's assignors.")]

# What is shown.
ShowMetrics = Annotated[bool, option("--metrics", help="Show balance metrics.")]
ShowMembers = Annotated[bool, option("--members", help="Show each member's assignment.")]
ShowMoves = Annotated[bool, option("--moves", help="Show partitions that change owner.")]
ShowRounds = Annotated[
    bool, option("--rounds", help="Show what is revoked and assigned in each round.")
]
ShowOutcomes = Annotated[bool, option("--outcomes", help="Show every possible outcome.")]
ShowStages = Annotated[bool, option("--steps", help="Show each step of a deploy.")]
ShowBlockers = Annotated[
    bool, option("--blockers", help="Show what blocks a move to another protocol.")
]
Explained = Annotated[
    _Texts,
    option("--explain", help="Explain why this partition goes where it goes.", metavar="TOPIC:N"),
]
Checks = Annotated[
    _Texts, option("--fail-on", help="Exit with 6 if this holds: 'moved > 10%'.", metavar="EXPR")
]
CheckedAssignor = Annotated[
    str | None,
    option("--check-assignor", help="Test an assignor on generated groups.", metavar="NAME"),
]

# The fleet.
FleetReport = Annotated[bool, option("--report", help="Plan the fleet with Spark.")]
GroupedBy = Annotated[Grouping | None, option("--by", help="Group rows by this.", metavar="KEY")]
TopRows = Annotated[int, option("--top", help="Show only the first N rows.", metavar="N", min=1)]
Master = Annotated[str | None, option("--master", help="Spark master.", metavar="URL")]
Remote = Annotated[str | None, option("--remote", help="Spark Connect server.", metavar="URL")]
Conf = Annotated[
    _Texts, option("--conf", help="A setting of Spark; repeatable.", metavar="KEY=VALUE")
]
