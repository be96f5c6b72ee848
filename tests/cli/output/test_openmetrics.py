"""`-o openmetrics`, read back by the Prometheus client: the figures of the JSON documents."""

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kgroups.cli.output.group_metrics import FAMILIES, lag_row_samples
from kgroups.cli.output.openmetrics import Sample
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.metrics import read_metrics, series
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets, produce

pytestmark = pytest.mark.usefixtures("files")

ALL = ("--all-groups", "--from", "shop.json")
GROUP = "kafka_consumergroup_group"


def cluster_of(document: dict[str, Any]) -> str:
    """What the label `cluster_name` holds."""
    return str(document["cluster"]["id"])


def test_described_groups() -> None:
    """Every known figure of a partition and of a group, and no other."""
    document = run("describe", *ALL, "-o", "json").document
    found = read_metrics(run("describe", *ALL, "-o", "openmetrics").stdout)
    cluster = cluster_of(document)
    wanted = {}
    for item in document["items"]:
        of_group = {"cluster_name": cluster, "group": item["group"]}
        for name, figure in (("sum_lag", "lag"), ("max_lag", "lag_max"), ("lost", "lost")):
            wanted[series(f"{GROUP}_{name}", **of_group)] = item[figure]
        for row in item["offsets"]:
            labels = {**of_group, "topic": row["topic"], "partition": str(row["partition"])}
            owner = {"member_host": "host", "consumer_id": "member_id", "client_id": "client_id"}
            labels |= {label: row[key] for label, key in owner.items() if row[key]}
            wanted[series(f"{GROUP}_offset", **labels)] = row["committed_offset"]
            wanted[series(f"{GROUP}_lag", **labels)] = row["lag"]
    known = {name: value for name, value in wanted.items() if value is not None}
    assert len(known) < len(wanted)
    names = {name for name, _ in wanted}
    assert {each: value for each, value in found.items() if each[0] in names} == known
    assert (
        found[
            series(
                "kafka_partition_latest_offset", cluster_name=cluster, topic="orders", partition="2"
            )
        ]
        == 90
    )
    topic = series(f"{GROUP}_topic_sum_lag", cluster_name=cluster, group="billing", topic="orders")
    assert found[topic] == 50


@pytest.mark.parametrize("command", ["list", "describe --all-groups --state"])
def test_what_a_group_is(command: str) -> None:
    """State, type and protocol are labels; members are counted where they are described."""
    words = (*command.split(), "--from", "shop.json", "-o", "openmetrics")
    found = read_metrics(run(*words).stdout)
    infos = [dict(labels) for name, labels in found if name == "kafka_consumer_group_info"]
    assert {each["group_id"]: each["state"] for each in infos} == {
        "audit réports, nightly": "Empty",
        "billing": "Stable",
        "shipping": "Reconciling",
    }
    members = {
        dict(labels)["group_id"]: value
        for (name, labels), value in found.items()
        if name == "kafka_consumer_group_members"
    }
    assert members == (
        {} if command == "list" else {"audit réports, nightly": 0, "billing": 2, "shipping": 1}
    )


def test_checked_groups() -> None:
    """The verdict, and which conditions hold; one that is not known is left out."""
    words = ("check", *ALL, "--fail-on", "lag > 49", "--warn-on", "member_count < 2")
    outcome = run(*words, "-o", "openmetrics")
    assert (outcome.exit_code, outcome.stderr) == (6, "")
    found = read_metrics(outcome.stdout)
    document = run(*words, "-o", "json").document
    for item in document["items"]:
        labels = {"cluster_name": cluster_of(document), "group": item["group"]}
        for verdict in ("ok", "warning", "unknown", "failed"):
            each = series("kgroups_check_verdict", **labels, verdict=verdict)
            assert found[each] == (item["verdict"] == verdict)
        for condition in item["conditions"]:
            told = {name: condition[name] for name in ("condition", "severity")}
            each = series("kgroups_check_condition", **labels, **told)
            assert found.get(each) == condition["holds"]


def test_figures_made_of_roll_ups() -> None:
    """Each that a lag report names as hourly, daily or monthly is a 1; others are not there."""
    item = {"cluster": "c", "group": "g", "lag": 7, "hourly": "lag_seconds", "daily": None}
    item |= {"monthly": "trend"}
    item |= {"hourly_before": None, "daily_before": "trend,verdict"}
    samples = [sample for sample in lag_row_samples("group")("c", item) if sample.value is not None]
    labels = {"cluster_name": "c", "group": "g"}
    assert samples == [
        Sample(f"{GROUP}_sum_lag", labels, 7),
        Sample("kgroups_lag_report_group_hourly", labels | {"figure": "lag_seconds"}, 1),
        Sample("kgroups_lag_report_group_monthly", labels | {"figure": "trend"}, 1),
        Sample("kgroups_lag_report_group_daily_before", labels | {"figure": "trend"}, 1),
        Sample("kgroups_lag_report_group_daily_before", labels | {"figure": "verdict"}, 1),
    ]


