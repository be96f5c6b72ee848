"""The options of `kgroups simulate`."""

from pathlib import Path
from typing import Annotated, Final

from kgroups.cli.usage import Text, Texts, argument, option

# Titles of groups of options in the help.
VIEWS: Final = "Views"
RUNS: Final = "Many runs"


Scenario = Annotated[Path | None, argument("[SCENARIO]", "YAML or JSON file.")]
FromGroup = Annotated[Text, option("--from-group GROUP", "Simulate a group as it is now.")]
File = Annotated[Path | None, option("--from FILE", "Read the group from a snapshot.")]
Properties = Annotated[Path | None, option("--properties FILE", "Properties of all members.")]
Event = Annotated[Texts, option("--event EVENT", "Add an event.")]
Seed = Annotated[int | None, option("--seed N", "Random seed. [default: 1]", min=0)]
Until = Annotated[Text, option("--until TIME", "Length of the run. [default: until settled]")]
Timeline = Annotated[bool, option("--timeline", "Print the protocol step by step.", VIEWS)]
Rebalances = Annotated[bool, option("--rebalances", "Show each rebalance and its cause.", VIEWS)]
Deploys = Annotated[bool, option("--deploys", "Show figures of deploys.", VIEWS)]
Scalings = Annotated[bool, option("--scalings", "Show what autoscalers did.", VIEWS)]
Members = Annotated[bool, option("--members", "Show figures of members.", VIEWS)]
Partitions = Annotated[bool, option("--partitions", "Show figures of partitions.", VIEWS)]
Requests = Annotated[bool, option("--requests", "Show requests and errors by kind.", VIEWS)]
Spread = Annotated[bool, option("--spread", "Show percentiles and intervals of all runs.", VIEWS)]
Vary = Annotated[Texts, option("--vary K=A,B", "Compare these values.", RUNS)]
Repeat = Annotated[int, option("--repeat N", "Number of seeds to run.", RUNS, min=1)]
Jobs = Annotated[
    int | None, option("--jobs N", "Number of processes. [default: cores]", RUNS, min=1)
]
Master = Annotated[Text, option("--master URL", "Run on a Spark cluster.", RUNS)]
FailOn = Annotated[Texts, option("--fail-on EXPR", "Exit with 6 if this holds.")]
Search = Annotated[Texts, option("--search K=LOW..HIGH", "Search these values.", RUNS)]
Minimise = Annotated[Text, option("--minimise EXPR", "Expression to minimise.", RUNS)]
Trials = Annotated[int, option("--trials N", "Number of settings to try.", RUNS, min=1)]
