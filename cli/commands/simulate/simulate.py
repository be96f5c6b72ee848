"""`kgroups simulate`: rebalances in virtual time."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from kgroups.cli.commands.lag.lag_options import SparkConf
from kgroups.cli.commands.simulate.simulate_checks import (
    failed_checks,
    run_failures,
    spark_settings,
)
from kgroups.cli.commands.simulate.simulate_report import Simulated, variation_text
from kgroups.cli.commands.simulate.simulate_search import check_search, search_settings
from kgroups.cli.commands.simulate.simulate_timeline import show_timeline
from kgroups.cli.commands.simulate.simulated_group import (
    Captures,
    Over,
    check_measuring,
    scenario_of,
)
from kgroups.cli.exits import end_with
from kgroups.cli.output.envelope import Report
from kgroups.cli.output.printer import Printer
from kgroups.cli.pages.render import write_page
from kgroups.cli.params import HtmlFile, options_of
from kgroups.cli.usage import Text, Texts, argument, option
from kgroups.core.conditions.grammar import parse_conditions
from kgroups.core.errors import ItemError, UsageError
from kgroups.core.extras import require_extra
from kgroups.core.input_files.document import Document, read_document
from kgroups.core.simulation.engine.refusals import check_scenario
from kgroups.core.simulation.engine.sweep import plan_tasks, sweep
from kgroups.core.simulation.figures.figure_fields import SIMULATION_FIELDS
from kgroups.core.simulation.figures.outcome import Outcome
from kgroups.core.simulation.figures.outcome_item import group_items
from kgroups.core.simulation.scenario.event_file import parse_event
from kgroups.core.simulation.scenario.member_file import with_properties
from kgroups.core.simulation.scenario.scenario_file import parse_simulation
from kgroups.core.simulation.scenario.scenario_model import Scenario
from kgroups.core.simulation.scenario.units import parse_ms
from kgroups.core.simulation.scenario.variation import combinations, parse_vary

SCHEMA = "kgroups.simulate/1"
VIEWS: Final = "Views"
RUNS: Final = "Many runs"
"""Headings of options in the help."""

HELP = """Simulate rebalances in virtual time.

A scenario (YAML) names topics with their rates, groups with their members,
and events. The coordinator and client logic are the real ones; only time,
network and applications are simulated. The same scenario and seed always give
the same result.

EXAMPLES
  kgroups simulate deploy.yaml --timeline
  kgroups simulate deploy.yaml --vary protocol=eager,cooperative,consumer
  kgroups simulate deploy.yaml --vary session.timeout.ms=6000,45000 --repeat 9
  kgroups simulate deploy.yaml --repeat 20 --fail-on 'moved_p95 > 10'
  kgroups simulate deploy.yaml --html deploy.html
  kgroups simulate deploy.yaml --search session.timeout.ms=6s..60s \\
    --search members=3..12 --minimise 'unowned_seconds + member_count'
  kgroups simulate --from-group billing --event rolling_restart:down=10s
  kgroups simulate --from-group billing --over 1m --event crash
  kgroups simulate --from-group billing --event deploy:change.static=true

EVENTS of a scenario, or of --event KIND[:KEY=VALUE,...]
  deploy             roll out a new version as Kubernetes does: kind,
                     maxSurge, maxUnavailable, startup, readiness, change
  rolling_restart    restart members one after another: down, pause
  scale_out          add members: count, like
  scale_in           remove members: count, members
  crash              kill a process: member, restart_after
  gc_pause           freeze a process: member, for
  poison_record      one record takes very long: member, for
  pause              pause partitions: member, topics, for
  subscribe          change the subscription: member, topics, pattern
  unsubscribe        drop the subscription: member
  seek               move to other offsets: to, topics, partitions
  network_partition  cut a member off the cluster: member, for, stall, lost
  zone_outage        a rack fails: rack, for
  spot_eviction      members of a rack are evicted: rack, count, notice
  load               change the rate of a topic: topic, rate, for
  request_error      fail requests: member, api (SyncGroup), error, times
  Also: add_partitions, create_topic, move_coordinator, broker_down,
  broker_up, slow_broker, roll_brokers. Each event has a time (at=60s) or
  occurs at random (every=5m). Lists are members=a+b, topics=a+b and
  partitions=0+1.

FIGURES
  unowned      total and longest time partitions had no owner
  stopped      total time members waited without partitions
  read again   records read twice because they were not committed in time
  catch-up     longest time the group was behind
  With protocol=zookeeper also:
  split-brain  total time two members read the same partition
  failed       rebalances given up
  notified, reads   watches fired and znodes read, the cost of a change
  With polls_on also:
  lost         records committed but never processed
  out of order records begun before an earlier one of the partition was done
  With --repeat, figures are medians over all seeds; --spread adds the 95th
  percentile and the 95% confidence interval of each.

