"""README shows what the program really prints."""

import re
import shlex
from pathlib import Path

import pytest

from kgroups.core.errors import UsageError
from tests.cli.runner import run
from tests.cli.tree import command_paths

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def sessions() -> list[tuple[str, str]]:
    """Command and output of each prompt in README that runs `kgroups` and shows its output."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("kgroups ") and output.strip():
                found.append((command, output))
    return found


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("command", "output"), sessions())
def test_session(command: str, output: str) -> None:
    """The shop's snapshot stands in for the cluster of the session."""
    outcome = run(*shlex.split(command)[1:], "--from", "shop.json")
    assert (outcome.exit_code, outcome.stdout.strip()) == (0, output.strip())


def test_there_are_sessions() -> None:
    """The one above is not empty."""
    assert len(sessions()) >= 2


@pytest.mark.parametrize("path", command_paths()[1:], ids=" ".join)
def test_every_command_is_in_the_table(path: tuple[str, ...]) -> None:
    """Each command has a row, or is the first word of one."""
    assert f"| `{' '.join(path)}" in README


@pytest.mark.parametrize("code", ["0", "1", "2", "3", "4", "5", "6", "70", "130"])
def test_every_exit_code_is_explained(code: str) -> None:
    """Each has a row in the table and a place in the program's help."""
    assert f"\n| {code} | " in README
    assert re.search(rf"(^|\s){code} +\S", run("--help").stdout)


def library_example() -> str:
    """The Python block of README."""
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert isinstance(block, str)
    return block


def test_library_example_is_sound() -> None:
    """Its imports and names exist; without a cluster it fails as the library promises."""
    source = library_example().replace("localhost:9092", "127.0.0.1:notaport")
    with pytest.raises(UsageError):
        exec(compile(source, "README.md", "exec"), {})
