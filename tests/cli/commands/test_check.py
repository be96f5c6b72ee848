"""`kgroups check`: verdicts, exit codes, and the forms that monitors read."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kgroups.cli.commands.gates.check import Found, gate_of, judged_throughout
from kgroups.cli.commands.gates.polling import Polls
from kgroups.cli.commands.lag.lag_options import row_fields
from kgroups.cli.output.printer import Printer
from kgroups.cli.params import GlobalOptions
from kgroups.core.conditions.fields import Values
from kgroups.core.conditions.group_figures import GROUP_FIELDS
from kgroups.core.conditions.verdicts import judge
from kgroups.core.planning.metrics import PLAN_FIELDS
from kgroups.core.snapshot import ClusterSnapshot, CommittedOffset, Group
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli.runner import run

pytestmark = pytest.mark.usefixtures("files")

# Of the shop: billing has a lag of 50 and 2 members; of shipping and the audit not all is known.
CODES = [
    ("billing --fail-on 'lag > 50'", 0),
    ("billing --fail-on 'lag > 49'", 6),
    ("billing --fail-on 'lag > 60' --fail-on 'member_count = 2'", 6),
    ("billing --warn-on 'lag > 49'", 0),
    ("--all-groups --fail-on \"state = 'Dead'\"", 0),
    ("shipping --fail-on 'lag > 1000'", 6),
    ("shipping --fail-on 'lag > 1000' --allow-unknown", 0),
    ("shipping --fail-on 'lag > 1000 and member_count > 5'", 0),
    ("nobody --fail-on 'lag > 1'", 5),
    ("nobody billing --fail-on 'lag > 50'", 5),
    ("nobody billing --fail-on 'lag > 49'", 1),
    ("'bill*' --fail-on 'lag > 49'", 6),
    ("--regex 'b.*g' --fail-on 'lag > 49'", 6),
    ("billing --fail-on 'lug > 49'", 2),
    ("billing", 2),
    ("--fail-on 'lag > 1'", 2),
    ("billing --fail-on 'lag > 49' --for 2m", 2),
]


@pytest.mark.parametrize(("line", "code"), CODES)
@pytest.mark.parametrize("form", ["table", "json", "junit", "csv"])
def test_exit_codes(line: str, code: int, form: str) -> None:
    """They are the same in every form but that of plugins."""
    outcome = run("check", *shlex.split(line), "--from", "shop.json", "-o", form)
    assert outcome.exit_code == code, outcome
    assert bool(outcome.stderr) == (code in (1, 2, 5))


def check_json(*args: str) -> dict[str, dict[str, object]]:
    """The items of a check of the shop, by group."""
    document = run("check", *args, "--from", "shop.json", "-o", "json").document
    return {item["group"]: item for item in document["items"]}


def test_an_item_a_group() -> None:
    """Verdict, conditions with answers and figures; null for what is not known."""
    items = check_json("--all-groups", "--fail-on", "lag > 49", "--warn-on", "member_count < 2")
    assert {group: item["verdict"] for group, item in items.items()} == {
        "audit réports, nightly": "unknown",
        "billing": "failed",
        "shipping": "unknown",
    }
    assert items["billing"]["conditions"] == [
        {"condition": "lag > 49", "severity": "failed", "holds": True, "figures": {"lag": 50}},
        {
            "condition": "member_count < 2",
            "severity": "warning",
            "holds": False,
            "figures": {"member_count": 2},
        },
    ]


def test_only_what_is_needed_is_asked() -> None:
    """A condition on states reads no commits: their figures are absent."""
    (item,) = check_json("billing", "--fail-on", "state = 'Dead'").values()
    figures = item["figures"]
    assert isinstance(figures, dict)
    assert list(figures) == list(GROUP_FIELDS.names[:5])


def test_figures_are_those_of_describe() -> None:
    """One word for one thing: what both documents hold is equal."""
    names = ("--all-groups", "--from", "shop.json", "-o", "json")
    described = run("describe", "--state", "--offsets", *names).document["items"]
    items = check_json("--all-groups", "--fail-on", "lag > 1")
    for group in described:
        figures = items[group["group"]]["figures"]
        assert isinstance(figures, dict)
        assert figures == {
            **{name: value for name, value in group.items() if name in figures},
            "held_partitions": None,  # no condition names it
            "coordinator_id": group["coordinator"] and group["coordinator"]["id"],
            "partitions": len(group["offsets"]),
        }


def test_fields_are_listed() -> None:
    """Every field of groups, plans and rows of lag reports, with type, unit and meaning."""
    document = run("check", "--fields", "-o", "json").document
    listed = [(item["of"], item["field"]) for item in document["items"]]
    assert listed == [
        *(("group", name) for name in GROUP_FIELDS.names),
        *(("plan", name) for name in PLAN_FIELDS.names),
        *(("lag report", name) for name in row_fields().names),
    ]
    assert {"lag", "verdict", "lag_seconds"} <= set(row_fields().names)
    assert all(item["meaning"] and item["type"] in ("number", "text") for item in document["items"])


def junit_of(*args: str) -> ElementTree.Element:
    """The test suite of a check of the shop."""
    return ElementTree.fromstring(run("check", *args, "-o", "junit").stdout)


def test_junit() -> None:
    """A suite with a case a group; failures, warnings, what is left open, what is not there."""
    conditions = ("--fail-on", "lag > 49", "--warn-on", "member_count = 1", "--allow-unknown")
    names = ("billing", "shipping", "audit réports, nightly", "nobody")
    suite = junit_of(*names, *conditions, "--from", "shop.json")
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 4, "failures": 1, "errors": 1, "skipped": 1}
    found = {case.attrib["name"]: [child.tag for child in case] for case in suite}
    assert found == {
        "billing": ["failure"],
        "shipping": ["system-out"],
        "audit réports, nightly": ["skipped"],
        "nobody": ["error"],
    }
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.attrib == {"type": "CHECK_FAILED", "message": "lag > 49 (lag is 50)"}


ODD = ("a\x01b", "a\x1b[31m", "a\nb", "a|b='c'", "<&>", "ünï", "\ufffe", "a\u202eb")


@pytest.mark.parametrize("name", ODD)
def test_odd_names(name: str, tmp_path: Path) -> None:
    """Any name gives well-formed XML, and one status line."""
    group = Group(name, "classic", "Empty", members=(), offsets={"t": {0: CommittedOffset(1)}})
    write_snapshot(ClusterSnapshot(0, (group,), {}), tmp_path / "odd.json")
    words = ("--all-groups", "--fail-on", "member_count = 0", "--from", str(tmp_path / "odd.json"))
    (case,) = junit_of(*words)
    assert case.attrib["name"].isprintable()
    line = run("check", *words, "-o", "nagios").stdout
    assert line.count("\n") == 1
    assert line.count("|") == 1
    assert line.rstrip("\n").isprintable()


STATUS = re.compile(
    r"(OK|WARNING|CRITICAL|UNKNOWN): [^|\n]+"
    r"( \|( '([^'=]|'')+'=(U|\d+(\.\d+)?)s?(;[\d.:]*){3})+)?\n"
)
PLUGIN = [
    ("billing --fail-on 'lag > 50'", 0, "OK: 1 group | 'billing lag'=50;;50;0"),
    ("billing --warn-on 'lag > 49'", 1, "WARNING: 1 warning: `billing` lag > 49 (lag is 50)"),
    ("billing --fail-on 'lag > 49'", 2, "CRITICAL: 1 failed: `billing` lag > 49 (lag is 50)"),
    ("billing nobody --fail-on 'lag > 49'", 2, "CRITICAL: 1 failed: "),
    ("billing nobody --fail-on 'lag > 50'", 3, "UNKNOWN: `nobody`: no such group"),
    ("billing nobody --warn-on 'lag > 49'", 3, "UNKNOWN: 1 warning: "),
    ("shipping --fail-on 'lag > 9'", 3, "UNKNOWN: 1 unknown: `shipping` lag > 9: unknown"),
    ("shipping --fail-on 'lag > 9' --allow-unknown", 0, "OK: 1 group | 'shipping lag'=U;;9;0"),
    ("billing --fail-on 'lag < 5' --warn-on 'lag < 9'", 0, "'billing lag'=50;9:;5:;0"),
    ("billing --fail-on \"state = 'Dead'\"", 0, "OK: 1 group\n"),
    ("billing --fail-on 'lug > 9'", 3, "UNKNOWN: `--fail-on lug > 9`: unknown field `lug`"),
    ("billing", 3, "UNKNOWN: no condition given"),
]


@pytest.mark.parametrize(("line", "code", "says"), PLUGIN)
def test_nagios(line: str, code: int, says: str) -> None:
    """One status line with perfdata, the plugin's exit codes, nothing on stderr."""
    outcome = run("check", *shlex.split(line), "--from", "shop.json", "-o", "nagios")
    assert (outcome.exit_code, outcome.stderr) == (code, "")
    assert STATUS.fullmatch(outcome.stdout), outcome.stdout
    assert says in outcome.stdout


