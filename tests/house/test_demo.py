"""The demo that a newcomer runs first does what it promises, on a live cluster."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.demo import STEPS

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.spark
def test_the_demo_shows_every_command_and_ends_well() -> None:
    """Each step is echoed and answered: live groups, a dry run with the newcomer, Spark's lag."""
    done = subprocess.run(
        [sys.executable, "-m", "scripts.demo"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    answers = {}
    for part in done.stdout.split("\n$ kgroups ")[1:]:
        command, _, answer = part.partition("\n")
        answers[command] = answer
    assert list(answers) == [shlex.join(step.arguments) for step in STEPS]
    listed, described, members, worst, plan, lag = answers.values()
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
