"""`--fields`: columns of tables and CSV, chosen and ordered."""

import csv
import io
import shlex
from pathlib import Path

import pytest

from kgroups.cli.commands.describe.describe_report import VIEW_COLUMNS
from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets, produce

pytestmark = pytest.mark.usefixtures("files")

SHOP = ("--from", "shop.json")


def rows(*args: str) -> list[list[str]]:
    """The CSV of a command."""
    outcome = run(*args, *SHOP, "-o", "csv")
    assert outcome.exit_code == 0, outcome
    return list(csv.reader(io.StringIO(outcome.stdout, newline="")))


# Deliveries are of a cluster: tests/kafka/reads/test_deliveries.py
@pytest.mark.parametrize("view", sorted(VIEW_COLUMNS.keys() - {"deliveries"}))
def test_every_column_can_be_chosen(view: str) -> None:
    """Alone it holds what it holds among the others; all of them are the whole."""
    words = ("describe", "--all-groups", f"--{view}")
    names = ",".join(VIEW_COLUMNS[view])  # type: ignore[index]
    whole = rows(*words)
    assert rows(*words, "--fields", names) == whole
    for at, name in enumerate(whole[0]):
        assert rows(*words, "--fields", name) == [[row[at]] for row in whole]


def test_their_order_is_that_of_the_option() -> None:
    """Names may be repeated, and written as in a table."""
    assert rows("list", "--fields", "state,group", "--fields", "COORDINATOR-ID,state") == [
        ["state", "group", "coordinator_id"],
        ["Empty", "audit réports, nightly", "2"],
        ["Stable", "billing", "1"],
        ["Reconciling", "shipping", "2"],
    ]


def test_what_was_asked_for_is_shown() -> None:
    """A column that a table leaves out otherwise has a heading, whatever it holds."""
    words = ("describe", "billing", *SHOP)
    assert "ERROR" not in run(*words).stdout
    lines = run(*words, "--fields", "partition,error,log_start_offset").stdout.splitlines()
    assert lines[0].split() == ["PARTITION", "ERROR", "LOG-START"]
    assert [line.split() for line in lines[1:]] == [
        ["0", "-", "0"],
        ["1", "-", "0"],
        ["2", "-", "50"],
    ]


def test_rows_are_sorted_by_what_is_not_shown() -> None:
    """The largest lag comes first, though lag is left out."""
    words = ("describe", "--all-groups", "--top", "2")
    assert rows(*words, "--fields", "topic,partition") == [
        ["topic", "partition"],
        ["orders", "2"],
        ["orders", "0"],
    ]


WRONG = [
    ("list --fields grup", "there is no column `grup` here; did you mean `group`"),
    ("describe g --fields lag,state", "there is no column `state` here"),
    ("describe g --fields lag_seconds", "there is no column `lag_seconds` here"),
    ("describe g --members --state --fields group", "--fields requires one view"),
    ("list --fields group -o json", "and the output is `json`"),
    ("list --fields ''", "--fields names no column"),
    ("lag report --fields lga", "there is no column `lga` here; did you mean `lag`"),
    ("lag report --by topic --fields member_id", "there is no column `member_id` here"),
]


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_wrong_fields(line: str, says: str) -> None:
    """Refused with the nearest names, before a cluster or Spark is reached for."""
    outcome = run(*shlex.split(line), "-b", "127.0.0.1:1")
    assert outcome.exit_code == 2
    assert outcome.stdout == "" or outcome.document["items"] == []
    assert says in outcome.stderr


def test_fields_of_time() -> None:
    """They are there when they are asked for."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", 0): 20})
        commit_offsets(address, {"g": {("t", 0): 20}})
        times = ("--lag-time", "--fields", "lag_seconds,group", "-o", "csv", "-b", address)
        assert run("list", *times).stdout == "lag_seconds,group\n0.0,g\n"
        assert run("describe", "g", *times).stdout == "lag_seconds,group\n0.0,g\n"


def test_of_several_contexts(tmp_path: Path) -> None:
    """The context comes first, and the chosen columns hold what they hold in each."""
    with Sandbox(brokers=1, topics={"t": 1}) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", 0): 20})
        commit_offsets(address, {"g": {("t", 0): 15}})
        env = {"KGROUPS_CONFIG": str(tmp_path / "config.yaml")}
        for name in ("eu", "us"):
            assert run("context", "add", name, "-b", address, env=env).exit_code == 0
        words = ("-c", "eu", "-c", "us", "describe", "g", "--fields", "lag,topic", "-o", "csv")
        for more in ((), ("--sort", "lag")):
            outcome = run(*words, *more, env=env)
            assert outcome.stdout == "context,lag,topic\neu,5,t\nus,5,t\n"
