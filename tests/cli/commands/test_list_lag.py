"""`list` with lag: by `--lag`, or because a column, the order or a condition names it."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import run
from tests.support.kafka.workload import commit_offsets, produce

LAG = ("lag", "lag_max", "lost", "unknown_partitions", "member_count")
SHOP = ("list", "--from", "shop.json")


def rows(*args: str) -> list[list[str]]:
    """The CSV of a list, without its head."""
    outcome = run(*SHOP, *args, "-o", "csv")
    assert outcome.exit_code == 0, outcome
    return list(csv.reader(io.StringIO(outcome.stdout, newline="")))[1:]


@pytest.mark.usefixtures("files")
def test_the_figures_are_those_of_describe() -> None:
    """The same numbers under the names of conditions."""
    groups = run("describe", "--all-groups", "--from", "shop.json", "-o", "json").document["items"]
    listed = run(*SHOP, "--lag", "-o", "json").document["items"]
    for item, group in zip(listed, groups, strict=True):
        assert [item[name] for name in LAG[:-1]] == [group[name] for name in LAG[:-1]]
    assert [item["member_count"] for item in listed] == [0, 2, 1]
    assert not any(
        name in item for item in run(*SHOP, "-o", "json").document["items"] for name in LAG
    )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("args", [("--lag",), ("--sort", "lag"), ("--where", "lag >= 0")])
def test_whatever_names_lag_shows_it(args: tuple[str, ...]) -> None:
    """In a table and in metrics."""
    head, *_ = run(*SHOP, *args).stdout.splitlines()
    shown = ["LAG", "LAG-MAX", "LOST", "UNKNOWN", "MEMBERS"]
    assert head.split()[-len(shown) :] == shown
    metrics = run(*SHOP, *args, "-o", "openmetrics").stdout
    assert re.search(r'^kafka_consumergroup_group_sum_lag\{.*group="billing"\} 50$', metrics, re.M)
    assert re.search(r'^kafka_consumer_group_members\{.*group="billing".*\} 2$', metrics, re.M)


@pytest.mark.usefixtures("files")
def test_sorted_by_figures() -> None:
    """The highest first, and by name where they are alike."""
    names = {
        by: [row[0] for row in rows("--sort", by)] for by in ("lag", "lag-max", "member-count")
    }
    assert names["lag"] == names["lag-max"] == ["billing", "audit réports, nightly", "shipping"]
    assert names["member-count"] == ["billing", "shipping", "audit réports, nightly"]
    assert rows("--sort", "lost", "--top", "1", "--fields", "lost,group") == [["40", "billing"]]


@pytest.mark.usefixtures("files")
def test_conditions_show_what_they_name() -> None:
    """A figure that lag is not read for is a column of its own."""
    (item,) = run(*SHOP, "--where", "unowned_partitions < 1", "-o", "json").document["items"]
    assert (item["group"], item["unowned_partitions"]) == ("billing", 0)
    assert "lag" not in item
    lines = run(*SHOP, "--where", "unowned_partitions < 1").stdout.splitlines()
    assert lines[0].split()[-1] == "UNOWNED"


@pytest.mark.usefixtures("files")
def test_groups_left_out_are_named() -> None:
    """A condition that cannot be told of a group says of which; so does a list of nothing."""
    says = "2 groups are left out: `lag > 10` cannot be evaluated (`audit réports, nightly`, `ship"
    assert says in run(*SHOP, "--where", "lag > 10").stderr
    says = "1 group is left out: `lag > 10` cannot be evaluated (`shipping`)"
    assert says in run(*SHOP, "ping", "--where", "lag > 10").stderr
    assert "no group matches" in run(*SHOP, "nope").stderr
    assert "there are no groups" in run("list", "--from", "nothing.yaml").stderr


@pytest.mark.usefixtures("files")
def test_the_official_layout_has_no_lag() -> None:
    """It is refused, not left out in silence."""
    outcome = run(*SHOP, "--lag", "-o", "plain")
    assert (outcome.exit_code, outcome.stdout) == (2, "")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """Groups that have read parts of a topic, on two brokers."""
    with Sandbox(brokers=2, topics={"t": 3}) as sandbox:
        produce(sandbox.bootstrap_servers, {("t", number): 20 for number in range(3)})
        commits = {f"g{at}": {("t", number): at for number in range(3)} for at in range(6)}
        commit_offsets(sandbox.bootstrap_servers, commits)
        yield sandbox


def requests(cluster: Sandbox, *words: str) -> Counter[str]:
    """The kinds of requests that a command sends, and how many of each."""
    outcome = run(*words, "--debug", "-b", cluster.bootstrap_servers)
    assert outcome.exit_code == 0, outcome
    return Counter(re.findall(r"^debug: \S+ (\w+) v", outcome.stderr, re.M))


def test_it_costs_what_describe_costs(cluster: Sandbox) -> None:
    """The requests are those of `describe --all-groups`, and none of them for a plain list."""
    described = requests(cluster, "describe", "--all-groups")
    assert requests(cluster, "list", "--lag") == described
    assert described["ListOffsets"] > 0
    assert requests(cluster, "list")["ListOffsets"] == 0


def test_on_a_cluster(cluster: Sandbox) -> None:
    """The most behind first."""
    words = (
        "list",
        "--sort",
        "lag",
        "--top",
        "2",
        "--fields",
        "group,lag,member_count",
        "-o",
        "csv",
    )
    outcome = run(*words, "-b", cluster.bootstrap_servers)
    assert outcome.stdout == "group,lag,member_count\ng0,60,0\ng1,57,0\n"
