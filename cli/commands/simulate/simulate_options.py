"""The options of `kgroups simulate`."""

from pathlib import Path
from typing import Annotated, Final

import typer

# Titles of groups of options in the help.
VIEWS: Final = "Views"
RUNS: Final = "Many runs"

Texts = list[str] | None

Scenario = Annotated[Path | None, typer.Argument(metavar="[SCENARIO]", help="YAML or JSON file.")]
FromGroup = Annotated[
    str | None,
    typer.Option("--from-group", metavar="GROUP", help="Simulate a group as it is now."),
]
File = Annotated[
    Path | None,
    typer.Option("--from", metavar="FILE", help="Read the group from a snapshot."),
]
Properties = Annotated[
    Path | None,
    typer.Option("--properties", metavar="FILE", help="Properties of all members."),
]
Event = Annotated[Texts, typer.Option("--event", metavar="EVENT", help="Add an event.")]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", min=0, help="Random seed. [default: 1]")
]
Until = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Length of the run. [default: until settled]"),
]
Timeline = Annotated[
    bool,
    typer.Option("--timeline", help="Print the protocol step by step.", rich_help_panel=VIEWS),
]
Rebalances = Annotated[
    bool,
    typer.Option("--rebalances", help="Show each rebalance and its cause.", rich_help_panel=VIEWS),
]
Deploys = Annotated[
    bool, typer.Option("--deploys", help="Show figures of deploys.", rich_help_panel=VIEWS)
]
Scalings = Annotated[
    bool, typer.Option("--scalings", help="Show what autoscalers did.", rich_help_panel=VIEWS)
]
Members = Annotated[
    bool, typer.Option("--members", help="Show figures of members.", rich_help_panel=VIEWS)
]
Partitions = Annotated[
    bool,
    typer.Option("--partitions", help="Show figures of partitions.", rich_help_panel=VIEWS),
]
Requests = Annotated[
    bool,
    typer.Option("--requests", help="Show requests and errors by kind.", rich_help_panel=VIEWS),
]
Spread = Annotated[
    bool,
    typer.Option(
        "--spread", help="Show percentiles and intervals of all runs.", rich_help_panel=VIEWS
    ),
]
Vary = Annotated[
    Texts,
    typer.Option("--vary", metavar="K=A,B", help="Compare these values.", rich_help_panel=RUNS),
]
Repeat = Annotated[
    int,
    typer.Option(
        "--repeat", metavar="N", min=1, help="Number of seeds to run.", rich_help_panel=RUNS
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        min=1,
        help="Number of processes. [default: cores]",
        rich_help_panel=RUNS,
    ),
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Run on a Spark cluster.", rich_help_panel=RUNS),
]
FailOn = Annotated[
    Texts, typer.Option("--fail-on", metavar="EXPR", help="Exit with 6 if this holds.")
]
Search = Annotated[
    Texts,
    typer.Option(
        "--search", metavar="K=LOW..HIGH", help="Search these values.", rich_help_panel=RUNS
    ),
]
Minimise = Annotated[
    str | None,
    typer.Option(
        "--minimise", metavar="EXPR", help="Expression to minimise.", rich_help_panel=RUNS
    ),
]
Trials = Annotated[
    int,
    typer.Option(
        "--trials", metavar="N", min=1, help="Number of settings to try.", rich_help_panel=RUNS
    ),
]
