"""What a release promises: the Pythons that the metadata, the CI and the check of wheels name."""

import re
import tomllib
from pathlib import Path

import yaml

from scripts.release import SEMANTIC
from scripts.wheels import PLATFORMS, PYTHONS

ROOT = Path(__file__).parents[2]


def test_the_same_pythons_everywhere() -> None:
    """Classifiers, CI's matrix, the check of wheels; the first is the least that is required."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [re.fullmatch(r".*Python :: (3\.\d+)", text) for text in project["classifiers"]]
    assert tuple(found[1] for found in named if found) == PYTHONS
    assert project["requires-python"] == f">={PYTHONS[0]}"
    matrix = ci()["test"]["strategy"]["matrix"]
    assert tuple(matrix["python"]) == PYTHONS
    systems = {name.split()[0] for name in PLATFORMS}
    assert {"ubuntu": "Linux", "macos": "macOS"}.keys() == {
        system.split("-")[0] for system in matrix["os"]
    }
    assert systems == {"Linux", "macOS"}


def test_ci_runs_what_the_makefile_has() -> None:
    """Each step is a target, or `.ci/run`."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    steps = [step["run"] for job in ci().values() for step in job["steps"] if "run" in step]
    assert {step.removeprefix("make ") for step in steps} <= targets | {".ci/run"}


def test_versions() -> None:
    """Releases and what comes before them."""
    assert all(re.fullmatch(SEMANTIC, text) for text in ("0.1.0", "1.12.3rc1"))
    assert not any(re.fullmatch(SEMANTIC, text) for text in ("v0.1.0", "0.1", "0.1.0-dev"))


def ci() -> dict[str, dict]:  # type: ignore[type-arg]
    """The jobs of the workflow."""
    jobs: dict[str, dict] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]  # type: ignore[type-arg]
    return jobs
