"""The demo that a newcomer runs first does what it promises, on a live cluster."""

import shlex
from pathlib import Path

import pytest

from kgroups.cli.commands.demo import SPARK_STEPS, STEPS
from tests.support.cli.process import PROGRAM, environment
from tests.support.kafka.child import run_program

MAKEFILE = Path(__file__).parent.parent.parent / "Makefile"


def test_make_demo_is_the_command() -> None:
    """`make demo` is `kgroups demo` with the Spark step; it sets up Spark and no tests."""
    told = run_program(
        ["make", "--no-print-directory", "-n", "demo", "STAMP=none"],
        cwd=MAKEFILE.parent,
        check=True,
    ).stdout
    setup, _, *_, demo = told.splitlines()
    assert setup.endswith("VENV=.venv-demo scripts/setup.sh demo")
    assert demo.endswith(" .venv-demo/bin/kgroups demo --spark")


@pytest.mark.slow("two starts of Spark; the demo without it is in every run")
@pytest.mark.spark
def test_the_demo_shows_every_command_and_ends_well() -> None:
    """Each step is echoed and answered: live groups, a dry run with the newcomer, Spark's lag."""
    done = run_program([PROGRAM, "demo", "--spark"], timeout_s=540, env=environment())
    assert done.returncode == 0, done.stderr
    answers = {}
    for part in done.stdout.split("\n$ kgroups ")[1:]:
        command, _, answer = part.partition("\n")
        answers[command] = answer
    assert list(answers) == [shlex.join(step.arguments) for step in STEPS + SPARK_STEPS]
    listed, described, members, worst, plan, lag, fleet = answers.values()
    assert [line.split()[:3] for line in listed.splitlines()[1:4]] == [
        ["audit-nightly", "classic", "Empty"],
        ["orders-app", "classic", "Stable"],
        ["payments-app", "consumer", "Stable"],
    ]
    assert described.count("orders-1") > 0
    assert members.count("payments-") >= 3
    assert worst.splitlines()[1].split()[:3] == ["orders-app", "orders", "5"]
    assert "orders-3" in plan
    audit = next(line.split() for line in lag.splitlines() if line.startswith("audit-nightly"))
    assert "20" in audit  # the records that expired unread
    # The fleet report: each group under each assignor of its kind, and what would help it.
    assert fleet.splitlines()[0].split()[:4] == ["GROUP", "ASSIGNOR", "BEST", "BEST-GAIN"]
    planned = {tuple(line.split()[:2]) for line in fleet.splitlines()[1:] if line.strip()}
    assert {("orders-app", "range"), ("payments-app", "uniform")} <= planned
