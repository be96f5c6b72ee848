"""The commands in docs/checks.md do what the guide says: they are run as their readers run them."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgroups.core.sandbox.sandbox import Sandbox
from tests.support.cli.metrics import read_metrics
from tests.support.cli.process import PROGRAM, environment
from tests.support.cli.runner import run
from tests.support.kafka.child import WAIT_S, run_program
from tests.support.kafka.workload import commit_offsets, create_topics, produce

GUIDE = (Path(__file__).parents[3] / "docs" / "checks.md").read_text(encoding="utf-8")
ADDRESS = "KGROUPS_BOOTSTRAP_SERVER"


def documents() -> dict[str, Any]:
    """The YAML in the guide, by the heading above it."""
    found = re.findall(r"^## ([^\n]*)$[^#]*?```yaml\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
    return {heading: yaml.safe_load(text) for heading, text in found}


def containers(document: Any) -> Iterator[Mapping[str, Any]]:
    """Every container in a manifest."""
    if isinstance(document, dict):
        yield from document.get("containers", ())
        for value in document.values():
            yield from containers(value)
    elif isinstance(document, list):
        for value in document:
            yield from containers(value)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A cluster with the guide's group, which has read everything and has no members."""
    with Sandbox(brokers=1) as cluster:
        address = cluster.bootstrap_servers
        create_topics(address, {"orders": 2})
        produce(address, {("orders", 0): 5})
        commit_offsets(address, {"orders-app": {("orders", 0): 5, ("orders", 1): 0}})
        yield address


def code_of(words: list[str], address: str, folder: Path) -> int:
    """The exit code of a line, as a container or a step runs it."""
    path = f"{PROGRAM.parent}:/usr/bin:/bin"
    env = environment(**{ADDRESS: address, "KGROUPS_TIMEOUT": "60s", "PATH": path})
    done = run_program(words, env=env, cwd=folder, timeout_s=WAIT_S)
    return done.returncode


def test_kubernetes_job(address: str, tmp_path: Path) -> None:
    """The group is empty: the Job succeeds."""
    (container,) = containers(documents()["In a Kubernetes Job"])
    assert [variable["name"] for variable in container["env"]] == [ADDRESS]
    assert code_of(container["command"], address, tmp_path) == 0


def test_argo_rollouts_metric(address: str, tmp_path: Path) -> None:
    """No members: the measurement fails, as a Job does whose container ends with another code."""
    document = documents()["In an Argo Rollouts analysis"]
    (container,) = containers(document)
    assert document["kind"] == "AnalysisTemplate"
    assert code_of(container["command"], address, tmp_path) == 6


def test_github_actions_step(address: str, tmp_path: Path) -> None:
    """A shell runs the lines as the runner does, and the report is there."""
    (step,) = documents()["In a GitHub Actions step"]
    assert list(step["env"]) == [ADDRESS]
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    assert code_of(words, address, tmp_path) == 0
    assert "<testcase" in (tmp_path / "kgroups.xml").read_text(encoding="utf-8")


def test_the_lines_of_the_shell(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends as its remark says for a group that has caught up and has no members."""
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    short = {"2m": "1s", "10s": "100ms"}
    lines = [
        [short.get(word, word) for word in shlex.split(line, comments=True)]
        for block in blocks
        for line in block.splitlines()
    ]
    monkeypatch.chdir(tmp_path)
    env = {ADDRESS: address, "KGROUPS_TIMEOUT": "60s"}
    assert {program for program, *_ in lines} == {"kgroups"}
    assert [run(*words, env=env).exit_code for _, *words in lines] == [0, 6, *[0] * 6]
    assert read_metrics((tmp_path / "kgroups.prom").read_text(encoding="utf-8"))


def test_the_monitor_s_command(address: str, tmp_path: Path) -> None:
    """Its arguments are options of ours: no members is critical."""
    arguments = dict(re.findall(r'"(--[a-z-]+)" = "([^"]*)"', GUIDE))
    assert set(arguments) == {"--bootstrap-server", "--output", "--warn-on", "--fail-on"}
    arguments["--bootstrap-server"] = address
    words = [word for pair in arguments.items() for word in pair]
    assert code_of(["kgroups", "check", *words, "orders-app"], address, tmp_path) == 2