def test_nagios_of_an_unreachable_cluster() -> None:
    """It is UNKNOWN, on stdout."""
    words = ("check", "g", "--fail-on", "lag > 1", "-b", "127.0.0.1:1", "-o", "nagios")
    outcome = run(*words)
    assert (outcome.exit_code, outcome.stdout[:8], outcome.stderr) == (3, "UNKNOWN:", "")


@pytest.mark.parametrize("command", ["list", "describe --all-groups", "check --fields"])
def test_nobody_else_has_these_forms(command: str) -> None:
    """They are refused before anything is asked."""
    outcome = run(*command.split(), "-o", "junit", "-b", "127.0.0.1:1")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "`junit` output is available for `kgroups check` only" in outcome.stderr


WRONG = [
    ("-o nagios list -b 127.0.0.1:1", "`nagios` output is available for `kgroups check` only"),
    ("check --fields --output nagios", "`nagios` output is available for `kgroups check` only"),
    ("check --frob -o nagios", "no such option: --frob"),
    ("lisst -onagios", "no such command `lisst`"),
    ("check g --output=NAGIOS --timeout soon", "`soon` is not a duration"),
    ("-o json check g --fail-on -o nagios", "`-o` is not valid"),
    ("check g -o nagios --fail-on", "option `--fail-on` requires an argument"),
    ("-o nagios", "missing command"),
    ("check g --fail-on 'lag > 1' -o nagios", "no bootstrap server given"),
    ("check g --fail-on 'lag > 1' -o nagios --query a", "--query requires a JSON document"),
]


