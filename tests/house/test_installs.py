"""The package installed as users do: with pip, pipx and uv, by every Python that is here."""

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kgroups.core.release import VERSION
from kgroups.core.snapshot_file import write_snapshot
from tests.support.cli import clusters
from tests.support.cli.process import environment
from tests.support.installs.built import ROOT, Kind, build
from tests.support.installs.environments import here
from tests.support.installs.pythons import MINORS, pythons
from tests.support.kafka.child import run_program

pytestmark = [
    pytest.mark.slow("builds and installs; what goes into a package: tests/house/test_wheel.py"),
]

# Also where it is not the machine that is slow, but the index.
INSTALL_TIMEOUT_S = 500.0
MOST_MB = 155
CONSTRAINTS = str(ROOT / "constraints.txt")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Kind], Path]:
    """The wheel and the source archive, each built when it is first asked for."""
    built: dict[Kind, Path] = {}

    def package(kind: Kind) -> Path:
        if kind not in built:
            built[kind] = build(kind, tmp_path_factory.mktemp(kind))
        return built[kind]

    return package


def with_pip(package: Path, python: Path, folder: Path) -> list[list[str | Path]]:
    """The commands that install it with pip; nothing but the package itself may be built."""
    return [
        [python, "-m", "venv", "--without-pip", folder],
        [
            *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"),
            *("--only-binary", ":all:", "--no-binary", "kgroups", "-c", CONSTRAINTS, package),
        ],
    ]


def with_pipx(package: Path, python: Path, folder: Path) -> list[list[str | Path]]:
    """The command that installs it with pipx."""
    arguments = f"-c {shlex.quote(CONSTRAINTS)}"
    return [[here() / "pipx", "install", "--python", python, "--pip-args", arguments, package]]


def with_uv(package: Path, python: Path, folder: Path) -> list[list[str | Path]]:
    """The command that installs it with uv."""
    return [
        [here() / "uv", "tool", "install", "--python", python, "-c", CONSTRAINTS, package],
    ]


TOOLS = {
    "pip": (with_pip, "pip install 'kgroups[spark]'"),
    "pipx": (with_pipx, "pipx install --force 'kgroups[spark]'"),
    "uv": (with_uv, "uv tool install 'kgroups[spark]'"),
}


def install(commands: Sequence[Sequence[str | Path]], folder: Path) -> Path:
    """Run the commands, without a compiler; the program that they leave."""
    env = environment(
        CC="/bin/false",
        CXX="/bin/false",
        HOME=str(folder / "home"),
        PIPX_HOME=str(folder / "pipx"),
        PIPX_BIN_DIR=str(folder / "bin"),
        UV_CACHE_DIR=str(folder / "cache"),
        UV_TOOL_DIR=str(folder / "tools"),
        UV_TOOL_BIN_DIR=str(folder / "bin"),
        UV_PYTHON_DOWNLOADS="never",
        UV_SYSTEM_CERTS="true",
        UV_FIND_LINKS=os.environ.get("PIP_FIND_LINKS", ""),
    )
    (folder / "home").mkdir(parents=True)
    for command in commands:
        done = run_program(command, env=env, timeout_s=INSTALL_TIMEOUT_S)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "bin" / "kgroups"


def megabytes(folder: Path) -> float:
    """What the files of an environment take, with their compiled modules."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_blocks * 512 for path in files) / 2**20


def test_the_package_alone(packages: Callable[[Kind], Path], tmp_path: Path) -> None:
    """It installs without an index and without anything that it requires: nothing is compiled."""
    folder = tmp_path / "venv"
    first, (*second, package) = with_pip(packages("wheel"), Path(sys.executable), folder)
    program = install([first, [*second, "--no-index", "--no-deps", package]], folder)
    told = "from kgroups.core.release import VERSION; print(VERSION)"
    done = run_program([program.with_name("python"), "-c", told], env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{VERSION}\n", "")


@pytest.mark.slow("every case asks an index for 20 packages: half a minute each")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("tool", TOOLS)
def test_installed_by(
    tool: str, minor: int, kind: Kind, packages: Callable[[Kind], Path], tmp_path: Path
) -> None:
    """It works, nothing was compiled, and a missing extra is named with the tool's own command."""
    python = pythons().get(f"3.{minor}")
    if python is None:
        pytest.skip(f"no Python 3.{minor} here")
    commands, hint = TOOLS[tool]
    folder = tmp_path / "clean"
    program = install(commands(packages(kind), python, folder), folder)
    if tool == "pip":  # the others keep what they downloaded
        assert megabytes(folder) <= MOST_MB
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    listed = run_program([program, "list", "--from", tmp_path / "shop.json"], env=environment())
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "billing" in listed.stdout
    refused = run_program(
        [program, "lag", "report", "--from", tmp_path / "shop.json"], env=environment()
    )
    assert refused.returncode == 2
    assert refused.stderr.endswith(f"hint: `{hint}`\n")


@pytest.mark.slow("asks an index for 20 packages, and packs them")
@pytest.mark.timeout(1_800)  # three minutes on an idle machine; the index and the packing wait
def test_a_single_file(tmp_path: Path) -> None:
    """`make pex`: one file that works in another folder, and says that it has no extras."""
    done = run_program(["make", "pex"], cwd=ROOT, env=environment(), timeout_s=1_500)
    assert done.returncode == 0, done.stdout + done.stderr
    program = tmp_path / "kgroups.pex"
    (ROOT / "dist" / "kgroups.pex").rename(program)
    write_snapshot(clusters.shop(), tmp_path / "shop.json")
    env = environment(PEX_ROOT=str(tmp_path / "unpacked"))

    def run(*words: str) -> tuple[int, str, str]:
        done = run_program([program, *words], cwd=tmp_path, env=env)
        return done.returncode, done.stdout, done.stderr

    assert run("--version") == (0, f"kgroups {VERSION}\n", "")
    code, stdout, stderr = run("list", "--from", "shop.json")
    assert (code, "billing" in stdout, stderr) == (0, True, "")
    code, _, stderr = run("lag", "report", "--from", "shop.json")
    assert code == 2
    assert "a single file has no extras; install the package: `pip install 'kgroups[" in stderr
