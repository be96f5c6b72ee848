"""Completion scripts: up to date, and right in a real bash."""

import os
import socket
import sys
from pathlib import Path

import pytest

from tests.support.cli.command_tree import command_paths
from tests.support.cli.runner import run
from tests.support.endings import program as endings
from tests.support.kafka.child import run_program

ROOT = Path(__file__).parents[3]
READY = ROOT / "completions"
BASH = READY / "kgroups.bash"
BIN = Path(sys.executable).parent

DRIVER = """
source "$1"
COMP_LINE="$2" COMP_POINT=${#2}
read -ra COMP_WORDS <<< "$2"
[[ $2 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; } # only bash's own completion may call it
_kgroups
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(line: str, **env: str) -> list[str]:
    """What bash offers at the end of the line."""
    environment = {name: v for name, v in os.environ.items() if not name.startswith("KGROUPS_")}
    environment["PATH"] = f"{BIN}{os.pathsep}{environment['PATH']}"
    done = run_program(
        ["bash", "-c", DRIVER, "bash", str(BASH), line], check=True, env={**environment, **env}
    )
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1] if done.stdout != "\n" else []


def test_generated_files_are_up_to_date() -> None:
    """The generated tables and the answers that are ready are what the command tree gives."""
    done = run_program([sys.executable, ROOT / "scripts" / "docs.py", "check"])
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_command_prints_the_file(shell: str) -> None:
    """`kgroups completion SHELL` is the file of that shell."""
    path = READY / f"kgroups.{shell}"
    assert run("completion", shell).stdout == path.read_text(encoding="utf-8")


LINES = {
    "kgroups des": ["describe"],
    "kgroups -o json lag ": ["report", "history", "collect", "compact", "--help-all"],
    "kgroups -b localhost:9092 snapshot s": ["save", "show"],
    "kgroups list --sta": ["--state"],
    "kgroups list --state E": ["Empty"],
    "kgroups --output j": ["json", "jsonl"],
    "kgroups describe -o ": ["table", "json", "jsonl", "csv", "yaml"],
    "kgroups --output=ya": ["yaml"],
    "kgroups lag report --by m": ["member"],
    "kgroups describe --isolation read_c": ["read_committed"],
    "kgroups --timeout ": [],
    "kgroups completion z": ["zsh"],
    "kgroups snapshot show pyproj": ["pyproject.toml"],
}


@pytest.mark.parametrize("line", LINES)
def test_bash(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bash offers what can stand there."""
    monkeypatch.chdir(ROOT)
    offered = complete(line)
    wanted = LINES[line]
    assert offered[: len(wanted)] == wanted
    assert len(wanted) != 1 or offered == wanted


@pytest.mark.share(4)
@pytest.mark.parametrize("path", command_paths(), ids=" ".join)
def test_bash_knows_every_option(path: tuple[str, ...]) -> None:
    """Behind a dash bash offers every option that the help page names."""
    page = run(*path, "--help").stdout
    lines = page.splitlines()
    first = next(n for n, line in enumerate(lines) if line.endswith(":") and line[0] != " ")
    named = {
        word.rstrip(",")
        for line in lines[first:]
        for word in line.split()[:2]
        if line.startswith("  -") and word.startswith("--")
    }
    assert named <= set(complete(" ".join(["kgroups", *path, "--"])))


def test_names_of_a_cluster_that_is_not_there() -> None:
    """Without a cluster there is no name, and no error."""
    assert complete("kgroups describe ", KGROUPS_BOOTSTRAP_SERVER="127.0.0.1:1") == []


def test_names_of_a_cluster_that_never_answers(tmp_path: Path) -> None:
    """A server that accepts and says nothing is left after the budget of half a second."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        line = f"kgroups -b 127.0.0.1:{silent.getsockname()[1]} describe "
        assert complete(line) == []
        ending = endings.run_program(["complete-names", "groups", line], tmp_path)
    assert (ending.code, ending.stdout, ending.stderr) == (0, b"", b"")
    assert ending.waited_s is None or ending.waited_s < 0.5 + 2


def test_contexts_complete(tmp_path: Path) -> None:
    """Names of contexts behind -c, --unprotected, and where `context` takes one."""
    config = tmp_path / "config.yaml"
    config.write_text("contexts: {eu-1: {}, eu-2: {}, us: {}}\n")
    for line in ("kgroups list -c eu", "kgroups delete --unprotected eu", "kgroups context use eu"):
        assert complete(line, KGROUPS_CONFIG=str(config)) == ["eu-1", "eu-2"]