@pytest.mark.parametrize(("line", "says"), WRONG)
def test_wrong_usage_of_a_plugin(line: str, says: str) -> None:
    """Monitors read one line of stdout, and take 2 for CRITICAL: it is UNKNOWN."""
    outcome = run(*shlex.split(line))
    assert (outcome.exit_code, outcome.stderr) == (3, ""), outcome
    assert STATUS.fullmatch(outcome.stdout), outcome.stdout
    assert outcome.stdout.startswith("UNKNOWN: ")
    assert says in outcome.stdout


def test_the_environment_may_ask_for_a_plugin() -> None:
    """And a flag beats it."""
    env = {"KGROUPS_OUTPUT": "nagios"}
    assert run("lisst", env=env).exit_code == 3
    assert run("lisst", "-o", "json", env=env).exit_code == 2
    assert run("lisst", "--", "-o", "nagios").exit_code == 2


@pytest.mark.parametrize(
    "line",
    [
        "list --where 'lag_seconds > 5m'",
        "describe --where 'lag_seconds > 5m'",
        "describe --where 'rate_in > 5'",
        "check billing --fail-on 'catch_up_seconds > 5m'",
        "check billing --warn-on 'lag_seconds > 5m'",
    ],
)
def test_a_file_does_not_tell_times(line: str) -> None:
    """It is a usage error, not an unknown value."""
    outcome = run(*shlex.split(line), "--from", "shop.json")
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert "requires a cluster: a snapshot file does not record it" in outcome.stderr


GATE = gate_of(("lag > 10",), ("member_count = 0",), allow_unknown=False)
NOBODY = ClusterSnapshot(0, (), {})


def held(looks: list[dict[str, Values]], for_ms: int = 1_500) -> tuple[dict[str, str], int]:
    """Verdicts after these looks, half a second and more apart, and how many were taken."""
    passed = [0.0]
    taken = iter(looks)
    count = [0]

    def rest(seconds: float) -> None:
        passed[0] += seconds

    def once() -> Found:
        count[0] += 1
        found = next(taken)
        return Found(NOBODY, [judge(name, GATE, figures) for name, figures in found.items()], ())

    now: Callable[[], float] = lambda: passed[0]  # noqa: E731
    polls = Polls(for_ms, rest, now)
    found = judged_throughout(polls, Printer(GlobalOptions()), once)
    return {each.group: each.verdict for each in found.judged}, count[0]


def lag(value: int | None) -> Values:
    """Figures of a group."""
    return {"lag": value, "member_count": 1}


def test_it_must_hold_throughout() -> None:
    """What was false once has not held; unknown once is unknown; what came later has not either."""
    first = {"always": lag(11), "once": lag(11), "unsure": lag(11)}
    second = {"always": lag(12), "once": lag(9), "unsure": lag(None), "new": lag(99)}
    third = {"always": lag(13), "once": lag(11), "unsure": lag(11), "new": lag(99)}
    verdicts, looks = held([first, second, third])
    assert verdicts == {"always": "failed", "once": "ok", "unsure": "unknown", "new": "ok"}
    assert looks == 3


def test_it_ends_when_nothing_is_left_to_hold() -> None:
    """No more looks are taken than needed."""
    assert held([{"g": lag(11)}, {"g": lag(9)}]) == ({"g": "ok"}, 2)
    assert held([{"g": lag(0)}]) == ({"g": "ok"}, 1)
    assert held([{"g": lag(11)}], for_ms=0) == ({"g": "failed"}, 1)
