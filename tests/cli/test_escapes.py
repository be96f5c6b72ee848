"""Names that would drive a terminal, a spreadsheet or a page: spelled out, and intact in a pipe."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from kgroups.cli.output.escapes import no_formula, printable
from kgroups.core.sandbox.sandbox import Sandbox
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group, Member, Topic
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import finish
from tests.support.cli.runner import run
from tests.support.cli.terminal_run import foreign_controls, run_on_terminal

NASTY = {
    "colours and clears": "red\x1b[31m\x1b[2J",
    "sets the title": "title\x1b]0;owned\x07",
    "C1 controls": "c1\x9b31m\x9d0;x\x9c",
    "returns": "over\rwritten",
    "a new row": "one\ntwo",
    "NUL and backspace": "nul\x00\x08\x7f",
    "right to left": "abc\u202ecba\u2066",
    "no width": "a\u200bb\ufeff",
    "a line separator": "a\u2028b\u0085",
    "a tag": "<script>alert(1)</script>",
    "a formula": "=1+2",
}


def nasty_group(name: str) -> Group:
    """A group of this name whose member, host and note are of it too."""
    return Group(
        group=f"g {name}",
        type="classic",
        state="Stable",
        protocol_type="consumer",
        assignor=f"range{name}",
        coordinator=1,
        offsets_partition=7,
        members=(
            Member(
                member_id=f"m {name}",
                client_id=f"c {name}",
                host=f"/h {name}",
                instance_id=f"i {name}",
                subscription=("orders", f"t {name}"),
                assignment={"orders": (0, 1), f"t {name}": (0,)},
            ),
        ),
        offsets={
            "orders": {0: CommittedOffset(90, 3, f"note {name}")},
            f"t {name}": {0: CommittedOffset(1)},
        },
    )


def nasty_cluster(*names: str) -> ClusterSnapshot:
    """A cluster of groups of these names."""
    shop = clusters.shop()
    log = {0: clusters.log(0, 9)}
    topics = {f"t {name}": Topic(f"t {name}", log) for name in names}
    groups = tuple(map(nasty_group, names))
    return replace(shop, groups=groups, topics={"orders": shop.topics["orders"], **topics})


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A snapshot file with a group of each name."""
    path = tmp_path_factory.mktemp("nasty") / "nasty.json"
    write_snapshot(nasty_cluster(*NASTY.values()), path)
    return str(path)


GROUPS = {f"g {name}" for name in NASTY.values()}
FORMS = ("table", "plain", "json", "jsonl", "csv", "yaml")
VIEWS = [("list",), ("describe", "--all-groups"), ("describe", "--all-groups", "--members")]


@pytest.mark.share(8)
@pytest.mark.parametrize("command", VIEWS, ids=" ".join)
@pytest.mark.parametrize("form", FORMS)
def test_a_terminal_gets_no_foreign_control(
    form: str, command: tuple[str, ...], nasty: str
) -> None:
    """Whatever the form: groups, members and offsets with such names."""
    code, written = run_on_terminal(*command, "--from", nasty, "-o", form)
    assert code == 0, written
    assert "owned" in written
    assert foreign_controls(written) == set()


@pytest.mark.share(3)
@pytest.mark.parametrize("form", ["table", "plain", "csv"])
def test_a_name_makes_no_row_on_a_terminal(form: str, tmp_path: Path) -> None:
    """A line feed in a name is spelled out, so that it cannot look like another group."""
    write_snapshot(nasty_cluster("x\nforged"), tmp_path / "forged.json")
    _, written = run_on_terminal("list", "--from", str(tmp_path / "forged.json"), "-o", form)
    assert not any(line.startswith("forged") for line in written.splitlines())


@pytest.mark.share(8)
@pytest.mark.parametrize("case", ["colours and clears", "right to left", "a new row"])
@pytest.mark.parametrize(
    "command",
    [
        ("plan", "NAME"),  # no such assignor
        ("plan", "NAME", "--assignor", "range", "--add-members", "1", "--explain", "orders:0"),
        ("describe", "no NAME"),
    ],
    ids=["bad plan", "plan", "describe"],
)
def test_plans_and_errors_on_a_terminal(command: tuple[str, ...], case: str, nasty: str) -> None:
    """A plan names members, an error what it did not find, a note what it left out."""
    name = f"g {NASTY[case]}"
    arguments = [part.replace("NAME", name) for part in command]
    code, written = run_on_terminal(*arguments, "--from", nasty)
    assert code in (0, 2, 5), written
    assert printable(name) in written.replace("\n", "")
    assert foreign_controls(written) == set()


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """An embedded cluster with a group of each name, without members."""
    shop = clusters.shop()
    groups = tuple(
        Group(
            f"g {name}", "classic", "Empty", "consumer", members=(),
            offsets={"orders": {0: CommittedOffset(3, None, name)}},
        )
        for name in NASTY.values()
    )  # fmt: skip
    path = tmp_path_factory.mktemp("live") / "cluster.json"
    topics = {"orders": shop.topics["orders"]}
    write_snapshot(replace(shop, groups=groups, topics=topics), path)
    with Sandbox(brokers=1, snapshot=path) as cluster:
        yield cluster


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "command",
    [
        ("delete", "--all-groups"),
        ("delete", "--all-groups", "-o", "plain", "--dry-run"),
        ("reset-offsets", "--regex", ".*", "--all-topics", "--to", "earliest"),
        ("delete-offsets", "--regex", ".*", "--topic", "orders"),
        ("delete-records", "orders", "--before", "latest"),
        ("copy-offsets", "--to", "other\x1b", "--from", "g =1+2"),
    ],
    ids=lambda command: command[0],
)
def test_previews_and_questions_on_a_terminal(command: tuple[str, ...], live: Sandbox) -> None:
    """What is asked about is shown on a terminal, names and all; the answer is no."""
    code, written = run_on_terminal("-b", live.bootstrap_servers, *command, answer="n\n")
    assert "orders" in written or "red" in written, written
    assert code in (0, 130), written
    assert foreign_controls(written) == set()


