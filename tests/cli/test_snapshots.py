"""What each command prints, word for word: exit code, stdout and stderr in one file a case.

KGROUPS_UPDATE_SNAPSHOTS=1 writes the files anew; look at the difference before committing it.
"""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli.command_tree import command_paths
from tests.support.cli.runner import Outcome, run

FOLDER = Path(__file__).parent / "snapshots"
UPDATE = os.environ.get("KGROUPS_UPDATE_SNAPSHOTS") == "1"

# Kafka's tools have no such option.
DETAILED = [path for path in command_paths() if path not in ((), ("official",))]
HELP_LINES = 90
"""That of the program, which has every command, is the longest."""
_NOW = re.compile(r"(?<=\"generated_at\":\")(?!2026-11-21T01:04:05.678Z)[^\"]+")

THREE = "describe billing --state --members --offsets --from shop.json"

CASES = {
    "list": "list --from shop.json",
    "list as json": "list --from shop.json --output json",
    "list as jsonl": "list --from shop.json -o jsonl",
    "list as csv": "list --from shop.json -o csv",
    "list as yaml": "list --from shop.json -o yaml",
    "list a glob": "list 'bill*' --from shop.json",
    "list part of a name": "list ship --from shop.json",
    "list by state in any case": "list --state EMPTY,stable --from shop.json",
    "list by type": "list --type consumer --from shop.json",
    "list by topic": "list --topic audit --from shop.json",
    "list where it is so": "list --where \"state != 'Stable' and member_count>0\" --from shop.json",
    "list where it cannot be told": "list --where 'lag > 10' --from shop.json",
    "list by a broken condition": "list --where 'lag >' --from shop.json",
    "list nothing that fits": "list nobody --from shop.json",
    "list by a former state": "list --state AwaitingSync --from shop.json",
    "version as a word": "version",
    "help as a word": "--output json help ping",
    "describe a misspelt group": "describe biling --from shop.json",
    "describe with another tool's option": "describe --group billing --from shop.json",
    "list of no groups as yaml": "list --from nothing.yaml -o yaml",
    "list of no groups as json": "list --from nothing.yaml -o json",
    "list of no groups as csv": "list --from nothing.yaml -o csv",
    "list with a broker down": "list --from broken.json",
    "list with a broker down as json": "list --from broken.json -o json",
    "list by unknown state": "list --state sleepy --from shop.json",
    "list by unknown type": "list --type queue --from shop.json",
    "describe all": "describe --all-groups --from shop.json",
    "describe all as json": "describe --all-groups --from shop.json -o json",
    "describe all as jsonl": "describe --all-groups --from shop.json -o jsonl",
    "describe all as csv": "describe --all-groups --from shop.json -o csv",
    "describe all as yaml": "describe --all-groups --from shop.json -o yaml",
    "describe verbose": "describe billing --verbose --from shop.json",
    "describe members": "describe --all-groups --members --from shop.json",
    "describe members verbose": "describe --all-groups --members --verbose --from shop.json",
    "describe members as json": "describe --all-groups --members --from shop.json -o json",
    "describe members as csv": "describe --all-groups --members --from shop.json -o csv",
    "describe state": "describe --all-groups --state --from shop.json",
    "describe state verbose": "describe --all-groups --state --verbose --from shop.json",
    "describe state as json": "describe --all-groups --state --from shop.json -o json",
    "describe state as csv": "describe --all-groups --state --from shop.json -o csv",
    "describe where it is so": "describe --where 'lag > 10' --from shop.json",
    "describe where it is so, state": "describe --where 'lost > 0' --state --from shop.json",
    "describe three views": THREE,
    "describe three views as json": f"{THREE} -o json",
    "describe three views as csv": f"{THREE} -o csv",
    "describe most lag first": "describe --all-groups --sort lag --from shop.json",
    "describe top two": "describe --all-groups --top 2 --from shop.json",
    "describe top two as json": "describe --all-groups --top 2 --from shop.json -o json",
    "describe top member": "describe --all-groups --members --top 1 --from shop.json",
    "describe state by lag": "describe --all-groups --state --sort lag --from shop.json",
    "describe uncommitted from the start": "describe shipping --uncommitted start --from shop.json",
    "describe uncommitted from the end": "describe shipping --uncommitted end --from shop.json",
    "describe an unknown group beside another": "describe nobody billing --from shop.json",
    "describe an unknown group as json": "describe nobody billing --from shop.json -o json",
    "describe no group": "describe --from shop.json",
    "describe names and all": "describe billing --all-groups --from shop.json",
    "describe an empty name": "describe '' --from shop.json",
    "describe of no groups": "describe --all-groups --from nothing.yaml",
    "describe of no groups as json": "describe --all-groups --from nothing.yaml -o json",
    "snapshot show": "snapshot show shop.json",
    "snapshot show as json": "snapshot show shop.json -o json",
    "snapshot show as csv": "snapshot show shop.json -o csv",
    "snapshot show a yaml file": "snapshot show nothing.yaml -o yaml",
    "snapshot show a torn file": "snapshot show torn.json",
    "snapshot show another document": "snapshot show other.json",
    "snapshot show no file": "snapshot show missing.json",
    "reset to the first of nothing": "reset-offsets billing --to first --all-topics",
    "reset to none": "reset-offsets billing --to next:0 --all-topics",
    "peek with a form for hidden values": "peek billing --value-as hex",
    "peek by no decoder": "peek billing --show-values --value-as avro",
    "peek at too few records": "peek billing --limit none",
    "coordinator": "coordinator orders-app billing 'ünï ¢ödé' --partitions 50",
    "coordinator as json": "coordinator orders-app --partitions 50 -o json",
    "coordinator of nothing": "coordinator",
    "coordinator with no partitions": "coordinator billing --partitions 0",
    "doctor": "doctor --all-groups --from shop.json",
    "doctor as json": "doctor billing --from shop.json -o json",
    "doctor as csv": "doctor --all-groups --from shop.json -o csv",
    "doctor of nothing": "doctor",
    "doctor of an unknown level": "doctor billing --fail-on-level bad --from shop.json",
    "history of nothing": "history",
    "history of an empty name": "history ''",
    "history since whenever": "history billing --since whenever -b localhost:1",
    "context that nobody chose": "context current",
    "context without an address": "context add here",
    "check": "check --all-groups --fail-on 'lag > 10' --from shop.json",
    "check as json": "check billing --fail-on 'lag > 10' --from shop.json -o json",
    "check as junit": "check --all-groups --fail-on 'lag > 10' --from shop.json -o junit",
    "check as nagios": "check billing --fail-on 'lag > 10' --from shop.json -o nagios",
    "check a missing group": "check billing nobody --fail-on 'lag > 10' --from shop.json",
    "check by a misspelt field": "check billing --fail-on 'leg > 10' --from shop.json",
    "check fields": "check --fields",
    "wait for a misspelt word": "wait billing --until emty",
    "plan": "plan billing --from shop.json",
    "plan with a class of Kafka's": (
        "plan billing --from shop.json"
        " --assignor org.apache.kafka.clients.consumer.RoundRobinAssignor -o csv"
    ),
    "plan with a member more": "plan billing --from shop.json --add-members 1",
    "plan with a member more as json": "plan billing --from shop.json --add-members 1 -o json",
    "plan with complete new members": (
        "plan billing --from shop.json --add-members 2:x,client=java,rack=a,static=till-9"
        " --add-members 1:y,topics=orders+audit --members"
    ),
    "plan a rolling restart": "plan billing --from shop.json --rolling-restart all",
    "plan a restart as csv": "plan billing --from shop.json --restart till-1 --steps -o csv",
    "plan with a library that is not there": (
        "plan billing --from shop.json --add-members 1,client=cobol"
    ),
    "plan with a member less": "plan billing --from shop.json --remove-member till-1",
    "plan with more partitions as csv": (
        "plan billing --from shop.json --set-partitions orders=6 --moves -o csv"
    ),
    "plan members as csv": "plan billing --from shop.json -o csv",
    "plan side by side": "plan billing --from shop.json --assignor range,roundrobin --metrics",
    "plan of an empty group": "plan 'audit réports, nightly' --from shop.json",
    "plan of an unknown group": "plan nobody --from shop.json",
    "plan with an unknown assignor": "plan billing --from shop.json --assignor best",
    "plan with an unknown member": "plan billing --from shop.json --remove-member nobody",
    "plan with a bad change": "plan billing --from shop.json --add-members many",
    "plan nothing": "plan",
    "plan a scenario": "plan --from scenario.yaml",
    "plan a scenario as json": "plan upgraded --from scenario.yaml -o json",
    "plan rounds": "plan orders-app --from scenario.yaml --remove-member app-2 --rounds",
    "plan outcomes": (
        "plan orders-app --from scenario.yaml --assignor range --add-members 1:app --outcomes"
    ),
    "plan a check in some outcomes": (
        "plan orders-app --from scenario.yaml --assignor range --add-members 1:app --metrics"
        " --fail-on 'moved > 3'"
    ),
    "plan and explain": (
        "plan orders-app --from scenario.yaml --add-members 1:z --explain orders:5"
    ),
    "plan and explain as json": (
        "plan orders-app --from scenario.yaml --explain payments-2 -o json"
    ),
    "plan and explain an unknown partition": (
        "plan orders-app --from scenario.yaml --explain orders:9"
    ),
    "plan for another leader": "plan billing --from shop.json --as sarama --metrics",
    "plan for an unknown leader": "plan billing --from shop.json --as cobol",
    "plan with a pattern": (
        "plan orders-app --from scenario.yaml --pattern 'ord.*' --add-topic orders-eu=2 --metrics"
    ),
    "plan with a broken pattern": "plan orders-app --from scenario.yaml --pattern 'ord('",
    "plan that must not move much": (
        "plan orders-app --from scenario.yaml --add-members 1:z --metrics"
        " --fail-on 'moved > 10% and idle_members == 0'"
    ),
    "plan that moves little enough": (
        "plan orders-app --from scenario.yaml --metrics --fail-on 'moved > 10%'"
    ),
    "plan with a check that cannot be told": (
        "plan orders-app --from scenario.yaml --pattern orders --metrics --fail-on 'lag_max > 1'"
    ),
    "plan with a check that its leader leaves open": (
        "plan orders-app --from scenario.yaml --as franz-go --metrics --fail-on 'moved > 50%'"
    ),
    "plan with a bad check": "plan billing --from shop.json --fail-on 'mooved > 10%'",
    "plan a misspelt scenario": "plan --from misspelt.yaml",
    "plan a cyclic scenario": "plan --from cyclic.yaml",
    "plan what Java does wrong": "plan --from faulty.yaml --members",
    "plan what Java does wrong, faithfully": "plan --from faulty.yaml --members --faithful",
    "plan with an assignor of one's own": (
        "plan orders-app --from scenario.yaml --assignor own_assignors:First,range --metrics"
    ),
    "plan with an assignor that is not there": (
        "plan orders-app --from scenario.yaml --assignor own_assignors:Last"
    ),
    "plan with a report of one group": "plan billing --report --from shop.json",
    "plan with a report and a partition to explain": (
        "plan --all-groups --report --explain orders:1 --from shop.json"
    ),
    "plan with a report and an unknown member": (
        "plan --all-groups --report --remove-member nobody --from shop.json"
    ),
    "plan with a report and an unknown topic": (
        "plan --all-groups --report --set-partitions nosuch=4 --from shop.json"
    ),
    "plan by without a report": "plan billing --by member --from shop.json",
    "check an assignor": "plan --check-assignor range",
    "check an assignor as json": "plan --check-assignor own_assignors:TwiceToTwo -o json",
    "check an assignor that is not there": "plan --check-assignor best",
    "simulate": "simulate deploy.yaml",
    "simulate in views": "simulate deploy.yaml --rebalances --members --requests",
    "simulate as json": "simulate deploy.yaml -o json",
    "simulate rebalances as csv": "simulate deploy.yaml --rebalances -o csv",
    "simulate two views as csv": "simulate deploy.yaml --rebalances --members -o csv",
    "simulate a timeline": "simulate deploy.yaml --timeline --until 36s",
    "simulate a timeline as jsonl": "simulate deploy.yaml --timeline --until 7s -o jsonl",
    "simulate a timeline as json": "simulate deploy.yaml --timeline --until 7s -o json",
    "simulate a timeline of many": "simulate deploy.yaml --timeline --repeat 2",
    "simulate variations": (
        "simulate deploy.yaml --vary protocol=eager,cooperative,consumer --vary static=false,true "
        "--repeat 3 --jobs 1"
    ),
    "simulate a grid with a condition": (
        "simulate deploy.yaml --vary members=2,3 --vary orders.rate=40,400/s --repeat 6 --jobs 1 "
        "--fail-on 'unowned_seconds_p95 > 150ms or read_again > 0'"
    ),
    "simulate the spread": (
        "simulate deploy.yaml --vary protocol=eager,cooperative --repeat 6 --jobs 1 --spread"
    ),
    "simulate the spread as csv": "simulate deploy.yaml --repeat 6 --jobs 1 --spread -o csv",
    "simulate a search": (
        "simulate deploy.yaml --search members=2..3 --search protocol=eager,consumer "
        "--minimise 'unowned_seconds + member_count' --jobs 1"
    ),
    "simulate a search as json": (
        "simulate deploy.yaml --search members=2..3 --minimise rebalances --jobs 1 -o json"
    ),
    "simulate a search as csv": (
        "simulate deploy.yaml --search heartbeat.interval.ms=3s,20s "
        "--minimise unowned_seconds -o csv"
    ),
    "simulate a search for nothing": "simulate deploy.yaml --search members=2..3",
    "simulate a search with variations": (
        "simulate deploy.yaml --search members=2..3 --minimise unowned_seconds --vary members=1"
    ),
    "simulate a search for no figure": (
        "simulate deploy.yaml --search members=2..3 --minimise unownd"
    ),
    "simulate with an unknown condition": "simulate deploy.yaml --fail-on 'unownd > 2s'",
    "simulate a variation of nothing known": "simulate deploy.yaml --vary colour=red",
    "simulate members that fail": (
        "simulate deploy.yaml --vary auto.offset.reset=none"
        " --event add_partitions:topic=orders,partitions=6 --until 10m --members"
    ),
    "simulate a short session": "simulate deploy.yaml --vary session.timeout.ms=4000",
    "simulate a long heartbeat": "simulate deploy.yaml --vary heartbeat.interval.ms=20s",
    "simulate an unknown assignor": (
        "simulate deploy.yaml --vary protocol=consumer --vary group.remote.assignor=best"
    ),
    "simulate and not settle": "simulate deploy.yaml --until 31s",
    "simulate a misspelt file": "simulate mistyped.yaml",
    "simulate a group": (
        "simulate --from-group billing --from shop.json --event crash:restart_after=5s --members"
    ),
    "simulate a group that is not there": "simulate --from-group nobody --from shop.json",
    "simulate with a consumer's properties": (
        "simulate --from-group billing --from shop.json --properties app.properties"
    ),
    "simulate with wrong properties": "simulate deploy.yaml --properties wrong.properties",
    "simulate an event of no kind": "simulate deploy.yaml --event flood",
    "simulate an event without what it needs": "simulate deploy.yaml --event gc_pause:at=5s",
    "simulate nothing": "simulate",
    "lag report by nothing known": "lag report --from shop.json --by moon",
    "lag report by a misspelt condition": "lag report --from shop.json --fail-on 'lagg > 1'",
    "lag report where nothing is known": "lag report --from shop.json --sql 'lagg > 1'",
    "lag report of a torn file": "lag report --from torn.json",
    "delete nothing": "delete --yes",
    "delete names and all": "delete billing --all-groups --yes",
    "reset to nowhere": "reset-offsets billing --topic orders --yes",
    "reset to no target": "reset-offsets billing --to soon --topic orders --yes",
    "reset to a time without zone": "reset-offsets billing --to 2026-11-21T06:00:00 --all-topics",
    "reset no topic": "reset-offsets billing --to latest --yes",
    "reset no group": "reset-offsets --to latest --all-topics --yes",
    "reset and undo at once": "reset-offsets billing --undo undo.json --yes",
    "undo a file that is none": "reset-offsets --undo torn.json --yes",
    "delete offsets of no topic": "delete-offsets billing --yes",
    "delete offsets of a bad scope": "delete-offsets billing --topic orders:x --yes",
    "apply a plan that is none": "apply shop.json --yes",
    "apply and drift somehow": "apply saved.json --drift maybe",
    "save a plan and do it": "reset-offsets g --to 5 --all-topics --yes --plan saved.json",
    "remove no members": "remove-members billing --yes",
    "describe tasks of another group": "describe billing --tasks --from shop.json",
    "set no value": "config billing --set consumer.session.timeout.ms",
    "set and unset at once": "config billing --set a=1 --unset a",
    "undo and set at once": "config billing --undo last --set a=1",
    "transactions of nothing": "transactions list",
    "top without a terminal": "top",
    "top by an odd time": "top --every often --once",
    "abort a transaction of a group and a topic": "transactions abort g --topic t --yes",
    "explain an error": "explain non_empty_group",
    "explain a word of several meanings": "explain unknown",
    "explain as json": "explain 74 -o json",
    "explain a misspelt code": "explain STAL",
    "schema of no document": "schema completion",
    "schema with a query": "schema list -o json --query properties.schema.const",
    "no address": "list",
    "bad address": "list -b localhost:notaport",
    "bad properties": "list -b localhost:9092 --command-config bad.properties",
    "no properties": "list -b localhost:9092 --command-config missing.properties",
    "bad output": "list --from shop.json -o xml",
    "bad timeout": "list --from shop.json --timeout soon",
    "unknown command": "lisst",
    "unknown option": "list --stat Empty",
    "no command": "",
    "option before and after": "-o csv list --from shop.json -o jsonl",
}