def test_a_run_tells_how_it_went() -> None:
    """When, and how many things failed; the exit code is that of the failures."""
    outcome = run("describe", "nobody", "billing", "--from", "shop.json", "-o", "openmetrics")
    assert outcome.exit_code == 5
    found = read_metrics(outcome.stdout)
    (errors,) = [value for (name, _), value in found.items() if name == "kgroups_run_errors"]
    (at,) = [value for (name, _), value in found.items() if name.startswith("kgroups_run_time")]
    assert (errors, at) == (1, 1795223045.678)


def test_times_of_a_live_cluster() -> None:
    """Ages are seconds, of partitions and groups."""
    with Sandbox(brokers=1, topics={"t": 2}) as cluster:
        address = cluster.bootstrap_servers
        produce(address, {("t", 0): 20, ("t", 1): 5})
        commit_offsets(address, {"g": {("t", 0): 10, ("t", 1): 5}})
        words = ("-b", address, "describe", "g", "--lag-time", "-o", "openmetrics")
        found = read_metrics(run(*words).stdout)
    ages = {
        dict(labels).get("partition"): value
        for (name, labels), value in found.items()
        if name.endswith("_lag_seconds")
    }
    assert ages.keys() == {"0", "1", None}
    assert ages["1"] == 0
    assert ages[None] == ages["0"] > 0


ODD = ("a\x01b", "a\x1b[31m", "a\nb", 'a"b\\c', '{a="b"} 1', "ünï", "\u202e", "a\rb", "# EOF")


@pytest.mark.parametrize("name", ODD)
def test_odd_names(name: str, tmp_path: Path) -> None:
    """Any name comes back as it is."""
    group = Group(name, "classic", "Empty", members=(), offsets={"t": {0: CommittedOffset(1)}})
    write_snapshot(ClusterSnapshot(0, (group,), {}), tmp_path / "odd.json")
    file = str(tmp_path / "odd.prom")
    words = ("describe", "--all-groups", "--from", str(tmp_path / "odd.json"), "-o", "openmetrics")
    assert run(*words, "--textfile", file).stdout == ""
    text = Path(file).read_bytes().decode()
    assert text == run(*words).stdout
    assert {dict(labels).get("group", name) for _, labels in read_metrics(text)} == {name}


def test_a_text_file_appears_whole(tmp_path: Path) -> None:
    """It takes the place of the one before; others can read it; nothing is left beside it."""
    file = tmp_path / "kgroups.prom"
    file.write_text("old\n")
    old = file.open()
    words = ("list", "--from", "shop.json", "-o", "openmetrics", "--textfile", str(file))
    outcome = run(*words)
    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (0, "", "")
    assert read_metrics(file.read_text(encoding="utf-8"))
    with old:
        assert old.read() == "old\n"
    assert [each.name for each in tmp_path.glob("*.prom*")] == ["kgroups.prom"]
    mask = os.umask(0)
    os.umask(mask)
    assert file.stat().st_mode & 0o777 == 0o666 & ~mask


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    """Half a cluster is better told than none; of none nothing is written."""
    file = tmp_path / "kgroups.prom"
    file.write_text("old\n")
    words = ("-o", "openmetrics", "--textfile", str(file))
    assert run("list", "-b", "127.0.0.1:1", *words).exit_code == 3
    assert file.read_text() == "old\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("list --textfile x.prom", "--textfile requires --output openmetrics"),
        ("check g --fail-on 'lag > 1' --textfile x.prom -o json", "--textfile requires"),
        ("list -o openmetrics --textfile nowhere/x.prom", "its folder does not exist"),
        ("describe g -o openmetrics --textfile .", "it is a folder"),
        ("lag report -o openmetrics --textfile nowhere/x.prom", "its folder does not exist"),
        ("coordinator g -o openmetrics", "is available for `list`, `describe`, `check` and `lag"),
        ("check --fields -o openmetrics", "`openmetrics` output is available for"),
        ("list -o openmetrics --query a", "--query requires a JSON document"),
        ("list -o openmetrics --watch 2", "--watch does not support --output openmetrics"),
    ],
)
def test_usage(line: str, says: str) -> None:
    """Refused before a cluster is asked."""
    outcome = run(*shlex.split(line), "-b", "x:1")
    assert outcome.exit_code == 2
    assert outcome.stdout == "" or outcome.document["items"] == []
    assert says in outcome.stderr


def test_families_are_sound() -> None:
    """Names are those that Prometheus takes."""
    for name, text in FAMILIES.items():
        assert re.fullmatch(r"[a-z_]+", name)
        assert text.endswith(".")
