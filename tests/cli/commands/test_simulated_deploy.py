"""A deploy that fails in a simulation fails the command."""

from pathlib import Path

import yaml

from tests.core.simulation.test_deploys import FOUR
from tests.support.cli.runner import run

DEPLOY = {
    "group": "app",
    "change": {"settings": {"partition.assignment.strategy": "sticky"}},
    "maxUnavailable": 0,
    "progressDeadlineSeconds": 300,
}


def test_a_deploy_that_fails(tmp_path: Path) -> None:
    """Exit code 6, and what the members were answered."""
    path = tmp_path / "deploy.yaml"
    scenario = yaml.safe_load(FOUR) | {"events": [{"at": "60s", "deploy": DEPLOY}]}
    path.write_text(yaml.safe_dump(scenario))
    outcome = run("simulate", str(path), "-o", "json")
    assert outcome.exit_code == 6
    (error,) = outcome.document["errors"]
    assert (error["target"], error["code"]) == ("app", "DEPLOY_FAILED")
    assert error["message"].startswith("the deploy at 60 s failed: JoinGroup was answered")
    assert run("simulate", str(path), "--timeline", "-o", "jsonl").exit_code == 6