@pytest.mark.share(8)
@pytest.mark.parametrize(
    "command",
    [
        ("--list",),
        ("--list", "--state"),
        ("--describe", "--all-groups"),
        ("--describe", "--all-groups", "--state"),
        ("--reset-offsets", "--all-groups", "--all-topics", "--to-earliest", "--dry-run"),
        (
            "--reset-offsets",
            "--all-groups",
            "--all-topics",
            "--to-earliest",
            "--dry-run",
            "--export",
        ),
    ],
    ids=" ".join,
)
def test_the_official_layouts_on_a_terminal(command: tuple[str, ...], live: Sandbox) -> None:
    """Kafka's own tool lets them through; here only a pipe gets them."""
    code, written = run_on_terminal("--bootstrap-server", live.bootstrap_servers, *command)
    assert code == 0, written
    assert foreign_controls(written) == set()
    code, stdout, _ = finish("--bootstrap-server", live.bootstrap_servers, *command)
    assert code == 0
    assert "g red\x1b[31m\x1b[2J" in stdout


def in_a_pipe(*args: str) -> str:
    """What the program writes, returns and all."""
    code, stdout, stderr = finish(*args)
    assert code == 0, stderr
    return stdout


def test_a_pipe_gets_names_as_they_are(nasty: str) -> None:
    """Every form for programs holds the same names; the official layout holds their very bytes."""
    outcomes = {form: run("list", "--from", nasty, "-o", form).stdout for form in FORMS}
    assert in_a_pipe("list", "--from", nasty, "-o", "csv") == outcomes["csv"]
    assert {item["group"] for item in json.loads(outcomes["json"])["items"]} == GROUPS
    assert {json.loads(line)["group"] for line in outcomes["jsonl"].split("\n")[:-1]} == GROUPS
    assert {item["group"] for item in yaml.safe_load(outcomes["yaml"])["items"]} == GROUPS
    rows = csv.DictReader(io.StringIO(outcomes["csv"], newline=""))
    assert {row["group"] for row in rows} == GROUPS
    assert all(f"{name}\n" in outcomes["plain"] for name in GROUPS)
    assert all(printable(name) in outcomes["table"] for name in GROUPS)


def test_escapes_of_a_terminal_are_those_of_the_form(nasty: str) -> None:
    """JSON and YAML copied from a terminal hold the same names as in a pipe."""
    _, text = run_on_terminal("list", "--from", nasty, "-o", "json")
    assert {item["group"] for item in json.loads(text)["items"]} == GROUPS
    _, text = run_on_terminal("list", "--from", nasty, "-o", "yaml")
    assert {item["group"] for item in yaml.safe_load(text)["items"]} == GROUPS


@pytest.mark.share(3)
@pytest.mark.parametrize("form", FORMS)
def test_arguments_that_are_no_text(form: str) -> None:
    """Half a character given as an argument comes back in every form."""
    name = b"g\xff".decode(errors="surrogateescape")
    code, stdout, stderr = finish("coordinator", name, "--partitions", "50", "-o", form)
    assert code in (0, 2), stderr
    assert "Traceback" not in stderr
    if code == 0:
        assert "g" in stdout


CELLS = [
    ("a sum", "=1+1", "'=1+1"),
    ("a plus", "+1", "'+1"),
    ("a minus", "-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"),
    ("a function", "@SUM(A1)", "'@SUM(A1)"),
    ("a tab before it", "\t=1", "'\t=1"),
    ("a return before it", "\r=1", "'\r=1"),
    ("full width", "\uff1d1", "'\uff1d1"),
    ("a word", "orders=12", "orders=12"),
    ("nothing", "", ""),
    ("a negative number", -5, "-5"),
    ("a negative fraction", -0.5, "-0.5"),
]


@pytest.mark.parametrize(("value", "safe"), [c[1:] for c in CELLS], ids=[c[0] for c in CELLS])
def test_cells_that_a_spreadsheet_would_calculate(value: object, safe: str) -> None:
    """Behind a quotation mark; numbers stay numbers."""
    assert no_formula(value, str(value)) == safe


def test_csv_safe(tmp_path: Path) -> None:
    """`--csv-safe` marks names; without it, and in other forms, they are as they are."""
    cluster = nasty_cluster("")
    group = replace(cluster.groups[0], group="=1+2")
    path = str(tmp_path / "formula.json")
    write_snapshot(replace(cluster, groups=(group,)), Path(path))

    def groups(*options: str) -> set[str]:
        stdout = run("describe", "--all-groups", "--from", path, "-o", "csv", *options).stdout
        return {row["group"] for row in csv.DictReader(io.StringIO(stdout))}

    assert groups() == {"=1+2"}
    assert groups("--csv-safe") == {"'=1+2"}
    listed = run("list", "--from", path, "-o", "json", "--csv-safe").document
    assert listed["items"][0]["group"] == "=1+2"


def test_a_bare_return_is_quoted_in_csv(tmp_path: Path) -> None:
    """Readers take it for the end of a row."""
    path = tmp_path / "return.json"
    write_snapshot(nasty_cluster("a\rb"), path)
    assert '"g a\rb"' in in_a_pipe("list", "--from", str(path), "-o", "csv")