--vary compares every combination of any consumer property, any broker
property for groups, protocol (eager, cooperative, consumer,
zookeeper), client (java, librdkafka, sarama, franz-go, kafka-python,
aiokafka, kafkajs), static, latency, processing, commit, members, rate,
partitions (TOPIC.rate, TOPIC.partitions), and events (crash.at,
rolling_restart.pause). With --repeat, a `*` marks what differs from the
first combination by more than chance.

--from-group takes rates and processing times from the group itself with
--over TIME, or from captures with --captures DIR; otherwise they are assumed,
and a note says so.

--properties FILE gives every member the properties of a consumer's own
file; a note names those without effect on a group, unknown ones are refused.

--fail-on exits with 6 if a condition holds for a group; its fields are the
figures: stopped_seconds, unowned_seconds_p95, read_again_p99.

--search tries --trials settings within LOW..HIGH, or a list, for the lowest
--minimise, an expression over the figures (durations in seconds). It needs
the package's extra `search`.
"""


def simulate_command(
    ctx: typer.Context,
    scenario: Annotated[Path | None, argument("[SCENARIO]", "YAML or JSON file.")] = None,
    from_group: Annotated[
        Text, option("--from-group GROUP", "Simulate a group as it is now.")
    ] = None,
    file: Annotated[Path | None, option("--from FILE", "Read the group from a snapshot.")] = None,
    over: Over = None,
    captures: Captures = None,
    properties: Annotated[
        Path | None, option("--properties FILE", "Properties of all members.")
    ] = None,
    event: Annotated[Texts, option("--event EVENT", "Add an event.")] = None,
    seed: Annotated[int | None, option("--seed N", "Random seed. [default: 1]", min=0)] = None,
    until: Annotated[
        Text, option("--until TIME", "Length of the run. [default: until settled]")
    ] = None,
    timeline: Annotated[
        bool, option("--timeline", "Print the protocol step by step.", VIEWS)
    ] = False,
    rebalances: Annotated[
        bool, option("--rebalances", "Show each rebalance and its cause.", VIEWS)
    ] = False,
    deploys: Annotated[bool, option("--deploys", "Show figures of deploys.", VIEWS)] = False,
    scalings: Annotated[bool, option("--scalings", "Show what autoscalers did.", VIEWS)] = False,
    members: Annotated[bool, option("--members", "Show figures of members.", VIEWS)] = False,
    partitions: Annotated[
        bool, option("--partitions", "Show figures of partitions.", VIEWS)
    ] = False,
    requests: Annotated[
        bool, option("--requests", "Show requests and errors by kind.", VIEWS)
    ] = False,
    spread: Annotated[
        bool, option("--spread", "Show percentiles and intervals of all runs.", VIEWS)
    ] = False,
    vary: Annotated[Texts, option("--vary K=A,B", "Compare these values.", RUNS)] = None,
    repeat: Annotated[int, option("--repeat N", "Number of seeds to run.", RUNS, min=1)] = 1,
    jobs: Annotated[
        int | None, option("--jobs N", "Number of processes. [default: cores]", RUNS, min=1)
    ] = None,
    master: Annotated[Text, option("--master URL", "Run on a Spark cluster.", RUNS)] = None,
    conf: SparkConf = None,
    fail_on: Annotated[Texts, option("--fail-on EXPR", "Exit with 6 if this holds.")] = None,
    search: Annotated[Texts, option("--search K=LOW..HIGH", "Search these values.", RUNS)] = None,
    minimise: Annotated[Text, option("--minimise EXPR", "Expression to minimise.", RUNS)] = None,
    trials: Annotated[int, option("--trials N", "Number of settings to try.", RUNS, min=1)] = 40,
    html: HtmlFile = None,
) -> None:
    if search or minimise:
        check_search(search, minimise, alone=not (timeline or vary or master or fail_on))
    if html is not None:
        require_extra("html", "`--html`")
    if master is not None:
        require_extra("spark", "`simulate --master`")
    settings = spark_settings(master, conf or ())
    check_measuring(over, captures, from_group, file)
    printer = Printer(options_of(ctx))
    if scenario is None and from_group is not None:
        simulated, document = scenario_of(printer, from_group, file, over, captures), None
    else:
        simulated, document = read_scenario(scenario, from_group, file)
    if properties is not None:
        simulated = with_properties(simulated, read_document(properties, "properties"))
    simulated = with_options(simulated, event or (), seed, until)
    check_scenario(simulated, document)
    tell_sources(printer, simulated)
    if search and minimise:
        how = {"trials": trials, "repeat": repeat, "jobs": jobs or os.cpu_count() or 1}
        search_settings(printer, simulated, search, minimise, html=html, **how)
        return
    if timeline:
        if vary or repeat > 1 or master or html or fail_on:
            raise UsageError(
                "`--timeline` shows a single run",
                hint="leave out `--vary`, `--repeat`, `--fail-on` and `--html`",
            )
        end_with(show_timeline(printer, simulated))
        return
    flags = {
        "rebalances": rebalances,
        "deploys": deploys,
        "scalings": scalings,
        "members": members,
        "partitions": partitions,
        "requests": requests,
        "spread": spread,
    }
    chosen = chosen_views(printer, flags)
    conditions = parse_conditions(fail_on or (), SIMULATION_FIELDS)
    runs, variations = run_all(printer, simulated, vary or (), repeat, jobs, master, settings)
    items, errors = items_of(runs, variations)
    errors += failed_checks(runs, variations, conditions)
    if html is not None:
        from kgroups.cli.commands.simulate.simulation_page import simulation_page

        views = Simulated(plain=False).chosen(
            ["groups", "rebalances", "deploys", "scalings", "members"]
        )
        write_page(html, simulation_page(simulated, items, runs, views, errors))
    show_items(printer, items, errors, chosen)
    end_with(errors)


def chosen_views(printer: Printer, flags: Mapping[str, bool]) -> list[str]:
    """The views that were asked for, and that of the groups; CSV holds one."""
    chosen = [name for name, asked in flags.items() if asked]
    if printer.options.output == "csv" and len(chosen) > 1:
        raise UsageError("CSV can hold only one view", hint="choose one view")
    if not chosen or printer.options.output != "csv":
        chosen.insert(0, "groups")
    return chosen


def read_scenario(
    path: Path | None, group: str | None, file: Path | None
) -> tuple[Scenario, Document | None]:
    """The scenario of a file, with the file."""
    if path is None or group is not None:
        raise UsageError("expected either a scenario file or `--from-group`")
    if file is not None:
        raise UsageError("`--from` requires `--from-group`")
    document = read_document(path)
    return parse_simulation(document), document


def tell_sources(printer: Printer, scenario: Scenario) -> None:
    """Say what of a scenario was measured, what is assumed, and what has no effect."""
    for text in scenario.measured:
        printer.note("MEASURED", f"measured: {text}")
    for text in scenario.assumed:
        printer.note("ASSUMED", f"assumed: {text}")
    if scenario.idle:
        names = ", ".join(f"`{name}`" for name in scenario.idle)
        printer.note("WITHOUT_EFFECT", f"without effect: {names}")


def with_options(
    scenario: Scenario, events: Sequence[str], seed: int | None, until: str | None
) -> Scenario:
    """The scenario with what the command line says besides."""
    more = tuple(parse_event(text, scenario) for text in events)
    scenario = replace(scenario, events=(*scenario.events, *more))
    if seed is not None:
        scenario = replace(scenario, seed=seed)
    if until is not None:
        scenario = replace(scenario, until_ms=int(parse_ms(until)))
    return scenario


def run_all(
    printer: Printer,
    scenario: Scenario,
    vary: Sequence[str],
    repeat: int,
    jobs: int | None,
    master: str | None,
    settings: Mapping[str, str],
) -> tuple[list[list[Outcome]], list[dict[str, str]]]:
    """The outcomes of every variation, and the variations."""
    variations = combinations(parse_vary(vary))
    seeds = range(scenario.seed, scenario.seed + repeat)
    tasks = plan_tasks(scenario, variations, seeds)
    if master is None:
        outcomes = sweep(
            tasks,
            (os.cpu_count() or 1) if jobs is None else jobs,
            lambda done: printer.progress(f"{done} of {len(tasks)} runs"),
        )
    else:
        from kgroups.core.spark.simulation_sweep import sweep_on_spark

        printer.waiting("starting Spark")
        outcomes = sweep_on_spark(tasks, master, settings)
    runs: list[list[Outcome]] = [[] for _ in variations]
    for place, outcome in outcomes:
        runs[place].append(outcome)
    printer.wipe()
    return runs, variations


def items_of(
    runs: Sequence[Sequence[Outcome]], variations: Sequence[dict[str, str]]
) -> tuple[list[dict[str, Any]], list[ItemError]]:
    """The items of every variation, and what failed or did not settle."""
    items: list[dict[str, Any]] = []
    errors: list[ItemError] = []
    for variation, outcomes in zip(variations, runs, strict=True):
        items += group_items(variation or None, outcomes, runs[0])
        text = variation_text(variation)
        errors += next(
            (bad for bad in (run_failures(outcome, text) for outcome in outcomes) if bad), []
        )
    return items, errors


def show_items(
    printer: Printer,
    items: list[dict[str, Any]],
    errors: Sequence[ItemError],
    chosen: Sequence[str],
) -> None:
    """Print the tables, or the document."""
    views = Simulated(plain=printer.options.output == "csv").chosen(chosen)
    printer.show(
        Report(
            SCHEMA,
            items,
            views,
            errors=errors,
            summary=lambda: {
                "items": len(items),
                "runs": sum(item["runs"] for item in items),
                "settled": all(item["runs"] == item["runs_settled"] for item in items),
            },
        )
    )
