"""Several contexts in one call: the context in every row, and a failure of one hides no other."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.runner import Outcome, run
from tests.support.kafka.workload import commit_offsets, produce


class Clusters(NamedTuple):
    """Two clusters, by their contexts `eu` and `us`, and one that is not there, `gone`."""

    eu: Sandbox
    us: Sandbox
    config: Path

    def run(self, *words: str) -> Outcome:
        """The end of a command."""
        return run(*words, env={"KGROUPS_CONFIG": str(self.config)})


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """In each a group `shared`, and one that only it has."""
    config = tmp_path_factory.mktemp("contexts") / "config.yaml"
    with Sandbox(brokers=1, topics={"t": 2}) as eu, Sandbox(brokers=1, topics={"t": 2}) as us:
        addresses = {
            "eu": eu.bootstrap_servers,
            "us": us.bootstrap_servers,
            "gone": "127.0.0.1:1",
        }
        config.write_text(
            "contexts:\n"
            + "".join(f"  {n}: {{bootstrap_servers: '{a}'}}\n" for n, a in addresses.items())
        )
        for number, (name, sandbox) in enumerate((("eu", eu), ("us", us))):
            at = sandbox.bootstrap_servers
            produce(at, {("t", 0): 10 * (number + 1)})
            commits = {"shared": {("t", 0): 5, ("t", 1): 0}, f"only-{name}": {("t", 1): 0}}
            commit_offsets(at, commits)
        yield Clusters(eu, us, config)


BOTH = ("-c", "eu", "-c", "us")


def test_list(clusters: Clusters) -> None:
    """The groups of both, each with its context, in every form."""
    outcome = clusters.run("list", *BOTH, "-o", "json")
    assert outcome.exit_code == 0, outcome
    document = outcome.document
    assert [(item["context"], item["group"]) for item in document["items"]] == [
        ("eu", "only-eu"),
        ("eu", "shared"),
        ("us", "only-us"),
        ("us", "shared"),
    ]
    assert document["cluster"] is None
    assert [each["id"] for each in document["clusters"]] == [
        clusters.eu.cluster_id,
        clusters.us.cluster_id,
    ]
    assert document["summary"] == {"groups": 4, "states": {"Empty": 4}}
    table = clusters.run("list", *BOTH).stdout.splitlines()
    assert [line.split()[:2] for line in table[1:]] == [
        ["eu", "only-eu"],
        ["eu", "shared"],
        ["us", "only-us"],
        ["us", "shared"],
    ]
    rows = list(csv.DictReader(io.StringIO(clusters.run("list", *BOTH, "-o", "csv").stdout)))
    assert [row["context"] for row in rows] == ["eu", "eu", "us", "us"]
    lines = clusters.run("list", *BOTH, "-o", "jsonl").stdout.splitlines()
    assert all(line.startswith('{"context":"') for line in lines)


def test_describe(clusters: Clusters) -> None:
    """Lag of both, the highest first; a group that one does not have is an error of that one."""
    words = ("describe", "shared", "only-eu", *BOTH)
    outcome = clusters.run(*words, "-o", "json")
    assert outcome.exit_code == 5
    lag = {item["context"]: item["lag"] for item in outcome.document["items"]
           if item["group"] == "shared"}  # fmt: skip
    assert lag == {"eu": 5, "us": 15}
    (error,) = outcome.document["errors"]
    assert error["target"] == "us: only-eu"
    table = clusters.run("describe", "shared", *BOTH, "--sort", "lag").stdout.splitlines()
    assert [line.split()[0] for line in table] == ["CONTEXT", "us", "eu", "eu", "us"]


def test_check(clusters: Clusters) -> None:
    """A group fails where it fails."""
    words = ("check", "shared", *BOTH, "--fail-on", "lag > 10")
    outcome = clusters.run(*words, "-o", "json")
    assert outcome.exit_code == 6
    verdicts = {item["context"]: item["verdict"] for item in outcome.document["items"]}
    assert verdicts == {"eu": "ok", "us": "failed"}
    assert outcome.document["summary"]["groups"] == 2
    assert clusters.run(*words[:-1], "lag > 99").exit_code == 0


def test_one_that_is_not_there(clusters: Clusters) -> None:
    """It is an error (exit code 3); the others are shown."""
    for words in (("list",), ("describe", "shared"), ("check", "shared", "--fail-on", "lag < 0")):
        outcome = clusters.run(*words, "-c", "gone", "-c", "us", "-o", "json")
        assert outcome.exit_code == 3
        assert {item["context"] for item in outcome.document["items"]} == {"us"}
        (error,) = outcome.document["errors"]
        assert error["target"] == "gone"
        assert "cannot be reached" in error["message"]
    nobody = clusters.run("list", "-c", "gone", "-c", "gone", "-o", "json")
    assert nobody.exit_code == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("list --watch 2", "--watch takes one context"),
        ("list --from f.json", "--from takes one context"),
        ("check shared --fail-on lag>1 --for 2s", "--for takes one context"),
        ("check shared --fail-on lag>1 -o junit", "`junit` output takes one context"),
        ("list -o plain", "`plain` output takes one context"),
        ("list -b other:1", "--bootstrap-server cannot be used together"),
        ("list -c nobody", "no context `nobody`"),
        ("delete shared --yes", "several contexts are given, and this command takes one"),
        ("ping", "several contexts are given, and this command takes one"),
    ],
)
def test_what_is_refused(clusters: Clusters, words: str, said: str) -> None:
    """With exit code 2, before anything is asked."""
    outcome = clusters.run(*words.split(), *BOTH[:2], *BOTH)
    if "nobody" in words:
        outcome = clusters.run(*words.split(), "-c", "eu")
    assert outcome.exit_code == 2
    assert said in outcome.stderr