def text_of(line: str, outcome: Outcome) -> str:
    """What a snapshot file holds; the time of the run is not part of it."""
    stdout = _NOW.sub("NOW", outcome.stdout)
    return (
        f"$ kgroups {line}\nexit code {outcome.exit_code}\n"
        f"--- stdout\n{stdout}--- stderr\n{outcome.stderr}"
    )


def check(name: str, text: str) -> None:
    """Compare with the file of this name, or write it."""
    path = FOLDER / f"{name}.txt"
    if UPDATE:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"no snapshot `{name}`: run with KGROUPS_UPDATE_SNAPSHOTS=1"
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", CASES)
def test_command(name: str) -> None:
    """Exit code, stdout and stderr of the command are those of the file."""
    line = CASES[name]
    check(name, text_of(line, run(*shlex.split(line))))


@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_help(path: tuple[str, ...]) -> None:
    """The help page is that of the file and fits in 80 columns."""
    outcome = run(*path, "--help")
    check(" ".join(["help", *path]), text_of(" ".join([*path, "--help"]), outcome))
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert len(outcome.stdout.splitlines()) <= HELP_LINES
    assert (outcome.exit_code, outcome.stderr) == (0, "")


@pytest.mark.parametrize("path", DETAILED, ids=" ".join)
def test_help_all(path: tuple[str, ...]) -> None:
    """It has every line of the help page, in its order, and the details and global options."""
    outcome = run(*path, "--help-all")
    check(" ".join(["help all", *path]), text_of(" ".join([*path, "--help-all"]), outcome))
    lines = outcome.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "Global options:" in lines
    assert any("--context" in line for line in lines)
    rest = iter(" ".join(line.split()) for line in lines)
    short = run(*path, "--help").stdout.splitlines()
    before, _, _ = "\n".join(short).partition("\nGlobal options:")
    missing = [line for line in before.splitlines() if " ".join(line.split()) not in rest]
    assert missing == []


def test_no_stale_snapshots() -> None:
    """Every file belongs to a case."""
    names = {*CASES, *(" ".join(["help", *path]) for path in command_paths())}
    names |= {" ".join(["help all", *path]) for path in DETAILED}
    assert {path.stem for path in FOLDER.glob("*.txt")} == names


def test_snapshots_were_written_with_every_extra() -> None:
    """Of an environment without one they would hold its hint instead of the answer."""
    poor = [path.name for path in FOLDER.iterdir() if "requires the extra" in path.read_text()]
    assert poor == []
